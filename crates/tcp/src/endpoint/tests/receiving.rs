//! Acknowledging: delays, gaps, duplicates, the window and its edge.

use super::*;
use crate::ApplicationRead;
use crate::endpoint::receiver::Range;
use netlull_units::Bytes;

fn delayed(millis: u64) -> Config {
    plain().with(|c| c.acks.delayed_ack = DelayedAck::EverySecond { timeout: Duration::from_millis(millis) })
}

fn on_demand(buffer: u64) -> Config {
    plain().with(|c| {
        c.flow_control.application_read = ApplicationRead::OnDemand;
        c.flow_control.receive_buffer = Bytes::new(buffer);
    })
}

#[test]
fn every_second_segment_is_acknowledged_or_after_the_delay() {
    // RFC 5681 section 4.2. The delay starts with the first unacknowledged segment.
    let mut t = Script::connected(&delayed(200));
    t.data(10, 0, 1000);
    assert_eq!((t.sent(), t.tcp.next_timeout()), (vec![], at_ms(210)));
    t.data(20, 1000, 1000);
    assert_eq!((t.sent(), t.tcp.next_timeout()), (vec!["20 ms ack 2000".to_owned()], Instant::NEVER));
    t.data(30, 2000, 1000);
    t.until(500);
    assert_eq!(t.sent(), ["230 ms ack 3000"]);
    // The handshake's acknowledgement is the first of three.
    assert_eq!(t.tcp.counters().acks_sent, 3);
}

#[test]
fn two_segments_below_full_size_wait_for_more() {
    // Full-sized is the largest seen: 1000. 300 + 300 + 1000 is less than two of those; with 400 more it is not.
    let mut t = Script::connected(&delayed(200));
    t.data(10, 0, 1000);
    t.data(10, 1000, 1000);
    t.sent();
    t.data(20, 2000, 300);
    t.data(21, 2300, 300);
    assert_eq!(t.sent(), [""; 0]);
    t.data(22, 2600, 1000);
    t.data(23, 3600, 400);
    assert_eq!(t.sent(), ["23 ms ack 4000"]);
}

#[test]
fn data_carries_the_acknowledgement_that_waits() {
    let mut t = Script::connected(&delayed(200));
    t.data(10, 0, 1000);
    t.send(500);
    assert_eq!(t.sent(), ["10 ms 0+500"]);
    assert_eq!((t.last.ack, t.tcp.counters().acks_sent), (IRS.advanced_by(1001), 1));
    let ack = t.peer_segment(1000, 500);
    t.takes(20, &ack);
    assert_eq!((t.sent(), t.tcp.next_timeout()), (vec![], Instant::NEVER));
}

#[test]
fn gaps_and_their_filling_are_acknowledged_at_once() {
    // 0, 2, 4, 3, 1: ranges held ahead of the gap grow together; each segment is acknowledged at once.
    let mut t = Script::connected(&delayed(200));
    t.data(1, 0, 1000);
    t.data(2, 2000, 1000);
    t.data(3, 4000, 1000);
    assert_eq!(t.tcp.rcv.held(), [Range { start: 2000, end: 3000 }, Range { start: 4000, end: 5000 }]);
    t.data(4, 3000, 1000);
    assert_eq!(t.tcp.rcv.held(), [Range { start: 2000, end: 5000 }]);
    t.data(5, 1000, 1000);
    assert_eq!(t.tcp.rcv.held(), []);
    assert_eq!(t.sent(), ["2 ms ack 1000", "3 ms ack 1000", "4 ms ack 1000", "5 ms ack 5000"]);
    assert_eq!((t.tcp.bytes_delivered(), t.tcp.counters().out_of_order_segments), (5000, 3));
}

#[test]
fn one_segment_may_fill_several_gaps() {
    let mut t = Script::connected(&plain());
    t.data(1, 1000, 500);
    t.data(2, 2000, 1000);
    t.data(3, 5000, 1000);
    t.data(4, 0, 2500);
    assert_eq!((t.tcp.bytes_delivered(), t.tcp.rcv.held()), (3000, &[Range { start: 5000, end: 6000 }][..]));
}

#[test]
fn the_edge_moves_by_full_segments() {
    // RFC 9293 section 3.8.6.2.2: with a buffer of 4000, 100 bytes read at once leave the edge at 4000: 3900. With 900
    // more it moves by a segment: 4000 again.
    let mut t = Script::connected(&plain().with(|c| c.flow_control.receive_buffer = Bytes::new(4000)));
    t.data(1, 0, 100);
    assert_eq!(t.last.window, 3900);
    t.data(2, 100, 900);
    assert_eq!(t.last.window, 4000);
}

#[test]
fn what_overlaps_is_delivered_once() {
    let mut t = Script::connected(&plain());
    t.data(1, 2000, 1000);
    t.data(2, 1500, 2000);
    assert_eq!(t.tcp.rcv.held(), [Range { start: 1500, end: 3500 }]);
    t.data(3, 2000, 500);
    assert_eq!(t.tcp.counters().duplicate_segments, 1);
    t.data(4, 0, 1600);
    assert_eq!(t.tcp.bytes_delivered(), 3500);
    // First fully old, then partly old.
    t.data(5, 1000, 1000);
    assert_eq!((t.tcp.bytes_delivered(), t.tcp.counters().duplicate_segments), (3500, 2));
    t.data(6, 3000, 1000);
    assert_eq!(t.tcp.bytes_delivered(), 4000);
    assert_eq!(t.sent().last().map(String::as_str), Some("6 ms ack 4000"));
}

#[test]
fn what_is_not_read_closes_the_window_and_its_edge_never_moves_back() {
    // A buffer of 3000: after 1000, 2000, 3000 unread bytes the window is 2000, 1000, 0; more is refused.
    let mut t = Script::connected(&on_demand(3000));
    for (n, window) in [(0, 2000), (1, 1000), (2, 0)] {
        t.data(n, n * 1000, 1000);
        assert_eq!(t.last.window, window);
    }
    t.sent();
    t.data(3, 3000, 1);
    assert_eq!((t.sent(), t.tcp.unread(), t.last.window), (vec!["3 ms ack 3000".to_owned()], 3000, 0));
    // Its acknowledgement still counts.
    t.send(500);
    t.sent();
    let probe = Segment { len: 1, ..t.peer_segment(3000, 500) };
    t.takes(4, &probe);
    assert!(t.tcp.all_acked());
}

#[test]
fn the_window_opens_by_a_segment_or_half_the_buffer() {
    // RFC 9293 section 3.8.6.2.2: reading 999 of a full buffer of 4000 opens nothing. One byte more opens a segment,
    // which is announced. After that, two segments justify an announcement.
    let mut t = Script::connected(&on_demand(4000));
    for n in 0..4 {
        t.data(n, n * 1000, 1000);
    }
    t.sent();
    assert_eq!(t.read(999), 999);
    assert_eq!(t.sent(), [""; 0]);
    assert_eq!(t.read(1), 1);
    assert_eq!((t.sent(), t.last.window), (vec!["3 ms ack 4000".to_owned()], 1000));
    assert_eq!(t.read(1000), 1000);
    assert_eq!(t.sent(), [""; 0]);
    assert_eq!(t.read(5000), 2000);
    assert_eq!((t.sent(), t.last.window), (vec!["3 ms ack 4000".to_owned()], 4000));
    assert_eq!((t.tcp.bytes_delivered(), t.read(10)), (4000, 0));
}

#[test]
fn data_beyond_the_window_is_cut_off() {
    let mut t = Script::connected(&on_demand(2000));
    t.data(1, 1500, 1000);
    t.data(2, 0, 1500);
    assert_eq!((t.tcp.unread(), t.last.window), (2000, 0));
}

#[test]
fn what_lies_outside_the_window_is_answered() {
    // RFC 9293 section 3.10.7.4, first: an acknowledgement, and the segment is dropped.
    let mut t = Script::connected(&on_demand(2000));
    t.data(1, 2000, 100);
    assert_eq!((t.sent(), t.tcp.counters().refused_segments), (vec!["1 ms ack 0".to_owned()], 1));
    assert_eq!(t.tcp.rcv.held(), []);
    t.takes(2, &Segment { flags: Flags::RST, ..t.peer_segment(5000, 0) });
    assert_eq!((t.sent(), t.tcp.state()), (vec![], State::Established));
}

#[test]
fn the_first_acknowledgements_are_not_delayed_where_that_is_wanted() {
    // Two at once, then every second segment.
    let mut t = Script::connected(&delayed(40).with(|c| c.acks.quick_acks = 2));
    t.data(10, 0, 1000);
    t.data(20, 1000, 1000);
    t.data(30, 2000, 1000);
    assert_eq!(t.sent(), ["10 ms ack 1000", "20 ms ack 2000"]);
    t.data(40, 3000, 1000);
    assert_eq!(t.sent(), ["40 ms ack 4000"]);
}
