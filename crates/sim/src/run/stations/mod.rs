//! Stations: radios that sleep, machines that control them, and access points that buffer packets.
//!
//! ```text
//!              AP buffers?                  awake? else missed
//!   network ──► [gate] ──► link down ──► [radio] ──► host's TCP
//!   network ◄──────────────  link up ◄── [radio] ◄── host's TCP
//!                                wakes for transmissions
//! ```
//!
//! Frames that are not packets (beacons, polls, null frames) take transmission time and energy, but no room in a
//! link's queue.
//!
//! Actions due at the same instant have this order:
//!
//! 1. The radio is awake.
//! 2. The machine's timeout.
//! 3. The access point's timeout.
//! 4. The end of a beacon.
//! 5. The arrival of a poll at the access point.
//! 6. The start of an announcement.
//! 7. The access point's next packet.
//! 8. The radio falls asleep.
//!
//! At the end of a turn, the world processes the packets sent by the radio and by the access point
//! (`World::follow_sent`).

mod station;
mod summary;
mod turn;

pub(super) use station::Station;
pub use summary::StationSummary;
pub(super) use summary::summaries;
pub(super) use turn::Turn;

use super::control::header;
use super::error::RunError;
use super::net::Net;
use super::observers::Observers;
use crate::net::flight::Packet;
use crate::net::ids::{FlowId, LinkId, NodeId, StationId};
use crate::net::link::{Admission, Offered};
use crate::scenario::Scenario;
use netlull_mechanism::gateway::SegmentKind;
use netlull_mechanism::station::{PacketView, TcpView};
use netlull_network::outcome::{Snapshot, StationOutcome};
use netlull_network::radio::Coming;
use netlull_power::RadioTime;
use netlull_tcp::Flags;
use netlull_units::Bytes;
use station::Acknowledging;
use std::collections::VecDeque;
use summary::outcome;

/// All stations of a run.
pub(super) struct Stations {
    each: Vec<Station>,
    /// Packets that their links have decided on, for the world to process.
    sent: VecDeque<Sent>,
}

/// A packet sent by a radio or an access point.
pub(super) struct Sent {
    pub link: LinkId,
    pub packet: Packet,
    pub given: Given,
}

/// The result of passing a packet to a link.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// The link has decided. It does not store a packet whose arrival time it returns.
    Queued(Offered),
    /// The link has decided and stores an accepted packet, because every packet is watched.
    Watched(Admission),
}

impl Given {
    fn is_taken(self) -> bool {
        matches!(
            self,
            Self::Queued(Offered::Arrives(_) | Offered::Overtakes(_) | Offered::Held)
                | Self::Watched(Admission::Accepted)
        )
    }

    /// Returns true if the packet was transmitted and lost.
    fn is_lost(self) -> bool {
        matches!(self, Self::Queued(Offered::Refused(Admission::Lost)) | Self::Watched(Admission::Lost))
    }
}

/// A request of a station's machine to its host.
pub(super) enum Demand {
    /// A new window in the packet shown to the machine, or the largest window of the next acknowledgement.
    Window(Bytes),
    /// The packet shown to the machine is not sent.
    Withhold,
    /// An acknowledgement of all data received by a connection.
    Acknowledge {
        /// The connection's number, unchecked.
        connection: u32,
    },
}

/// A machine's decision on the packet shown to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outgoing {
    AsItIs,
    Within(Bytes),
    Withheld,
}

/// The result of inspecting a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attended {
    /// The packet continues.
    GoesOn,
    /// The packet is held, refused or missed.
    Taken,
}

/// An access point's decision on a packet for its station.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Kept,
    Refused,
}

/// A radio's result for a packet that arrives over the air.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    Missed,
    /// `more` is true if its More Data bit is set.
    Heard {
        more: bool,
    },
}

impl Stations {
    /// The stations of a scenario.
    ///
    /// # Errors
    /// If a station's machine or access point cannot be built.
    pub fn new(scenario: &Scenario) -> Result<Self, RunError> {
        let each = scenario.stations.iter().map(|spec| Station::new(spec, scenario));
        Ok(Self { each: each.collect::<Result<_, _>>()?, sent: VecDeque::new() })
    }

    /// Sets the first event of each.
    pub fn start(&mut self, net: &mut Net) {
        for (id, station) in StationId::all(self.each.len()).zip(&self.each) {
            arm(id, station, net);
        }
    }

    /// All stations.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Station> {
        self.each.iter()
    }

    /// The station at a node.
    pub fn at_node(&self, node: NodeId) -> Option<StationId> {
        let place = self.each.iter().position(|station| station.node == node)?;
        Some(StationId::new(place))
    }

    /// The node of a station.
    pub fn node(&self, id: StationId) -> NodeId {
        self.each[id.index()].node
    }

    /// Returns true if a machine controls a station's radio.
    pub fn has_machine(&self, id: StationId) -> bool {
        self.each[id.index()].machine.is_some()
    }

    /// The link to a station.
    pub fn down(&self, id: StationId) -> LinkId {
        self.each[id.index()].down
    }

    /// The next sent packet for the world to process.
    pub fn next_sent(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    /// A station's turn at this instant.
    pub fn turn<'a>(&'a mut self, id: StationId, net: &'a mut Net, observers: &'a mut Observers) -> Turn<'a> {
        Turn { id, station: &mut self.each[id.index()], sent: &mut self.sent, net, observers }
    }

    /// The name on the air and the largest window if a packet is the acknowledgement that a station's machine has
    /// requested.
    pub fn asked_for(&mut self, id: StationId, view: &PacketView) -> Option<(&'static str, Option<Bytes>)> {
        let station = &mut self.each[id.index()];
        match &mut station.acknowledging {
            Some(Acknowledging { window, shown }) if shown.is_none() && view.is_acknowledgement() => {
                *shown = Some(*view);
                let window = *window;
                Some((station.acknowledgement(), window))
            }
            _ => None,
        }
    }

    /// Starts an acknowledgement that the machine has requested, with a window of at most `window`.
    pub fn begin_acknowledging(&mut self, id: StationId, window: Option<Bytes>) {
        self.each[id.index()].acknowledging = Some(Acknowledging { window, shown: None });
    }

    /// Ends the acknowledgement. Returns the sent packet, or `None` if there was nothing to acknowledge.
    pub fn end_acknowledging(&mut self, id: StationId) -> Option<PacketView> {
        self.each[id.index()].acknowledging.take()?.shown
    }

    /// Counts an acknowledgement that closes the window.
    pub fn count_closed(&mut self, id: StationId) {
        self.each[id.index()].counters.counts.closed_acks += 1;
    }

    /// Counts an acknowledgement that the machine withholds.
    pub fn count_withheld(&mut self, id: StationId) {
        self.each[id.index()].counters.withheld_acks += 1;
    }

    /// The download of a station begins.
    pub fn download_begins(&mut self, id: StationId, net: &Net) {
        let snapshot = self.snapshot(id, net);
        self.each[id.index()].download_begins(snapshot);
    }

    /// A flow of a download is delivered.
    pub fn download_over(&mut self, id: StationId, flow: FlowId, net: &Net) {
        let snapshot = self.snapshot(id, net);
        self.each[id.index()].download_over(snapshot, flow);
    }

    /// Starts the measured time of stations.
    pub fn start_measuring(&mut self, net: &Net) {
        for id in StationId::all(self.each.len()) {
            let snapshot = self.snapshot(id, net);
            self.each[id.index()].restart(snapshot);
        }
    }

    /// The counts of the stations up to now.
    pub fn outcomes(&self, net: &Net) -> Vec<StationOutcome> {
        let ids = StationId::all(self.each.len());
        ids.zip(&self.each).map(|(id, station)| outcome(station, self.snapshot(id, net))).collect()
    }

    /// The times of a station's radio up to now, and packets that its access point holds.
    pub fn reading(&self, id: StationId, net: &Net) -> StationReading {
        let snapshot = self.snapshot(id, net);
        StationReading {
            times: snapshot.times,
            missed_packets: snapshot.missed_packets,
            held: self.each[id.index()].held.len(),
        }
    }

    /// The current counters of a station, including the received part of a packet in transmission.
    fn snapshot(&self, id: StationId, net: &Net) -> Snapshot {
        let station = &self.each[id.index()];
        station.snapshot(net.now, coming(station, net))
    }
}

/// A station at an instant of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StationReading {
    /// The time of the radio in each state.
    pub times: RadioTime,
    /// Packets that the radio missed.
    pub missed_packets: u64,
    /// Packets that the access point holds.
    pub held: usize,
}

/// Sets a station's event.
fn arm(id: StationId, station: &Station, net: &mut Net) {
    let next = station.next(net.now);
    net.set_event(net.order.station(id), next);
}

/// The packet in transmission to a station, if there is one.
fn coming(station: &Station, net: &Net) -> Option<Coming> {
    net.links[station.down].head_arrives(&net.store).map(|(arrives, size)| Coming { arrives, size })
}

/// The view of a packet at one of its ends. `shift` is the shift of its window.
pub(super) fn view(packet: &Packet, shift: u8) -> PacketView {
    let segment = &packet.segment;
    // A datagram, or a reset without an acknowledgement, has no TCP view.
    let Some((kind, timestamps)) = header(segment) else {
        return PacketView { size: packet.size, segment: None };
    };
    // RFC 7323 section 2.2: the window of a SYN is never scaled.
    let shift = if kind == SegmentKind::Other { shift } else { 0 };
    let tcp = TcpView {
        connection: packet.agent.flow().number(),
        kind,
        fin: segment.flags.contains(Flags::FIN),
        seq: segment.seq.as_u32(),
        len: u32::from(segment.len),
        acknowledged: segment.flags.contains(Flags::ACK).then(|| segment.ack.as_u32()),
        window: Bytes::new(u64::from(segment.window) << shift),
        timestamps,
    };
    PacketView { size: packet.size, segment: Some(tcp) }
}
