//! What is learnt of TCP connections from their packets: whose they are, their window scales, what was sent again, what has arrived.

use super::frame::{Owner, Way};
use netlull_network::outcome::{FlowMark, RequestOutcome};
use netlull_network::probe::{Load, Sums, Timed};
use netlull_units::{Duration, Instant};
use netlull_wire::{Connection, TcpPacket, seq_le, seq_lt};
use std::collections::{BTreeMap, BTreeSet};

/// A connection as its packets tell of it.
#[derive(Clone, Debug)]
pub struct Known {
    /// Number of its flow.
    pub flow: u32,
    /// When its first SYN was sent.
    pub opened: Instant,
    /// When the last byte was acknowledged, after a FIN.
    pub completed: Option<Instant>,
    /// Segments with data that were sent again.
    pub retransmissions: u64,
    /// The largest data of a segment.
    pub largest: u32,
    /// Shift of the windows that the sender advertises, and of the receiver's; `None` before their SYN.
    shifts: [Option<u8>; 2],
    /// Number of the sender's SYN.
    initial: u32,
    /// Behind the last data that was sent: its number, and its offset in the stream.
    sent_to: u32,
    sent: u64,
    /// The same of what its sender has heard to be acknowledged.
    heard_to: u32,
    heard: u64,
    /// Its round trips.
    timed: Timed,
    /// Behind the last data, once a FIN was sent.
    ends: Option<u32>,
    /// Data that the receiver has acknowledged, bytes.
    delivered: u64,
    /// Number behind it.
    delivered_to: u32,
}

impl Known {
    /// The shift of the windows in packets that go this way.
    #[must_use]
    pub fn shift(&self, way: Way) -> Option<u8> {
        self.shifts[way as usize]
    }
}

/// All connections of a run.
#[derive(Debug)]
pub struct Connections {
    /// By the key of their ends.
    numbers: BTreeMap<u64, u32>,
    known: Vec<Known>,
    /// By flow.
    flows: Vec<FlowMark>,
    /// Those with data under way, or with round trips that ended in the bin in progress.
    busy: BTreeSet<u32>,
    round_trips: RoundTrips,
}

/// Whether round trips are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrips {
    /// For somebody who asks at the end of each bin.
    Timed,
    /// Nobody asks.
    Untimed,
}

impl Connections {
    /// None yet.
    #[must_use]
    pub fn new(flows: usize, round_trips: RoundTrips) -> Self {
        Self {
            numbers: BTreeMap::new(),
            known: Vec::new(),
            flows: vec![FlowMark::default(); flows],
            busy: BTreeSet::new(),
            round_trips,
        }
    }

    /// A connection by its number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&Known> {
        self.known.get(number as usize)
    }

    /// Those of a flow, in the order of their opening.
    pub fn of_flow(&self, flow: u32) -> impl Iterator<Item = &Known> {
        self.known.iter().filter(move |known| known.flow == flow)
    }

    /// What a flow has done so far.
    #[must_use]
    pub fn flow(&self, flow: u32) -> &FlowMark {
        &self.flows[flow as usize]
    }

    /// What a flow has done so far, to be counted on.
    pub fn flow_mut(&mut self, flow: u32) -> &mut FlowMark {
        &mut self.flows[flow as usize]
    }

    /// A host sends a segment of a flow; whose it is. A SYN of its sender opens a connection, also one with the ends of an earlier one.
    #[allow(clippy::cast_possible_truncation)]
    pub fn sent(
        &mut self,
        now: Instant,
        (flow, way): (u32, Way),
        connection: Connection,
        tcp: &TcpPacket<'_>,
    ) -> Owner {
        let (flags, key) = (tcp.flags(), connection.key());
        let opens = flags.syn && !flags.ack && way == Way::Forward;
        let known = self.numbers.get(&key).copied();
        let again = known.is_some_and(|number| self.known[number as usize].initial == tcp.seq());
        let number = if opens && !again {
            let number = self.known.len() as u32;
            self.known.push(Known::opened(now, flow, tcp));
            self.numbers.insert(key, number);
            Some(number)
        } else {
            known
        };
        if let Some(number) = number {
            self.look(now, number, way, tcp);
        }
        if way == Way::Forward {
            let count = &mut self.flows[flow as usize];
            count.sent_packets += 1;
            count.sent_bytes += u64::from(tcp.packet_len());
        }
        Owner { flow, way, connection: number }
    }

    fn look(&mut self, now: Instant, number: u32, way: Way, tcp: &TcpPacket<'_>) {
        let known = &mut self.known[number as usize];
        let count = &mut self.flows[known.flow as usize];
        let (flags, options, len) = (tcp.flags(), tcp.options(), tcp.payload_len());
        if flags.syn {
            // RFC 7323 section 2.2: windows are scaled if both SYNs say so; one without the option has no shift at all.
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
                        known.timed.sent(now, u64::from(number), known.sent);
                        self.busy.insert(number);
                    }
                }
                if flags.fin {
                    known.ends = Some(end);
                }
            }
            Way::Backward => {
                if let Some(ack) = tcp.ack().filter(|_| !flags.syn) {
                    // A FIN has a number, but is no data.
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

    /// A segment has come back to its sender's host.
    pub fn acknowledged(&mut self, now: Instant, number: u32, tcp: &TcpPacket<'_>) {
        let known = &mut self.known[number as usize];
        if let Some(ack) = tcp.ack().filter(|_| !tcp.flags().syn) {
            // Of what was sent: a FIN has a number, but is no data.
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

    /// What the connections of some flows, by number, have under way, and their round trips since the last bin.
    pub fn loads(&self, flows: &[bool], sums: &mut Sums) {
        let busy = self.busy.iter().map(|&number| &self.known[number as usize]);
        for known in busy.filter(|known| flows[known.flow as usize]) {
            sums.add(Load::of(known.sent, known.heard), Some(&known.timed));
        }
    }

    /// Another bin of round trips begins.
    pub fn restart_times(&mut self) {
        let known = &mut self.known;
        self.busy.retain(|&number| {
            let own = &mut known[number as usize];
            own.timed.restart();
            Load::of(own.sent, own.heard) == Load::UnderWay
        });
    }

    /// Every connection of a flow as a request; `timeouts` of some of them by flow and number.
    #[must_use]
    pub fn requests(
        &self,
        (flow, asked): (u32, &[(Instant, u64)]),
        timeouts: &BTreeMap<(u32, usize), u64>,
    ) -> Vec<RequestOutcome> {
        // Connections open in the order in which they were asked for.
        let with_size = self.of_flow(flow).zip(asked).enumerate();
        let request = |(number, (known, &(_, size))): (usize, (&Known, &(Instant, u64)))| {
            known.as_request(size, timeouts.get(&(flow, number)).copied().unwrap_or(0))
        };
        with_size.map(request).collect()
    }
}

impl Known {
    fn opened(now: Instant, flow: u32, syn: &TcpPacket<'_>) -> Self {
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
