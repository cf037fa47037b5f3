//! A station's machine on real packets: no socket and no clock, used by the client that dozes and by emulation alike.
//!
//! ```text
//!                receives(now, bytes)                     sends(now, bytes)
//!   air ──► radio ──► flows ──► machine(s)      host ──► flows ──► machine(s) ──► radio ──► air
//!          hears?    numbers,   Shaper for each          windows    windows        wakes
//!                    scales     flow, or one of all      learnt     rewritten
//!                                   │
//!                                   └──► poll_output: acknowledgements in the host's name, polls, announcements
//! ```
//!
//! **Which radio.** Each connection has a shaper of its own. The radio sleeps from the instant at which the last of them consents: a connection
//! consents from when its shaper asks for sleep until that asks to wake, or the host sends on it while the radio sleeps; one that is not shaped
//! consents while it has been quiet for [`StationConfig::quiet`], as do all packets that belong to none.
//!
//! **Whose times.** What is due while nobody looks happens at the instant at which it was due: a driver that is late makes no radio late. But a packet
//! that waits to be read is read before a silence is judged.
//!
//! **Acknowledgements in the host's name** acknowledge what the host has received in order, never more; they offer the window that the host has
//! itself offered, to its end and not beyond; their TSval is not later than the host's next one, so that the peer drops nothing of the host's for its
//! age (PAWS, RFC 7323 section 5), and their TSecr follows section 4.3.

mod config;
mod decision;
mod flow;
mod flows;
mod outcome;
mod proxy;
mod radio;
mod reassembly;
mod records;
mod report;
mod summary;
#[cfg(test)]
mod tests;

pub use config::{Asleep, StationConfig, live_shaper};
pub use decision::{Beacon, Checksum, Output, SendVerdict, Sent, Verdict};
pub use proxy::{Proxy, ProxyOutput};
pub use report::{DownloadReport, ShaperReport, StationReport};

use crate::error::{LiveError, Result};
use crate::tape::{OnTape, StationSetup, Taped};
use flow::{Brings, Side};
use flows::{Entry, Flows};
use netlull_mechanism::Machine;
use netlull_mechanism::machines::StationMachine;
use netlull_mechanism::radio::Burst;
use netlull_mechanism::station::{PacketView, PowerMode, StationAction, StationEvent};
use netlull_network::probe::CLOSED;
use netlull_network::radio::Coming;
use netlull_network::station::{Snapshot, StationCounts};
use netlull_units::{Bytes, Duration, Instant};
use netlull_wire::{Packet, TcpPacket, parse, set_window, verify_checksums, window_field};
use radio::PunctualRadio;
use records::Records;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// A PS-Poll frame in bytes (IEEE 802.11 section 9.3.1.5).
const POLL_BYTES: u32 = 20;
/// A null data frame in bytes (IEEE 802.11 section 9.3.2).
const NULL_BYTES: u32 = 28;
/// So many connections are recorded, and so many downloads reported.
const LISTED: usize = 1000;

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    counts: StationCounts,
    received_bytes: u64,
    sent_packets: u64,
    own_acks: u64,
    redundant_acks: u64,
    unknown_packets: u64,
    resent_opens: u64,
    early: Duration,
    detection: Duration,
}

/// Whose machine something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// The one of all connections.
    All,
    /// The shaper of this one.
    Connection(u32),
}

/// A host with its radio.
#[derive(Debug)]
pub struct LiveStation {
    config: StationConfig,
    start: Instant,
    tape: Option<PathBuf>,
    /// The machine of all connections; machines of one connection are with theirs.
    machine: Option<OnTape<StationMachine>>,
    flows: Flows,
    radio: PunctualRadio,
    /// The last packet of no known connection.
    others: Option<Instant>,
    outputs: VecDeque<Output>,
    counters: Counters,
    /// From where on its outcome counts.
    base: (Snapshot, Counters),
    records: Records,
    /// Downloads whose connections are not known any more.
    past: VecDeque<DownloadReport>,
    /// From the first SYN on.
    begun: Option<Snapshot>,
    over: Option<Snapshot>,
}

impl LiveStation {
    /// A station whose radio is awake; its machine is recorded in `tape` if there is one. Shapers are recorded in a file each: that of the first
    /// connection has the name given, those of the others have their number behind it.
    ///
    /// # Errors
    /// If a value of `config` is out of range, or the file cannot be written.
    pub fn new(config: StationConfig, start: Instant, tape: Option<&Path>) -> Result<Self> {
        if config.rates.iter().any(|rate| rate.is_zero()) {
            return Err(LiveError::new("air rate: is 0 bit/s; expected more than that"));
        }
        if config.connections == 0 {
            return Err(LiveError::new("connections: is 0; expected 1 or more"));
        }
        // Machines of connections are built with these; errors in their parameters show now.
        let machine = match config.has_machines_of_connections() {
            true => built(&config, start, None).map(|_| None)?,
            false => built(&config, start, tape)?,
        };
        Ok(Self {
            start,
            tape: tape.map(Path::to_owned),
            machine,
            flows: Flows::new(config.connections),
            radio: PunctualRadio::new(start, config.wake, config.rates),
            others: None,
            outputs: VecDeque::new(),
            counters: Counters::default(),
            base: (Snapshot { at: start, ..Snapshot::default() }, Counters::default()),
            records: Records::default(),
            past: VecDeque::new(),
            begun: None,
            over: None,
            config,
        })
    }

    /// A packet has come over the air, whole at `now`: it is heard if the radio was awake from its first bit on, which came as much earlier as the
    /// packet takes on the air. `more` is the More Data bit of an access point that buffers.
    pub fn receives(&mut self, now: Instant, bytes: &[u8], more: bool) -> Verdict {
        self.receives_with(now, bytes, more, Checksum::Unknown)
    }

    /// [`receives`](Self::receives), with what is known of the packet's checksum; of one that is verified only headers are read.
    pub fn receives_with(&mut self, now: Instant, bytes: &[u8], more: bool, checksum: Checksum) -> Verdict {
        self.catch_up(now);
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let from = self.radio.began(now, size);
        let heard = self.radio.hears(from, now, None);
        self.radio.has_come(now);
        if heard {
            self.counters.counts.received_packets += 1;
            self.counters.received_bytes += u64::from(size);
        } else {
            self.counters.counts.missed_packets += 1;
            self.counters.counts.missed_bytes += u64::from(size);
            self.records.packet("missed", (from, now), || self.flows.view(Side::Peer, bytes));
            if self.config.asleep == Asleep::Drop {
                return Verdict::Missed;
            }
        }
        match parse(bytes) {
            Ok(Packet::Tcp(tcp)) => {
                let right =
                    checksum == Checksum::Verified || verify_checksums(bytes).is_ok_and(|right| right.ip && right.tcp);
                self.receives_segment(now, &tcp, right, more);
            }
            _ => self.receives_other(now, size, more),
        }
        if heard {
            self.records.packet("data", (from, now), || self.flows.view(Side::Peer, bytes));
        }
        Verdict::Deliver
    }

    fn receives_segment(&mut self, now: Instant, tcp: &TcpPacket<'_>, right: bool, more: bool) {
        self.open(Side::Peer, tcp, now);
        let Some(entry) = self.flows.find(tcp.connection().reversed()) else {
            self.counters.unknown_packets += 1;
            return self.receives_other(now, tcp.packet_len(), more);
        };
        let brings = if right { entry.flow.receives(now, tcp) } else { Brings::Nothing };
        if brings == Brings::Nothing {
            return;
        }
        let (number, packet) = (entry.flow.number, entry.flow.view(Side::Peer, tcp));
        entry.bytes += u64::from(tcp.payload_len());
        if !entry.consents {
            self.radio.stay();
        }
        self.tell(now, self.machine_of(number), StationEvent::Received { packet, more });
        match brings {
            Brings::End => self.delivered(now, number),
            Brings::Reset => {
                self.delivered(now, number);
                self.forget(now, number);
            }
            Brings::Segment | Brings::Nothing => {}
        }
    }

    fn receives_other(&mut self, now: Instant, size: u32, more: bool) {
        self.sees_other(now);
        self.tell(now, Who::All, StationEvent::Received { packet: PacketView { size, segment: None }, more });
    }

    /// Something that belongs to no connection that is known.
    fn sees_other(&mut self, now: Instant) {
        self.others = Some(now);
        if self.config.has_machines_of_connections() && !self.config.quiet.is_zero() {
            self.radio.stay();
        }
    }

    /// The host sends a packet, whose window may be rewritten in place; the radio wakes for it.
    pub fn sends(&mut self, now: Instant, bytes: &mut [u8]) -> SendVerdict {
        self.catch_up(now);
        let slept = self.radio.is_asleep();
        if slept && self.is_redundant(now, bytes) {
            self.counters.redundant_acks += 1;
            return SendVerdict::Redundant;
        }
        self.counters.sent_packets += 1;
        if slept {
            self.radio.wake(now);
        }
        let window = match parse(bytes) {
            Ok(Packet::Tcp(tcp)) => self.sends_segment(now, &tcp, slept),
            _ => {
                self.sends_other(now, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
                None
            }
        };
        let view = self.records.is_watched().then(|| self.flows.view(Side::Host, bytes));
        let mut kind = if view.is_some_and(|view| view.is_acknowledgement()) { "ack" } else { "sent" };
        if let Some(field) = window
            && set_window(bytes, field).is_ok()
            && field == 0
        {
            self.counters.counts.closed_acks += 1;
            kind = CLOSED;
        }
        let (from, to) = self.radio.transmits(now, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        view.into_iter().for_each(|view| self.records.packet(kind, (from, to), || view));
        if self.radio.is_awake() { SendVerdict::Send } else { SendVerdict::HoldUntil(from) }
    }

    /// True if the peer needs nothing of a packet of the host's. The window in it is learnt, and comes with the next packet.
    fn is_redundant(&mut self, now: Instant, bytes: &[u8]) -> bool {
        let Ok(Packet::Tcp(tcp)) = parse(bytes) else { return false };
        let Some(entry) = self.flows.find(tcp.connection()) else { return false };
        let is_redundant = entry.flow.is_anticipated(&tcp);
        if is_redundant {
            entry.flow.sent(now, &tcp);
        }
        is_redundant
    }

    /// The window field that it is to have, if another.
    fn sends_segment(&mut self, now: Instant, tcp: &TcpPacket<'_>, slept: bool) -> Option<u16> {
        self.open(Side::Host, tcp, now);
        let Some(entry) = self.flows.find(tcp.connection()) else {
            self.counters.unknown_packets += 1;
            self.sends_other(now, tcp.packet_len());
            return None;
        };
        entry.flow.sent(now, tcp);
        entry.consents &= !slept;
        if !entry.consents && entry.machine.is_some() {
            self.radio.stay();
        }
        let (number, packet, shift) = (entry.flow.number, entry.flow.view(Side::Host, tcp), entry.flow.host_shift());
        let window = self.tell(now, self.machine_of(number), StationEvent::Sending { packet });
        if tcp.flags().rst {
            self.delivered(now, number);
            self.forget(now, number);
        }
        window.zip(shift).map(|(bytes, shift)| window_field(bytes.as_u64(), shift, tcp.window_field()))
    }

    fn sends_other(&mut self, now: Instant, size: u32) {
        self.sees_other(now);
        self.tell(now, Who::All, StationEvent::Sending { packet: PacketView { size, segment: None } });
    }

    /// A peer opens a connection to the host: a download begins, for which the host has just asked in a packet that nobody saw.
    pub fn asks(&mut self, now: Instant) {
        self.catch_up(now);
        let begun = self.snapshot(now);
        self.begun.get_or_insert(begun);
        self.tell(now, Who::All, StationEvent::Sending { packet: PacketView { size: 0, segment: None } });
    }

    /// A beacon's last bit is on the air; a radio that was awake all the time has heard it. `coming` is a packet that is on the air as well.
    pub fn hears_beacon(&mut self, beacon: Beacon, coming: Option<Coming>) {
        let Beacon { from, until, buffered } = beacon;
        self.catch_up(until);
        if self.radio.hears(from, until, coming) {
            self.counters.counts.beacons += 1;
            self.records.frame("beacon", (from, until), 0);
            self.tell(until, Who::All, StationEvent::Beacon { buffered });
        }
    }

    /// An access point that buffers has begun to send it a packet: the radio does not fall asleep of itself before that has come.
    pub fn expects_packet(&mut self) {
        self.radio.expects();
    }

    /// All that is due by `now` is done.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.handle_machines(now);
        self.radio.settle_all(now);
    }

    /// The same, but at `now` itself the radio does not yet fall asleep: something else may happen before.
    pub fn handle_machines(&mut self, now: Instant) {
        while let Some((due, who)) = self.next_machine().filter(|(due, _)| *due <= now) {
            self.radio.settle(due);
            self.tell_at(due, now, who, StationEvent::Timeout);
        }
        self.radio.settle(now);
    }

    /// The instant at which something is due if nothing happens before.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        [self.next_machine().map(|(due, _)| due), self.radio.next()].into_iter().flatten().min()
    }

    /// True if the radio sleeps.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.radio.is_asleep()
    }

    /// True if the radio is awake from `now` on, and was not before.
    pub fn is_awake_from(&mut self, now: Instant) -> bool {
        self.radio.settle(now);
        self.radio.awake_since() == Some(now)
    }

    /// The instant at which the radio will be awake, while it wakes.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Instant> {
        self.radio.wakes_at()
    }

    /// Takes the next packet or frame of its own.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The driver goes away: windows that were closed are opened.
    pub fn release(&mut self, now: Instant) {
        let closed: Vec<u32> =
            self.flows.entries().filter(|entry| entry.has_closed()).map(|entry| entry.flow.number).collect();
        for number in closed {
            self.acknowledge(now, number);
        }
    }

    /// Writes what recordings still hold.
    ///
    /// # Errors
    /// If one could not be written.
    pub fn finish(&mut self) -> Result<()> {
        let machines = self.flows.entries_mut().filter_map(|entry| entry.machine.as_mut());
        machines.chain(&mut self.machine).try_for_each(OnTape::finish)
    }

    /// The radio's times and the packets missed.
    fn snapshot(&self, now: Instant) -> Snapshot {
        Snapshot { at: now, times: self.radio.times(now, None), missed_packets: self.counters.counts.missed_packets }
    }

    fn next_machine(&self) -> Option<(Instant, Who)> {
        let all = self.machine.as_ref().and_then(Machine::next_timeout).map(|due| (due, Who::All));
        let one = self.flows.next_timeout().map(|(due, number)| (due, Who::Connection(number)));
        [one, all].into_iter().flatten().min_by_key(|(due, _)| *due)
    }

    /// While the radio sleeps what is due comes before what happens now; while it is awake a packet comes before the end of a silence.
    fn catch_up(&mut self, now: Instant) {
        self.radio.settle(now);
        if !self.radio.is_awake() {
            self.handle_timeout(now);
        }
    }

    fn machine_of(&self, number: u32) -> Who {
        if self.config.has_machines_of_connections() { Who::Connection(number) } else { Who::All }
    }

    /// A connection may begin with this segment.
    fn open(&mut self, side: Side, tcp: &TcpPacket<'_>, now: Instant) {
        let number = self.flows.opened();
        let Some(flow) = flow::Flow::opened_by(side, tcp, number, now) else { return };
        if let Some(known) = self.flows.find(flow.connection) {
            if known.flow.is_opened_by(side, tcp) {
                return;
            }
            let old = known.flow.number;
            self.forget(now, old);
        }
        if let Some(oldest) = self.flows.to_be_forgotten() {
            self.flows.forgotten += 1;
            self.forget(now, oldest);
        }
        let machine = if self.config.has_machines_of_connections() {
            let file = self.tape.as_ref().filter(|_| (number as usize) < LISTED).map(|tape| numbered(tape, number));
            // A failed recording must not keep the machine from its work.
            let recorded = built(&self.config, now, file.as_deref());
            recorded.or_else(|_| built(&self.config, now, None)).ok().flatten()
        } else {
            None
        };
        let begun = self.snapshot(now);
        self.begun.get_or_insert(begun);
        self.flows.insert(Entry { flow, machine, consents: false, bytes: 0, bursts: 0, begun, over: None });
    }

    /// All of a connection's data has come.
    fn delivered(&mut self, now: Instant, number: u32) {
        let snapshot = self.snapshot(now);
        if let Some(entry) = self.flows.get(number)
            && entry.over.is_none()
            && entry.bytes > 0
        {
            entry.over = Some(snapshot);
            self.over = Some(snapshot);
        }
    }

    /// A connection is not known any more. Its sender must not be left with a window that was closed.
    fn forget(&mut self, now: Instant, number: u32) {
        if self.flows.get(number).is_some_and(|entry| entry.has_closed() && entry.over.is_none()) {
            self.acknowledge(now, number);
        }
        let Some(mut entry) = self.flows.remove(number) else { return };
        self.counters.resent_opens += entry.shaping().map_or(0, |shaping| shaping.resent_opens);
        if let Some(machine) = &mut entry.machine {
            // A recording that fails does so again when the last is finished.
            let _ = machine.finish();
        }
        if entry.bytes > 0 {
            let over = entry.over.unwrap_or_else(|| self.snapshot(now));
            self.past.push_back(DownloadReport::of(&entry, &self.config.radios, &over));
            if self.past.len() > LISTED {
                self.past.pop_front();
            }
        }
    }

    fn tell(&mut self, now: Instant, who: Who, event: StationEvent) -> Option<Bytes> {
        self.tell_at(now, now, who, event)
    }

    /// Tells a machine what has happened at `at` and does what it asks for; what is sent is sent `now`. The window to be written, if it asks for
    /// that.
    fn tell_at(&mut self, mut at: Instant, now: Instant, who: Who, event: StationEvent) -> Option<Bytes> {
        let mut window = None;
        let mut next = Some(event);
        while let Some(event) = next.take() {
            self.machine(who)?.handle(at, event);
            while let Some(action) = self.machine(who).and_then(Machine::poll_action) {
                match action {
                    StationAction::Sleep => self.wants_sleep(at, who),
                    StationAction::Wake => self.wants_wake(at, who),
                    StationAction::SetWindow(bytes) => window = Some(bytes),
                    StationAction::Acknowledge { connection } => {
                        if let Some(packet) = self.acknowledge(now, connection) {
                            next = Some(StationEvent::Acknowledged { packet });
                        }
                    }
                    StationAction::Poll => self.polls(now),
                    StationAction::Announce(mode) => self.announces(now, mode),
                }
            }
            // What is acknowledged is so when it is sent.
            at = now;
            self.count_burst(who);
        }
        if let Who::Connection(number) = who {
            self.flows.arm(number);
        }
        window
    }

    fn machine(&mut self, who: Who) -> Option<&mut OnTape<StationMachine>> {
        match who {
            Who::All => self.machine.as_mut(),
            Who::Connection(number) => self.flows.get(number)?.machine.as_mut(),
        }
    }

    fn wants_sleep(&mut self, at: Instant, who: Who) {
        if let Who::Connection(number) = who {
            if let Some(entry) = self.flows.get(number) {
                entry.consents = true;
            }
            if !self.all_consent(at) {
                return;
            }
        }
        self.radio.sleep(at);
    }

    fn wants_wake(&mut self, at: Instant, who: Who) {
        if let Who::Connection(number) = who
            && let Some(entry) = self.flows.get(number)
        {
            entry.consents = false;
        }
        self.radio.wake(at);
    }

    fn all_consent(&self, at: Instant) -> bool {
        let quiet = |active: Instant| at.saturating_since(active) >= self.config.quiet;
        self.others.is_none_or(quiet) && self.flows.entries().all(|entry| entry.consents || quiet(entry.flow.active))
    }

    /// Sends an acknowledgement in the host's name; what it is.
    fn acknowledge(&mut self, now: Instant, number: u32) -> Option<PacketView> {
        let entry = self.flows.get(number)?;
        let kind = if entry.shaping().is_some_and(|shaping| shaping.opens) { "open" } else { "eager" };
        let (bytes, packet) = entry.flow.acknowledgement(now)?;
        let (at, to) = self.radio.transmits(now, packet.size);
        self.records.packet(kind, (at, to), || packet);
        self.counters.own_acks += 1;
        self.counters.sent_packets += 1;
        self.outputs.push_back(Output { at: self.leaves(now, at), what: Sent::Packet(bytes) });
        Some(packet)
    }

    /// The instant at which a packet leaves the host that is on the air from `on_air`: at once, but not before the radio is awake.
    fn leaves(&self, now: Instant, on_air: Instant) -> Instant {
        if self.radio.is_awake() { now } else { on_air }
    }

    fn polls(&mut self, now: Instant) {
        let Some(poll_time) = self.config.access_point().map(|access| access.poll_time) else { return };
        let (from, to) = self.radio.transmits(now, POLL_BYTES);
        self.counters.counts.polls += 1;
        self.records.frame("poll", (from, to), POLL_BYTES);
        self.outputs.push_back(Output { at: (from + poll_time).max(to), what: Sent::Poll });
    }

    fn announces(&mut self, now: Instant, mode: PowerMode) {
        let (from, to) = self.radio.transmits(now, NULL_BYTES);
        self.records.frame("null", (from, to), NULL_BYTES);
        self.outputs.push_back(Output { at: from, what: Sent::Announce(mode) });
    }

    /// A burst that was judged over since the last look.
    fn count_burst(&mut self, who: Who) {
        let Who::Connection(number) = who else { return };
        let Some(burst) = self.flows.get(number).and_then(Entry::take_burst) else { return };
        self.records.burst(burst);
        let Burst { opened, first, last, ended, .. } = burst;
        self.counters.counts.bursts += 1;
        self.counters.detection += ended.saturating_since(last);
        if let Some(since) = self.radio.awake_since() {
            self.counters.early += first.saturating_since(since.max(opened));
        }
    }
}

/// The machine of a configuration, recorded in `tape` if there is one; `None` without a mechanism.
fn built(config: &StationConfig, start: Instant, tape: Option<&Path>) -> Result<Option<OnTape<StationMachine>>> {
    let Some(mechanism) = config.mechanism.clone() else { return Ok(None) };
    let setup = StationSetup { mechanism, station: config.context() };
    let kind = StationMachine::kind(&setup);
    let machine = match tape {
        Some(file) => OnTape::recorded(&setup, start, kind, file)?,
        None => OnTape::blank(&setup, start).map_err(|error| LiveError::system(kind, error))?,
    };
    Ok(Some(machine))
}

/// The file of a connection's recording.
fn numbered(tape: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return tape.to_owned();
    }
    let mut name = tape.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}
