//! BBR of netlull next to that of noq. Prints rows for each path, with either as the one that decides.

mod noq;
mod ours;
mod path;

use noq::Noq;
use ours::Ours;
use path::{Control, Row, Run, paths, print, run};

/// More than the probes of a run.
const CHOICES: usize = 60;

/// SplitMix64, as in `crates/tcp/src/cc/bbr/filter.rs`.
fn split_mix(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((u128::from(mixed ^ (mixed >> 31)) * u128::from(bound)) >> 64) as u64
}

/// A seed with which netlull chooses the same rounds, and a wait within a microsecond after noq's.
fn seed_of((rounds, wait): (u64, u64)) -> u32 {
    let extra = (wait - 2000) * 1_000_000;
    let fits = |seed: &u32| {
        let mut state = u64::from(*seed);
        split_mix(&mut state, 2) == rounds && split_mix(&mut state, 1_000_000_000).abs_diff(extra) < 1000
    };
    (0..u32::MAX).find(fits).expect("a seed in 4 billion")
}

fn main() {
    let seeds: Vec<u32> = noq::choices(CHOICES).into_iter().map(seed_of).collect();
    println!("# seeds {}", seeds.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    for path in paths() {
        for leader in ["netlull", "noq"] {
            let result = std::thread::scope(|scope| {
                let job = scope.spawn(|| {
                    let (mut noq, mut ours) = (Noq::new(), Ours::new(&seeds));
                    let mut controls: [&mut dyn Control; 2] = [&mut ours, &mut noq];
                    if leader == "noq" {
                        controls.swap(0, 1);
                    }
                    run(&path, &mut controls)
                });
                job.join().expect("no panic")
            });
            let Run { rows, delivered, lost_packets, sent_packets } = result;
            println!("# path {} leader {leader} delivered {delivered} sent {sent_packets} lost {lost_packets}", path.name);
            for Row { at, snapshots } in rows {
                let (ours, noq) = if leader == "noq" { (1, 0) } else { (0, 1) };
                println!("{at} {} {}", print(&snapshots[ours]), print(&snapshots[noq]));
            }
        }
    }
}
