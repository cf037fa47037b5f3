//! Scripts with times in ms by default, packets of 1500 B = 12 000 bit, delta 2 ms, mRCI 16 ms, d 40 ms.

use super::*;
use crate::rate::RateSet;

const MS: fn(u64) -> Duration = Duration::from_millis;
const M: fn(u64) -> BitRate = BitRate::from_mbps;

fn at(millis: u64) -> Instant {
    Instant::ZERO + MS(millis)
}

/// 1..n Mb/s, starting at `initial` Mb/s, with the newest sample alone as forecast.
fn config(n: u64, initial: u64) -> PractRaConfig {
    let rates = RateSet::from_range(M(1), M(n), M(1)).unwrap();
    PractRaConfig { forecast_weight: 1.0, initial_rate: Some(M(initial)), ..PractRaConfig::intertwining_2012(rates) }
}

struct Script {
    machine: PractRa,
    now: Instant,
}

impl Script {
    fn new(config: &PractRaConfig) -> Self {
        Self { machine: PractRa::new(config, Instant::ZERO).unwrap(), now: Instant::ZERO }
    }

    fn at(&mut self, now: Instant) -> &mut Self {
        self.now = now;
        self
    }

    fn send(&mut self, event: LinkEvent) -> Option<u64> {
        self.machine.handle(self.now, event);
        self.machine.poll_action().and_then(LinkAction::new_rate).map(|(rate, pause)| {
            assert_eq!(pause, self.machine.transition);
            rate.as_bps() / 1_000_000
        })
    }

    /// A packet of `size` bytes is accepted, with a backlog of `waiting` bytes after it. Returns the new rate in
    /// Mb/s after a change.
    fn arrives(&mut self, size: u64, waiting: u64) -> Option<u64> {
        self.send(LinkEvent::Arrival {
            size: Bytes::new(size),
            admission: Admission::Accepted,
            queue: view(waiting, 1500),
            segment: None,
        })
    }

    fn dropped(&mut self, size: u64, waiting: u64) -> Option<u64> {
        self.send(LinkEvent::Arrival {
            size: Bytes::new(size),
            admission: Admission::Dropped,
            queue: view(waiting, 1500),
            segment: None,
        })
    }

    fn departs(&mut self, waiting: u64, in_service: u64) -> Option<u64> {
        self.send(LinkEvent::Departure { queue: view(waiting, in_service) })
    }

    fn timeout(&mut self, waiting: u64) -> Option<u64> {
        self.send(LinkEvent::Timeout { queue: view(waiting, 0) })
    }

    fn wake(&self) -> Option<Instant> {
        self.machine.next_timeout()
    }
}

fn view(waiting: u64, in_service: u64) -> QueueView {
    QueueView { waiting: Bytes::new(waiting), in_service: Bytes::new(in_service) }
}

// --- The arithmetic of thresholds and climbs ---

#[test]
fn the_delay_bound_is_three_packets_at_the_lowest_rate_and_thirty_three_at_the_highest() {
    // d r_1 = 40 ms * 1 Mb/s = 40 000 bit = 3.33 packets; d r_10 = 400 000 bit = 33.3 packets.
    assert_eq!(delay_in_bits(MS(40), M(1)), 40_000);
    assert_eq!(delay_in_bits(MS(40), M(1)) / 12_000, 3);
    assert_eq!(delay_in_bits(MS(40), M(10)), 400_000);
    assert_eq!(delay_in_bits(MS(40), M(10)) / 12_000, 33);
}

#[test]
fn from_lowest_to_highest_takes_nine_changes_eight_mrci_and_nine_silences() {
    // A queue of 100 packets is too long at every rate. The first change is immediate, each other one follows an
    // mRCI later: 0, 16, ..., 128 ms. Each is followed by delta = 2 ms of silence: 18 ms of the 130.
    let mut script = Script::new(&config(10, 1));
    let mut changes = vec![(at(0), script.at(at(0)).arrives(1500, 150_000).unwrap())];
    for _ in 0..100 {
        let Some(now) = script.wake() else { break };
        if let Some(rate) = script.at(now).timeout(150_000) {
            changes.push((now, rate));
        }
    }
    let expected: Vec<_> = (0..9).map(|n| (at(16 * n), n + 2)).collect();
    assert_eq!(changes, expected);
    assert_eq!(script.machine.changes(), 9);
    assert_eq!(changes[8].0 - changes[0].0, MS(16) * 8);
}

// --- Rule 1.1, first half: q/r_i > d ---

#[test]
fn a_queue_of_exactly_the_delay_bound_is_not_too_long() {
    // At 1 Mb/s d r_1 = 40 000 bit = 5000 B; the second half has a higher limit, (d - delta) r_2 = 76 000 bit.
    assert_eq!(Script::new(&config(2, 1)).at(at(1)).arrives(0, 5000), None);
    assert_eq!(Script::new(&config(2, 1)).at(at(1)).arrives(0, 5001), Some(2));
}

// --- Rule 1.1, second half: (delta rf + q)/r_{i+1} > d - delta ---

#[test]
fn a_full_forecast_and_queue_of_exactly_the_slack_is_not_too_long() {
    // At 1 Mb/s with q = 5000 B = 40 000 bit, (d - delta) r_2 = 76 000 bit leave delta rf = 36 000 bit: rf = 18
    // Mb/s, or 36 000 B in a sample of 16 ms.
    let forecast_of = |bytes| {
        let mut script = Script::new(&config(2, 1));
        assert_eq!(script.at(at(1)).arrives(bytes, 0), None);
        script.at(at(16)).timeout(5000)
    };
    assert_eq!(forecast_of(36_000), None);
    assert_eq!(forecast_of(36_001), Some(2));
}

#[test]
fn where_the_rates_are_close_the_silence_alone_calls_for_more() {
    // From 1000 to 1010 kb/s: (d - delta) r_2 = 38 380 bit is less than d r_1 = 40 000 bit. 4797 B = 38 376 bit
    // is below it. 4798 B = 38 384 bit is above it, though its delay at r_1 would be only 38.384 ms.
    let rates = RateSet::from_list(&[BitRate::from_bps(1_000_000), BitRate::from_bps(1_010_000)]).unwrap();
    let config = PractRaConfig { initial_rate: Some(M(1)), ..PractRaConfig::intertwining_2012(rates) };
    assert_eq!(Script::new(&config).at(at(1)).arrives(0, 4797), None);
    assert!(Script::new(&config).at(at(1)).arrives(0, 4798).is_some());
}

#[test]
fn there_is_nothing_above_the_highest_rate() {
    let mut script = Script::new(&config(2, 2));
    assert_eq!(script.at(at(1)).arrives(1500, 1_000_000), None);
}

// --- Rule 1.2: q = 0 and rf < r_{i-1} ---

#[test]
fn a_forecast_of_exactly_the_rate_below_is_too_much_for_it() {
    // 2000 B in 16 ms are 1 Mb/s = r_1; 1999 B are less.
    let forecast_of = |bytes| {
        let mut script = Script::new(&config(2, 2));
        assert_eq!(script.at(at(1)).arrives(bytes, 0), None);
        script.at(at(16)).timeout(0)
    };
    assert_eq!(forecast_of(2000), None);
    assert_eq!(forecast_of(1999), Some(1));
}

#[test]
fn one_waiting_byte_keeps_the_rate() {
    let mut script = Script::new(&config(2, 2));
    assert_eq!(script.at(at(16)).timeout(1), None);
    assert_eq!(script.at(at(17)).departs(0, 0), Some(1));
}

// --- Rule 1.3: one change per mRCI ---

#[test]
fn the_next_change_waits_for_the_whole_of_mrci() {
    let mut script = Script::new(&config(3, 1));
    assert_eq!(script.at(at(1)).arrives(1500, 60_000), Some(2));
    assert_eq!(script.wake(), Some(at(16)), "the sample of the packet that arrived");
    assert_eq!(script.at(at(16)).timeout(60_000), None);
    assert_eq!(script.wake(), Some(at(17)));
    assert_eq!(script.at(Instant::from_nanos(16_999_999)).departs(60_000, 1500), None);
    assert_eq!(script.at(at(17)).timeout(60_000), Some(3));
}

// --- Wake-ups ---

#[test]
fn an_idle_link_steps_down_to_its_lowest_rate_and_falls_quiet() {
    // No arrivals. The first sample ends at 16 ms and is empty; then one step follows per mRCI.
    let mut script = Script::new(&config(4, 4));
    for (millis, rate) in [(16, 3), (32, 2), (48, 1)] {
        assert_eq!(script.wake(), Some(at(millis)));
        assert_eq!(script.at(at(millis)).timeout(0), Some(rate));
    }
    assert_eq!(script.wake(), None);
}

#[test]
fn the_forecast_holds_an_idle_link_up_until_it_has_decayed() {
    // w = .25. 20 000 B in the first sample: 10 Mb/s. Empty samples: 7.5, 5.625, 4.21875, 3.1640625, 2.37... The
    // rate below 4 is 3, so the fifth empty sample, at 16 + 5 * 16 = 96 ms, brings the step down.
    let mut script = Script::new(&PractRaConfig { forecast_weight: 0.25, ..config(4, 4) });
    script.at(at(1)).arrives(20_000, 0);
    for millis in [16, 32, 48, 64, 80] {
        assert_eq!(script.wake(), Some(at(millis)));
        assert_eq!(script.at(at(millis)).timeout(0), None);
    }
    assert_eq!(script.at(at(96)).timeout(0), Some(3));
}

#[test]
fn after_a_quiet_spell_the_missed_samples_count_and_the_grid_stays() {
    // 8000 B in the first sample: 4 Mb/s. The link is idle at 1 Mb/s from 16 ms on. The next arrival is at 1 000
    // 005 ms, in the interval that ends at 62 501 * 16 = 1 000 016 ms.
    let mut script = Script::new(&PractRaConfig { forecast_weight: 0.25, ..config(4, 1) });
    script.at(at(1)).arrives(8000, 0);
    assert_eq!(script.wake(), Some(at(16)));
    script.at(at(16)).timeout(0);
    assert_eq!(script.wake(), None, "at the lowest rate with nothing arrived");
    assert!((script.machine.forecast() - 4e6).abs() < 1e-6);
    assert!((script.machine.forecast_at(at(48)) - 4e6 * 0.75 * 0.75).abs() < 1e-6);
    script.at(at(1_000_005)).arrives(1500, 0);
    assert!(script.machine.forecast() < 1e-300);
    assert_eq!(script.wake(), Some(at(1_000_016)));
}

#[test]
fn a_busy_link_asks_for_its_samples() {
    let mut script = Script::new(&config(4, 1));
    assert_eq!(script.at(at(3)).arrives(1500, 0), None);
    assert_eq!(script.wake(), Some(at(16)));
}

#[test]
fn late_and_uncalled_timeouts_do_no_harm() {
    let mut script = Script::new(&config(2, 2));
    assert_eq!(script.at(at(3)).timeout(0), None, "before the first sample");
    assert_eq!(script.wake(), Some(at(16)));
    assert_eq!(script.at(at(21)).timeout(0), Some(1), "5 ms late");
    assert_eq!(script.wake(), None);
    assert_eq!(script.at(at(500)).timeout(0), None);
}

// --- Readings ---

#[test]
fn reading_the_packet_being_sent_can_count_as_queue() {
    // A backlog of 4000 B, and 1500 B in service at 1 Mb/s: 4000 B are below d r_1 = 5000 B, 5500 B are above it.
    let both = PractRaConfig { queue: QueueCount::WaitingAndInService, ..config(2, 1) };
    assert_eq!(Script::new(&config(2, 1)).at(at(1)).arrives(0, 4000), None);
    assert_eq!(Script::new(&both).at(at(1)).arrives(0, 4000), Some(2));
    // A step down also requires an idle transmitter.
    for (config, expected) in [(config(2, 2), Some(1)), (both, None)] {
        let config = PractRaConfig { initial_rate: Some(M(2)), ..config };
        assert_eq!(Script::new(&config).at(at(16)).departs(0, 1500), expected);
    }
}

#[test]
fn reading_drops_count_as_arrivals_or_not() {
    // 3000 B offered in 16 ms, half of them dropped: 1.5 or 0.75 Mb/s.
    for (arrivals, forecast) in [(ArrivalCount::Offered, 1.5e6), (ArrivalCount::Accepted, 0.75e6)] {
        let mut script = Script::new(&PractRaConfig { arrivals, ..config(2, 1) });
        script.at(at(1)).arrives(1500, 0);
        script.at(at(2)).dropped(1500, 0);
        script.at(at(16)).timeout(0);
        assert!((script.machine.forecast() - forecast).abs() < 1e-6);
    }
}

#[test]
fn reading_on_a_tick_the_rules_wait_for_it() {
    // Ticks at 10, 20, 30 ms. The queue is too long at 3 ms: tested at 10 ms. mRCI ends at 26 ms: tested again at
    // 30 ms.
    let mut script = Script::new(&PractRaConfig { tick: Some(MS(10)), ..config(3, 1) });
    assert_eq!(script.at(at(3)).arrives(0, 60_000), None);
    assert_eq!(script.wake(), Some(at(10)));
    assert_eq!(script.at(at(5)).timeout(60_000), None, "off the grid");
    assert_eq!(script.at(at(10)).timeout(60_000), Some(2));
    assert_eq!(script.wake(), Some(at(30)));
    assert_eq!(script.at(at(26)).departs(60_000, 1500), None);
    assert_eq!(script.at(at(30)).timeout(60_000), Some(3));
    assert_eq!(script.wake(), None, "at the highest rate, no arrivals: only a departure can empty the queue");
}

#[test]
fn reading_on_a_tick_a_queue_that_came_and_went_is_not_seen() {
    let mut script = Script::new(&PractRaConfig { tick: Some(MS(10)), ..config(2, 1) });
    script.at(at(3)).arrives(0, 60_000);
    assert_eq!(script.wake(), Some(at(10)));
    script.at(at(9)).departs(0, 1500);
    assert_eq!(script.wake(), None);
}

#[test]
fn reading_a_tick_served_late_is_still_served() {
    // The driver serves the tick of 10 ms at 12 ms, after another packet event.
    let mut script = Script::new(&PractRaConfig { tick: Some(MS(10)), ..config(2, 1) });
    script.at(at(3)).arrives(0, 60_000);
    assert_eq!(script.at(at(11)).departs(60_000, 1500), None);
    assert_eq!(script.wake(), Some(at(11)), "due at once");
    assert_eq!(script.at(at(12)).timeout(60_000), Some(2));
}

#[test]
fn reading_a_forecast_of_zero_lets_the_rate_fall_at_once() {
    let zero = PractRaConfig { forecast_start: ForecastStart::Zero, ..config(2, 2) };
    let mut script = Script::new(&zero);
    assert_eq!(script.wake(), Some(at(0)));
    assert_eq!(script.at(at(0)).timeout(0), Some(1));
    let mut script = Script::new(&config(2, 2));
    assert_eq!(script.at(at(0)).timeout(0), None);
    assert_eq!(script.wake(), Some(at(16)));
}

#[test]
fn reading_the_forecast_can_have_its_own_interval() {
    let mut script = Script::new(&PractRaConfig { forecast_interval: Some(MS(5)), ..config(2, 1) });
    script.at(at(1)).arrives(1500, 0);
    assert_eq!(script.wake(), Some(at(5)));
    script.at(at(5)).timeout(0);
    assert!((script.machine.forecast() - 2.4e6).abs() < 1e-6, "12 000 bit in 5 ms");
}

#[test]
fn reading_the_run_starts_at_the_highest_rate_unless_told() {
    let initial_rate = None;
    assert_eq!(Script::new(&PractRaConfig { initial_rate, ..config(10, 1) }).machine.rate(), M(10));
    assert_eq!(Script::new(&config(10, 4)).machine.rate(), M(4));
}

// --- Configuration ---

#[test]
fn what_is_wrong_is_named() {
    let good = config(10, 10);
    let why = |config: PractRaConfig| PractRa::new(&config, Instant::ZERO).unwrap_err().to_string();
    assert_eq!(
        why(PractRaConfig { min_interval: MS(2), ..good.clone() }),
        "min_interval is 2 ms; expected more than transition (2 ms)"
    );
    assert_eq!(
        why(PractRaConfig { min_interval: Duration::ZERO, ..good.clone() }),
        "min_interval is 0 s; expected more than 0 s"
    );
    assert_eq!(
        why(PractRaConfig { delay_bound: MS(2), ..good.clone() }),
        "delay_bound is 2 ms; expected more than transition (2 ms)"
    );
    for (weight, value) in [(0.0, "0"), (-0.5, "-0.5"), (1.01, "1.01"), (f64::NAN, "not finite")] {
        let said = why(PractRaConfig { forecast_weight: weight, ..good.clone() });
        assert_eq!(said, format!("forecast_weight is {value}; expected more than 0 and at most 1"));
    }
    assert_eq!(
        why(PractRaConfig { initial_rate: Some(M(11)), ..good.clone() }),
        "initial_rate is 11 Mb/s; expected one of the rates, 1 Mb/s to 10 Mb/s"
    );
    assert!(
        why(PractRaConfig { forecast_interval: Some(Duration::ZERO), ..good.clone() })
            .starts_with("forecast_interval is 0 s")
    );
    assert!(why(PractRaConfig { tick: Some(Duration::ZERO), ..good }).starts_with("tick is 0 s"));
}

#[test]
fn no_silence_at_all_is_allowed() {
    let free = PractRaConfig { transition: Duration::ZERO, ..config(2, 2) };
    assert_eq!(Script::new(&free).at(at(16)).timeout(0), Some(1));
}

fn jumping(initial: u64) -> PractRaConfig {
    PractRaConfig { steps: Reach::Any, ..config(10, initial) }
}

#[test]
fn a_jump_up_ends_at_the_least_rate_that_meets_both_halves() {
    // A backlog of 30 kB: 240 kbit / r <= 40 ms from 6 Mb/s on, but (0 + 240 kbit) / r <= 38 ms only from 6.3 on:
    // 7 Mb/s.
    assert_eq!(Script::new(&jumping(1)).arrives(1500, 30_000), Some(7));
    assert_eq!(Script::new(&config(10, 1)).arrives(1500, 30_000), Some(2), "adjacent, as printed");
    // 38 ms x 6 Mb/s = 228 kbit = 28,500 B is the limit for 6 Mb/s; one byte more requires 7.
    assert_eq!(Script::new(&jumping(1)).arrives(1500, 28_500), Some(6));
    assert_eq!(Script::new(&jumping(1)).arrives(1500, 28_501), Some(7));
    // 500 kbit need 13.2 Mb/s, more than the highest rate.
    assert_eq!(Script::new(&jumping(3)).arrives(1500, 62_500), Some(10));
}

#[test]
fn a_jump_down_ends_at_the_least_rate_above_the_forecast() {
    let mut script = Script::new(&jumping(10));
    // 3000 B in 16 ms are 1.5 Mb/s: below 2 Mb/s, not below 1.
    assert_eq!(script.at(at(1)).arrives(1500, 0), None);
    assert_eq!(script.at(at(2)).arrives(1500, 0), None);
    assert_eq!(script.at(at(16)).departs(0, 0), Some(2));
    // One change and one mRCI, whatever its size: no change at 31 ms, and at 32 ms the forecast is zero.
    assert_eq!(script.at(at(31)).departs(0, 0), None);
    assert_eq!(script.at(at(32)).departs(0, 0), Some(1));
    assert_eq!(script.machine.changes(), 2);
}
