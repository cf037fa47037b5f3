//! Counterfactual queues: one virtual queue per rate, fed by all arrivals.
//!
//! The queue of rate r_j answers: "had the link run at r_j, how late would this packet be?" Lateness is the time at
//! which the packet would leave, minus the time at which it would leave a link that is always at r_n. Next to the queues
//! are the times until which rates are forbidden.

use crate::view::Admission;
use netlull_units::BitRate;

/// The larger of two numbers. `f64::max` also treats NaN, which costs three more instructions.
#[inline]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers.
#[inline]
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// A virtual queue.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// (1 - h) r_j in bit/s.
    drain: f64,
    /// The backlog in bits.
    backlog: f64,
}

/// The virtual queues of a link.
#[derive(Clone, Debug)]
pub(super) struct Counterfactual {
    /// A queue for every rate below r_n.
    queues: Box<[Queue]>,
    /// r_n in bit/s, and its inverse.
    reference_rate: f64,
    per_bit: f64,
    /// The backlog in bits of a link that is always at r_n, and the time in seconds at which it has sent all accepted
    /// packets.
    reference: f64,
    reference_until: f64,
    /// The backlog in bits of a link at r_n, with the packets that only this link has dropped.
    kept: f64,
    /// The bits that have arrived without a gap of more than two packets' time at r_n.
    burst: f64,
    /// The largest packet in bits.
    packet_bits: f64,
    last_arrival: f64,
    /// A queue later than this, in seconds, is cut: it says no more than that the rate is violated.
    most: f64,
    at: f64,
}

impl Counterfactual {
    /// `packet_bits` is the largest packet; `lateness` and `start` are in seconds.
    pub(super) fn new(rates: &[BitRate], headroom: f64, packet_bits: f64, lateness: f64, start: f64) -> Self {
        let lower = &rates[..rates.len() - 1];
        Self {
            queues: lower.iter().map(|rate| Queue { drain: (1.0 - headroom) * rate.as_f64(), backlog: 0.0 }).collect(),
            reference_rate: rates[rates.len() - 1].as_f64(),
            per_bit: 1.0 / rates[rates.len() - 1].as_f64(),
            reference: 0.0,
            reference_until: start,
            kept: 0.0,
            burst: 0.0,
            packet_bits,
            last_arrival: f64::NEG_INFINITY,
            most: 4.0 * lateness,
            at: start,
        }
    }

    /// Serves all queues up to `now`, in seconds.
    #[inline]
    pub(super) fn serve(&mut self, now: f64) {
        let passed = self.serve_reference(now);
        for Queue { drain, backlog } in &mut self.queues {
            *backlog = larger(*backlog - *drain * passed, 0.0);
        }
    }

    /// Serves the links at r_n up to `now`. Returns the time in seconds that has passed.
    #[inline]
    fn serve_reference(&mut self, now: f64) -> f64 {
        let passed = now - self.at;
        self.at = now;
        let sent = self.reference_rate * passed;
        self.reference = larger(self.reference - sent, 0.0);
        self.kept = larger(self.kept - sent, 0.0);
        passed
    }

    /// Serves all queues up to an arrival and adds it. A dropped packet shows demand, but a link at r_n need not have
    /// sent it.
    #[inline]
    pub(super) fn arrive(&mut self, now: f64, bits: f64, admission: Admission) {
        let passed = self.serve_reference(now);
        if admission.is_accepted() {
            self.reference += bits;
            self.reference_until = now + self.reference_delay();
        }
        let gap = (now - self.last_arrival) * self.reference_rate;
        self.burst = if gap > 2.0 * self.packet_bits { bits } else { self.burst + bits };
        self.last_arrival = now;
        let longest = self.reference_delay() + self.most;
        for Queue { drain, backlog } in &mut self.queues {
            let left = larger(*backlog - *drain * passed, 0.0);
            *backlog = smaller(left, *drain * longest) + bits;
        }
    }

    /// The number of rates, from r_1 up, at which the last packet would be late by more than `bound` seconds.
    ///
    /// A lower rate never makes a packet less late. So the violated rates are the lowest ones.
    #[inline]
    pub(super) fn violated(&self, bound: f64) -> usize {
        let longest = self.reference_delay() + bound;
        let late = self.queues.iter().rposition(|queue| queue.backlog > queue.drain * longest);
        late.map_or(0, |rate| rate + 1)
    }

    /// The number of rates, from r_1 up, at which a burst of so many bits would end late by more than `bound` seconds on an
    /// empty link.
    #[inline]
    pub(super) fn violated_by(&self, burst: f64, bound: f64) -> usize {
        self.queues.partition_point(|queue| burst / queue.drain > burst * self.per_bit + bound)
    }

    /// The time in seconds at which a link at r_n would have sent all packets, from now.
    #[inline]
    pub(super) fn reference_delay(&self) -> f64 {
        self.reference * self.per_bit
    }

    /// Adds the last packet to the queue of a link at r_n, if such a link keeps it. Returns true if the packet is dropped or
    /// marked, and the queue there is shorter by a packet at least than this link's was `before`, in bits.
    #[inline]
    pub(super) fn signals_needlessly(&mut self, bits: f64, before: f64, admission: Admission) -> bool {
        let is_shorter = self.kept + self.packet_bits <= before;
        if is_shorter || admission.is_accepted() {
            self.kept += bits;
        }
        is_shorter && admission != Admission::Accepted
    }

    /// The time in seconds at which a link at r_n has sent the last accepted packet, which may be over.
    #[inline]
    pub(super) fn reference_until(&self) -> f64 {
        self.reference_until
    }

    /// Returns true if the last packet belongs to a burst of more than two packets.
    #[inline]
    pub(super) fn is_in_burst(&self) -> bool {
        self.burst > 2.0 * self.packet_bits
    }
}

/// The times until which levels are forbidden, in seconds. A lower level is never forbidden for a shorter time than a
/// higher one.
#[derive(Clone, Debug)]
pub(super) struct Forbidden {
    /// Entry n forbids levels 0 to n until its time. So a level is forbidden until the latest time from its entry on.
    up_to: Box<[f64]>,
}

impl Forbidden {
    pub(super) fn new(levels: usize) -> Self {
        Self { up_to: vec![f64::NEG_INFINITY; levels].into() }
    }

    /// Forbids all levels below `level` until a time.
    #[inline]
    pub(super) fn below(&mut self, level: usize, until: f64) {
        if let Some(highest) = level.checked_sub(1) {
            self.up_to[highest] = self.up_to[highest].max(until);
        }
    }

    /// The lowest level that is not forbidden at `now`. The highest level is never forbidden.
    pub(super) fn lowest_allowed(&self, now: f64) -> usize {
        self.up_to.iter().rposition(|&until| until > now).map_or(0, |highest| highest + 1)
    }

    /// The first time after `now` at which a level below `level` is allowed again; infinity if all are allowed.
    pub(super) fn next_end(&self, now: f64, level: usize) -> f64 {
        let mut earliest = f64::INFINITY;
        let mut until = f64::NEG_INFINITY;
        for (place, &end) in self.up_to.iter().enumerate().rev() {
            until = until.max(end);
            if place < level && until > now {
                earliest = earliest.min(until);
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PACKET: f64 = 12_000.0;

    /// Queues of 1, 2 and 10 Mb/s after a burst at 5 s. A packet may be 14 ms late.
    fn after_burst(packets: u64) -> Counterfactual {
        let rates = [1, 2, 10].map(BitRate::from_mbps);
        let mut queues = Counterfactual::new(&rates, 0.0, PACKET, 0.014, 0.0);
        (0..packets).for_each(|_| queues.arrive(5.0, PACKET, Admission::Accepted));
        queues
    }

    #[test]
    fn the_last_packet_of_a_burst_judges_each_rate() {
        // Two packets need 24 and 12 ms, 2.4 ms at 10 Mb/s; four need 48 and 24 ms, and 4.8 ms.
        let violated = [1, 2, 4].map(|packets| after_burst(packets).violated(0.014));
        assert_eq!(violated, [0, 1, 2]);
        assert!((after_burst(4).reference_delay() - 0.0048).abs() < 1e-12);
    }

    #[test]
    fn a_drop_or_a_mark_is_needless_while_a_link_at_the_highest_rate_has_a_shorter_queue() {
        // 42 packets are on the link. A link at 10 Mb/s has sent 8 of them after 10 ms, and stores each packet with a mark.
        let needless_after = |seconds: f64, admission: Admission| {
            let mut queues = after_burst(42);
            (0..42).for_each(|_| assert!(!queues.signals_needlessly(PACKET, 42.0 * PACKET, Admission::Accepted)));
            queues.serve(5.0 + seconds);
            (0..12).filter(|_| queues.signals_needlessly(PACKET, 42.0 * PACKET, admission)).count()
        };
        for admission in [Admission::Dropped, Admission::Marked] {
            let needless = [0.0, 0.001_19, 0.001_21, 0.010].map(|seconds| needless_after(seconds, admission));
            assert_eq!(needless, [0, 0, 1, 8], "{admission:?}");
        }
        assert_eq!(needless_after(0.010, Admission::Accepted), 0);
    }

    #[test]
    fn a_queue_is_cut_at_four_times_the_lateness() {
        // 100 packets need 120 ms at 10 Mb/s, so both queues are cut to 176 ms before the last packet. That packet needs
        // 12 ms at 1 Mb/s and 6 ms at 2 Mb/s: the queues are empty after 188 and 182 ms.
        let after = |seconds: f64| {
            let mut queues = after_burst(100);
            queues.serve(5.0 + seconds);
            queues
        };
        assert_eq!([0.181, 0.183, 0.187, 0.189].map(|seconds| after(seconds).violated(0.0)), [2, 1, 1, 0]);
        let left = [0.1, 0.2].map(|seconds| (1e6 * after(seconds).reference_delay()).round());
        assert_eq!(left, [20_000.0, 0.0], "in microseconds");
    }

    proptest! {
        /// A plain list with a time for each level.
        #[test]
        fn agrees_with_a_time_for_each_level(
            steps in proptest::collection::vec((0_usize..5, 0_u32..40, 0_u32..20), 1..30)
        ) {
            let (mut forbidden, mut plain) = (Forbidden::new(5), [f64::NEG_INFINITY; 5]);
            for (level, until, now) in steps {
                let (until, now) = (f64::from(until), f64::from(now));
                forbidden.below(level, until);
                plain[..level].iter_mut().for_each(|end| *end = end.max(until));
                let lowest = plain.iter().position(|&end| end <= now).expect("the highest level");
                prop_assert_eq!(forbidden.lowest_allowed(now), lowest);
                for level in 0..5 {
                    let held = plain[..level].iter().filter(|&&end| end > now);
                    prop_assert_eq!(forbidden.next_end(now, level), held.fold(f64::INFINITY, |first, &end| first.min(end)));
                }
            }
        }
    }
}
