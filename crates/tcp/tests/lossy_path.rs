//! Two endpoints over a path that loses, repeats, delays, reorders and marks segments. A model checks TCP's
//! guarantees: every byte arrives once and in order, no stall, no window overrun, no acknowledgement taken back, and
//! both ends close in the end. All algorithms, recoveries and options are mixed.

use crate::support::{HEAD, Scene, World, fuzz_input};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order_and_both_ends_close(bytes in vec(any::<u8>(), HEAD..HEAD + 400)) {
        let scene = Scene::from_bytes(&bytes);
        for config in &scene.configs {
            prop_assert_eq!(config.validate(), Ok(()));
        }
        if let Err(why) = World::new(&scene).run() {
            prop_assert!(false, "{}", why);
        }
    }
}

#[test]
fn any_bytes_mean_a_scene() {
    for len in [0, 1, HEAD - 1, HEAD, HEAD + 1] {
        assert_eq!(World::new(&Scene::from_bytes(&vec![7; len])).run(), Ok(()));
    }
}

#[test]
fn a_trace_tells_of_every_segment() {
    // No data in either direction and no loss: a SYN and a SYN+ACK, two FINs, and every segment sent is accepted.
    let scene = Scene::from_bytes(&[0; HEAD]);
    let mut world = World::traced(&scene);
    assert_eq!(world.run(), Ok(()));
    let count = |what: &str| world.trace().iter().filter(|line| line.contains(what)).count();
    assert_eq!((count("SYN"), count("FIN"), count("sends")), (4, 4, count("takes")));
}

#[test]
fn inputs_of_the_fuzzer_pass() {
    // The same batch every time; `make fuzz` continues from there.
    let mut reached = [0; 10];
    for number in 0..300 {
        let mut world = World::new(&Scene::from_bytes(&fuzz_input(1, number)));
        assert_eq!(world.run(), Ok(()), "input {number} of seed 1");
        for c in world.counters() {
            let each = [
                c.fast_retransmits,
                c.partial_acks,
                c.timeouts,
                c.tail_probes,
                c.echo_reductions,
                c.zero_window_probes,
                c.idle_restarts,
                c.refused_segments,
                c.undone_fast_retransmits,
                c.undone_timeouts,
            ];
            reached.iter_mut().zip(each).for_each(|(sum, count)| *sum += count);
        }
    }
    // The inputs reach the states under test, often; only a late segment makes a recovery needless.
    let (states, undone) = reached.split_at(8);
    assert!(states.iter().all(|&count| count > 100) && undone.iter().all(|&count| count > 10), "{reached:?}");
}
