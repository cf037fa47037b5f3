//! TCP connections, observed through their packets: owners, window scales, retransmissions, received data.

use super::frame::{Owner, Way};
use super::ids::{ById, ConnectionId, FlowId, RequestId};
use netlull_network::outcome::{FlowMark, RequestOutcome};
use netlull_network::probe::{Load, Sums, Timed};
use netlull_units::{Duration, Instant};
use netlull_wire::{Connection, TcpPacket, seq_le, seq_lt};
use std::collections::{BTreeMap, BTreeSet};

/// The observed state of a connection.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its flow.
    pub flow: FlowId,
    /// The instant of its first SYN.
    pub opened: Instant,
    /// The instant at which the last byte was acknowledged, after a FIN.
    pub completed: Option<Instant>,
    /// The retransmitted segments with data.
    pub retransmissions: u64,
    /// The largest segment, in bytes of data.
    pub largest: u32,
    /// The window shifts of the sender and the receiver; `None` before their SYN.
    shifts: [Option<u8>; 2],
    /// The sequence number of the sender's SYN.
    initial: u32,
    /// The sequence number after the last data sent, and its offset in the stream.
    sent_to: u32,
    sent: u64,
    /// The same for the data that its sender knows to be acknowledged.
    heard_to: u32,
    heard: u64,
    /// The round-trip times.
    timed: Timed,
    /// The sequence number after the last data, once a FIN was sent.
    ends: Option<u32>,
    /// The data that the receiver has acknowledged, in bytes.
    delivered: u64,
    /// The sequence number after it.
    delivered_to: u32,
}

impl Known {
    /// The window shift of packets in a direction.
    #[must_use]
    pub fn shift(&self, way: Way) -> Option<u8> {
        self.shifts[way as usize]
    }
}

/// The connections of a run.
#[derive(Debug)]
pub struct Connections {
    /// The connections by the key of their endpoints.
    ids: BTreeMap<u64, ConnectionId>,
    known: ById<ConnectionId, Known>,
    flows: ById<FlowId, FlowMark>,
    /// The connections with data in flight, or with round trips that ended in the current bin.
    busy: BTreeSet<ConnectionId>,
    round_trips: RoundTrips,
}

/// The state of a connection's round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrips {
    /// Measured, and read at the end of each bin.
    Timed,
    /// Not measured.
    Untimed,
}

impl Connections {
    /// Creates an empty table.
    #[must_use]
    pub fn new(flows: usize, round_trips: RoundTrips) -> Self {
        Self {
            ids: BTreeMap::new(),
            known: ById::default(),
            flows: ById::filled(FlowMark::default(), flows),
            busy: BTreeSet::new(),
            round_trips,
        }
    }

    /// The state of a connection.
    #[must_use]
    pub fn get(&self, id: ConnectionId) -> Option<&Known> {
        self.known.get(id)
    }

    /// The connections of a flow, in the order of their opening.
    pub fn of_flow(&self, flow: FlowId) -> impl Iterator<Item = &Known> {
        self.known.iter().filter(move |known| known.flow == flow)
    }

    /// The counters of a flow.
    #[must_use]
    pub fn flow(&self, flow: FlowId) -> &FlowMark {
        &self.flows[flow]
    }

    /// The counters of a flow, for updating.
    pub fn flow_mut(&mut self, flow: FlowId) -> &mut FlowMark {
        &mut self.flows[flow]
    }

    /// Processes a segment sent by a host, and returns its owner with the connection. A SYN of the flow's sender opens
    /// a connection, even with the endpoints of an earlier one.
    pub fn sent(&mut self, now: Instant, owner: Owner, ends: Connection, tcp: &TcpPacket<'_>) -> Owner {
        let (flags, Owner { flow, way, .. }) = (tcp.flags(), owner);
        let opens = flags.syn && !flags.ack && way == Way::Forward;
        let known = self.ids.get(&ends.key()).copied();
        let again = known.is_some_and(|id| self.known[id].initial == tcp.seq());
        let connection = if opens && !again {
            let id = self.known.push(Known::opened(now, flow, tcp));
            self.ids.insert(ends.key(), id);
            Some(id)
        } else {
            known
        };
        if let Some(id) = connection {
            self.look(now, id, way, tcp);
        }
        if way == Way::Forward {
            let count = &mut self.flows[flow];
            count.sent_packets += 1;
            count.sent_bytes += u64::from(tcp.packet_len());
        }
        Owner { connection, ..owner }
    }

    fn look(&mut self, now: Instant, id: ConnectionId, way: Way, tcp: &TcpPacket<'_>) {
        let known = &mut self.known[id];
        let count = &mut self.flows[known.flow];
        let (flags, options, len) = (tcp.flags(), tcp.options(), tcp.payload_len());
        if flags.syn {
            // RFC 7323 section 2.2: windows are scaled only if both SYNs have the option; otherwise both shifts are
            // zero.
            known.shifts[way as usize] = Some(options.window_scale.unwrap_or(0));
            if flags.ack && options.window_scale.is_none() {
                known.shifts = [Some(0); 2];
            }
        }
        match way {
            Way::Forward => {
                let end = tcp.seq().wrapping_add(len);
                if len > 0 {
                    known.largest = known.largest.max(len);
                    if seq_lt(tcp.seq(), known.sent_to) {
                        known.retransmissions += 1;
                        count.retransmissions += 1;
                    } else {
                        known.sent += u64::from(end.wrapping_sub(known.sent_to));
                        known.sent_to = end;
                    }
                    if self.round_trips == RoundTrips::Timed {
                        known.timed.sent(now, u64::from(id.number()), known.sent);
                        self.busy.insert(id);
                    }
                }
                if flags.fin {
                    known.ends = Some(end);
                }
            }
            Way::Backward => {
                if let Some(ack) = tcp.ack().filter(|_| !flags.syn) {
                    // A FIN has a sequence number but is no data.
                    let to = known.ends.filter(|&ends| seq_lt(ends, ack)).unwrap_or(ack);
                    if seq_lt(known.delivered_to, to) {
                        let new = u64::from(to.wrapping_sub(known.delivered_to));
                        known.delivered_to = to;
                        known.delivered += new;
                        count.delivered_bytes += new;
                    }
                }
            }
        }
    }

    /// Processes a segment that arrives at its sender's host.
    pub fn acknowledged(&mut self, now: Instant, id: ConnectionId, tcp: &TcpPacket<'_>) {
        let known = &mut self.known[id];
        if let Some(ack) = tcp.ack().filter(|_| !tcp.flags().syn) {
            // Limited to the data sent: a FIN has a sequence number but is no data.
            let to = if seq_lt(known.sent_to, ack) { known.sent_to } else { ack };
            if seq_lt(known.heard_to, to) {
                known.heard += u64::from(to.wrapping_sub(known.heard_to));
                known.heard_to = to;
                known.timed.acknowledged(now, known.heard);
            }
        }
        if let (None, Some(ends), Some(ack)) = (known.completed, known.ends, tcp.ack())
            && seq_le(ends, ack)
        {
            known.completed = Some(now);
        }
    }

    /// Adds up the data in flight of some flows, and their round trips in the current bin.
    pub fn loads(&self, flows: &ById<FlowId, bool>, sums: &mut Sums) {
        let busy = self.busy.iter().map(|&id| &self.known[id]);
        for known in busy.filter(|known| flows[known.flow]) {
            sums.add(Load::of(known.sent, known.heard), Some(&known.timed));
        }
    }

    /// Starts the next bin of round trips.
    pub fn restart_times(&mut self) {
        let known = &mut self.known;
        self.busy.retain(|&id| {
            let own = &mut known[id];
            own.timed.restart();
            Load::of(own.sent, own.heard) == Load::UnderWay
        });
    }

    /// The outcome of every connection of a flow as a request; `timeouts` contains those with timeouts.
    #[must_use]
    pub fn requests(
        &self,
        flow: FlowId,
        asked: &[(Instant, u64)],
        timeouts: &BTreeMap<RequestId, u64>,
    ) -> Vec<RequestOutcome> {
        // Connections open in the order of their requests.
        let with_size = self.of_flow(flow).zip(asked).enumerate();
        let request = |(number, (known, &(_, size))): (usize, (&Known, &(Instant, u64)))| {
            known.as_request(size, timeouts.get(&RequestId { flow, number }).copied().unwrap_or(0))
        };
        with_size.map(request).collect()
    }
}

impl Known {
    fn opened(now: Instant, flow: FlowId, syn: &TcpPacket<'_>) -> Self {
        let first = syn.seq().wrapping_add(1);
        Self {
            flow,
            opened: now,
            completed: None,
            retransmissions: 0,
            largest: 0,
            shifts: [None; 2],
            initial: syn.seq(),
            sent_to: first,
            sent: 0,
            heard_to: first,
            heard: 0,
            timed: Timed::default(),
            ends: None,
            delivered: 0,
            delivered_to: first,
        }
    }

    fn as_request(&self, size: u64, timeouts: u64) -> RequestOutcome {
        let completion: Option<Duration> = self.completed.map(|completed| completed - self.opened);
        RequestOutcome { start: self.opened, size, completion, retransmissions: self.retransmissions, timeouts }
    }
}
