//! The energy of a link up to now, step by step.

use crate::net::transmitter::EffectiveRate;
use netlull_power::PowerModel;
use netlull_units::{BitRate, Instant};

/// Sums up the energy of a link of varying rate between readings, without the energy of bits and packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spending {
    model: PowerModel,
    highest: BitRate,
    /// The number of rates taken from the link's list.
    taken: usize,
    rate: BitRate,
    /// The rate before a pause, and the end of the pause.
    pause: Option<(BitRate, Instant)>,
    settled: Instant,
}

impl Spending {
    /// A link at its initial rate, at the start of the run.
    pub fn new(model: PowerModel, highest: BitRate, rate: BitRate) -> Self {
        Self { model, highest, taken: 1, rate, pause: None, settled: Instant::ZERO }
    }

    /// The energy in joules since the last call. `rates` is the link's list of rates with the times of the switches.
    pub fn up_to(&mut self, now: Instant, rates: &[EffectiveRate]) -> f64 {
        let mut joules = 0.0;
        while let Some(change) = rates.get(self.taken).filter(|change| change.at <= now) {
            joules += self.settle(change.at);
            self.pause = (!change.pause.is_zero()).then_some((self.rate, change.at + change.pause));
            self.rate = change.rate;
            self.taken += 1;
        }
        joules + self.settle(now)
    }

    fn settle(&mut self, now: Instant) -> f64 {
        let mut joules = 0.0;
        if let Some((old, end)) = self.pause {
            let until = end.min(now);
            if until > self.settled {
                joules +=
                    (self.model.power_in_transition(old, self.rate, self.highest) * (until - self.settled)).as_f64();
                self.settled = until;
            }
            if end <= now {
                self.pause = None;
            }
        }
        if now > self.settled {
            joules += (self.model.power(self.rate, self.highest) * (now - self.settled)).as_f64();
            self.settled = now;
        }
        joules
    }
}
