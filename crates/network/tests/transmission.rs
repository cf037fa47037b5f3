//! The line of a link while it is idle, pauses or is suspended, by hand. 1500 B take 1.2 ms at 10 Mb/s.

use netlull_network::plan::InService;
use netlull_network::transmission::{Next, RateChange, Service, Turn};
use netlull_units::{BitRate, Duration, Instant};

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

const MICROS: fn(u64) -> Duration = Duration::from_micros;

fn change(mbps: u64, pause: Duration, in_service: InService) -> RateChange {
    RateChange { rate: BitRate::from_mbps(mbps), pause, in_service }
}

/// A line of 10 Mb/s that sends 1500 B from 0 to 1.2 ms.
fn sending() -> Service {
    let mut service = Service::new(BitRate::from_mbps(10));
    assert_eq!(service.start_idle(at(0), 1500), at(1200));
    service
}

#[test]
fn a_line_knows_whether_it_is_idle_and_for_how_long() {
    let mut service = sending();
    assert_eq!((service.is_idle(), service.serves(), service.idle_for(at(500))), (false, true, None));
    assert_eq!(service.turn(at(1200)), Turn::Sent { goes_over: None, then: Next::Packet });
    service.rest();
    assert_eq!((service.is_idle(), service.serves(), service.next()), (true, false, Instant::NEVER));
    assert_eq!(service.idle_for(at(2000)), Some(MICROS(800)));
    assert_eq!(service.turn(at(2000)), Turn::Nothing);
}

#[test]
fn an_aborted_packet_leaves_an_idle_line() {
    let mut service = sending();
    service.abort(at(700));
    assert_eq!(
        (service.is_idle(), service.next(), service.idle_for(at(1000))),
        (true, Instant::NEVER, Some(MICROS(300)))
    );
}

#[test]
fn a_transmission_ends_without_a_pause_only_while_none_is_due() {
    let mut service = sending();
    assert!(service.end_without_pause(at(1200)));
    service.rest();
    assert_eq!(service.idle_for(at(1500)), Some(MICROS(300)));
    assert!(!service.end_without_pause(at(1500)), "an idle line sends nothing");
    let mut service = sending();
    service.change(at(400), change(5, MICROS(100), InService::FinishThenPause));
    assert!(!service.end_without_pause(at(1200)), "a pause is due");
}

#[test]
fn packets_to_come_begin_one_after_another() {
    let begins = |service: &Service, now| service.would_begin(now, [1500, 750].into_iter()).collect::<Vec<_>>();
    let idle = Service::new(BitRate::from_mbps(10));
    assert_eq!(begins(&idle, at(300)), [at(300), at(1500), at(2100)]);
    let mut service = sending();
    assert_eq!(begins(&service, at(300)), [at(1200), at(2400), at(3000)]);
    // Suspended at 0.4 ms for 1 ms: the rest of 0.8 ms takes 1.6 at 5 Mb/s, the others 2.4 and 1.2.
    service.change(at(400), change(5, MICROS(1000), InService::Suspend));
    assert!(service.serves());
    assert_eq!(begins(&service, at(500)), [at(3000), at(5400), at(6600)]);
}

#[test]
fn a_change_on_an_idle_line_pauses_it_and_further_pauses_add_up() {
    let mut service = Service::new(BitRate::from_mbps(10));
    assert_eq!(service.change(at(0), change(5, Duration::ZERO, InService::FinishThenPause)), Some(Duration::ZERO));
    assert!(service.is_idle());
    assert_eq!(service.change(at(100), change(4, MICROS(200), InService::FinishThenPause)), Some(MICROS(200)));
    assert_eq!((service.is_idle(), service.serves(), service.next()), (false, false, at(300)));
    // At 0.2 ms, 0.1 ms are left, and 0.3 ms are added.
    assert_eq!(service.change(at(200), change(3, MICROS(300), InService::FinishThenPause)), Some(MICROS(400)));
    assert_eq!((service.next(), service.turn(at(600))), (at(600), Turn::Resumed(Next::Packet)));
    // 1500 B take 4 ms at 3 Mb/s.
    assert_eq!((service.rate(), service.start(at(600), 1500)), (BitRate::from_mbps(3), at(4600)));
}

#[test]
fn a_pause_after_the_packet_is_due_and_reported_when_it_begins() {
    let mut service = sending();
    assert_eq!(service.pause_due(), Duration::ZERO);
    assert_eq!(service.change(at(400), change(5, MICROS(500), InService::FinishThenPause)), None);
    assert_eq!(service.change(at(600), change(4, MICROS(300), InService::FinishThenPause)), None);
    assert_eq!(service.pause_due(), MICROS(800));
    assert_eq!(service.turn(at(1200)), Turn::Sent { goes_over: Some(MICROS(800)), then: Next::Wait });
    assert_eq!(service.next(), at(2000));
    // A change without a pause is immediate.
    let mut service = sending();
    assert_eq!(service.change(at(400), change(5, Duration::ZERO, InService::FinishThenPause)), Some(Duration::ZERO));
    assert_eq!((service.next(), service.serves()), (at(1200), true));
}

#[test]
fn a_pause_during_the_packet_ends_with_the_packet_or_after_it() {
    let during = |pause| {
        let mut service = sending();
        assert_eq!(service.change(at(400), change(5, pause, InService::FinishWhilePausing)), Some(pause));
        service.turn(at(1200))
    };
    assert_eq!(during(MICROS(800)), Turn::Sent { goes_over: None, then: Next::Packet });
    assert_eq!(during(MICROS(801)), Turn::Sent { goes_over: None, then: Next::Wait });
}
