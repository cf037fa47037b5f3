//! Properties of the radio's meter, compared with a brute-force count of nanoseconds that shares none of its
//! code.

use netlull_power::{RadioMeter, RadioPower, RadioTime};
use netlull_units::{Duration, Instant};
use proptest::prelude::*;

/// A call to the meter, `after` ns after the previous call.
#[derive(Clone, Copy, Debug)]
enum Call {
    Sleep,
    Wake,
    Awake,
    /// A transmission of `length` ns that begins `gap` ns from now or after the previous transmission.
    Transmits {
        gap: u64,
        length: u64,
    },
    /// A reception of `length` ns, or since the previous reception.
    Received {
        length: u64,
    },
    Restart,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Asleep,
    Waking,
    Awake,
}

fn calls() -> impl Strategy<Value = Vec<(u64, Call)>> {
    let call = prop_oneof![
        2 => Just(Call::Sleep),
        2 => Just(Call::Wake),
        3 => Just(Call::Awake),
        6 => (0_u64..6, 0_u64..9).prop_map(|(gap, length)| Call::Transmits { gap, length }),
        6 => (0_u64..12).prop_map(|length| Call::Received { length }),
        1 => Just(Call::Restart),
    ];
    prop::collection::vec((0_u64..8, call), 0..60)
}

/// A reference that stores the state of the radio in every nanosecond.
struct Reference {
    state: State,
    now: u64,
    /// The state in each nanosecond up to now.
    states: Vec<State>,
    /// The nanoseconds with a transmission, past or future.
    sends: Vec<bool>,
    hears: Vec<bool>,
    sent_until: u64,
    heard_until: u64,
    awake_since: u64,
    start: u64,
    wakes: u64,
}

impl Reference {
    fn new() -> Self {
        Self {
            state: State::Awake,
            now: 0,
            states: Vec::new(),
            sends: vec![false; 4096],
            hears: vec![false; 4096],
            sent_until: 0,
            heard_until: 0,
            awake_since: 0,
            start: 0,
            wakes: 0,
        }
    }

    fn pass(&mut self, nanos: u64) {
        self.now += nanos;
        self.states.resize(self.now as usize, self.state);
    }

    fn becomes(&mut self, state: State) {
        if state == State::Asleep && self.state != State::Asleep {
            self.sends[self.now as usize..].fill(false);
        }
        if self.state == State::Asleep && state != State::Asleep {
            self.wakes += 1;
        }
        if state == State::Awake && self.state != State::Awake {
            self.awake_since = self.now;
        }
        self.state = state;
    }

    fn call(&mut self, call: Call, meter: &mut RadioMeter) {
        let at = Instant::from_nanos;
        match call {
            Call::Sleep => {
                meter.sleep(at(self.now));
                self.becomes(State::Asleep);
            }
            Call::Wake => {
                meter.wake(at(self.now));
                if self.state == State::Asleep {
                    self.becomes(State::Waking);
                }
            }
            Call::Awake => {
                meter.awake(at(self.now));
                self.becomes(State::Awake);
            }
            Call::Transmits { gap, length } => {
                let from = self.now.max(self.sent_until) + gap;
                self.sent_until = from + length;
                meter.transmits(at(self.now), at(from), at(self.sent_until));
                self.sends[from as usize..self.sent_until as usize].fill(true);
            }
            Call::Received { length } => {
                let from = self.now.saturating_sub(length).max(self.heard_until);
                self.heard_until = self.now;
                meter.received(at(from), at(self.now));
                if self.state == State::Awake {
                    let from = from.max(self.awake_since).min(self.now);
                    self.hears[from as usize..self.now as usize].fill(true);
                }
            }
            Call::Restart => {
                meter.restart(at(self.now));
                (self.start, self.wakes) = (self.now, 0);
            }
        }
    }

    fn times(&self) -> RadioTime {
        let mut times = RadioTime { wakes: self.wakes, ..RadioTime::default() };
        for nano in self.start as usize..self.now as usize {
            let part = match self.states[nano] {
                State::Asleep => &mut times.asleep,
                State::Waking => &mut times.waking,
                State::Awake if self.sends[nano] => &mut times.transmitting,
                State::Awake if self.hears[nano] => &mut times.receiving,
                State::Awake => &mut times.idle,
            };
            *part += Duration::from_nanos(1);
        }
        times
    }
}

proptest! {
    #[test]
    fn every_nanosecond_is_in_the_state_that_it_was_in(calls in calls(), tail in 0_u64..20) {
        let mut meter = RadioMeter::new(Instant::ZERO);
        let mut reference = Reference::new();
        for (after, call) in calls {
            reference.pass(after);
            prop_assert_eq!(meter.times(Instant::from_nanos(reference.now)), reference.times());
            reference.call(call, &mut meter);
        }
        reference.pass(tail);
        let times = meter.times(Instant::from_nanos(reference.now));
        prop_assert_eq!(times, reference.times());
        prop_assert_eq!(times.total(), Duration::from_nanos(reference.now - reference.start));
    }

    #[test]
    fn energy_is_between_all_asleep_and_all_transmitting(parts in prop::array::uniform5(0_u64..1_000_000_000_000)) {
        let [asleep, waking, idle, receiving, transmitting] = parts.map(Duration::from_nanos);
        let time = RadioTime { asleep, waking, idle, receiving, transmitting, wakes: 0 };
        for radio in RadioPower::catalogue() {
            let energy = radio.energy(&time);
            let total = energy.total().as_f64();
            let (least, most) = (radio.asleep * time.total(), radio.transmit * time.total());
            prop_assert!(least.as_f64() * (1.0 - 1e-12) <= total && total <= most.as_f64() * (1.0 + 1e-12));
            let sum = [energy.asleep, energy.waking, energy.idle, energy.receiving, energy.transmitting];
            prop_assert!((sum.into_iter().map(|part| part.as_f64()).sum::<f64>() - total).abs() <= 1e-12 * total.max(1e-9));
        }
    }
}
