//! The binary interface: the exports of a module, and the mailbox, the memory that host and guest share.
//!
//! A call delivers one event. The host writes the event into the mailbox and calls the guest. The guest writes its
//! answer into the mailbox and returns. Nothing else crosses the border.

use crate::record::{BadWord, Record, Shape, Sink, Source};
use crate::{record_enum, record_struct};
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::{self, Estimates, LinkAction, LinkEvent, WindowEstimates};
use netlull_mechanism::observe::{Amount, Decision, Observation, Reason};
use netlull_mechanism::rate::{Admission, HeadVerdict, QueueView};
use netlull_mechanism::station::{self, PacketView, PowerMode, StationAction, StationEvent, TcpView};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// The version of the interface. It changes with every change of a record, a place or an export that modules must have.
pub const VERSION: u64 = 1;

/// The names of a module's exports.
pub mod export {
    /// The memory.
    pub const MEMORY: &str = "memory";
    /// `() -> i32`: the address of the mailbox, a multiple of 8.
    pub const MAILBOX: &str = "netlull_mailbox";
    /// `() -> ()`: puts the description, as JSON, at [`place::TEXT`](super::place::TEXT).
    pub const DESCRIBE: &str = "netlull_describe";
    /// `(length: i32) -> i32`: the address of this many bytes for a text of the host.
    pub const BUFFER: &str = "netlull_buffer";
    /// `() -> i32`: reads the parameters as JSON from the buffer, and puts the settings, as JSON, at
    /// [`place::TEXT`](super::place::TEXT). Other results than 0 mean an error, with its text there.
    pub const CONFIGURE: &str = "netlull_configure";
    /// `() -> i32`: makes the machine from parameters and context. Other results than 0 mean an error, with its text at
    /// [`place::TEXT`](super::place::TEXT).
    pub const CREATE: &str = "netlull_create";
    /// `() -> ()`: handles the event in the mailbox, and leaves the answer there.
    pub const EVENT: &str = "netlull_event";
    /// `() -> ()`: puts the address of a list and its number of [variables](super::VariableWords) at
    /// [`place::TEXT`](super::place::TEXT). Optional, for a congestion control.
    pub const VARIABLES: &str = "netlull_variables";
}

/// The places in the mailbox, in words of 64 bits, little-endian.
pub mod place {
    /// The address of a text of the guest, and its length in bytes.
    pub const TEXT: usize = 0;
    /// The state of deliveries, for a congestion control.
    pub const DELIVERIES: usize = 2;
    /// The time now.
    pub const NOW: usize = 7;
    /// The event.
    pub const EVENT: usize = 8;
    /// The answer.
    pub const ANSWER: usize = 64;
    /// The estimates of a link controller.
    pub const ESTIMATES: usize = 184;
    /// The context, at the creation.
    pub const CONTEXT: usize = 192;
    /// The parameters in the order of their declaration, at the creation, with one word each.
    pub const PARAMETERS: usize = 208;
    /// The length of the mailbox.
    pub const LENGTH: usize = 256;
}

/// The largest number of actions in an answer.
pub const MOST_ACTIONS: usize = 32;

/// The largest number of variables.
pub const MOST_VARIABLES: usize = 64;

/// The largest number of declared parameters.
pub const MOST_PARAMETERS: usize = place::LENGTH - place::PARAMETERS;

record_struct! {
    QueueView { waiting: Bytes, in_service: Bytes }
    Timestamps { value: u32, echo: u32 }
    SegmentView {
        flow: u64, kind: SegmentKind, end: u32, acknowledged: u32, data: bool, fin: bool,
        timestamps: Option<Timestamps>,
    }
    link::Context { rate: BitRate, mtu: Bytes, buffer: Option<Bytes>, suspends: bool }
    WindowEstimates { window: f64, is_at_floor: bool, flows: f64 }
    Amount { packets: u64, bytes: Bytes }
    Observation {
        now: Instant, reason: Reason, span: Duration, rate: BitRate, queue: QueueView, waiting_packets: u64,
        arrived: Amount, departed: Amount, dropped: Amount, marked: Amount, utilisation: f64,
        round_trip: Option<Duration>, flows: Option<f64>,
    }
    Estimates { windows: Option<WindowEstimates>, round_trip: Option<Duration> }
    TcpView {
        connection: u32, kind: SegmentKind, fin: bool, seq: u32, len: u32, acknowledged: Option<u32>, window: Bytes,
        timestamps: Option<Timestamps>,
    }
    PacketView { size: u32, segment: Option<TcpView> }
    station::Context { air_rate: BitRate, wake: Duration, mtu: Bytes }
}

record_enum! {
    Admission { 0 = Accepted, 1 = Marked, 2 = Dropped }
    HeadVerdict { 0 = Marked, 1 = Dropped }
    SegmentKind { 0 = Syn, 1 = SynAck, 2 = Other }
    LinkEvent {
        0 = Arrival { size: Bytes, admission: Admission, queue: QueueView, segment: Option<SegmentView> },
        1 = Departure { queue: QueueView },
        2 = Timeout { queue: QueueView },
        3 = Acknowledgement { segment: SegmentView, window: Bytes },
        4 = Managed { size: Bytes, verdict: HeadVerdict, queue: QueueView },
    }
    LinkAction {
        0 = SetRate { rate: BitRate, pause: Duration },
        1 = SetWindow(window: Bytes),
    }
    Reason {
        0 = Tick,
        1 = Threshold { length: Bytes, reached: bool },
        2 = Event(event: LinkEvent),
    }
    Decision { 0 = Rate(rate: BitRate), 1 = Action(action: LinkAction) }
    PowerMode { 0 = Awake, 1 = Dozing }
    StationEvent {
        0 = Received { packet: PacketView, more: bool },
        1 = Sending { packet: PacketView },
        2 = Acknowledged { packet: PacketView },
        3 = Beacon { buffered: bool },
        4 = Timeout,
    }
    StationAction {
        0 = Sleep,
        1 = Wake,
        2 = SetWindow(window: Bytes),
        3 = Withhold,
        4 = Acknowledge { connection: u32 },
        5 = Poll,
        6 = Announce(mode: PowerMode),
    }
}

/// The kinds of machines in modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A link controller.
    LinkController,
    /// A machine of a station.
    StationMachine,
    /// A congestion control.
    CongestionControl,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::LinkController, Self::StationMachine, Self::CongestionControl];

    /// The name in descriptions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LinkController => "link_controller",
            Self::StationMachine => "station_machine",
            Self::CongestionControl => "congestion_control",
        }
    }
}

/// The start of a machine's run, and its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin<C> {
    /// The time of the start.
    pub start: Instant,
    /// The link, station or connection.
    pub context: C,
}

impl<C: Record> Record for Begin<C> {
    const WORDS: usize = 1 + C::WORDS;

    fn write(&self, to: &mut impl Sink) {
        let Self { start, context } = self;
        start.write(to);
        context.write(to);
    }

    fn read(from: &mut impl Source) -> Result<Self, BadWord> {
        Ok(Self { start: Instant::read(from)?, context: C::read(from)? })
    }

    fn shape() -> Shape {
        Shape::Struct(vec![("start", Instant::shape()), ("context", C::shape())])
    }
}

/// The head of the answer of a link controller or of a station's machine. The actions follow, each with the words of
/// its enum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The number of actions.
    pub actions: u64,
    /// The time of the next timeout.
    pub timeout: Option<Instant>,
}

/// A variable of a congestion control in the memory of its module.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VariableWords {
    /// The address of the name.
    pub name: u64,
    /// Its length in bytes.
    pub name_length: u64,
    /// The address of the name of a state; 0 for a number.
    pub state: u64,
    /// Its length in bytes.
    pub state_length: u64,
    /// The number; infinite for a bound that does not hold.
    pub number: f64,
}

record_struct! {
    Answer { actions: u64, timeout: Option<Instant> }
    VariableWords { name: u64, name_length: u64, state: u64, state_length: u64, number: f64 }
}

const _: () = {
    assert!(place::EVENT + LinkEvent::WORDS <= place::ANSWER);
    assert!(place::EVENT + StationEvent::WORDS <= place::ANSWER);
    assert!(place::EVENT + Observation::WORDS <= place::ANSWER);
    assert!(place::ANSWER + Answer::WORDS + Decision::WORDS <= place::ESTIMATES);
    assert!(place::ANSWER + Answer::WORDS + MOST_ACTIONS * LinkAction::WORDS <= place::ESTIMATES);
    assert!(place::ANSWER + Answer::WORDS + MOST_ACTIONS * StationAction::WORDS <= place::ESTIMATES);
    assert!(place::ESTIMATES + Estimates::WORDS <= place::CONTEXT);
    assert!(place::CONTEXT + Begin::<link::Context>::WORDS <= place::PARAMETERS);
    assert!(place::CONTEXT + Begin::<station::Context>::WORDS <= place::PARAMETERS);
};

#[cfg(test)]
mod tests {
    use super::export;

    #[test]
    fn modules_of_users_keep_their_exports() {
        // Each name in two parts: no renaming of ours may change them.
        let names = ["mailbox", "describe", "buffer", "configure", "create", "event", "variables"]
            .map(|name| format!("netlull_{name}"));
        let exports = [
            export::MAILBOX,
            export::DESCRIBE,
            export::BUFFER,
            export::CONFIGURE,
            export::CREATE,
            export::EVENT,
            export::VARIABLES,
        ];
        assert_eq!(names.each_ref().map(String::as_str), exports);
    }
}
