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
const PRECISION: f64 = 5e-4;
/// The bounds of the longest queue.
const LEAST_STATES: usize = 60;
const MOST_STATES: usize = 400;
/// The most steps of value iteration for a price.
const MOST_STEPS: usize = 100_000;

/// Bounds the mean power of every causal controller whose mean lateness is at most `late`, for each of `lates`.
///
/// Lateness is compared with the link at its highest rate. `None` if the load is one or more.
#[must_use]
pub fn causal(stream: &Memoryless, lates: &[Duration]) -> Option<Vec<CausalBound>> {
    let chain = Chain::new(stream)?;
    let allowed: Vec<f64> =
        lates.iter().map(|late| chain.alone() + stream.packets_per_second * late.as_secs_f64()).collect();
    let chain = chain.holding(allowed.iter().copied().fold(0.0, f64::max));
    let precision = stream.levels.most() * PRECISION;
    let mut values = chain.start();
    let mut mean = |exponent: f64| {
        let price = stream.levels.most() * 10.0_f64.powf(exponent / f64::from(PRICES));
        (price, chain.least_mean(price, precision, &mut values))
    };
    let grid: Vec<i32> = (EXPONENTS[0] * PRICES..=EXPONENTS[1] * PRICES).collect();
    let curve: Vec<_> = grid.iter().map(|&exponent| mean(f64::from(exponent))).collect();
    let bound = |&packets: &f64| {
        let excess = |&(price, mean): &(f64, f64)| mean - price * packets;
        let (best, _) = grid.iter().zip(&curve).max_by(|a, b| excess(a.1).total_cmp(&excess(b.1)))?;
        let refined = [-0.5, 0.5].map(|step| mean(f64::from(*best) + step));
        let free = CausalBound { watts: stream.levels.base, price: 0.0 };
        Some(curve.iter().chain(&refined).fold(free, |best, each| {
            let watts = stream.levels.base + excess(each);
            if watts > best.watts { CausalBound { watts, price: each.0 } } else { best }
        }))
    };
    allowed.iter().map(bound).collect()
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
        Some(Self { stream, served, resumed, events, most: LEAST_STATES })
    }

    /// The load at the highest rate.
    fn load(&self) -> f64 {
        self.stream.packets_per_second / self.fastest()
    }

    fn fastest(&self) -> f64 {
        self.served.last().copied().unwrap_or(1.0)
    }

    /// The mean number of packets in the link at its highest rate.
    fn alone(&self) -> f64 {
        self.load() / (1.0 - self.load())
    }

    /// The same chain with room for a queue of this mean. At the highest rate, a longer queue has a probability below 1e-9.
    fn holding(self, mean: f64) -> Self {
        let longest = (1e-9_f64.ln() / self.load().ln()).max(5.0 * mean);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let most = longest.min(MOST_STATES as f64) as usize;
        Self { most: most.max(LEAST_STATES), ..self }
    }

    /// The same chain, where a link with `most` packets refuses the next.
    #[cfg(test)]
    fn with_most(self, most: usize) -> Self {
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
    #[cfg(test)]
    fn decision(&self, values: &Values, packets: usize, rate: usize) -> (usize, f64) {
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

    /// The values of the decisions in all states. The energy of a change has a part for each of its rates, so the best
    /// change to any higher or any lower rate is found in one pass.
    fn decided(&self, values: &Values) -> Vec<f64> {
        let (levels, pause) = (&self.stream.levels, self.stream.pause.as_secs_f64());
        let after = if self.resumed.is_some() { &values.pausing } else { &values.serving };
        let mut decided = values.serving.clone();
        for (up, [old_part, new_part]) in [true, false].map(|up| (up, levels.parts(up))) {
            for (row, after) in decided.chunks_mut(self.served.len()).zip(after.chunks(self.served.len())) {
                let mut best = f64::INFINITY;
                let mut visit = |rate: usize| {
                    row[rate] = row[rate].min(best + old_part * levels.excess[rate] * pause);
                    best = best.min(after[rate] + new_part * levels.excess[rate] * pause);
                };
                if up { (0..after.len()).rev().for_each(&mut visit) } else { (0..after.len()).for_each(&mut visit) }
            }
        }
        decided
    }

    /// A step of value iteration, and bounds on the least mean.
    fn step(&self, price: f64, values: &Values) -> (Values, [f64; 2]) {
        let (rates, arrivals) = (self.served.len(), self.stream.packets_per_second);
        let mut next = values.clone();
        let decided = self.decided(values);
        let mut bounds = [f64::INFINITY, f64::NEG_INFINITY];
        // A packet beyond the longest queue costs its service at the highest rate, so that refusing it saves nothing.
        #[allow(clippy::cast_precision_loss)]
        let refused = arrivals * (self.stream.levels.most() + price * self.most as f64) / self.fastest();
        for packets in 0..=self.most {
            #[allow(clippy::cast_precision_loss)]
            let waiting = price * packets as f64 + if packets == self.most { refused } else { 0.0 };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrival, Problem, Steps, Window, clairvoyant};
    use netlull_power::{IdealModel, PowerModel, Scaling, TransitionPower};
    use netlull_units::{BitRate, Bytes, Instant};
    use std::collections::VecDeque;

    /// A stream of packets of 10 kbit under frequency scaling with 1 W at 10 Mb/s.
    fn stream(rates: &[u64], packets_per_second: f64, pause_us: u64, discipline: Discipline) -> Memoryless {
        let rates: Vec<_> = rates.iter().copied().map(BitRate::from_mbps).collect();
        let model = PowerModel::Ideal(IdealModel::new(0.0, Scaling::Frequency).unwrap());
        let levels = Levels::new(&rates, &model, TransitionPower::Higher);
        Memoryless {
            packets_per_second,
            mean_bits: 10_000.0,
            levels,
            pause: Duration::from_micros(pause_us),
            discipline,
        }
    }

    fn least_mean(chain: &Chain<'_>, price: f64) -> f64 {
        chain.least_mean(price, 1e-7, &mut chain.start())
    }

    #[test]
    fn a_link_of_two_states_has_a_closed_form() {
        // A link with one packet at most and free changes: empty at 4 Mb/s (0 W above the lowest), full at rate i. It is full for
        // 1/mu_i after 1/lambda, so the mean is (p_i + price) lambda/(lambda + mu_i). With lambda = 500/s:
        // 4 Mb/s, mu = 400/s: price x 500/900; 10 Mb/s, mu = 1000/s, 0.6 W: (0.6 + price) x 500/1500.
        // Each of the 500 packets/s that meet a full link costs
        // (0.6 + price)/1000: the price in the full state is higher by 0.5 (0.6 + price).
        let stream = stream(&[4, 10], 500.0, 0, Discipline::Suspend);
        let chain = Chain::new(&stream).unwrap().with_most(1);
        for (price, full) in [(0.3, 0.75), (0.9, 1.65), (1.8, 3.0)] {
            let expected = f64::min(full * 5.0 / 9.0, (0.6 + full) / 3.0);
            let found = least_mean(&chain, price);
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected} at a price of {price}");
        }
    }

    #[test]
    fn a_link_of_one_rate_is_the_queue_m_m_1() {
        // A load of 1/2: 1 packet in the link on average.
        let stream = stream(&[10], 500.0, 2_000, Discipline::FinishThenPause);
        let found = least_mean(&Chain::new(&stream).unwrap(), 0.7);
        assert!((found - 0.7).abs() < 1e-5, "{found}");
    }

    #[test]
    fn one_pass_finds_the_best_decision() {
        for charged in [TransitionPower::Higher, TransitionPower::New, TransitionPower::Old] {
            let model = PowerModel::Ideal(IdealModel::new(0.0, Scaling::Frequency).unwrap());
            let rates = [2, 5, 7, 10].map(BitRate::from_mbps);
            let levels = Levels::new(&rates, &model, charged);
            let stream = Memoryless { levels, ..stream(&[2, 5, 7, 10], 400.0, 3_000, Discipline::Suspend) };
            let chain = Chain::new(&stream).unwrap();
            let mut values = chain.start();
            chain.least_mean(0.1, 1e-3, &mut values);
            let all = chain.decided(&values);
            for packets in 0..=chain.most {
                for rate in 0..4 {
                    let (_, single) = chain.decision(&values, packets, rate);
                    assert!((all[chain.state(packets, rate)] - single).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn more_lateness_never_costs_power() {
        for discipline in [Discipline::FinishThenPause, Discipline::Suspend] {
            let lates: Vec<_> = [0, 1, 2, 5, 10, 100].map(Duration::from_millis).to_vec();
            let found = causal(&stream(&[1, 4, 10], 500.0, 500, discipline), &lates).unwrap();
            assert!(found.windows(2).all(|pair| pair[1].watts <= pair[0].watts + 1e-12), "{found:?}");
            // 0.1 W at the lowest rate and 1 W at the highest. Half the load needs at least 0.5 W under frequency scaling.
            assert!(found[0].watts > 0.9 && found[5].watts >= 0.495, "{found:?}");
        }
    }

    #[test]
    fn an_overloaded_link_has_no_bound() {
        assert!(causal(&stream(&[1, 10], 1_000.0, 500, Discipline::Suspend), &[Duration::from_millis(5)]).is_none());
    }

    /// Numbers from 0 to 1, exponentially distributed with mean one.
    struct Exponential(u64);

    impl Exponential {
        fn draw(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            #[allow(clippy::cast_precision_loss)]
            let share = ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            -share.ln()
        }
    }

    /// The energy in joules and the largest lateness in seconds of the best causal policy on a trace.
    #[allow(clippy::cast_precision_loss)]
    fn follow(stream: &Memoryless, values: &Values, arrivals: &[Arrival], end: f64) -> (f64, f64) {
        let chain = Chain::new(stream).unwrap();
        let (power, pause) = (&stream.levels.excess, stream.pause.as_secs_f64());
        let mut coming = arrivals.iter().peekable();
        let mut queue = VecDeque::new();
        let (mut now, mut due, mut rate) = (0.0_f64, 0.0_f64, stream.levels.rates.len() - 1);
        let (mut paused, mut energy, mut late) = (0.0_f64, stream.levels.base * end, 0.0_f64);
        let mut may_change = true;
        while now < end {
            if may_change && paused <= now {
                let packets = queue.len().min(chain.most);
                let new = chain.decision(values, packets, rate).0;
                if new != rate {
                    energy += stream.levels.change(rate, new) * pause.min(end - now);
                    (rate, paused) = (new, now + pause);
                }
            }
            may_change = false;
            let arrives = coming.peek().map_or(end, |arrival| arrival.at.as_secs_f64()).min(end);
            let speed = stream.levels.rates[rate];
            let serves = paused <= now && !queue.is_empty();
            let leaves = queue.front().filter(|_| serves).map_or(end, |&(bits, _): &(f64, f64)| now + bits / speed);
            let next = if paused > now { paused.min(arrives) } else { leaves.min(arrives) }.min(end);
            if paused <= now {
                energy += power[rate] * (next - now);
            }
            if let Some(front) = queue.front_mut().filter(|_| serves) {
                front.0 -= speed * (next - now);
                if next >= leaves {
                    late = late.max(next - front.1);
                    queue.pop_front();
                    may_change = true;
                }
            }
            may_change |= next >= paused && now < paused;
            now = next;
            if let Some(arrival) = coming.next_if(|arrival| now < end && arrival.at.as_secs_f64() <= now) {
                let bits = arrival.size.as_f64() * 8.0;
                due = due.max(arrival.at.as_secs_f64()) + bits / stream.levels.rates[stream.levels.rates.len() - 1];
                queue.push_back((bits, due));
                may_change |= stream.discipline == Discipline::Suspend && paused <= now;
            }
        }
        let unsent = queue.iter().map(|&(_, due)| end - due).fold(0.0, f64::max);
        (energy, late.max(unsent))
    }

    #[test]
    fn the_clairvoyant_optimum_is_never_worse_than_the_best_causal_policy() {
        for discipline in [Discipline::FinishThenPause, Discipline::Suspend] {
            for (load, price) in [(200.0, 0.05), (500.0, 0.2), (800.0, 0.02)] {
                let stream = stream(&[1, 3, 6, 10], load, 1_000, discipline);
                let chain = Chain::new(&stream).unwrap();
                let mut values = chain.start();
                chain.least_mean(price, 1e-4, &mut values);
                let mut exponential = Exponential(7);
                let mut at = 0.0;
                let mut arrivals = Vec::new();
                while at < 5.0 {
                    at += exponential.draw() / load;
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    let size = Bytes::new((exponential.draw() * 1250.0).ceil() as u64);
                    arrivals.push(Arrival { at: Instant::ZERO + Duration::from_secs_f64(at).unwrap(), size });
                }
                let (energy, late) = follow(&stream, &values, &arrivals, 5.0);
                let window = Window { from: Instant::ZERO, until: Instant::ZERO + Duration::from_secs(5) };
                let problem = Problem::new(&arrivals, window, stream.levels.clone(), stream.pause, discipline);
                let late = Duration::from_secs_f64(late).unwrap();
                let found = clairvoyant(&problem, late, Steps::new(&problem, late));
                assert!(found.least <= energy, "{found:?} is above {energy} with {late} at {load} and {price}");
                // The policy does save energy, so the comparison says something.
                assert!(energy < problem.always_on());
            }
        }
    }
}
