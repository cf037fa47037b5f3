//! Random early detection (Floyd and Jacobson 1993), gentle (Floyd 2000), with ECN (RFC 3168 section 7).

use super::Verdict;
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The packets to which RED's p_b applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedProbability {
    /// Every packet (RFC 7141 section 2.2).
    #[default]
    PerPacket,
    /// A packet of one MTU; the probability of a smaller one is proportional to its size (byte mode of the
    /// paper).
    PerByte,
}

/// The packets that RED spares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedRules {
    /// No packet (Floyd and Jacobson 1993).
    #[default]
    Paper,
    /// As ns-2: the packet at which the average crosses min_th, and any with a backlog of at most one packet.
    Ns2,
}

/// The condition under which RED marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedEcn {
    /// Never.
    Off,
    /// In place of a random drop; certain drops remain drops (RFC 3168 section 7).
    #[default]
    Early,
    /// Always; only the full buffer drops. DCTCP requires this (RFC 8257).
    Always,
}

/// The unit of the queue, its average and the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// The parameters of RED, checked by the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedConfig {
    /// The unit of the thresholds.
    pub unit: QueueUnit,
    /// min_th: no early drops below it.
    pub min_threshold: f64,
    /// max_th, at least min_th: every packet above it is dropped, or a rising share of them in gentle mode.
    pub max_threshold: f64,
    /// max_p: the probability at max_th.
    pub max_probability: f64,
    /// w_q: the weight of the newest sample in the average, in (0, 1].
    pub weight: f64,
    /// Gentle mode: between max_th and twice max_th the probability rises from max_p to 1, without a jump at
    /// max_th.
    pub gentle: bool,
    /// True if large packets are more likely to be dropped.
    pub probability: RedProbability,
    /// The packets that RED spares.
    pub rules: RedRules,
    /// The typical packet size in bytes, in which the idle transmission capacity is counted.
    pub mean_packet: u64,
    /// The largest packet in bytes.
    pub largest_packet: u64,
    /// The condition under which ECN-capable packets are marked instead of dropped.
    pub ecn: RedEcn,
}

/// An arriving packet in the view of RED.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The idle time of the line in nanoseconds, if it is idle.
    pub idle_ns: Option<u64>,
    /// The rate of the line in bit/s.
    pub rate_bps: u64,
    /// The backlog in packets.
    pub waiting_packets: u64,
    /// The backlog in bytes.
    pub waiting_bytes: u64,
    /// The packet's size in bytes.
    pub size: u32,
    /// True if the packet can be marked.
    pub can_be_marked: bool,
}

/// The state of RED.
#[derive(Debug)]
pub struct Red {
    config: RedConfig,
    stream: Stream,
    /// The average queue, avg.
    average: f64,
    /// count: the packets since the last mark or drop, while avg is above min_th.
    count: Option<u64>,
}

/// Nanoseconds per second times bits per byte.
const BIT_NANOS_PER_BYTE: u128 = 8_000_000_000;

impl Red {
    /// Creates the state of an empty queue.
    #[must_use]
    pub fn new(config: RedConfig, stream: Stream) -> Self {
        Self { config, stream, average: 0.0, count: None }
    }

    /// Decides about an arriving packet, before the check of the buffer's limit.
    pub fn arrives(&mut self, arrival: Arrival) -> Verdict {
        self.sample(&arrival);
        let as_ns2 = self.config.rules == RedRules::Ns2;
        if self.average < self.config.min_threshold || (as_ns2 && self.queue(&arrival) <= 1) {
            self.count = None;
            return Verdict::Pass;
        }
        let base = self.base_probability(arrival.size);
        let count = match self.count {
            Some(count) => count + 1,
            // Section 4 of the paper: count = -1 below min_th, so it is 0 at the first packet above.
            None if !as_ns2 => 0,
            None if base < 1.0 => {
                self.count = Some(1);
                return Verdict::Pass;
            }
            None => 1,
        };
        self.count = Some(count);
        // The paper draws also for certain outcomes; the result is the same.
        if base < 1.0 && self.stream.unit() >= spread(base, count) {
            return Verdict::Pass;
        }
        self.count = Some(0);
        let marks = match self.config.ecn {
            RedEcn::Off => false,
            // RFC 3168 section 7: above max_th packets are dropped, whether ECN-capable or not.
            RedEcn::Early => base < 1.0,
            RedEcn::Always => true,
        };
        if marks && arrival.can_be_marked { Verdict::Mark } else { Verdict::Drop }
    }

    /// Floyd and Jacobson, figure 2: avg <- (1 - w_q)^m avg for the m packets that the idle line could have sent.
    /// Then avg <- (1 - w_q) avg + w_q q, as in ns-2 also after an idle time, with q = 0.
    #[allow(clippy::cast_precision_loss)]
    fn sample(&mut self, arrival: &Arrival) {
        let keep = 1.0 - self.config.weight;
        if let Some(idle_ns) = arrival.idle_ns {
            let idle_bits = u128::from(idle_ns) * u128::from(arrival.rate_bps);
            let sent = idle_bits / (u128::from(self.config.mean_packet) * BIT_NANOS_PER_BYTE);
            self.average *= libm::pow(keep, sent as f64);
        }
        self.average = keep * self.average + self.config.weight * self.queue(arrival) as f64;
    }

    /// The queue q in the configured unit.
    fn queue(&self, arrival: &Arrival) -> u64 {
        match self.config.unit {
            QueueUnit::Packets => arrival.waiting_packets,
            QueueUnit::Bytes => arrival.waiting_bytes,
        }
    }

    /// The probability p_b for an average of at least min_th.
    fn base_probability(&self, size: u32) -> f64 {
        let RedConfig { min_threshold: min, max_threshold: max, max_probability: max_p, .. } = self.config;
        let p_b = if self.average < max {
            max_p * (self.average - min) / (max - min)
        } else if self.config.gentle && self.average < 2.0 * max {
            // Floyd 2000, "Recommendation on using the gentle variant of RED".
            max_p + (1.0 - max_p) * (self.average - max) / max
        } else {
            return 1.0;
        };
        match self.config.probability {
            RedProbability::PerPacket => p_b,
            #[allow(clippy::cast_precision_loss)]
            RedProbability::PerByte => p_b * f64::from(size) / self.config.largest_packet as f64,
        }
    }
}

/// p_a = p_b / (1 - count p_b): drops are spread evenly, at most 1 / p_b packets apart (section 7, method 2).
#[allow(clippy::cast_precision_loss)]
fn spread(p_b: f64, count: u64) -> f64 {
    let rest = 1.0 - count as f64 * p_b;
    if rest <= p_b { 1.0 } else { p_b / rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config() -> RedConfig {
        RedConfig {
            unit: QueueUnit::Packets,
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            weight: 0.5,
            gentle: false,
            probability: RedProbability::PerPacket,
            rules: RedRules::Paper,
            mean_packet: 1000,
            largest_packet: 1500,
            ecn: RedEcn::Off,
        }
    }

    fn red(config: RedConfig) -> Red {
        Red::new(config, Stream::new(1, "queue.test"))
    }

    fn arrival(waiting_packets: u64) -> Arrival {
        Arrival {
            idle_ns: None,
            rate_bps: 8_000_000,
            waiting_packets,
            waiting_bytes: waiting_packets * 1000,
            size: 1000,
            can_be_marked: false,
        }
    }

    /// Sends `packets` packets into a constant queue. Returns the number of accepted packets.
    fn passed(red: &mut Red, packets: usize, arrival: Arrival) -> usize {
        (0..packets).filter(|_| red.arrives(arrival) == Verdict::Pass).count()
    }

    #[test]
    fn the_average_follows_the_queue_and_ages_while_the_line_is_idle() {
        let mut red = red(config());
        // w = 1/2: 0.5 x 4 = 2; 0.5 x 2 + 0.5 x 4 = 3; 0.5 x 3 + 0.5 x 2 = 2.5.
        for (queue, average) in [(4, 2.0), (4, 3.0), (2, 2.5)] {
            red.arrives(arrival(queue));
            assert_eq!(red.average, average);
        }
        // 1000 B at 8 Mb/s take 1 ms. In 2.9 ms two packets fit: 2.5 / 4, and this arrival's sample of 0: / 2.
        red.arrives(Arrival { idle_ns: Some(2_900_000), ..arrival(0) });
        assert_eq!(red.average, 0.3125);
        // No idle time: only the sample changes the average.
        red.arrives(Arrival { idle_ns: Some(0), ..arrival(0) });
        assert_eq!(red.average, 0.156_25);
        // At twice the rate, twice as many packets fit: 0.15625 / 2^4 / 2.
        red.arrives(Arrival { idle_ns: Some(2_000_000), rate_bps: 16_000_000, ..arrival(0) });
        assert_eq!(red.average, 0.156_25 / 32.0);
    }

    #[test]
    fn probability_rises_from_min_to_max_and_then_jumps_or_climbs() {
        let at = |average: f64, gentle: bool| {
            let mut red = red(RedConfig { gentle, ..config() });
            red.average = average;
            red.base_probability(1000)
        };
        // 0.1 x (avg - 5) / 10.
        assert_eq!(at(5.0, false), 0.0);
        assert_eq!(at(10.0, false), 0.05);
        assert_eq!(at(15.0, false), 1.0);
        // Gentle: 0.1 + 0.9 (avg - 15) / 15.
        assert_eq!(at(15.0, true), 0.1);
        assert!((at(20.0, true) - 0.4).abs() < 1e-15);
        assert_eq!(at(30.0, true), 1.0);
    }

    #[test]
    fn in_bytes_the_queue_is_measured_in_bytes_and_large_packets_are_likelier_dropped() {
        let bytes = RedConfig {
            unit: QueueUnit::Bytes,
            min_threshold: 5000.0,
            max_threshold: 15_000.0,
            probability: RedProbability::PerByte,
            weight: 1.0,
            ..config()
        };
        let mut red = red(bytes);
        red.arrives(Arrival { waiting_packets: 100, waiting_bytes: 10_000, ..arrival(0) });
        assert_eq!(red.average, 10_000.0);
        // 0.05 for a packet of the largest size, 0.05 x 40 / 1500 for a small one.
        assert_eq!(red.base_probability(1500), 0.05);
        assert!((red.base_probability(40) - 0.05 * 40.0 / 1500.0).abs() < 1e-15);
    }

    #[test]
    fn drops_are_spread_evenly() {
        // p_b = 0.05: p_a = 0.05 / (1 - 0.05 count) makes every gap from 1 to 20 packets equally likely, mean 10.5.
        assert_eq!(spread(0.05, 0), 0.05);
        assert!((spread(0.05, 10) - 0.1).abs() < 1e-15);
        assert_eq!(spread(0.05, 19), 1.0);
        let mut red = red(RedConfig { weight: 1.0, ..config() });
        let mut gaps = Vec::new();
        let mut since = 0_u32;
        for _ in 0..210_000 {
            since += 1;
            if red.arrives(arrival(10)) == Verdict::Drop {
                gaps.push(since);
                since = 0;
            }
        }
        // The first packet after a drop has count 1, so a gap is 1 with 0.05 / 0.95 = 1/19, ..., at most 19, mean
        // 10. There are about 21,000 gaps of variance (19^2 - 1) / 12 = 30: standard error 0.038.
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert!((mean - 10.0).abs() < 0.16, "{mean}");
        assert_eq!((gaps.iter().max(), gaps.iter().min()), (Some(&19), Some(&1)));
    }

    #[test]
    fn ns2_spares_the_packet_that_crosses_min_and_what_finds_one_packet_waiting() {
        // p_b = 0.99 x (10 - 5) / 10 = 0.495. Under ns-2's rules the first packet above min_th is spared, so the
        // second has count 2 and p_a = 0.495 / (1 - 0.99) > 1, and is dropped. In the paper the first has count 0
        // and p_a = 0.495.
        let certain = |rules| RedConfig { weight: 1.0, max_probability: 0.99, rules, ..config() };
        for seed in 0..50 {
            let mut red = Red::new(certain(RedRules::Ns2), Stream::new(seed, "queue.test"));
            let fates = [4, 10, 10, 4, 10, 10].map(|queue| red.arrives(arrival(queue)));
            let (pass, drop) = (Verdict::Pass, Verdict::Drop);
            assert_eq!(fates, [pass, pass, drop, pass, pass, drop]);
        }
        let first = |rules| {
            let drops = |seed: &u64| {
                Red::new(certain(rules), Stream::new(*seed, "queue.test")).arrives(arrival(10)) == Verdict::Drop
            };
            (0..200).filter(drops).count()
        };
        // 200 x 0.495 = 99, standard deviation 7.
        assert!((71..=127).contains(&first(RedRules::Paper)), "{}", first(RedRules::Paper));
        assert_eq!(first(RedRules::Ns2), 0);
        // A high average with a backlog of one packet.
        for (rules, passes) in [(RedRules::Ns2, 100), (RedRules::Paper, 0)] {
            let mut red = red(RedConfig { weight: 1e-6, rules, ..config() });
            red.average = 20.0;
            assert_eq!(passed(&mut red, 100, arrival(1)), passes);
        }
    }

    #[test]
    fn nothing_is_dropped_below_min_and_everything_from_max() {
        let mut low = red(RedConfig { weight: 1.0, ..config() });
        assert_eq!(passed(&mut low, 1000, arrival(4)), 1000);
        assert_eq!(passed(&mut low, 1000, arrival(15)), 0);
        let mut gentle = red(RedConfig { weight: 1.0, gentle: true, ..config() });
        let some = passed(&mut gentle, 1000, arrival(20));
        assert!(some > 0 && some < 1000, "{some}");
        assert_eq!(passed(&mut gentle, 1000, arrival(30)), 0);
    }

    #[test]
    fn packets_that_can_be_marked_are_marked_as_the_reading_says() {
        let fate = |ecn, queue, can_be_marked| {
            let mut red = red(RedConfig { weight: 1.0, ecn, ..config() });
            let verdicts = (0..100).map(|_| red.arrives(Arrival { can_be_marked, ..arrival(queue) }));
            verdicts.filter(|&verdict| verdict != Verdict::Pass).collect::<Vec<_>>()
        };
        let all = |fates: Vec<Verdict>, expected| !fates.is_empty() && fates.iter().all(|&fate| fate == expected);
        assert!(all(fate(RedEcn::Early, 10, true), Verdict::Mark));
        assert!(all(fate(RedEcn::Early, 10, false), Verdict::Drop));
        assert!(all(fate(RedEcn::Early, 15, true), Verdict::Drop));
        assert!(all(fate(RedEcn::Always, 15, true), Verdict::Mark));
        assert!(all(fate(RedEcn::Off, 10, true), Verdict::Drop));
    }

    #[test]
    fn equal_thresholds_and_weight_one_mark_by_the_queue_as_it_is() {
        // The requirement of DCTCP (RFC 8257 section 3.1): a backlog of at most K = 20 packets.
        let step = RedConfig { min_threshold: 20.0, max_threshold: 20.0, weight: 1.0, ecn: RedEcn::Always, ..config() };
        let mut red = red(step);
        let fates = [19, 20, 19, 21].map(|queue| red.arrives(Arrival { can_be_marked: true, ..arrival(queue) }));
        assert_eq!(fates, [Verdict::Pass, Verdict::Mark, Verdict::Pass, Verdict::Mark]);
    }

    proptest! {
        #[test]
        fn an_average_stays_within_its_samples_and_below_min_nothing_is_dropped(
            weight in 0.001..=1.0_f64,
            queues in prop::collection::vec((0..40_u64, prop::option::of(0..10_000_000_u64)), 1..300),
        ) {
            let mut red = red(RedConfig { weight, ..config() });
            let mut most = 0;
            for (queue, idle_ns) in queues {
                let queue = if idle_ns.is_some() { 0 } else { queue };
                most = most.max(queue);
                let verdict = red.arrives(Arrival { idle_ns, ..arrival(queue) });
                prop_assert!(red.average >= 0.0 && red.average <= most as f64 * (1.0 + 1e-12));
                prop_assert!(verdict == Verdict::Pass || red.average >= 5.0);
                prop_assert!(verdict == Verdict::Drop || red.average < 15.0);
            }
        }
    }
}
