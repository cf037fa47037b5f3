//! A measurement of round-trip times on a sample of the flows.

use crate::gateway::{FlowKey, SegmentKind, SegmentView, spread};
use netlull_units::{Duration, Instant};

/// The time limit of a sample. It keeps an ended or idle connection from blocking the measurement.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Handshake,
    Timestamps,
}

/// Samples a few flows at a time. Each sample has two halves: to the receiver and back, then to the sender and
/// back.
///
/// ```text
///   Idle ── segment goes out ──► Out ── acknowledgement ──► Back ── released segment goes out ──► Idle, a sample
/// ```
///
/// A hash of the flow's key selects its slot. Samples in a slot follow one another, each on the flow that sends next.
/// Flows are therefore drawn in proportion to their segments. This is the weight that equation (6) assumes:
/// r = N swnd / RTT with 1/RTT the mean of the flows' values.
#[derive(Clone, Debug)]
pub struct Probe {
    method: Method,
    slots: [Slot; SLOTS],
    /// The number of samples that ended or were abandoned.
    rests: u64,
    /// The mean time from a segment to its acknowledgement.
    out: Mean,
    /// The mean time from an acknowledgement to the segment it released.
    back: Mean,
    /// The shortest time, in seconds, from an acknowledgement to a segment that may have waited for its
    /// application.
    least_back: f64,
    /// The estimate of RTT.
    pub(super) time: Duration,
}

/// The number of slots, one flow each. A sample takes a round trip, so a single slot would average too few flows.
const SLOTS: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Slot {
    state: State,
    /// Segments eligible to begin a sample, since the last sample began.
    passed: u32,
    /// The weight of the sample: the number of eligible segments before it. Unweighted, a flow alone in its slot
    /// would count more often than flows that share one. Segments during the sample would bias the weight towards
    /// long round trips.
    weight: f64,
    /// The number of segments to skip before the next sample, unless the time `until` has passed.
    skip: u32,
    until: Instant,
}

impl Slot {
    /// Begins a sample on a segment if the segment is eligible.
    fn begin(&mut self, now: Instant, method: Method, segment: &SegmentView) {
        if !begins(method, segment) {
            return;
        }
        if self.skip > 0 && now < self.until && method == Method::Timestamps {
            self.skip -= 1;
            return;
        }
        (self.weight, self.passed) = (f64::from(self.passed.max(1)), 0);
        self.state = State::Out { flow: segment.flow, since: now, end: segment.end, highest: segment.end };
    }

    /// Follows further segments of the measured flow.
    fn sent(&mut self, segment: &SegmentView, measured: u32, behind: u32) {
        if let State::Out { highest, .. } = &mut self.state
            && is_after(segment.end, behind)
        {
            *highest = segment.end;
        } else if segment.occupies() && !is_after(segment.end, measured) {
            // A retransmission makes the acknowledgement ambiguous (Karn; RFC 6298 section 3).
            self.state = State::Idle;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Out {
        flow: FlowKey,
        since: Instant,
        /// The sequence number after the segment.
        end: u32,
        /// The sequence number after the flow's latest segment.
        highest: u32,
    },
    Back {
        flow: FlowKey,
        since: Instant,
        /// The time of the measured segment.
        began: Instant,
        /// The sequence number after the flow's latest segment at the time of the acknowledgement.
        highest: u32,
        /// The acknowledgement's TSval.
        value: u32,
        answers: Answer,
    },
}

/// The kind of segment that an acknowledgement releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The final acknowledgement of the handshake, sent at once.
    Handshake,
    /// Data while more was in flight: each acknowledgement clocks out a segment.
    Clocked,
    /// Data after everything was acknowledged: the application may have had nothing to send.
    Doubtful,
}

impl Probe {
    pub(super) fn new(method: Method, initial: Duration) -> Self {
        let idle = Slot { state: State::Idle, passed: 0, weight: 1.0, skip: 0, until: Instant::ZERO };
        Self {
            method,
            slots: [idle; SLOTS],
            rests: 0,
            out: Mean::default(),
            back: Mean::default(),
            least_back: f64::INFINITY,
            time: initial,
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn slot(flow: FlowKey) -> usize {
        spread(flow) as usize % SLOTS
    }

    pub(super) fn forward(&mut self, now: Instant, segment: &SegmentView) {
        let index = Self::slot(segment.flow);
        let slot = &mut self.slots[index];
        slot.passed += u32::from(begins(self.method, segment));
        match slot.state {
            State::Idle => slot.begin(now, self.method, segment),
            State::Out { flow, end, highest, .. } if flow == segment.flow => slot.sent(segment, end, highest),
            State::Back { flow, since, began, highest, value, answers } if flow == segment.flow => {
                let Some(is_sample) = released(segment, value, answers) else { return };
                // A retransmission was delayed by loss detection.
                if is_sample && (answers == Answer::Handshake || is_after(segment.end, highest)) {
                    let weight = slot.weight;
                    self.sample_back(now, now - since, answers, weight);
                }
                self.rest(now, index, now - began);
            }
            State::Out { since, .. } | State::Back { since, .. } if now - since > PATIENCE => {
                self.rest(now, index, Duration::ZERO);
            }
            State::Out { .. } | State::Back { .. } => {}
        }
    }

    /// Ends or abandons a sample after the time `lasted`. The next sample starts after a random number of segments, which
    /// avoids a fixed position in a flow's bursts. The number is at most that of eligible segments during this sample.
    /// After four times `lasted`, any segment may start it, in case traffic has decreased.
    #[allow(clippy::cast_possible_truncation)]
    fn rest(&mut self, now: Instant, index: usize, lasted: Duration) {
        self.rests += 1;
        let slot = &mut self.slots[index];
        slot.state = State::Idle;
        slot.skip = (spread(self.rests) % (u64::from(slot.passed) + 1)) as u32;
        slot.until = now + lasted * 4;
    }

    pub(super) fn backward(&mut self, now: Instant, segment: &SegmentView) {
        let slot = &mut self.slots[Self::slot(segment.flow)];
        if let State::Back { flow, answers: Answer::Handshake, .. } = slot.state
            && flow == segment.flow
            && segment.kind == SegmentKind::SynAck
        {
            // A repeated answer: the final acknowledgement could belong to either.
            slot.state = State::Idle;
        }
        let State::Out { flow, since, end, highest } = slot.state else { return };
        if flow != segment.flow || is_after(end, segment.acknowledged) {
            return;
        }
        let answers = match segment.kind {
            SegmentKind::SynAck => Answer::Handshake,
            _ if is_after(highest, segment.acknowledged) => Answer::Clocked,
            _ => Answer::Doubtful,
        };
        let value = segment.timestamps.map_or(0, |stamps| stamps.value);
        slot.state = State::Back { flow, since: now, began: since, highest, value, answers };
        let weight = slot.weight;
        self.out.add(now, (now - since).as_secs_f64(), weight);
        self.update();
    }

    fn sample_back(&mut self, now: Instant, time: Duration, answers: Answer, weight: f64) {
        let seconds = time.as_secs_f64();
        match answers {
            Answer::Handshake | Answer::Clocked => self.back.add(now, seconds, weight),
            Answer::Doubtful => self.least_back = self.least_back.min(seconds),
        }
        self.update();
    }

    /// Sets RTT to the sum of both halves once both have a sample.
    fn update(&mut self) {
        if let Some(time) = self.mean() {
            self.time = Duration::from_secs_f64(time).unwrap_or(Duration::MAX);
        }
    }

    /// The sum of the means of both halves in seconds; `None` until both have a sample.
    pub(super) fn mean(&self) -> Option<f64> {
        let back = self.back.value().unwrap_or(self.least_back);
        self.out.value().filter(|_| back.is_finite()).map(|out| out + back)
    }
}

/// Returns true if a segment begins a sample.
fn begins(method: Method, segment: &SegmentView) -> bool {
    match method {
        Method::Handshake => segment.kind == SegmentKind::Syn,
        Method::Timestamps => segment.timestamps.is_some() && segment.occupies(),
    }
}

/// `Some(true)` if an acknowledgement with this TSval released a segment. `None` means not yet. `Some(false)` means no
/// valid sample: a later acknowledgement released the segment, or it is a repeated SYN.
fn released(segment: &SegmentView, value: u32, answers: Answer) -> Option<bool> {
    if answers == Answer::Handshake {
        return Some(segment.kind != SegmentKind::Syn);
    }
    let stamps = segment.timestamps.filter(|_| segment.data)?;
    let later = stamps.echo.wrapping_sub(value);
    (later < 1 << 31).then_some(later == 0)
}

/// Returns true if a sequence number lies after another (RFC 9293 section 3.4).
fn is_after(one: u32, other: u32) -> bool {
    one != other && one.wrapping_sub(other) < 1 << 31
}

/// A mean with exponentially decaying weights: e^-1 after [`MEMORY`].
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    weight: f64,
    at: Instant,
}

/// The decay time: longer than the round trip of most paths, shorter than the time a queue at a gateway takes to
/// fill.
const MEMORY: Duration = Duration::from_secs(1);

impl Mean {
    fn add(&mut self, now: Instant, value: f64, weight: f64) {
        let keep = libm::exp(-(now - self.at).as_secs_f64() / MEMORY.as_secs_f64());
        self.sum = keep * self.sum + weight * value;
        self.weight = keep * self.weight + weight;
        self.at = now;
    }

    fn value(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::gateway::{RoundTrip, RoundTripConfig, Timestamps};

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Data up to `end`, or a bare acknowledgement if `end` is 0.
    fn out(flow: FlowKey, end: u32, value: u32, echo: u32) -> SegmentView {
        let timestamps = Some(Timestamps { value, echo });
        SegmentView { flow, kind: SegmentKind::Other, end, acknowledged: 1, data: end > 0, fin: false, timestamps }
    }

    fn ack(flow: FlowKey, acknowledged: u32, value: u32) -> SegmentView {
        let timestamps = Some(Timestamps { value, echo: 0 });
        SegmentView { flow, kind: SegmentKind::Other, end: 1, acknowledged, data: false, fin: false, timestamps }
    }

    fn shake(flow: FlowKey, kind: SegmentKind) -> SegmentView {
        SegmentView { flow, kind, end: 1, acknowledged: 1, data: false, fin: false, timestamps: None }
    }

    fn estimator(config: &RoundTripConfig) -> RoundTrip {
        RoundTrip::new(config).unwrap()
    }

    fn stamped() -> RoundTrip {
        estimator(&RoundTripConfig::timestamps(Duration::from_millis(500)))
    }

    /// Passes enough time for the next segment to begin a sample, whatever was drawn.
    fn awaken(rtt: &mut RoundTrip) {
        let RoundTrip::Measured(probe) = rtt else { unreachable!() };
        probe.slots.iter_mut().for_each(|slot| slot.skip = 0);
    }

    /// A sample of `flow` that begins at `from` ms: acknowledged after `there` ms, with the next segment `back`
    /// ms later.
    fn sample(rtt: &mut RoundTrip, flow: FlowKey, from: u64, (there, back): (u64, u64)) {
        awaken(rtt);
        let now = from as u32;
        rtt.forward(at(from), &out(flow, 1000 + now, now, 0));
        rtt.forward(at(from), &out(flow, 1500 + now, now, 0));
        rtt.backward(at(from + there), &ack(flow, 1000 + now, 7000 + now));
        rtt.forward(at(from + there + back), &out(flow, 2000 + now, now, 7000 + now));
    }

    #[test]
    fn timestamps_give_both_halves_of_the_path() {
        let mut rtt = stamped();
        // Out at 10 ms, acknowledged at 70 ms, released segment at 210 ms: 60 + 140 ms.
        rtt.forward(at(10), &out(7, 1000, 10, 0));
        rtt.forward(at(11), &out(7, 2000, 11, 0));
        rtt.backward(at(70), &ack(7, 1000, 5000));
        rtt.forward(at(75), &out(7, 3000, 75, 4900));
        assert_eq!(rtt.value(), Duration::from_millis(500), "an older acknowledgement released that");
        rtt.forward(at(210), &out(7, 4000, 210, 5000));
        assert!((rtt.value().as_secs_f64() - 0.2).abs() < 1e-9, "{rtt:?}");
    }

    #[test]
    fn the_next_sample_waits_for_segments_or_for_time() {
        let begins_at = |skip: u32, until: u64| {
            let mut rtt = stamped();
            let RoundTrip::Measured(probe) = &mut rtt else { unreachable!() };
            probe.slots.iter_mut().for_each(|slot| (slot.skip, slot.until) = (skip, at(until)));
            (0..10).find(|&n| {
                rtt.forward(at(u64::from(n)), &out(7, 1000 * (n + 1), n, 0));
                let RoundTrip::Measured(probe) = &rtt else { unreachable!() };
                matches!(probe.slots[Probe::slot(7)].state, State::Out { .. })
            })
        };
        // Segments leave every millisecond from 0 on.
        assert_eq!(begins_at(3, 100), Some(3), "three are skipped");
        assert_eq!(begins_at(100, 5), Some(5), "the time is over");
        assert_eq!(begins_at(100, 100), None);
    }

    #[test]
    fn flows_are_spread_over_all_slots_and_other_flows_of_a_slot_do_not_disturb() {
        let slots: std::collections::BTreeSet<usize> = (0..1000).map(Probe::slot).collect();
        assert_eq!(slots.len(), SLOTS);
        let other = (8..).find(|&flow| Probe::slot(flow) == Probe::slot(7)).unwrap();
        let mut rtt = stamped();
        rtt.forward(at(10), &out(7, 1000, 10, 0));
        rtt.forward(at(11), &out(7, 2000, 11, 0));
        rtt.forward(at(20), &out(other, 900, 20, 0));
        // An acknowledgement without data is no retransmission.
        rtt.forward(at(30), &out(7, 0, 30, 0));
        rtt.backward(at(70), &ack(7, 1000, 5000));
        rtt.forward(at(100), &out(other, 4000, 100, 5000));
        rtt.forward(at(210), &out(7, 4000, 210, 5000));
        assert!((rtt.value().as_secs_f64() - 0.2).abs() < 1e-9, "{rtt:?}");
    }

    #[test]
    fn an_acknowledgement_without_data_begins_no_sample() {
        let mut rtt = stamped();
        rtt.forward(at(10), &out(7, 0, 10, 0));
        let RoundTrip::Measured(probe) = &rtt else { unreachable!() };
        assert_eq!(probe.slots[Probe::slot(7)].state, State::Idle);
    }

    #[test]
    fn a_sample_is_given_up_after_three_seconds() {
        let other = (8..).find(|&flow| Probe::slot(flow) == Probe::slot(7)).unwrap();
        let is_idle_at = |millis: u64| {
            let mut rtt = stamped();
            rtt.forward(at(0), &out(7, 1000, 0, 0));
            rtt.forward(at(millis), &out(other, 1000, 0, 0));
            let RoundTrip::Measured(probe) = &rtt else { unreachable!() };
            probe.slots[Probe::slot(7)].state == State::Idle
        };
        assert_eq!((is_idle_at(3000), is_idle_at(3001)), (false, true));
    }

    #[test]
    fn a_rest_is_a_random_number_of_segments_and_four_times_the_sample() {
        let RoundTrip::Measured(mut probe) = stamped() else { unreachable!() };
        let skips: std::collections::BTreeSet<u32> = (0..50)
            .map(|_| {
                probe.slots[3].passed = 9;
                probe.rest(at(100), 3, Duration::from_millis(20));
                assert_eq!(probe.slots[3].until, at(180));
                probe.slots[3].skip
            })
            .collect();
        // At most the segments during the sample; of 50 draws out of 10 numbers, 5 different ones or more.
        assert!(skips.iter().all(|&skip| skip <= 9) && skips.len() >= 5, "{skips:?}");
    }

    #[test]
    fn older_samples_count_less() {
        // 60 + 40 ms, complete at 100 ms, then 100 + 80 ms from 1000 ms on. The halves end at 60 and 1100 ms, and
        // at 100 and 1180 ms. The first sample has weight one. The second has weight three: two segments since
        // the first, and its own. out = (60 e^-1.04 + 3 x 100) / (e^-1.04 + 3) = 95.8 ms, back = (40 e^-1.08 + 3
        // x 80) / (e^-1.08 + 3) = 75.9 ms.
        let mut rtt = stamped();
        sample(&mut rtt, 7, 0, (60, 40));
        sample(&mut rtt, 7, 1000, (100, 80));
        let mean = |old: f64, new: f64, age: f64| (old * (-age).exp() + 3.0 * new) / ((-age).exp() + 3.0);
        let expected = mean(0.06, 0.1, 1.04) + mean(0.04, 0.08, 1.08);
        assert!(
            (rtt.value().as_secs_f64() - expected).abs() < 1e-9 && (expected - 0.1717).abs() < 1e-4,
            "{}",
            rtt.value().as_secs_f64()
        );
    }

    #[test]
    fn flows_of_one_slot_are_drawn_by_their_segments() {
        // One flow with 20 ms sends three segments for each segment of a flow with 60 ms. Three quarters of the
        // samples are of the first, so the mean is 30 ms with a standard deviation of 17.3 ms. A minute has some
        // 1000 samples: 4 sigma are 4 x 17.3 / sqrt(1000) = 2.2 ms.
        let other = (8..).find(|&flow| Probe::slot(flow) == Probe::slot(7)).unwrap();
        let mut events: Vec<(u64, bool, SegmentView)> = Vec::new();
        for n in 0..6000_u32 {
            let (flow, half) = if spread(u64::from(n)) % 4 == 3 { (other, 60) } else { (7, 20) };
            let sent = 10 * u64::from(n);
            // A later acknowledgement always precedes the next segment, so only the outward halves count.
            events.push((sent, true, out(flow, n + 1, n, 2 * n + 1)));
            events.push((sent + half, false, ack(flow, n + 1, 2 * n)));
        }
        events.sort_by_key(|event| event.0);
        let (mut rtt, mut sum, mut count) = (stamped(), 0.0, 0.0);
        for (now, forward, segment) in events {
            if forward {
                rtt.forward(at(now), &segment)
            } else {
                rtt.backward(at(now), &segment)
            }
            let RoundTrip::Measured(probe) = &rtt else { unreachable!() };
            (sum, count) = (sum + probe.out.value().unwrap_or(0.0), count + 1.0);
        }
        assert!((sum / count - 0.03).abs() < 0.0022, "{}", sum / count);
    }

    #[test]
    fn what_waits_for_its_application_is_no_round_trip() {
        let mut rtt = stamped();
        sample(&mut rtt, 7, 0, (60, 40));
        // A lone segment at 1000 ms, acknowledged at 1060 ms. The next follows 700 ms later, when the application
        // has data: only the 60 ms count.
        awaken(&mut rtt);
        rtt.forward(at(1000), &out(7, 5000, 1000, 0));
        rtt.backward(at(1060), &ack(7, 5000, 9000));
        rtt.forward(at(1760), &out(7, 6000, 1760, 9000));
        assert!((rtt.value().as_secs_f64() - 0.1).abs() < 1e-9, "{}", rtt.value().as_secs_f64());
    }

    #[test]
    fn lone_segments_are_measured_by_the_shortest_wait() {
        let mut rtt = stamped();
        for (from, wait) in [(0, 700), (2000, 150), (4000, 900)] {
            awaken(&mut rtt);
            let now = from as u32;
            rtt.forward(at(from), &out(7, 1000 + now, now, 0));
            rtt.backward(at(from + 60), &ack(7, 1000 + now, 100 + now));
            rtt.forward(at(from + 60 + wait), &out(7, 1001 + now, now, 100 + now));
        }
        // 60 ms out, and at best 150 ms back.
        assert!((rtt.value().as_secs_f64() - 0.21).abs() < 1e-9, "{}", rtt.value().as_secs_f64());
    }

    #[test]
    fn a_later_acknowledgement_that_released_a_segment_makes_the_sample_worthless() {
        let mut rtt = stamped();
        sample(&mut rtt, 7, 0, (60, 40));
        awaken(&mut rtt);
        rtt.forward(at(1000), &out(7, 5000, 1000, 0));
        rtt.forward(at(1000), &out(7, 6000, 1000, 0));
        rtt.backward(at(1060), &ack(7, 5000, 9000));
        rtt.forward(at(1400), &out(7, 7000, 1400, 9200));
        assert!((rtt.value().as_secs_f64() - 0.1).abs() < 1e-9, "{}", rtt.value().as_secs_f64());
    }

    #[test]
    fn a_segment_that_is_sent_again_is_not_measured() {
        let mut rtt = stamped();
        sample(&mut rtt, 7, 0, (60, 40));
        awaken(&mut rtt);
        rtt.forward(at(1000), &out(7, 5000, 1000, 0));
        rtt.forward(at(1300), &out(7, 5000, 1300, 0));
        rtt.backward(at(1310), &ack(7, 5000, 9000));
        assert!((rtt.value().as_secs_f64() - 0.1).abs() < 1e-9, "{}", rtt.value().as_secs_f64());
    }

    #[test]
    fn segments_of_other_flows_are_no_answers() {
        let mut rtt = stamped();
        rtt.forward(at(10), &out(7, 1000, 10, 0));
        rtt.backward(at(20), &ack(8, 1000, 5000));
        rtt.forward(at(30), &out(8, 2000, 30, 5000));
        assert_eq!(rtt.value(), Duration::from_millis(500));
    }

    #[test]
    fn a_flow_that_falls_silent_gives_its_place_to_another() {
        let other = (8..).find(|&flow| Probe::slot(flow) == Probe::slot(7)).unwrap();
        let mut rtt = stamped();
        rtt.forward(at(10), &out(7, 1000, 10, 0));
        rtt.forward(at(3020), &out(other, 1, 0, 0));
        sample(&mut rtt, other, 3030, (30, 10));
        assert!((rtt.value().as_secs_f64() - 0.04).abs() < 1e-9, "{}", rtt.value().as_secs_f64());
    }

    #[test]
    fn sequence_numbers_wrap() {
        assert!(is_after(3, u32::MAX - 5));
        assert!(!is_after(u32::MAX - 5, 3) && !is_after(3, 3));
    }

    #[test]
    fn a_handshake_is_a_sample() {
        let mut rtt = estimator(&RoundTripConfig::handshake(Duration::from_millis(100)));
        rtt.forward(at(0), &shake(3, SegmentKind::Syn));
        // A repeated SYN: the answer could belong to either.
        rtt.forward(at(1000), &shake(3, SegmentKind::Syn));
        rtt.backward(at(1010), &shake(3, SegmentKind::SynAck));
        rtt.forward(at(1100), &shake(3, SegmentKind::Other));
        assert_eq!(rtt.value(), Duration::from_millis(100));
        rtt.forward(at(2000), &shake(3, SegmentKind::Syn));
        rtt.backward(at(2040), &shake(3, SegmentKind::SynAck));
        rtt.forward(at(2150), &shake(3, SegmentKind::Other));
        assert!((rtt.value().as_secs_f64() - 0.15).abs() < 1e-9, "{}", rtt.value().as_secs_f64());
        rtt.forward(at(2160), &out(3, 1000, 0, 0));
        rtt.backward(at(2200), &ack(3, 1000, 0));
        rtt.forward(at(2900), &out(3, 2000, 0, 0));
        assert!((rtt.value().as_secs_f64() - 0.15).abs() < 1e-9, "data is no handshake");
    }

    #[test]
    fn a_handshake_whose_segments_come_again_is_no_sample() {
        let mut rtt = estimator(&RoundTripConfig::handshake(Duration::from_millis(100)));
        // The SYN-ACK is lost after the gateway and repeated after a second, or the SYN is repeated before its
        // answer arrives.
        for (from, again, forward) in [(0, SegmentKind::SynAck, false), (5000, SegmentKind::Syn, true)] {
            rtt.forward(at(from), &shake(3, SegmentKind::Syn));
            rtt.backward(at(from + 40), &shake(3, SegmentKind::SynAck));
            if forward {
                rtt.forward(at(from + 1040), &shake(3, again));
            } else {
                rtt.backward(at(from + 1040), &shake(3, again));
            }
            rtt.forward(at(from + 1150), &shake(3, SegmentKind::Other));
            assert_eq!(rtt.value(), Duration::from_millis(100), "from {from} ms");
        }
    }
}
