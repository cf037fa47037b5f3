//! Mechanisms under the TCP of real senders.

use super::again::{check, in_one_that_counts};
use super::flows::Flows;
use super::net::{Network, can_run, command};
use super::{Instance, ms, text};
use netlull_live::clock::Clock;
use netlull_live::netlink::Socket;
use netlull_live::router::qdisc::{self, Device};
use netlull_live::router::readings::Reading;
use std::thread::sleep;
use std::time::Duration;

/// The behaviour of a queue, sampled every 5 ms.
#[derive(Debug)]
struct Watched {
    mean: f64,
    deviation: f64,
    drops: u64,
    megabits_per_second: f64,
}

/// The start of the observation after that of the flows, and its duration.
#[derive(Clone, Copy)]
struct Spell {
    settle: Duration,
    time: Duration,
}

/// A few time constants of AWM with [`AWM`]'s beta (0.6 s), a few sawteeth of four flows.
const SHORT: Spell = Spell { settle: ms(2000), time: ms(3000) };
/// The times for the figures in docs/models/g-router.md.
const LONG: Spell = Spell { settle: ms(7000), time: ms(9000) };

fn look(network: &Network, Spell { settle, time }: Spell) -> Watched {
    sleep(settle);
    let (took, readings): (f64, Vec<Reading>) = Network::inside(&network.router, move || {
        let mut socket = Socket::open().unwrap();
        let index = Device::find(&mut socket, "far").unwrap().index;
        let looks = time.as_millis() / 5;
        let read = |_| {
            sleep(ms(5));
            qdisc::read(&mut socket, index).unwrap()
        };
        let clock = Clock::start();
        let readings = (0..looks).map(read).collect();
        (clock.now().as_secs_f64(), readings)
    })
    .join()
    .unwrap();
    let count = readings.len() as f64;
    let mean = readings.iter().map(|reading| reading.backlog as f64).sum::<f64>() / count;
    let variance = readings.iter().map(|reading| (reading.backlog as f64 - mean).powi(2)).sum::<f64>() / count;
    let (first, last) = (readings.first().unwrap(), readings.last().unwrap());
    let bits = 8.0 * (last.sent_bytes - first.sent_bytes) as f64;
    let drops = last.drops - first.drops;
    Watched { mean, deviation: variance.sqrt(), drops, megabits_per_second: bits / took / 1e6 }
}

/// 4 flows, 20 Mb/s, 150 kB, 60 ms: without control and with a mechanism.
fn case(control: &str, mechanism: Option<&str>, spell: Spell) -> (Watched, Option<serde_json::Value>) {
    let network = Network::new(Some(ms(30)));
    let instance = match mechanism {
        Some(mechanism) => Some(Instance::start(&network, &format!("{mechanism} --json"))),
        None => {
            let bucket = "tbf rate 20mbit burst 3028 limit 150000";
            command(&format!("tc -n {} qdisc replace dev far root handle 6e6c: {bucket}", network.router));
            None
        }
    };
    let flows = Flows::start(&network, control, 4);
    let seen = look(&network, spell);
    let summary = instance.map(|instance| {
        let ended = instance.end();
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", text(&ended.stderr)))
    });
    flows.end();
    println!("{control} {mechanism:?}: {seen:?}\n{summary:?}");
    (seen, summary)
}

/// Runs a case; `None` if the loop woke late, because such a run measures the machine more than the mechanism.
fn in_time(control: &str, mechanism: &str, spell: Spell) -> Option<(Watched, serde_json::Value)> {
    let (seen, summary) = case(control, Some(mechanism), spell);
    let summary = summary.unwrap();
    let (late, missed) = (summary["loop_lateness_p99_s"].as_f64().unwrap(), summary["loop_missed"].as_u64().unwrap());
    if late < 1e-3 && missed < 20 {
        return Some((seen, summary));
    }
    println!("not judged: the loop's p99 is {:.1} ms, {missed} periods were missed", 1e3 * late);
    None
}

const AWM: &str = "--mechanism awm --set beta=1Mb/s";

fn awm_steadies_the_queue(control: &'static str) {
    if !can_run() {
        return;
    }
    in_one_that_counts(|| {
        let without = std::thread::spawn(move || case(control, None, SHORT).0);
        let with = in_time(control, AWM, SHORT);
        let without = without.join().unwrap();
        with.map(|(with, summary)| is_steadied(control, &without, &with, &summary))
    });
}

fn is_steadied(control: &str, without: &Watched, with: &Watched, summary: &serde_json::Value) -> Result<(), String> {
    check(summary["rewritten"].as_u64().unwrap() > 1000 && summary["untold"] == 0, summary)?;
    let gain = without.deviation / with.deviation;
    println!("{control}: queue sd {:.1} -> {:.1} kB", without.deviation / 1e3, with.deviation / 1e3);
    // Under other load the gain is 2 to 9 and nothing is dropped (docs/models/g-router.md); losing a processor for
    // milliseconds reduces the gain further.
    check(gain > 1.3 && 2 * with.drops <= without.drops.max(20), (without, "against", with))?;
    check((with.mean / 75_000.0 - 1.0).abs() < 0.4, ("the target is half the buffer", with))?;
    check(with.megabits_per_second > 15.0, ("the link is not full", with))?;
    check((3.0..5.0).contains(&summary["flows"].as_f64().unwrap()), summary)
}

#[test]
fn awm_steadies_the_queue_of_reno() {
    awm_steadies_the_queue("reno");
}

#[test]
fn awm_steadies_the_queue_of_cubic() {
    awm_steadies_the_queue("cubic");
}

/// Once per RTT, with the RTT from timestamps.
const WITH_C_EARTH: &str = "--mechanism g-router --set beta=1Mb/s --set min_rate=1Mb/s \
                            --set round_trip.kind=timestamps --set round_trip.initial=100ms";

#[test]
fn awm_with_c_earth_runs_on_real_senders() {
    if !can_run() {
        return;
    }
    in_one_that_counts(|| {
        let (seen, summary) = in_time("cubic", WITH_C_EARTH, SHORT)?;
        // 60 ms and the queueing delay, which grows as the link slows down.
        assert!(summary["round_trip_s"].as_f64().unwrap() > 0.06, "{summary}");
        let changes = summary["rate_changes"].as_u64().unwrap() > 0;
        Some(check(changes && seen.megabits_per_second > 5.0, (seen, summary)))
    });
}

#[test]
#[ignore = "a measurement of five minutes: the table of docs/models/g-router.md, for a machine that does nothing else"]
fn figures() {
    if !can_run() {
        return;
    }
    let rows = [
        ("reno, no control", "reno", None),
        ("reno, AWM", "reno", Some(AWM)),
        ("cubic, no control", "cubic", None),
        ("cubic, AWM", "cubic", Some(AWM)),
        ("cubic, AWM and C-EARTH (once per RTT, RTT by timestamps)", "cubic", Some(WITH_C_EARTH)),
    ];
    // Round by round, so that changes on the machine affect every row equally.
    let rounds: Vec<Vec<_>> =
        (0..3).map(|_| rows.iter().map(|&(_, control, mechanism)| case(control, mechanism, LONG)).collect()).collect();
    let seen = |row: usize, value: fn(&Watched) -> f64| spread(rounds.iter().map(|round| value(&round[row].0)));
    let told = |row: usize, name: &str, scale: f64| {
        let told = |round: &Vec<(Watched, Option<serde_json::Value>)>| round[row].1.as_ref()?[name].as_f64();
        spread(rounds.iter().filter_map(told).map(|figure| scale * figure))
    };
    let count = rounds.len();
    println!("mean (least to most) of {count} runs each");
    println!("| | queue, kB | its standard deviation, kB | drops | Mb/s | loop late, p99, ms | periods missed |");
    println!("|---|---|---|---|---|---|---|");
    for (row, (title, ..)) in rows.iter().enumerate() {
        let queue = [
            seen(row, |seen| seen.mean / 1e3),
            seen(row, |seen| seen.deviation / 1e3),
            seen(row, |seen| seen.drops as f64),
            seen(row, |seen| seen.megabits_per_second),
        ];
        let [late, missed] = [told(row, "loop_lateness_p99_s", 1e3), told(row, "loop_missed", 1.0)];
        println!("| {title} | {} | {late} | {missed} |", queue.join(" | "));
    }
    for (row, (title, ..)) in rows.iter().enumerate().filter(|(_, row)| row.2.is_some()) {
        let [flows, changes] = [told(row, "flows", 1.0), told(row, "rate_changes", 1.0)];
        let round_trip = told(row, "round_trip_s", 1e3);
        let c_earth =
            if round_trip.is_empty() { round_trip } else { format!(", RTT {round_trip} ms, changes of C {changes}") };
        println!("{title}: N {flows}{c_earth}");
    }
}

/// The mean and the range of some figures, for pasting; empty without figures.
fn spread(figures: impl Iterator<Item = f64>) -> String {
    let figures: Vec<_> = figures.collect();
    if figures.is_empty() {
        return String::new();
    }
    let mean = figures.iter().sum::<f64>() / figures.len() as f64;
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == 0.0 && least == 0.0 {
        return "0".to_owned();
    }
    let digits = if most < 1.0 { 2 } else { 1 };
    format!("{mean:.digits$} ({least:.digits$} to {most:.digits$})")
}

#[test]
fn figures_are_shown_by_mean_and_range() {
    assert_eq!(spread([4.0, 6.05, 5.0].into_iter()), "5.0 (4.0 to 6.0)");
    assert_eq!(spread([0.25, 0.35].into_iter()), "0.30 (0.25 to 0.35)");
    assert_eq!(spread([0.0, 0.0].into_iter()), "0");
    assert_eq!(spread(std::iter::empty()), "");
}
