//! RTT: the round-trip time of the flows that cross a gateway, without a state per flow (g-router section 2.4).

use super::{FlowKey, SegmentKind, SegmentView};
use crate::ConfigError;
use netlull_units::{Duration, Instant};

/// Where RTT comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum RoundTripConfig {
    /// Given.
    Fixed(Duration),
    /// Equation (7) as printed: N_{k-1} swnd_{k-1} / C_{k-1}. With equation (5) this is what it was at the start, for ever.
    Printed,
    /// From SYN to the end of the handshake, of one connection at a time.
    Handshake {
        /// RTT before the first sample.
        initial: Duration,
    },
    /// From timestamps echoed (RFC 7323), of one flow at a time.
    Timestamps {
        /// RTT before the first sample.
        initial: Duration,
    },
}

/// RTT, an estimate of the mean round-trip time, queueing at the gateway included.
#[derive(Clone, Debug)]
pub enum RoundTrip {
    /// Never changes.
    Fixed(Duration),
    /// Equation (7).
    Printed(Duration),
    /// Measured on one flow after another.
    Measured(Probe),
}

/// A sample that is not complete by then is given up, so that a connection that ends or pauses does not stop the measurement.
const PATIENCE: Duration = Duration::from_secs(3);

/// The weight of a sample: 1/8, as of TCP's own (RFC 6298 section 2).
const WEIGHT: f64 = 0.125;

impl RoundTrip {
    /// The estimator that `config` asks for.
    ///
    /// # Errors
    /// If a time is nothing.
    pub fn new(config: &RoundTripConfig) -> Result<Self, ConfigError> {
        let some = |time: Duration| {
            if time.is_zero() { Err(ConfigError::new("round_trip", time, "more than nothing")) } else { Ok(time) }
        };
        Ok(match *config {
            RoundTripConfig::Fixed(time) => Self::Fixed(some(time)?),
            RoundTripConfig::Printed => Self::Printed(Duration::ZERO),
            RoundTripConfig::Handshake { initial } => Self::Measured(Probe::new(Method::Handshake, some(initial)?)),
            RoundTripConfig::Timestamps { initial } => Self::Measured(Probe::new(Method::Timestamps, some(initial)?)),
        })
    }

    /// RTT.
    #[inline]
    #[must_use]
    pub fn value(&self) -> Duration {
        match self {
            Self::Fixed(time) | Self::Printed(time) => *time,
            Self::Measured(probe) => probe.time,
        }
    }

    /// Equation (7): RTT_k = N_{k-1} swnd_{k-1} / C_{k-1}; swnd in bytes, C in bit/s.
    #[inline]
    pub fn update(&mut self, flows: f64, window: f64, rate: f64) {
        if let Self::Printed(time) = self {
            *time = Duration::from_secs_f64(8.0 * flows * window / rate).unwrap_or(Duration::MAX);
        }
    }

    /// A segment goes the way of the data.
    #[inline]
    pub fn forward(&mut self, now: Instant, segment: &SegmentView) {
        if let Self::Measured(probe) = self {
            probe.forward(now, segment);
        }
    }

    /// A segment comes back.
    #[inline]
    pub fn backward(&mut self, now: Instant, segment: &SegmentView) {
        if let Self::Measured(probe) = self {
            probe.backward(now, segment);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Handshake,
    Timestamps,
}

/// One sample at a time: out to the receiver and back, then on to the sender and back.
///
/// ```text
///   Idle ── segment goes out ──► Out ── its answer comes back ──► Back ── what that released goes out ──► Idle, a sample
/// ```
#[derive(Clone, Debug)]
pub struct Probe {
    method: Method,
    state: State,
    /// The average in seconds.
    seconds: f64,
    /// The same to the nanosecond.
    time: Duration,
    samples: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// The segment's TSval is to be echoed.
    Out {
        flow: FlowKey,
        value: u32,
        since: Instant,
    },
    /// The answer's TSval is to be echoed.
    Back {
        flow: FlowKey,
        value: u32,
        since: Instant,
    },
}

impl Probe {
    fn new(method: Method, initial: Duration) -> Self {
        Self { method, state: State::Idle, seconds: initial.as_secs_f64(), time: initial, samples: 0 }
    }

    fn forward(&mut self, now: Instant, segment: &SegmentView) {
        match self.state {
            State::Back { flow, value, since } if flow == segment.flow && self.ends(segment, value) => {
                self.sample((now - since).as_secs_f64());
                self.state = State::Idle;
            }
            State::Out { since, .. } | State::Back { since, .. } if now - since > PATIENCE => self.state = State::Idle,
            _ => {}
        }
        if self.state == State::Idle
            && let Some(value) = self.begins(segment)
        {
            self.state = State::Out { flow: segment.flow, value, since: now };
        }
    }

    fn backward(&mut self, _now: Instant, segment: &SegmentView) {
        let State::Out { flow, value, since } = self.state else { return };
        if flow != segment.flow {
            return;
        }
        match (self.method, segment.timestamps) {
            (Method::Handshake, _) if segment.kind == SegmentKind::SynAck => {
                self.state = State::Back { flow, value: 0, since }
            }
            (Method::Timestamps, Some(stamps)) if reached(stamps.echo, value) => {
                self.state = State::Back { flow, value: stamps.value, since };
            }
            _ => {}
        }
    }

    /// What a segment that begins a sample has to be echoed with.
    fn begins(&self, segment: &SegmentView) -> Option<u32> {
        match self.method {
            Method::Handshake => (segment.kind == SegmentKind::Syn).then_some(0),
            Method::Timestamps => segment.timestamps.map(|stamps| stamps.value),
        }
    }

    /// Whether a segment on its way out is what the answer has released.
    fn ends(&self, segment: &SegmentView, value: u32) -> bool {
        self.method == Method::Handshake || segment.timestamps.is_some_and(|stamps| reached(stamps.echo, value))
    }

    fn sample(&mut self, seconds: f64) {
        self.seconds = if self.samples == 0 { seconds } else { (1.0 - WEIGHT) * self.seconds + WEIGHT * seconds };
        self.time = Duration::from_secs_f64(self.seconds).unwrap_or(Duration::MAX);
        self.samples += 1;
    }
}

/// Whether an echo is of `value` or of a later one, modulo 2^32 (RFC 7323 section 5.2).
fn reached(echo: u32, value: u32) -> bool {
    echo.wrapping_sub(value) < 1 << 31
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Timestamps;
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn segment(flow: FlowKey, kind: SegmentKind, value: u32, echo: u32) -> SegmentView {
        SegmentView { flow, kind, timestamps: Some(Timestamps { value, echo }) }
    }

    fn data(flow: FlowKey, value: u32, echo: u32) -> SegmentView {
        segment(flow, SegmentKind::Other, value, echo)
    }

    fn estimator(config: &RoundTripConfig) -> RoundTrip {
        RoundTrip::new(config).unwrap()
    }

    #[test]
    fn timestamps_give_both_halves_of_the_path() {
        let mut rtt = estimator(&RoundTripConfig::Timestamps { initial: Duration::from_millis(100) });
        // Out at 10 ms; the acknowledgement is back at 70 ms; what it released passes at 210 ms: 200 ms in all.
        rtt.forward(at(10), &data(7, 1000, 0));
        rtt.backward(at(70), &data(7, 5000, 1000));
        rtt.forward(at(75), &data(7, 1060, 4900));
        assert_eq!(rtt.value(), Duration::from_millis(100), "an echo of an older segment ends nothing");
        rtt.forward(at(210), &data(7, 1130, 5000));
        assert_eq!(rtt.value(), Duration::from_millis(200));
        // That segment began the next sample: back at 250, on at 530: 320 ms, of which an eighth: 0.875 x 200 + 0.125 x 320 = 215.
        rtt.backward(at(250), &data(7, 5100, 1130));
        rtt.forward(at(530), &data(7, 1200, 5100));
        assert!((rtt.value().as_secs_f64() - 0.215).abs() < 1e-9);
    }

    #[test]
    fn segments_of_other_flows_are_no_answers() {
        let mut rtt = estimator(&RoundTripConfig::Timestamps { initial: Duration::from_millis(100) });
        rtt.forward(at(10), &data(7, 1000, 0));
        rtt.backward(at(20), &data(8, 5000, 1000));
        rtt.forward(at(30), &data(8, 1000, 5000));
        assert_eq!(rtt.value(), Duration::from_millis(100));
    }

    #[test]
    fn a_flow_that_falls_silent_gives_its_place_to_another() {
        let mut rtt = estimator(&RoundTripConfig::Timestamps { initial: Duration::from_millis(100) });
        rtt.forward(at(10), &data(7, 1000, 0));
        rtt.forward(at(3020), &data(8, 70, 0));
        rtt.backward(at(3030), &data(8, 900, 70));
        rtt.forward(at(3060), &data(8, 110, 900));
        assert_eq!(rtt.value(), Duration::from_millis(40));
    }

    #[test]
    fn clocks_wrap() {
        assert!(reached(3, u32::MAX - 5));
        assert!(!reached(u32::MAX - 5, 3));
    }

    #[test]
    fn a_handshake_is_a_sample() {
        let mut rtt = estimator(&RoundTripConfig::Handshake { initial: Duration::from_millis(100) });
        let bare = |kind| SegmentView { flow: 3, kind, timestamps: None };
        rtt.forward(at(0), &bare(SegmentKind::Syn));
        rtt.backward(at(40), &bare(SegmentKind::SynAck));
        rtt.forward(at(150), &bare(SegmentKind::Other));
        assert_eq!(rtt.value(), Duration::from_millis(150));
        rtt.forward(at(160), &bare(SegmentKind::Other));
        rtt.backward(at(200), &bare(SegmentKind::Other));
        assert_eq!(rtt.value(), Duration::from_millis(150), "data is no handshake");
    }

    #[test]
    fn equation_7_by_hand() {
        // 20 x 12,500 B x 8 / 10 Mb/s = 0.2 s.
        let mut rtt = estimator(&RoundTripConfig::Printed);
        rtt.update(20.0, 12_500.0, 10e6);
        assert_eq!(rtt.value(), Duration::from_millis(200));
        rtt.update(f64::MAX, 12_500.0, 1.0);
        assert_eq!(rtt.value(), Duration::MAX);
    }

    #[test]
    fn wrong_values_are_named() {
        assert_eq!(RoundTrip::new(&RoundTripConfig::Fixed(Duration::ZERO)).unwrap_err().field, "round_trip");
    }
}
