//! Random packets: correct, truncated, changed and made-up ones. The parser must agree with etherparse, and rewriting
//! must be reversible.

use crate::support::{Input, Kind, fuzz_input, judge, judge_built, judge_input};
use netlull_wire::{Packet, parse, set_window, verify_checksums};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_built_reads_as_it_was_written(bytes in proptest::collection::vec(any::<u8>(), 0..250)) {
        let (spec, payload) = Input(&bytes).spec();
        let mut packet = Vec::new();
        netlull_wire::build_tcp(&spec, &payload, &mut packet).expect("a packet that can be written");
        let judged = judge_built(&spec, &payload, &packet);
        prop_assert_eq!(judged, Ok(Kind::Tcp));
    }

    #[test]
    fn any_input_is_judged_well(bytes in proptest::collection::vec(any::<u8>(), 0..250)) {
        let judged = judge_input(&bytes);
        prop_assert!(judged.is_ok(), "{:?}", judged);
    }

    #[test]
    fn any_bytes_do_no_harm(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), first in 0x3fu8..0x70) {
        if let Some(byte) = bytes.first_mut() {
            *byte = first;
        }
        let judged = judge(&bytes, 0xffff);
        prop_assert!(judged.is_ok(), "{:?}", judged);
    }
}

#[test]
fn inputs_reach_every_kind_of_packet() {
    let mut seen = [0; 4];
    for number in 0..20_000 {
        let bytes = fuzz_input(1, number);
        let kind = judge_input(&bytes).unwrap_or_else(|why| panic!("input {number}: {why}\n{bytes:02x?}"));
        seen[kind as usize] += 1;
    }
    assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
}

/// Writes every window over each of a few others on a correct packet. The full sum confirms that the checksum stays
/// correct, even where it is 0x0000 (RFC 1624, section 3).
#[test]
fn every_window_keeps_the_checksum_right() {
    let (spec, payload) = Input(&fuzz_input(7, 3)).spec();
    let mut packet = Vec::new();
    netlull_wire::build_tcp(&spec, &payload, &mut packet).expect("a packet that can be written");
    let mut zeros = 0;
    for window in 0..=u16::MAX {
        for before in [0, 1, 0x8000, 0xffff] {
            set_window(&mut packet, before).expect("a segment");
            set_window(&mut packet, window).expect("a segment");
            assert!(verify_checksums(&packet).expect("a segment").tcp, "{before} {window}");
        }
        let Ok(Packet::Tcp(tcp)) = parse(&packet) else { panic!("no segment") };
        zeros += u32::from(tcp.checksum() == 0);
        assert_ne!(tcp.checksum(), 0xffff, "{window}");
    }
    assert!(zeros > 0, "no window gives a checksum of zero");
}
