//! The vocabulary in Python: read-only objects whose attributes are numbers in seconds, bytes and bits per second.

use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::LinkEvent;
use netlull_mechanism::observe::{Amount, Observation, Reason};
use netlull_mechanism::rate::{Admission, HeadVerdict};
use netlull_mechanism::station::{PacketView, StationEvent, TcpView};
use netlull_tcp::RecoveryPhase;
use netlull_tcp::cc::{Ack, Delivery, Idle, Loss, Recovered, Spurious, Start};
use netlull_tcp::delivery::LostSegment;
use netlull_units::{Duration, Instant};
use pyo3::prelude::*;

/// Adds the classes to the module, for type checkers and for `help`.
pub(crate) fn register_views(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SegmentViewView>()?;
    module.add_class::<TcpViewView>()?;
    module.add_class::<Seen>()?;
    module.add_class::<EventView>()?;
    module.add_class::<StationEventView>()
}

/// Declares a view: a class with attributes, and their values in the core's type.
macro_rules! views {
    ($($(#[$doc:meta])* $view:ident as $name:literal from $source:ty, $it:ident: $($field:ident: $type:ty = $value:expr,)+;)+) => {$(
        $(#[$doc])*
        #[pyclass(frozen, get_all, name = $name, module = "netlull._core")]
        pub(super) struct $view {
            $($field: $type,)+
        }

        impl From<&$source> for $view {
            fn from($it: &$source) -> Self {
                Self { $($field: $value,)+ }
            }
        }
    )+};
}

fn seconds(time: Option<Duration>) -> Option<f64> {
    time.map(Duration::as_secs_f64)
}

fn kind(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::Syn => "syn",
        SegmentKind::SynAck => "syn_ack",
        SegmentKind::Other => "other",
    }
}

fn stamps(timestamps: Option<Timestamps>) -> Option<(u32, u32)> {
    timestamps.map(|Timestamps { value, echo }| (value, echo))
}

fn phase(phase: RecoveryPhase) -> &'static str {
    match phase {
        RecoveryPhase::Open => "open",
        RecoveryPhase::FastRecovery => "fast_recovery",
        RecoveryPhase::Loss => "loss",
    }
}

views! {
    /// A segment that passes a link.
    SegmentViewView as "SegmentView" from SegmentView, segment:
        flow: u64 = segment.flow,
        kind: &'static str = kind(segment.kind),
        end: u32 = segment.end,
        acknowledged: u32 = segment.acknowledged,
        data: bool = segment.data,
        fin: bool = segment.fin,
        timestamps: Option<(u32, u32)> = stamps(segment.timestamps),;
    /// A segment at a station.
    TcpViewView as "TcpView" from TcpView, tcp:
        connection: u32 = tcp.connection,
        kind: &'static str = kind(tcp.kind),
        fin: bool = tcp.fin,
        seq: u32 = tcp.seq,
        len: u32 = tcp.len,
        acknowledged: Option<u32> = tcp.acknowledged,
        window: u64 = tcp.window.as_u64(),
        timestamps: Option<(u32, u32)> = stamps(tcp.timestamps),;
    /// The start of data transmission.
    StartView as "Start" from Start, start:
        now: f64 = start.now.as_secs_f64(),
        smss: u32 = start.smss,
        initial_window: u64 = start.initial_window,
        rtt: Option<f64> = seconds(start.rtt),;
    /// An acknowledgement.
    AckView as "Ack" from Ack, ack:
        now: f64 = ack.now.as_secs_f64(),
        acked: u64 = ack.acked,
        delivered: u64 = ack.delivered,
        una: u64 = ack.una,
        nxt: u64 = ack.nxt,
        flight_before: u64 = ack.flight_before,
        flight: u64 = ack.flight,
        rtt: Option<f64> = seconds(ack.rtt),
        srtt: Option<f64> = seconds(ack.srtt),
        ece: bool = ack.ece,
        phase: &'static str = phase(ack.phase),;
    /// A loss or a congestion mark.
    LossView as "Loss" from Loss, loss:
        now: f64 = loss.now.as_secs_f64(),
        flight: u64 = loss.flight,
        window: u64 = loss.window,
        nxt: u64 = loss.nxt,;
    /// A pause of the sender.
    IdleView as "Idle" from Idle, idle:
        now: f64 = idle.now.as_secs_f64(),
        last_sent: f64 = idle.last_sent.as_secs_f64(),
        rto: f64 = idle.rto.as_secs_f64(),;
    /// The end of fast recovery.
    RecoveredView as "Recovered" from Recovered, recovered:
        now: f64 = recovered.now.as_secs_f64(),
        flight: u64 = recovered.flight,
        window: u64 = recovered.window,;
    /// The proof that a recovery was needless; the window and the threshold are those before it.
    SpuriousView as "Spurious" from Spurious, spurious:
        now: f64 = spurious.now.as_secs_f64(),
        flight: u64 = spurious.flight,
        cwnd: u64 = spurious.cwnd,
        ssthresh: Option<u64> = (spurious.ssthresh != u64::MAX).then_some(spurious.ssthresh),
        timed_out: bool = spurious.timed_out,;
    /// A sample of the delivery rate, in bytes per second.
    DeliveryView as "Delivery" from Delivery, delivery:
        now: f64 = delivery.now.as_secs_f64(),
        delivery_rate: f64 = delivery.sample.delivery_rate,
        delivered: u64 = delivery.sample.delivered,
        interval: f64 = delivery.sample.interval.as_secs_f64(),
        rtt: Option<f64> = seconds(delivery.sample.rtt),
        is_app_limited: bool = delivery.sample.is_app_limited,
        newly_acked: u64 = delivery.sample.newly_acked,
        newly_lost: u64 = delivery.sample.newly_lost,
        prior_delivered: u64 = delivery.sample.prior_delivered,
        tx_in_flight: u64 = delivery.sample.tx_in_flight,
        lost: u64 = delivery.sample.lost,
        selective: bool = delivery.selective,
        inflight: u64 = delivery.inflight,
        is_cwnd_limited: bool = delivery.is_cwnd_limited,
        phase: &'static str = phase(delivery.phase),;
    /// A segment marked lost.
    LostView as "Lost" from LostSegment, lost:
        start: u64 = lost.start,
        end: u64 = lost.end,
        tx_in_flight: u64 = lost.tx_in_flight,
        lost: u64 = lost.lost,
        is_app_limited: bool = lost.is_app_limited,;
}

/// A link and its traffic since the previous observation: seconds, bytes and bits per second.
#[pyclass(name = "Observation", module = "netlull._core")]
pub(super) struct Seen(pub Observation);

/// Declares getters of the observation.
macro_rules! seen {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $it:ident => $value:expr;)+) => {
        #[pymethods]
        impl Seen {
            $($(#[$doc])* #[getter] fn $name(&self) -> $type { let $it = &self.0; $value })+

            fn __repr__(&self) -> String {
                format!("<Observation at {} s>", self.0.now.as_secs_f64())
            }
        }
    };
}

seen! {
    /// The time since the start of the run.
    now: f64 = seen => seen.now.as_secs_f64();
    /// "tick", "threshold" or "event".
    reason: &'static str = seen => match seen.reason {
        Reason::Tick => "tick",
        Reason::Threshold { .. } => "threshold",
        Reason::Event(_) => "event",
    };
    /// The crossed threshold in bytes; None without one.
    threshold: Option<u64> = seen => match seen.reason {
        Reason::Threshold { length, .. } => Some(length.as_u64()),
        Reason::Tick | Reason::Event(_) => None,
    };
    /// True if the backlog has reached the threshold, false if it is now below.
    reached: bool = seen => matches!(seen.reason, Reason::Threshold { reached: true, .. });
    /// The time since the previous observation.
    span: f64 = seen => seen.span.as_secs_f64();
    /// The present service rate.
    rate: f64 = seen => seen.rate.as_f64();
    /// Packets in the backlog.
    queue_packets: u64 = seen => seen.waiting_packets;
    /// Bytes in the backlog, without the packet in service.
    queue_bytes: u64 = seen => seen.queue.waiting.as_u64();
    /// Bytes of the packet in service; 0 if the transmitter is idle.
    in_service_bytes: u64 = seen => seen.queue.in_service.as_u64();
    /// Packets that reached the buffer, with those dropped there.
    arrived_packets: u64 = seen => seen.arrived.packets;
    /// Their bytes.
    arrived_bytes: u64 = seen => count(seen.arrived);
    /// Packets that left the transmitter.
    departed_packets: u64 = seen => seen.departed.packets;
    /// Their bytes.
    departed_bytes: u64 = seen => count(seen.departed);
    /// Packets dropped by a full buffer or by queue management.
    dropped_packets: u64 = seen => seen.dropped.packets;
    /// Their bytes.
    dropped_bytes: u64 = seen => count(seen.dropped);
    /// Packets marked by queue management.
    marked_packets: u64 = seen => seen.marked.packets;
    /// Their bytes.
    marked_bytes: u64 = seen => count(seen.marked);
    /// The bits of departed packets over the bits that the link's highest rate could have sent.
    utilisation: f64 = seen => seen.utilisation;
    /// The mean round-trip time; None before the first sample and without `segments`.
    round_trip: Option<f64> = seen => seconds(seen.round_trip);
    /// The number of active flows; None before the first data segment and without `segments`.
    flows: Option<f64> = seen => seen.flows;
}

fn count(amount: Amount) -> u64 {
    amount.bytes.as_u64()
}

/// An event on a link.
#[pyclass(frozen, name = "LinkEvent", module = "netlull._core")]
pub(super) struct EventView(pub LinkEvent);

#[pymethods]
impl EventView {
    /// "arrival", "departure", "managed", "timeout" or "acknowledgement".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            LinkEvent::Arrival { .. } => "arrival",
            LinkEvent::Departure { .. } => "departure",
            LinkEvent::Managed { .. } => "managed",
            LinkEvent::Timeout { .. } => "timeout",
            LinkEvent::Acknowledgement { .. } => "acknowledgement",
        }
    }

    /// The size of an arriving or managed packet in bytes; None for other events.
    #[getter]
    fn size(&self) -> Option<u64> {
        match self.0 {
            LinkEvent::Arrival { size, .. } | LinkEvent::Managed { size, .. } => Some(size.as_u64()),
            _ => None,
        }
    }

    /// "accepted", "marked" or "dropped" for an arriving or managed packet; None for other events.
    #[getter]
    fn admission(&self) -> Option<&'static str> {
        match self.0 {
            LinkEvent::Arrival { admission: Admission::Accepted, .. } => Some("accepted"),
            LinkEvent::Arrival { admission: Admission::Marked, .. }
            | LinkEvent::Managed { verdict: HeadVerdict::Marked, .. } => Some("marked"),
            LinkEvent::Arrival { admission: Admission::Dropped, .. }
            | LinkEvent::Managed { verdict: HeadVerdict::Dropped, .. } => Some("dropped"),
            _ => None,
        }
    }

    /// The TCP segment, with `segments`.
    #[getter]
    fn segment(&self) -> Option<SegmentViewView> {
        match &self.0 {
            LinkEvent::Arrival { segment, .. } => segment.as_ref().map(Into::into),
            LinkEvent::Acknowledgement { segment, .. } => Some(segment.into()),
            _ => None,
        }
    }

    /// The advertised window of an acknowledgement in bytes; None for other events.
    #[getter]
    fn window(&self) -> Option<u64> {
        match self.0 {
            LinkEvent::Acknowledgement { window, .. } => Some(window.as_u64()),
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        format!("<LinkEvent {}>", self.kind())
    }
}

/// An event at a station.
#[pyclass(frozen, name = "StationEvent", module = "netlull._core")]
pub(super) struct StationEventView {
    pub now: Instant,
    pub event: StationEvent,
}

impl StationEventView {
    fn packet(&self) -> Option<PacketView> {
        match self.event {
            StationEvent::Received { packet, .. }
            | StationEvent::Sending { packet }
            | StationEvent::Acknowledged { packet } => Some(packet),
            StationEvent::Beacon { .. } | StationEvent::Timeout => None,
        }
    }
}

#[pymethods]
impl StationEventView {
    /// The time since the start of the run.
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }

    /// "received", "sending", "acknowledged", "beacon" or "timeout".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.event {
            StationEvent::Received { .. } => "received",
            StationEvent::Sending { .. } => "sending",
            StationEvent::Acknowledged { .. } => "acknowledged",
            StationEvent::Beacon { .. } => "beacon",
            StationEvent::Timeout => "timeout",
        }
    }

    /// The packet's size in bytes; None without a packet.
    #[getter]
    fn size(&self) -> Option<u32> {
        self.packet().map(|packet| packet.size)
    }

    /// The packet's TCP segment; None without one.
    #[getter]
    fn segment(&self) -> Option<TcpViewView> {
        self.packet()?.segment.as_ref().map(Into::into)
    }

    /// True if the access point has more packets for the station.
    #[getter]
    fn more(&self) -> bool {
        matches!(self.event, StationEvent::Received { more: true, .. } | StationEvent::Beacon { buffered: true })
    }

    fn __repr__(&self) -> String {
        format!("<StationEvent {} at {} s>", self.kind(), self.now())
    }
}
