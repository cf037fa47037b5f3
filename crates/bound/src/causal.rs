//! The least mean power of a controller that knows only the past, for memoryless arrivals.
//!
//! Packets arrive in a Poisson stream, their sizes are exponentially distributed, and a pause is
//! exponentially distributed with mean delta. Then the number of packets in the link, the rate and the transition are
//! the whole state, and value iteration finds the best controller for a price of waiting. For any price, the least mean of
//! (power + price x packets) minus price x (allowed packets) is a lower bound on the power of a controller that
//! keeps the mean number of packets; the highest of these bounds is returned.

use crate::problem::{Discipline, Levels};
use netlull_units::Duration;

/// A memoryless stream of packets on a link.
#[derive(Clone, Debug)]
pub struct Memoryless {
    /// Packets per second.
    pub packets_per_second: f64,
    /// The mean size of a packet, in bits.
    pub mean_bits: f64,
    /// The rates and powers.
    pub levels: Levels,
    /// delta.
    pub pause: Duration,
    /// The rule for the packet in service.
    pub discipline: Discipline,
}

/// The result of [`causal`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CausalBound {
    /// The least mean power of a controller with this mean lateness, in watts.
    pub watts: f64,
    /// The price of a waiting packet at this optimum, in watts per packet.
    pub price: f64,
}

/// Prices per decade.
const PRICES: i32 = 4;
/// The exponents of the lowest and highest price, relative to the range of powers.
const EXPONENTS: [i32; 2] = [-4, 1];
/// The precision of a mean power, relative to the range of powers.
const PRECISION: f64 = 2e-4;
/// The most steps of value iteration for a price.
const MOST_STEPS: usize = 200_000;

/// Bounds the mean power of every causal controller whose mean lateness is at most `late`, for each of `lates`.
///
/// Lateness is compared with the link at its highest rate. `None` if the load is one or more.
#[must_use]
pub fn causal(stream: &Memoryless, lates: &[Duration]) -> Option<Vec<CausalBound>> {
    let chain = Chain::new(stream)?;
    let load = stream.packets_per_second / chain.served[chain.served.len() - 1];
    let alone = load / (1.0 - load);
    let range = stream.levels.most();
    let mut values = chain.start();
    let mut curve = Vec::new();
    for exponent in EXPONENTS[0] * PRICES..=EXPONENTS[1] * PRICES {
        let price = range * 10.0_f64.powf(f64::from(exponent) / f64::from(PRICES));
        curve.push((price, chain.least_mean(price, range * PRECISION, &mut values)));
    }
    let bound = |late: &Duration| {
        let packets = alone + stream.packets_per_second * late.as_secs_f64();
        let free = CausalBound { watts: stream.levels.base, price: 0.0 };
        curve.iter().fold(free, |best, &(price, mean)| {
            let watts = stream.levels.base + (mean - price * packets);
            if watts > best.watts { CausalBound { watts, price } } else { best }
        })
    };
    Some(lates.iter().map(bound).collect())
}

/// The values of the states, by packets and rate: in service, and in a pause towards a rate.
#[derive(Clone)]
pub(crate) struct Values {
    pub serving: Vec<f64>,
    pub pausing: Vec<f64>,
}

pub(crate) struct Chain<'a> {
    stream: &'a Memoryless,
    /// Packets per second at each rate.
    pub served: Vec<f64>,
    /// 1/delta; `None` without a pause.
    resumed: Option<f64>,
    /// The events per second of the uniform chain.
    events: f64,
    /// The most packets in the link.
    pub most: usize,
}

impl<'a> Chain<'a> {
    /// The chain of a stream; `None` if the load is one or more.
    pub fn new(stream: &'a Memoryless) -> Option<Self> {
        let served: Vec<f64> = stream.levels.rates.iter().map(|rate| rate / stream.mean_bits).collect();
        let fastest = *served.last()?;
        let load = stream.packets_per_second / fastest;
        if !(stream.packets_per_second > 0.0 && load < 1.0) {
            return None;
        }
        let pause = stream.pause.as_secs_f64();
        let resumed = (pause > 0.0).then(|| 1.0 / pause);
        let events = stream.packets_per_second + fastest.max(resumed.unwrap_or(0.0));
        // A longer queue has a probability below 1e-9 at the highest rate.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let most = (1e-9_f64.ln() / load.ln()).clamp(60.0, 400.0) as usize;
        Some(Self { stream, served, resumed, events, most })
    }

    /// The same chain, where a link with `most` packets refuses the next.
    #[cfg(test)]
    pub fn with_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    pub fn start(&self) -> Values {
        let states = (self.most + 1) * self.served.len();
        Values { serving: vec![0.0; states], pausing: vec![0.0; states] }
    }

    fn state(&self, packets: usize, rate: usize) -> usize {
        packets * self.served.len() + rate
    }

    /// The best rate to change to, and the value, where a change is allowed.
    pub fn decision(&self, values: &Values, packets: usize, rate: usize) -> (usize, f64) {
        let pause = self.stream.pause.as_secs_f64();
        let stay = (rate, values.serving[self.state(packets, rate)]);
        let change = |new: usize| {
            let after = if self.resumed.is_some() { &values.pausing } else { &values.serving };
            (new, after[self.state(packets, new)] + self.stream.levels.change(rate, new) * pause)
        };
        let changes = (0..self.served.len()).filter(|&new| new != rate).map(change);
        changes.fold(stay, |best, other| if other.1 < best.1 { other } else { best })
    }

    /// The least mean of (power above the lowest + price x packets), from below within `precision`.
    pub fn least_mean(&self, price: f64, precision: f64, values: &mut Values) -> f64 {
        let mut least = f64::NEG_INFINITY;
        for _ in 0..MOST_STEPS {
            let (next, bounds) = self.step(price, values);
            let reference = next.serving[0];
            *values = next;
            values.serving.iter_mut().chain(&mut values.pausing).for_each(|value| *value -= reference);
            least = bounds[0];
            if bounds[1] - bounds[0] < precision {
                break;
            }
        }
        least.max(0.0)
    }

    /// A step of value iteration, and bounds on the least mean.
    fn step(&self, price: f64, values: &Values) -> (Values, [f64; 2]) {
        let (rates, arrivals) = (self.served.len(), self.stream.packets_per_second);
        let mut next = values.clone();
        let decided: Vec<f64> = (0..=self.most)
            .flat_map(|packets| (0..rates).map(move |rate| (packets, rate)))
            .map(|(packets, rate)| self.decision(values, packets, rate).1)
            .collect();
        let mut bounds = [f64::INFINITY, f64::NEG_INFINITY];
        for packets in 0..=self.most {
            #[allow(clippy::cast_precision_loss)]
            let waiting = price * packets as f64;
            for rate in 0..rates {
                let here = self.state(packets, rate);
                let more = self.state((packets + 1).min(self.most), rate);
                let served = if packets > 0 { self.served[rate] } else { 0.0 };
                let fewer = decided[self.state(packets.saturating_sub(1), rate)];
                // Under `suspend` the rate may change at an arrival.
                let arrived = match self.stream.discipline {
                    Discipline::FinishThenPause => values.serving[more],
                    Discipline::Suspend => decided[more],
                };
                let old = values.serving[here];
                let drift = arrivals * (arrived - old) + served * (fewer - old);
                let gain = self.stream.levels.excess[rate] + waiting + drift;
                next.serving[here] = old + gain / self.events;
                bounds = [bounds[0].min(gain), bounds[1].max(gain)];
                if let Some(resumed) = self.resumed {
                    let old = values.pausing[here];
                    let gain = waiting + arrivals * (values.pausing[more] - old) + resumed * (decided[here] - old);
                    next.pausing[here] = old + gain / self.events;
                    bounds = [bounds[0].min(gain), bounds[1].max(gain)];
                }
            }
        }
        (next, bounds)
    }
}
