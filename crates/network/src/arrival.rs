//! Laws of the time from the end of a packet's transmission to its arrival, in addition to the propagation delay: noise,
//! scripted delays, delivery in batches.
//!
//! Each packet first gets its noise, then its scripted delay. At last it waits for the next batch.

use crate::noise::{Noise, NoiseModel};
use crate::random::Stream;
use netlull_units::Duration;
use serde::{Deserialize, Serialize};

/// The laws of a link; at least one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivalModel {
    /// Random delays.
    pub noise: Option<NoiseModel>,
    /// Delays of packets with given numbers, one entry per flow.
    pub late: Vec<LatePackets>,
    /// Delivery in batches.
    pub aggregation: Option<Aggregation>,
}

/// The late packets of one flow, numbered from 1 in the order in which the link sends them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatePackets {
    /// The index of the flow, TCP flows first.
    pub flow: u32,
    /// The numbers of the packets and their delays, in ascending order.
    pub packets: Vec<(u64, Duration)>,
}

/// Delivery in batches: from `start` on, packets arrive at `start` plus a multiple of the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aggregation {
    /// The time between two batches, more than zero.
    pub period: Duration,
    /// The time of the first batch.
    pub start: Duration,
}

impl Aggregation {
    /// The arrival of a packet that would arrive at `at` alone; both in nanoseconds.
    fn arrival(self, at: u64) -> u64 {
        let (start, period) = (self.start.as_nanos(), self.period.as_nanos());
        let past = at.saturating_sub(start) % period;
        if past == 0 { at } else { at.saturating_add(period - past) }
    }
}

impl ArrivalModel {
    /// Returns true if packets may overtake others.
    #[must_use]
    pub fn reorders(&self) -> bool {
        !self.late.is_empty() || self.noise.is_some_and(|noise| noise.reorder)
    }

    /// Returns true if the model has no law.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The extra delays of a packet, which are known before its transmission ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    noise: Duration,
    late: Duration,
}

/// The laws of a link with their state.
#[derive(Debug)]
pub struct Arrivals {
    noise: Option<Noise>,
    late: Vec<Script>,
    aggregation: Option<Aggregation>,
    reorders: bool,
}

impl Arrivals {
    /// Creates the laws before the first packet; `stream` belongs to the noise of the link alone.
    #[must_use]
    pub fn new(model: &ArrivalModel, stream: Stream) -> Self {
        Self {
            noise: model.noise.map(|noise| Noise::new(noise, stream)),
            late: model.late.iter().map(Script::new).collect(),
            aggregation: model.aggregation,
            reorders: model.reorders(),
        }
    }

    /// Returns true if packets may overtake others.
    #[must_use]
    pub fn reorders(&self) -> bool {
        self.reorders
    }

    /// Removes all packets from the link. They hold up no later packet.
    pub fn lose_all(&mut self) {
        if let Some(noise) = &mut self.noise {
            noise.lose_all();
        }
    }

    /// Determines the extra delays of the next packet, which belongs to `flow`. Calls follow the order of transmission.
    pub fn draw(&mut self, flow: u32) -> Extra {
        let script = self.late.iter_mut().find(|script| script.flow == flow);
        Extra {
            noise: self.noise.as_mut().map_or(Duration::ZERO, Noise::draw),
            late: script.map_or(Duration::ZERO, Script::next),
        }
    }

    /// The arrival of a packet in nanoseconds, where `without` is its arrival without these laws. Calls follow the order
    /// of the draws.
    pub fn arrival_of(&mut self, without: u64, extra: Extra) -> u64 {
        let noisy = self.noise.as_mut().map_or(without, |noise| noise.arrival_of(without, extra.noise));
        let alone = noisy.saturating_add(extra.late.as_nanos());
        self.aggregation.map_or(alone, |aggregation| aggregation.arrival(alone))
    }

    /// Draws the extra delays of the next packet, and returns its arrival.
    pub fn arrival(&mut self, without: u64, flow: u32) -> u64 {
        let extra = self.draw(flow);
        self.arrival_of(without, extra)
    }
}

/// The late packets of a flow, and the progress.
#[derive(Debug)]
struct Script {
    flow: u32,
    sent: u64,
    /// The remaining packets, the next one last.
    to_come: Vec<(u64, Duration)>,
}

impl Script {
    fn new(late: &LatePackets) -> Self {
        Self { flow: late.flow, sent: 0, to_come: late.packets.iter().rev().copied().collect() }
    }

    /// The delay of the flow's next packet.
    fn next(&mut self) -> Duration {
        self.sent += 1;
        let due = self.to_come.pop_if(|(number, _)| *number == self.sent);
        due.map_or(Duration::ZERO, |(_, by)| by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn stream() -> Stream {
        Stream::new(3, "noise.test")
    }

    #[test]
    fn a_script_delays_its_packets_alone() {
        let late = vec![LatePackets { flow: 1, packets: vec![(2, millis(5)), (3, millis(1))] }];
        let model = ArrivalModel { late, ..ArrivalModel::default() };
        let mut arrivals = Arrivals::new(&model, stream());
        // Flow 1 sends the 1st, 3rd, 4th and 6th packet: its numbers 2 and 3 are the 3rd and the 4th.
        let found: Vec<u64> = [1, 0, 1, 1, 0, 1].into_iter().map(|flow| arrivals.arrival(10, flow)).collect();
        assert_eq!(found, [10, 10, 5_000_010, 1_000_010, 10, 10]);
    }

    #[test]
    fn a_batch_has_all_packets_since_the_last_one() {
        let aggregation = Some(Aggregation { period: millis(10), start: millis(25) });
        let model = ArrivalModel { aggregation, ..ArrivalModel::default() };
        let mut arrivals = Arrivals::new(&model, stream());
        // Before 25 ms packets arrive alone. Then at 25, 35, 45 ms; a packet that is just in time does not wait.
        let times = [0, 7, 24, 25, 26, 34, 35, 36];
        let found = times.map(|at| arrivals.arrival(millis(at).as_nanos(), 0));
        assert_eq!(found, [0, 7, 24, 25, 35, 35, 35, 45].map(|at| millis(at).as_nanos()));
        assert_eq!(arrivals.arrival(millis(45).as_nanos() + 1, 0), millis(55).as_nanos());
        assert_eq!(arrivals.arrival(u64::MAX, 0), u64::MAX);
    }

    #[test]
    fn noise_comes_first_then_the_script_then_the_batch() {
        let model = NoiseModel { mean: millis(2), shape: 1.0, reorder: false };
        let noise = Some(model);
        let late = vec![LatePackets { flow: 0, packets: vec![(2, millis(100))] }];
        let mut alone = Noise::new(model, stream());
        let mut both = Arrivals::new(&ArrivalModel { noise, late: late.clone(), aggregation: None }, stream());
        let aggregation = Some(Aggregation { period: millis(7), start: Duration::ZERO });
        let mut all = Arrivals::new(&ArrivalModel { noise, late, aggregation }, stream());
        for (number, without) in (1..).zip([0_u64, 1000, 2000]) {
            let drawn = alone.draw();
            // A late packet holds up no other: noise keeps the order of the others.
            let expected = alone.arrival_of(without, drawn) + if number == 2 { 100_000_000 } else { 0 };
            assert_eq!(both.arrival(without, 0), expected);
            assert_eq!(all.arrival(without, 0), expected.div_ceil(7_000_000) * 7_000_000);
        }
    }

    proptest! {
        #[test]
        fn a_batch_keeps_the_order_and_takes_less_than_a_period(
            times in proptest::collection::vec(0_u64..100_000, 1..100),
            period in 1_u64..5_000,
            start in 0_u64..50_000,
        ) {
            let (period, start) = (Duration::from_nanos(period), Duration::from_nanos(start));
            let aggregation = Aggregation { period, start };
            let mut times = times;
            times.sort_unstable();
            let arrivals: Vec<u64> = times.iter().map(|&at| aggregation.arrival(at)).collect();
            prop_assert!(arrivals.is_sorted());
            for (at, arrives) in times.into_iter().zip(arrivals) {
                prop_assert!(arrives >= at && arrives - at < period.as_nanos());
                let since = arrives.checked_sub(start.as_nanos());
                prop_assert!(since.is_none_or(|since| since % period.as_nanos() == 0));
            }
        }
    }
}
