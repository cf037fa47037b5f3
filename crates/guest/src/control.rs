//! Congestion controls: the methods of the trait as events, and their values as an answer.

use crate::abi::place;
use crate::record::Record;
use crate::{record_enum, record_struct};
use netlull_tcp::RecoveryPhase;
use netlull_tcp::cc::{
    Ack, CongestionControl, ControlEvent, Delivery, Idle, Loss, Recovered, Spurious, Start, TimeoutKind, Transmission,
};
use netlull_tcp::delivery::{DeliveryRate, LostSegment, RateSample};
use netlull_units::{BitRate, Duration, Instant};

/// The part of [`DeliveryRate`] that an algorithm reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    /// C.delivered in bytes.
    pub delivered: u64,
    /// C.app_limited in bytes.
    pub app_limited: u64,
}

impl Deliveries {
    /// The part of a state.
    #[must_use]
    pub fn of(rate: &DeliveryRate) -> Self {
        Self { delivered: rate.delivered(), app_limited: rate.app_limited() }
    }

    fn state(self) -> DeliveryRate {
        DeliveryRate::apart(self.delivered, self.app_limited)
    }
}

/// The values of a congestion control after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlAnswer {
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// The slow-start threshold in bytes.
    pub ssthresh: u64,
    /// The pacing rate.
    pub pacing_rate: Option<BitRate>,
    /// The data that may go out at once, with a pacing rate, in bytes.
    pub send_quantum: u64,
    /// True if the endpoint must record deliveries.
    pub wants_deliveries: bool,
    /// True if the window also holds in recovery.
    pub owns_window: bool,
    /// C.app_limited in bytes, after a `Delivery`.
    pub app_limited: u64,
}

/// The connection of a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlContext {
    /// The data of a full segment without options, in bytes.
    pub mss: u32,
    /// The seed of random decisions.
    pub seed: u32,
}

record_struct! {
    Start { now: Instant, smss: u32, initial_window: u64, rtt: Option<Duration> }
    Ack {
        now: Instant, acked: u64, delivered: u64, una: u64, nxt: u64, flight_before: u64, flight: u64,
        rtt: Option<Duration>, srtt: Option<Duration>, ece: bool, phase: RecoveryPhase,
    }
    Loss { now: Instant, flight: u64, window: u64, nxt: u64 }
    Transmission { at: Instant, count: u32 }
    Idle { now: Instant, last_sent: Instant, rto: Duration }
    Recovered { now: Instant, flight: u64, window: u64 }
    Spurious { now: Instant, flight: u64, cwnd: u64, ssthresh: u64, timed_out: bool }
    RateSample {
        delivery_rate: f64, delivered: u64, interval: Duration, prior_delivered: u64, rtt: Option<Duration>,
        is_app_limited: bool, newly_acked: u64, newly_lost: u64, tx_in_flight: u64, lost: u64,
    }
    Delivery {
        now: Instant, sample: RateSample, inflight: u64, is_cwnd_limited: bool, selective: bool, phase: RecoveryPhase,
    }
    LostSegment { start: u64, end: u64, tx_in_flight: u64, lost: u64, is_app_limited: bool }
    Deliveries { delivered: u64, app_limited: u64 }
    ControlAnswer {
        cwnd: u64, ssthresh: u64, pacing_rate: Option<BitRate>, send_quantum: u64, wants_deliveries: bool,
        owns_window: bool, app_limited: u64,
    }
    ControlContext { mss: u32, seed: u32 }
}

record_enum! {
    RecoveryPhase { 0 = Open, 1 = FastRecovery, 2 = Loss }
    TimeoutKind { 0 = First, 1 = Repeated }
    ControlEvent {
        0 = OnEstablished(start: Start),
        1 = OnAck(ack: Ack),
        2 = OnDuplicateAck(ack: Ack),
        3 = OnLoss(loss: Loss),
        4 = OnSegmentLost { loss: Loss, sent: Transmission },
        5 = OnCongestionEcho(loss: Loss),
        6 = OnTimeout { loss: Loss, kind: TimeoutKind },
        7 = OnRecovered(recovered: Recovered),
        8 = OnIdleRestart(idle: Idle),
        9 = OnFlight(idle: Idle),
        10 = OnDelivery(delivery: Delivery),
        11 = OnMarkedLost { now: Instant, lost: LostSegment },
        12 = OnRestart { now: Instant },
        13 = OnSpurious(spurious: Spurious),
    }
}

const _: () = {
    assert!(place::EVENT + ControlEvent::WORDS <= place::ANSWER);
    assert!(place::ANSWER + ControlAnswer::WORDS <= place::CONTEXT);
    assert!(place::CONTEXT + crate::abi::Begin::<ControlContext>::WORDS <= place::PARAMETERS);
};

/// Calls the method of an event. `rate` is read and changed by events of deliveries.
pub fn deliver(event: &ControlEvent, rate: &mut Deliveries, to: &mut impl CongestionControl) {
    match event {
        ControlEvent::OnEstablished(start) => to.on_established(start),
        ControlEvent::OnAck(ack) => to.on_ack(ack),
        ControlEvent::OnDuplicateAck(ack) => to.on_duplicate_ack(ack),
        ControlEvent::OnLoss(loss) => to.on_loss(loss),
        ControlEvent::OnSegmentLost { loss, sent } => to.on_segment_lost(loss, sent),
        ControlEvent::OnCongestionEcho(loss) => to.on_congestion_echo(loss),
        ControlEvent::OnTimeout { loss, kind } => to.on_timeout(loss, *kind),
        ControlEvent::OnRecovered(recovered) => to.on_recovered(recovered),
        ControlEvent::OnSpurious(spurious) => to.on_spurious(spurious),
        ControlEvent::OnIdleRestart(idle) => to.on_idle_restart(idle),
        ControlEvent::OnFlight(idle) => to.on_flight(idle),
        ControlEvent::OnDelivery(delivery) => {
            let mut state = rate.state();
            to.on_delivery(delivery, &mut state);
            rate.app_limited = state.app_limited();
        }
        ControlEvent::OnMarkedLost { now, lost } => to.on_marked_lost(*now, lost, &rate.state()),
        ControlEvent::OnRestart { now } => to.on_restart(*now, &rate.state()),
    }
}

impl ControlAnswer {
    /// The values of a congestion control.
    #[must_use]
    pub fn of(control: &impl CongestionControl, app_limited: u64) -> Self {
        Self {
            cwnd: control.cwnd(),
            ssthresh: control.ssthresh(),
            pacing_rate: control.pacing_rate(),
            send_quantum: control.send_quantum(),
            wants_deliveries: control.wants_deliveries(),
            owns_window: control.owns_window(),
            app_limited,
        }
    }
}
