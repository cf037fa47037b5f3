//! Closing: RFC 9293 section 3.6, in every order.

use super::*;

/// A client that has sent its FIN at 0 ms after 1000 bytes.
fn closed_after_data() -> Script {
    let mut t = Script::connected(&plain());
    t.tcp.send(Data::Bytes(1000));
    t.tcp.close();
    t.drain();
    assert_eq!(t.sent(), ["0 ms 0+1000 FIN"]);
    assert_eq!(t.tcp.state(), State::FinWait1);
    t
}

#[test]
fn our_fin_first() {
    // RFC 9293 figure 12, left: FIN-WAIT-1, FIN-WAIT-2, TIME-WAIT, and CLOSED after 60 s.
    let mut t = closed_after_data();
    t.ack(50, 1001);
    assert_eq!((t.tcp.state(), t.tcp.bytes_acked(), t.tcp.next_timeout()), (State::FinWait2, 1000, Instant::NEVER));
    // Data still arrives.
    t.data(60, 0, 700);
    t.fin(70, 700, 0);
    assert_eq!(t.sent(), ["60 ms ack 700", "70 ms ack 701"]);
    assert_eq!((t.tcp.state(), t.tcp.bytes_delivered()), (State::TimeWait, 700));
    t.until(60_069);
    assert_eq!(t.tcp.state(), State::TimeWait);
    t.until(60_070);
    assert!(t.tcp.is_closed() && t.tcp.all_acked() && t.tcp.peer_has_closed());
    assert_eq!(t.tcp.next_timeout(), Instant::NEVER);
}

#[test]
fn a_stop_ends_an_endless_stream_behind_what_was_sent() {
    // An initial window of two segments is out. The third is never sent, but the FIN is, which no window holds.
    let mut t = Script::connected(&plain().with(|c| c.cwnd.initial_window = InitialWindow::Segments(2)));
    t.send_endless();
    assert_eq!(t.sent(), ["0 ms 0+1000", "0 ms 1000+1000"]);
    t.tcp.stop();
    t.drain();
    assert_eq!((t.sent(), t.tcp.all_acked()), (vec!["0 ms 2000+0 FIN".to_owned()], false));
    t.ack(50, 2001);
    assert_eq!((t.tcp.state(), t.tcp.all_acked(), t.tcp.bytes_acked()), (State::FinWait2, true, 2000));
    assert!(t.sent().is_empty());
}

#[test]
fn a_stop_cuts_what_was_handed_over_and_not_what_is_sent_again() {
    // Ten segments queued and closed, two sent and lost: the timer retransmits them, then the FIN with the second.
    let mut t = Script::connected(&plain().with(|c| c.cwnd.initial_window = InitialWindow::Segments(2)));
    t.tcp.send(Data::Bytes(10_000));
    t.tcp.close();
    t.drain();
    assert_eq!(t.sent(), ["0 ms 0+1000", "0 ms 1000+1000"]);
    let rto = t.tcp.next_timeout().as_nanos() / 1_000_000;
    t.until(rto);
    t.tcp.stop();
    t.drain();
    t.ack(rto + 50, 1000);
    assert_eq!(t.sent(), [format!("{rto} ms 0+1000"), format!("{} ms 1000+1000 FIN", rto + 50)]);
    t.ack(rto + 100, 2001);
    assert_eq!((t.tcp.all_acked(), t.tcp.bytes_acked()), (true, 2000));
}

#[test]
fn their_fin_first() {
    // RFC 9293 figure 12, right: CLOSE-WAIT, LAST-ACK, CLOSED. Data can be sent in CLOSE-WAIT.
    let mut t = Script::connected(&plain());
    t.fin(10, 0, 300);
    assert_eq!((t.sent(), t.tcp.state()), (vec!["10 ms ack 301".to_owned()], State::CloseWait));
    assert_eq!((t.tcp.bytes_delivered(), t.tcp.peer_has_closed()), (300, true));
    t.send(1000);
    t.close();
    assert_eq!(
        (t.sent(), t.tcp.state()),
        (vec!["10 ms 0+1000".to_owned(), "10 ms 1000+0 FIN".to_owned()], State::LastAck)
    );
    let last = t.peer_segment(301, 1001);
    t.takes(20, &last);
    assert!(t.tcp.is_closed());
    assert_eq!((t.sent(), t.tcp.next_timeout()), (vec![], Instant::NEVER));
}

#[test]
fn both_fins_cross() {
    // RFC 9293 figure 13: CLOSING, then TIME-WAIT.
    let mut t = closed_after_data();
    t.fin(10, 0, 0);
    assert_eq!((t.sent(), t.tcp.state()), (vec!["10 ms ack 1".to_owned()], State::Closing));
    let ack = t.peer_segment(1, 1001);
    t.takes(20, &ack);
    assert_eq!(t.tcp.state(), State::TimeWait);
}

#[test]
fn a_fin_that_acknowledges_ours_skips_closing() {
    let mut t = closed_after_data();
    let both = Segment { flags: Flags::ACK | Flags::FIN, ..t.peer_segment(0, 1001) };
    t.takes(10, &both);
    assert_eq!((t.sent(), t.tcp.state()), (vec!["10 ms ack 1".to_owned()], State::TimeWait));
}

#[test]
fn a_fin_waits_for_the_gap_before_it() {
    let mut t = Script::connected(&plain());
    t.fin(10, 1000, 500);
    assert_eq!((t.sent(), t.tcp.state()), (vec!["10 ms ack 0".to_owned()], State::Established));
    t.data(20, 0, 1000);
    assert_eq!((t.sent(), t.tcp.state()), (vec!["20 ms ack 1501".to_owned()], State::CloseWait));
    assert_eq!(t.tcp.bytes_delivered(), 1500);
}

#[test]
fn a_fin_alone_is_sent_again_by_the_timer() {
    let mut t = Script::connected(&plain());
    t.close();
    t.until(3000);
    assert_eq!(t.sent(), ["0 ms 0+0 FIN", "1000 ms 0+0 FIN", "3000 ms 0+0 FIN"]);
    assert_eq!((t.tcp.counters().timeouts, t.tcp.counters().retransmitted_segments), (2, 2));
    t.ack(3100, 1);
    assert_eq!(t.tcp.state(), State::FinWait2);
}

#[test]
fn a_repeated_fin_is_acknowledged_and_restarts_time_wait() {
    let mut t = closed_after_data();
    let both = Segment { flags: Flags::ACK | Flags::FIN, ..t.peer_segment(0, 1001) };
    t.takes(10, &both);
    t.takes(5000, &both);
    assert_eq!(t.sent(), ["10 ms ack 1", "5000 ms ack 1"]);
    assert_eq!(t.tcp.next_timeout(), at_ms(65_000));
}

#[test]
fn closing_before_the_handshake_is_remembered() {
    let mut t = Script::client(&plain());
    t.open();
    t.send(500);
    t.close();
    let flags = Flags::SYN | Flags::ACK | Flags::HAS_MSS;
    t.takes(10, &Segment { seq: IRS, flags, mss: 1000, ..t.peer_segment(0, 0) });
    assert_eq!((t.sent(), t.tcp.state()), (vec!["0 ms SYN".to_owned(), "10 ms 0+500 FIN".to_owned()], State::FinWait1));
    // After closing, no more data is accepted.
    t.send(500);
    assert_eq!(t.sent(), [""; 0]);
}

#[test]
fn a_fin_needs_no_window() {
    // The peer's window is closed: its FIN, without data, is still received.
    let config = plain().with(|c| {
        c.flow_control.application_read = crate::ApplicationRead::OnDemand;
        c.flow_control.receive_buffer = netlull_units::Bytes::new(1000);
    });
    let mut t = Script::connected(&config);
    t.data(1, 0, 1000);
    assert_eq!(t.last.window, 0);
    t.fin(2, 1000, 0);
    assert_eq!((t.tcp.state(), t.tcp.unread()), (State::CloseWait, 1000));
    assert_eq!(t.sent(), ["1 ms ack 1000", "2 ms ack 1001"]);
}
