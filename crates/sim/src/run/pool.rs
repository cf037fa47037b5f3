//! The connections of a request flow. They are created on demand and reused.
//!
//! A connection has a *slot* in its flow's pool, with two agents and two timers. A request takes the slot that was
//! freed last, or a new one. A slot is free when the receiver is CLOSED, the sender is in TIME-WAIT or CLOSED, and
//! none of their packets is on a link. TIME-WAIT covers late packets (RFC 9293 section 3.6.1: stray segments, a
//! repeated FIN of the peer). Once no packet can arrive, further waiting changes nothing. No packet of a connection
//! ever meets another connection in the same slot.

use super::error::RunError;
use super::transfers::{Completions, Transfer};
use crate::scenario::RequestFlow;
use crate::traffic::RequestSource;
use netlull_tcp::{Data, Endpoint, SeqNr, State, Template};
use netlull_units::{Duration, Instant};

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Sender,
    Receiver,
}

/// A connection, finished or not, in its slot.
pub(super) struct Place {
    pub sender: Endpoint,
    pub receiver: Endpoint,
    /// Packets of both ends on links, plus one while an end is being processed.
    pub on_way: u32,
    pub opened: Instant,
    /// The requested size, in bytes.
    pub size: u64,
    pub state: Progress,
}

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The slot is free.
    Free,
    /// Data is still to be sent or acknowledged. `measured` is true if the request arrived after the warm-up.
    Under { measured: bool },
    /// All data is acknowledged.
    Complete,
}

impl Place {
    pub fn end(&mut self, role: Role) -> &mut Endpoint {
        match role {
            Role::Sender => &mut self.sender,
            Role::Receiver => &mut self.receiver,
        }
    }

    /// Returns true if all data is acknowledged and the completion is not yet recorded.
    #[inline]
    pub fn has_completed(&self) -> bool {
        matches!(self.state, Progress::Under { .. }) && self.sender.all_acked()
    }

    /// Returns true if the connection needs no further processing.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.on_way == 0
            && self.receiver.state() == State::Closed
            && matches!(self.sender.state(), State::TimeWait | State::Closed)
            && self.state != Progress::Free
    }
}

/// TCP counters, summed over connections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Bytes delivered to receiving applications.
    pub delivered: u64,
    /// Bytes that have arrived at receivers.
    pub received: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Fast retransmits undone.
    pub undone_fast_retransmits: u64,
    /// Timeouts undone.
    pub undone_timeouts: u64,
}

impl Totals {
    fn add(&mut self, place: &Place) {
        let counters = place.sender.counters();
        self.delivered += place.receiver.bytes_delivered();
        self.received += place.receiver.bytes_received();
        self.retransmissions += counters.retransmitted_segments;
        self.timeouts += counters.timeouts;
        self.fast_retransmits += counters.fast_retransmits;
        self.undone_fast_retransmits += counters.undone_fast_retransmits;
        self.undone_timeouts += counters.undone_timeouts;
    }
}

/// Requests that arrived in the measured time.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub started: u64,
    /// Requested bytes.
    pub bytes_requested: u128,
    pub bytes_completed: u64,
    /// Times of the SYN, and from there to the last acknowledgement in nanoseconds, in the order of completion.
    pub completions: Vec<(Instant, u64)>,
    /// The maximum number of connections open at once.
    pub most_open: u32,
}

/// Counts of finished connections for the verifier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retired {
    pub connections: u64,
    /// Finished connections that did not deliver exactly the requested data, with all of it acknowledged.
    pub incomplete: u64,
}

/// The connections of a request flow during a run.
pub(super) struct Pool {
    /// The flow's name.
    pub name: String,
    pub source: RequestSource,
    /// The number of its first slot among the slots of all pools.
    pub first_place: u32,
    pub places: Vec<Place>,
    /// Free slots, with the one freed last at the end.
    free: Vec<usize>,
    limit: u32,
    clients: Template,
    servers: Template,
    /// The bases of initial sequence numbers.
    origins: [SeqNr; 2],
    open: u32,
    started: u64,
    pub retired: Retired,
    totals: Totals,
    pub baseline: Totals,
    pub measured: Measured,
    /// Data in a full segment, after a connection has agreed on it.
    pub smss: Option<u32>,
}

impl Pool {
    /// The number of its slots for connections.
    pub fn slots(&self) -> u32 {
        self.limit
    }

    /// The empty pool of `flow`. `origins` are the initial sequence numbers of its first connection.
    pub fn new(flow: &RequestFlow, seed: u64, first_place: u32, origins: [SeqNr; 2]) -> Self {
        Self {
            name: flow.path.name.clone(),
            source: RequestSource::new(flow, seed),
            first_place,
            places: Vec::new(),
            free: Vec::new(),
            limit: flow.most_open,
            clients: Template::client(&flow.config),
            servers: Template::server(&flow.config),
            origins,
            open: 0,
            started: 0,
            retired: Retired::default(),
            totals: Totals::default(),
            baseline: Totals::default(),
            measured: Measured::default(),
            smss: None,
        }
    }

    /// Opens the connection of a new request and returns its slot.
    pub fn open(&mut self, now: Instant) -> Result<usize, RunError> {
        let size = self.source.take(now);
        if self.open == self.limit {
            return Err(RunError::TooManyOpen { flow: self.name.clone(), most_open: self.limit, at: now });
        }
        let index = self.take_place(now);
        let place = &mut self.places[index];
        (place.opened, place.size, place.state) = (now, size, Progress::Under { measured: true });
        place.sender.open(now);
        place.sender.send(Data::Bytes(size));
        place.sender.close();
        self.open += 1;
        self.started += 1;
        self.measured.started += 1;
        self.measured.bytes_requested += u128::from(size);
        self.measured.most_open = self.measured.most_open.max(self.open);
        Ok(index)
    }

    /// A slot with two new endpoints: the slot freed last, or a new one.
    fn take_place(&mut self, now: Instant) -> usize {
        // RFC 9293 section 3.4.1: a clock with a period of 4 us and a different start for each connection.
        let clock = now.as_nanos() / 4000;
        let iss = |index: usize, origin: SeqNr| {
            origin.advanced_by(clock).advanced_by((index as u64).wrapping_mul(0x9e37_79b9))
        };
        if let Some(index) = self.free.pop() {
            let place = &mut self.places[index];
            self.clients.renew(&mut place.sender, iss(index, self.origins[0]));
            self.servers.renew(&mut place.receiver, iss(index, self.origins[1]));
            return index;
        }
        let index = self.places.len();
        self.places.push(Place {
            sender: self.clients.make(iss(index, self.origins[0])),
            receiver: self.servers.make(iss(index, self.origins[1])),
            on_way: 0,
            opened: now,
            size: 0,
            state: Progress::Free,
        });
        index
    }

    /// Records that all data of a slot's request is acknowledged.
    pub fn complete(&mut self, index: usize, now: Instant) {
        let place = &mut self.places[index];
        if place.state == (Progress::Under { measured: true }) {
            self.measured.completions.push((place.opened, (now - place.opened).as_nanos()));
            self.measured.bytes_completed += place.size;
        }
        self.smss = Some(place.sender.smss());
        place.state = Progress::Complete;
    }

    /// Frees the slot of a finished connection.
    pub fn retire(&mut self, index: usize) {
        let place = &mut self.places[index];
        place.state = Progress::Free;
        self.totals.add(place);
        let counters = place.sender.counters();
        let sent = counters.bytes_sent - counters.retransmitted_bytes;
        let ends = [place.sender.bytes_acked(), place.receiver.bytes_delivered(), sent];
        self.retired.connections += 1;
        self.retired.incomplete += u64::from(ends != [place.size; 3]);
        self.open -= 1;
        self.free.push(index);
    }

    /// The open connections, with their slots.
    pub fn open_places(&self) -> impl Iterator<Item = (usize, &Place)> {
        self.places.iter().enumerate().filter(|(_, place)| place.state != Progress::Free)
    }

    /// The requests that arrived in the measured time.
    pub fn transfers(&self) -> Vec<Transfer> {
        let completed = self.measured.completions.iter();
        let completed =
            completed.map(|&(start, nanos)| Transfer { start, completion: Some(Duration::from_nanos(nanos)) });
        let under = self.places.iter().filter(|place| place.state == (Progress::Under { measured: true }));
        completed.chain(under.map(|place| Transfer { start: place.opened, completion: None })).collect()
    }

    /// The number of connections opened so far, and the number open now.
    pub fn opened(&self) -> (u64, u32) {
        (self.started, self.open)
    }

    /// Sums over all connections so far.
    pub fn totals(&self) -> Totals {
        let mut totals = self.totals;
        self.open_places().for_each(|(_, place)| totals.add(place));
        totals
    }

    /// Starts the measured time of requests.
    pub fn start_measuring(&mut self) {
        self.baseline = self.totals();
        self.measured = Measured { most_open: self.open, ..Measured::default() };
        for place in &mut self.places {
            if let Progress::Under { measured } = &mut place.state {
                *measured = false;
            }
        }
    }

    /// The sums since the start of the measured time.
    pub fn totals_measured(&self) -> Totals {
        let (now, then) = (self.totals(), self.baseline);
        Totals {
            delivered: now.delivered - then.delivered,
            received: now.received - then.received,
            retransmissions: now.retransmissions - then.retransmissions,
            timeouts: now.timeouts - then.timeouts,
            fast_retransmits: now.fast_retransmits - then.fast_retransmits,
            undone_fast_retransmits: now.undone_fast_retransmits - then.undone_fast_retransmits,
            undone_timeouts: now.undone_timeouts - then.undone_timeouts,
        }
    }
}

impl Measured {
    /// The statistics of these completion times.
    pub fn summarise(&self) -> Option<Completions> {
        Completions::of(self.completions.iter().map(|&(_, nanos)| nanos).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_the_least_times_that_so_many_do_not_exceed() {
        // Times of 1 to 40 ms, out of order: half of 40 are 20, 95 % are 38, and 99 % are 39.6, so 40. The mean is
        // 20.5 ms.
        let completions = (0..40).map(|n| (Instant::ZERO, (n * 7 % 40 + 1) * 1_000_000)).collect();
        let all = Measured { completions, ..Measured::default() }.summarise().expect("some");
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        let found = [all.p50, all.p95, all.p99, all.max, all.mean].map(ms);
        assert_eq!(found, [20.0, 38.0, 40.0, 40.0, 20.5]);
        let one = Measured { completions: vec![(Instant::ZERO, 7)], ..Measured::default() }.summarise().expect("one");
        assert_eq!([one.mean, one.p50, one.p99, one.max], [Duration::from_nanos(7); 4]);
        assert_eq!(Measured::default().summarise(), None);
    }
}
