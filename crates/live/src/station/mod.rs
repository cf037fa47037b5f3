//! A station's machine on real packets, used by the dozing client and by the emulation. It uses no socket and no clock.
//!
//! ```text
//!                receives(now, bytes)                     sends(now, bytes)
//!   air ──► radio ──► flows ──► machine(s)      host ──► flows ──► machine(s) ──► radio ──► air
//!          hears?    numbers,   Shaper for each          windows    windows        wakes
//!                    scales     flow, or one of all      learnt     rewritten
//!                                   │
//!                                   └──► poll_output: acknowledgements on behalf of the host, polls, announcements
//! ```
//!
//! **Radio.** Each connection has its own shaper. The radio falls asleep when the last of them consents. A connection
//! consents from its shaper's request for sleep until the request to wake, or until the host sends on it while the
//! radio sleeps. An unshaped connection consents while it has been quiet for [`StationConfig::quiet`]. The same holds
//! for all packets without a connection.
//!
//! **Time.** Overdue events happen at the instants at which they were due, so a late driver does not delay the radio.
//! However, a waiting packet is read before a silence is judged.
//!
//! **Acknowledgements on behalf of the host** cover only data that the host has received in order. They offer the
//! host's own window up to its end. Their TSval is not later than the host's next one, so the peer drops nothing of the
//! host as outdated (PAWS, RFC 7323 section 5). Their TSecr follows section 4.3.

mod actions;
mod config;
mod flow;
mod flows;
mod proxy;
mod radio;
mod reassembly;
mod report;
#[cfg(test)]
mod tests;

pub use actions::{Beacon, Checksum, Output, SendVerdict, Sent, Verdict};
pub use config::{Asleep, QUIET, StationConfig, live_shaper};
pub use proxy::{Proxy, ProxyOutput};
pub use report::{DownloadReport, ShaperReport, StationReport};

use crate::error::{LiveError, Result};
use crate::tape::{OnTape, StationSetup, Taped};
use actions::Rewrite;
use flow::{Brings, Side};
use flows::{Entry, Flows};
use netlull_mechanism::gateway::window_field;
use netlull_mechanism::station::{self, PacketView, StationEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::outcome::{Snapshot, StationCounts, Waits};
use netlull_network::probe::{AirTime, CLOSED};
use netlull_network::radio::Coming;
use netlull_units::Instant;
use netlull_wire::{Packet, TcpPacket, parse, set_window, verify_checksums};
use radio::PunctualRadio;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The maximum number of recorded connections, and of reported downloads.
const LISTED: usize = 1000;

/// The counters since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    counts: StationCounts,
    received_bytes: u64,
    sent_packets: u64,
    own_acks: u64,
    redundant_acks: u64,
    unknown_packets: u64,
    resent_opens: u64,
    waits: Waits,
}

/// The owner of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// The machine of all connections.
    All,
    /// The shaper of this connection.
    Connection(u32),
}

/// A host with its radio.
#[derive(Debug)]
pub struct LiveStation {
    config: StationConfig,
    start: Instant,
    tape: Option<PathBuf>,
    /// The machine of all connections; a machine of a single connection is in its table entry.
    machine: Option<OnTape<station::Running>>,
    flows: Flows,
    radio: PunctualRadio,
    /// The time of the last packet without a known connection.
    others: Option<Instant>,
    outputs: VecDeque<Output>,
    counters: Counters,
    /// The start of the outcome's counts.
    base: (Snapshot, Counters),
    records: report::Records,
    /// The downloads of forgotten connections.
    past: VecDeque<DownloadReport>,
    /// The state at the first SYN.
    begun: Option<Snapshot>,
    over: Option<Snapshot>,
    /// The reason of the first machine that works no more.
    failure: Option<Box<ConfigError>>,
}

impl LiveStation {
    /// Creates a station whose radio is awake. With a `tape`, its machine is recorded. Each shaper is recorded in a
    /// separate file: the first connection's file has the given name, the others append their number.
    ///
    /// # Errors
    /// If a value of `config` is out of range, or the file cannot be written.
    pub fn new(config: StationConfig, start: Instant, tape: Option<&Path>) -> Result<Self> {
        if config.rates.iter().any(|rate| rate.is_zero()) {
            return Err(LiveError::input("air rate: is 0 bit/s; expected a positive rate"));
        }
        if config.connections == 0 {
            return Err(LiveError::input("connections: is 0; expected 1 or more"));
        }
        // A trial build: errors in the parameters of the connections' machines show now.
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
            records: report::Records::default(),
            past: VecDeque::new(),
            begun: None,
            over: None,
            failure: None,
            config,
        })
    }

    /// Processes a packet received over the air, complete at `now`. The radio hears it if it has been awake since the
    /// packet's first bit. `more` is the More Data bit of an access point that buffers.
    pub fn receives(&mut self, now: Instant, bytes: &[u8], more: bool) -> Verdict {
        self.receives_with(now, bytes, more, Checksum::Unknown)
    }

    /// Does the same as [`receives`](Self::receives) with a known checksum state. Of a verified packet, only headers
    /// are read.
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
            self.records.packet("missed", AirTime { from, to: now }, || self.flows.view(Side::Peer, bytes));
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
            self.records.packet("data", AirTime { from, to: now }, || self.flows.view(Side::Peer, bytes));
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

    /// Processes a packet without a known connection.
    fn sees_other(&mut self, now: Instant) {
        self.others = Some(now);
        if self.config.has_machines_of_connections() && !self.config.quiet.is_zero() {
            self.radio.stay();
        }
    }

    /// Processes a packet from the host, possibly rewriting its window in place; the radio wakes for it.
    pub fn sends(&mut self, now: Instant, bytes: &mut [u8]) -> SendVerdict {
        self.catch_up(now);
        let slept = self.radio.is_asleep();
        if slept && self.is_redundant(now, bytes) {
            self.counters.redundant_acks += 1;
            return SendVerdict::Redundant;
        }
        if slept {
            self.radio.wake(now);
        }
        let window = match parse(bytes) {
            Ok(Packet::Tcp(tcp)) => match self.sends_segment(now, &tcp, slept) {
                Rewrite::Nothing => None,
                Rewrite::Window(field) => Some(field),
                Rewrite::Withheld => {
                    self.counters.redundant_acks += 1;
                    return SendVerdict::Redundant;
                }
            },
            _ => {
                self.sends_other(now, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
                None
            }
        };
        self.counters.sent_packets += 1;
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
        view.into_iter().for_each(|view| self.records.packet(kind, AirTime { from, to }, || view));
        if self.radio.is_awake() { SendVerdict::Send } else { SendVerdict::HoldUntil(from) }
    }

    /// Returns true if the peer needs nothing from a packet of the host. Its window is learnt, and is sent with the
    /// next packet.
    fn is_redundant(&mut self, now: Instant, bytes: &[u8]) -> bool {
        let Ok(Packet::Tcp(tcp)) = parse(bytes) else { return false };
        let Some(entry) = self.flows.find(tcp.connection()) else { return false };
        let is_redundant = entry.flow.is_anticipated(&tcp);
        if is_redundant {
            entry.flow.sent(now, &tcp);
        }
        is_redundant
    }

    /// Processes a segment and returns its change.
    fn sends_segment(&mut self, now: Instant, tcp: &TcpPacket<'_>, slept: bool) -> Rewrite<u16> {
        self.open(Side::Host, tcp, now);
        let Some(entry) = self.flows.find(tcp.connection()) else {
            self.counters.unknown_packets += 1;
            self.sends_other(now, tcp.packet_len());
            return Rewrite::Nothing;
        };
        entry.flow.sent(now, tcp);
        entry.consents &= !slept;
        if !entry.consents && entry.machine.is_some() {
            self.radio.stay();
        }
        let (number, packet, shift) = (entry.flow.number, entry.flow.view(Side::Host, tcp), entry.flow.host_shift());
        let rewrite = self.tell(now, self.machine_of(number), StationEvent::Sending { packet });
        if tcp.flags().rst {
            self.delivered(now, number);
            self.forget(now, number);
        }
        match (rewrite, shift) {
            (Rewrite::Window(bytes), Some(shift)) => Rewrite::Window(window_field(bytes, shift, tcp.window_field())),
            (Rewrite::Withheld, _) => Rewrite::Withheld,
            (Rewrite::Nothing | Rewrite::Window(_), _) => Rewrite::Nothing,
        }
    }

    fn sends_other(&mut self, now: Instant, size: u32) {
        self.sees_other(now);
        self.tell(now, Who::All, StationEvent::Sending { packet: PacketView { size, segment: None } });
    }

    /// Starts a download through a connection that the peer opens: the host's request preceded it unseen.
    pub fn asks(&mut self, now: Instant) {
        self.catch_up(now);
        let begun = self.snapshot(now);
        self.begun.get_or_insert(begun);
        self.tell(now, Who::All, StationEvent::Sending { packet: PacketView { size: 0, segment: None } });
    }

    /// Processes a beacon at its last bit. The radio hears it if it was awake throughout. `coming` is a packet that is
    /// also on the air.
    pub fn hears_beacon(&mut self, beacon: Beacon, coming: Option<Coming>) {
        let Beacon { from, until, buffered } = beacon;
        self.catch_up(until);
        if self.radio.hears(from, until, coming) {
            self.counters.counts.beacons += 1;
            self.records.frame("beacon", AirTime { from, to: until }, 0);
            self.tell(until, Who::All, StationEvent::Beacon { buffered });
        }
    }

    /// Announces a packet from a buffering access point: the radio does not fall asleep on its own before it arrives.
    pub fn expects_packet(&mut self) {
        self.radio.expects();
    }

    /// Processes everything due by `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.handle_machines(now);
        self.radio.settle_all(now);
    }

    /// Does the same, but the radio does not fall asleep at `now` itself, because other events may precede.
    pub fn handle_machines(&mut self, now: Instant) {
        while let Some((due, who)) = self.next_machine().filter(|(due, _)| *due <= now) {
            self.radio.settle(due);
            self.tell_at(due, now, who, StationEvent::Timeout);
        }
        self.radio.settle(now);
    }

    /// The instant of the next timer.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        [self.next_machine().map(|(due, _)| due), self.radio.next()].into_iter().flatten().min()
    }

    /// Returns true if the radio sleeps.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.radio.is_asleep()
    }

    /// Returns true if the radio becomes awake exactly at `now`.
    pub fn is_awake_from(&mut self, now: Instant) -> bool {
        self.radio.settle(now);
        self.radio.awake_since() == Some(now)
    }

    /// The instant at which a waking radio will be awake.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Instant> {
        self.radio.wakes_at()
    }

    /// Takes the next packet or frame of the station's own.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Opens closed windows before the driver ends.
    pub fn release(&mut self, now: Instant) {
        let closed: Vec<u32> =
            self.flows.entries().filter(|entry| entry.has_closed()).map(|entry| entry.flow.number).collect();
        for number in closed {
            self.acknowledge(now, number, None);
        }
    }

    /// Writes the rest of the recordings.
    ///
    /// # Errors
    /// If a recording could not be written.
    pub fn finish(&mut self) -> Result<()> {
        let machines = self.flows.entries_mut().filter_map(|entry| entry.machine.as_mut());
        machines.chain(&mut self.machine).try_for_each(OnTape::finish)
    }

    /// The radio's times and the number of missed packets.
    fn snapshot(&self, now: Instant) -> Snapshot {
        Snapshot { at: now, times: self.radio.times(now, None), missed_packets: self.counters.counts.missed_packets }
    }

    fn next_machine(&self) -> Option<(Instant, Who)> {
        let all = self.machine.as_ref().and_then(Machine::next_timeout).map(|due| (due, Who::All));
        let one = self.flows.next_timeout().map(|(due, number)| (due, Who::Connection(number)));
        [one, all].into_iter().flatten().min_by_key(|(due, _)| *due)
    }

    /// Processes due timers before an event if the radio sleeps. If it is awake, a packet precedes the end of a
    /// silence.
    fn catch_up(&mut self, now: Instant) {
        self.radio.settle(now);
        if !self.radio.is_awake() {
            self.handle_timeout(now);
        }
    }

    fn machine_of(&self, number: u32) -> Who {
        if self.config.has_machines_of_connections() { Who::Connection(number) } else { Who::All }
    }

    /// Tracks a new connection if this segment opens one.
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
            // A failed recording must not stop the machine.
            let recorded = built(&self.config, now, file.as_deref());
            recorded.or_else(|_| built(&self.config, now, None)).ok().flatten()
        } else {
            None
        };
        let begun = self.snapshot(now);
        self.begun.get_or_insert(begun);
        self.flows.insert(Entry { flow, machine, consents: false, bytes: 0, bursts: 0, begun, over: None });
    }

    /// Notes the end of a connection's data.
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

    /// Forgets a connection. Its sender must not be left with a closed window.
    fn forget(&mut self, now: Instant, number: u32) {
        if self.flows.get(number).is_some_and(|entry| entry.has_closed() && entry.over.is_none()) {
            self.acknowledge(now, number, None);
        }
        let Some(mut entry) = self.flows.remove(number) else { return };
        self.counters.resent_opens += entry.shaping().map_or(0, |shaping| shaping.resent_opens);
        if let Some(machine) = &mut entry.machine {
            // A failed recording fails again when the last one is finished.
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
}

/// Builds the machine of a configuration, recorded with a `tape`; `None` without a mechanism.
fn built(config: &StationConfig, start: Instant, tape: Option<&Path>) -> Result<Option<OnTape<station::Running>>> {
    let Some(mechanism) = config.mechanism.clone() else { return Ok(None) };
    let setup = StationSetup { mechanism, station: config.context() };
    let kind = station::Running::kind(&setup);
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
