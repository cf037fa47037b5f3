//! The counters of a link, and the limits of its buffer.

use netlull_network::outcome::ByName;
use netlull_network::queue::{Buffer, LinkCounters};
use netlull_units::Bytes;

/// Counters that are all different multiples of `base`.
fn counters(base: u64) -> LinkCounters {
    LinkCounters {
        offered_packets: base,
        offered_bytes: 2 * base,
        dropped_packets: 3 * base,
        dropped_bytes: 4 * base,
        managed_drops: 5 * base,
        marked_packets: 6 * base,
        lost_packets: 7 * base,
        lost_bytes: 8 * base,
        asleep_packets: 9 * base,
        asleep_bytes: 10 * base,
        stranded_packets: 11 * base,
        delivered_packets: 12 * base,
        delivered_bytes: 13 * base,
        waited_ns: u128::from(14 * base),
        queued_ns: u128::from(15 * base),
        served_packets: 16 * base,
        waited_in_vain_ns: u128::from(17 * base),
        discarded_packets: 18 * base,
        discarded_bytes: 19 * base,
        most_waiting: 20 * base,
        most_waiting_bytes: 21 * base,
        largest_lateness_ns: 22 * base,
        asleep_ns: 23 * base,
    }
}

#[test]
fn counters_are_subtracted_and_maxima_stay() {
    let (whole, expected) = (counters(9), counters(7));
    let maxima = LinkCounters {
        most_waiting: whole.most_waiting,
        most_waiting_bytes: whole.most_waiting_bytes,
        largest_lateness_ns: whole.largest_lateness_ns,
        ..expected
    };
    assert_eq!(whole.since(&counters(2)), maxima);
}

#[test]
fn a_buffer_admits_up_to_its_limit() {
    let packets = Buffer::Packets(3);
    assert_eq!([2, 3, 4].map(|waiting| packets.admits(waiting, 0, 9000)), [true, false, false]);
    let bytes = Buffer::Bytes(Bytes::new(3000));
    assert_eq!([1499, 1500, 1501].map(|size| bytes.admits(99, 1500, size)), [true, true, false]);
    assert!(Buffer::Unlimited.admits(u64::MAX, u64::MAX, u32::MAX));
}

#[test]
fn a_buffer_has_a_length_and_a_text() {
    let mtu = Bytes::new(1500);
    assert_eq!(Buffer::Packets(3).length(mtu), Some(Bytes::new(4500)));
    assert_eq!(Buffer::Bytes(Bytes::new(3000)).length(mtu), Some(Bytes::new(3000)));
    assert_eq!(Buffer::Unlimited.length(mtu), None);
    let texts =
        [Buffer::Packets(3), Buffer::Bytes(Bytes::new(3000)), Buffer::Unlimited].map(|buffer| buffer.to_string());
    assert_eq!(texts, ["3 packets", "3000 B", "unlimited"]);
}

#[test]
fn entries_are_found_by_name() {
    let entries = ByName(vec![("a".to_owned(), 1), ("b".to_owned(), 2)]);
    assert_eq!((entries.get("b"), entries.get("c"), entries.is_empty()), (Some(&2), None, false));
    assert!(ByName::<u32>(Vec::new()).is_empty());
}
