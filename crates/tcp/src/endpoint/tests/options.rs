//! Timestamps, PAWS and window scaling: RFC 7323.

use super::*;
use netlull_units::Bytes;

fn stamped() -> Config {
    Config { timestamps: true, ..plain() }
}

fn with_stamp(segment: Segment, ts_val: u32, ts_ecr: u32) -> Segment {
    Segment { flags: segment.flags | Flags::HAS_TIMESTAMPS, ts_val, ts_ecr, ..segment }
}

#[test]
fn segments_carry_the_clock_and_echo_the_peers() {
    let mut t = Script::connected(&stamped());
    t.until(250);
    t.send(988);
    assert_eq!(t.sent(), ["250 ms 0+988"]);
    assert_eq!((t.last.ts_val, t.last.ts_ecr, t.last.wire_len()), (250, 0, 20 + 20 + 12 + 988));
    t.takes(300, &with_stamp(t.peer_segment(0, 988), 42, 250));
    assert_eq!(t.tcp.srtt(), Some(Duration::from_millis(50)));
    t.send(10);
    assert_eq!(t.last.ts_ecr, 42);
}

#[test]
fn a_retransmission_is_a_sample_with_timestamps() {
    // RFC 7323 section 4: the echo identifies the acknowledged transmission; it ends the back-off.
    let mut t = Script::connected(&stamped());
    t.send(500);
    t.until(1000);
    assert_eq!(t.tcp.rto(), Duration::from_secs(2));
    t.takes(1100, &with_stamp(t.peer_segment(0, 500), 9, 1000));
    assert_eq!((t.tcp.srtt(), t.tcp.rto()), (Some(Duration::from_millis(100)), Duration::from_secs(1)));
}

#[test]
fn the_back_off_ends_in_the_middle_of_a_window() {
    // The sample at 100 ms is the window's; after the timeout at 1100 ms the next echo counts as well.
    let mut t = Script::connected(&stamped());
    t.send(9880);
    t.takes(100, &with_stamp(t.peer_segment(0, 988), 5, 0));
    t.until(1100);
    assert_eq!(t.tcp.rto(), Duration::from_secs(2));
    t.takes(1200, &with_stamp(t.peer_segment(0, 1976), 6, 1100));
    assert_eq!(t.tcp.rto(), Duration::from_secs(1));
}

#[test]
fn a_delayed_acknowledgement_echoes_the_first_segment() {
    // RFC 7323 section 4.3 (A): the round trip includes the delay.
    let timeout = Duration::from_millis(200);
    let mut t = Script::connected(&stamped().with(|c| c.acks.delayed_ack = DelayedAck::EverySecond { timeout }));
    let data = |t: &Script, offset, ts_val| with_stamp(Segment { len: 500, ..t.peer_segment(offset, 0) }, ts_val, 0);
    t.takes(10, &data(&t, 0, 5));
    t.takes(50, &data(&t, 500, 45));
    assert_eq!((t.sent(), t.last.ts_ecr), (vec!["50 ms ack 1000".to_owned()], 5));
    // (B): ahead of a gap the timestamp of the last segment in order is echoed; (C): the one that fills it counts.
    t.takes(60, &data(&t, 1500, 55));
    assert_eq!((t.sent(), t.last.ts_ecr), (vec!["60 ms ack 1000".to_owned()], 5));
    t.takes(70, &data(&t, 1000, 65));
    assert_eq!((t.sent(), t.last.ts_ecr), (vec!["70 ms ack 2000".to_owned()], 65));
}

#[test]
fn paws_refuses_an_old_segment() {
    // RFC 7323 section 5.3 R1: in the window, but with a timestamp before TS.Recent: acknowledged and dropped.
    let mut t = Script::connected(&stamped());
    let data = |t: &Script, offset, ts_val| with_stamp(Segment { len: 500, ..t.peer_segment(offset, 0) }, ts_val, 0);
    t.takes(10, &data(&t, 0, 100));
    t.takes(20, &data(&t, 500, 99));
    assert_eq!(t.sent(), ["10 ms ack 500", "20 ms ack 500"]);
    assert_eq!((t.tcp.bytes_delivered(), t.tcp.counters().refused_segments), (500, 1));
    // The same timestamp again is fine; none at all is not (section 3.2).
    t.takes(30, &data(&t, 500, 100));
    assert_eq!(t.tcp.bytes_delivered(), 1000);
    t.data(40, 1000, 500);
    assert_eq!(t.tcp.bytes_delivered(), 1000);
}

#[test]
fn windows_are_scaled_both_ways() {
    // A buffer of 1 MiB: the smallest shift with 65535 2^s >= 2^20 is 5 (65535 * 16 is 16 short); 2^20 / 32 = 32768.
    let config = plain().with(|c| {
        c.flow_control.window_scaling = true;
        c.flow_control.receive_buffer = Bytes::new(1 << 20);
    });
    let mut t = Script::connected(&config);
    t.data(1, 0, 1000);
    assert_eq!(t.last.window, 32_768);
    assert_eq!(t.tcp.receive_window_edge(), 1000 + (1 << 20));
}

#[test]
fn a_scaled_window_is_rounded_down_only_when_the_buffer_is_full() {
    // Shift 1 (65535 < 100000 <= 131070). 1001 bytes unread leave 98999: the field is 49499, a byte less than
    // advertised; the byte is still accepted (RFC 7323 section 2.4).
    let config = plain().with(|c| {
        c.flow_control.window_scaling = true;
        c.flow_control.application_read = crate::ApplicationRead::OnDemand;
        c.flow_control.receive_buffer = Bytes::new(100_000);
    });
    let mut t = Script::connected(&config);
    t.data(1, 0, 1001);
    assert_eq!((t.last.window, t.tcp.receive_window_edge()), (49_499, 100_000));
}
