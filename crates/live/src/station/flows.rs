//! The tracked connections of a station, in a bounded table.

use super::flow::{Flow, Side};
use crate::tape::OnTape;
use netlull_mechanism::Machine;
use netlull_mechanism::radio::{Burst, ShaperState};
use netlull_mechanism::station::{self, PacketView, Policy as _, Shaping};
use netlull_network::outcome::Snapshot;
use netlull_units::Instant;
use netlull_wire::{Connection, Packet, parse};
use std::collections::{BTreeMap, BTreeSet};

/// A connection and its machine.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) flow: Flow,
    /// The connection's own machine, if each connection has one.
    pub(super) machine: Option<OnTape<station::Running>>,
    /// True if its machine has asked for sleep and not yet to wake.
    pub(super) consents: bool,
    /// The bytes of data received.
    pub(super) bytes: u64,
    /// The bursts counted.
    pub(super) bursts: u64,
    pub(super) begun: Snapshot,
    pub(super) over: Option<Snapshot>,
}

impl Entry {
    /// The state of shaping, if its machine shapes.
    pub(super) fn shaping(&self) -> Option<Shaping> {
        self.machine.as_ref()?.machine().shaping()
    }

    /// Returns true if the last window that its sender has seen may be a closed one.
    pub(super) fn has_closed(&self) -> bool {
        self.shaping().is_some_and(|shaping| {
            matches!(shaping.state, ShaperState::Saving | ShaperState::Recovery) || shaping.opens
        })
    }

    /// Takes the burst that the shaper has ended since the last call.
    pub(super) fn take_burst(&mut self) -> Option<Burst> {
        let Shaping { bursts, last_burst, .. } = self.shaping()?;
        let is_new = bursts > self.bursts;
        self.bursts = bursts;
        last_burst.filter(|_| is_new)
    }
}

/// The tracked connections, by number.
#[derive(Debug)]
pub(super) struct Flows {
    most: usize,
    opened: u32,
    numbers: BTreeMap<Connection, u32>,
    entries: BTreeMap<u32, Entry>,
    /// The timers of the shapers.
    timers: BTreeSet<(Instant, u32)>,
    armed: BTreeMap<u32, Instant>,
    /// The connections forgotten to make room.
    pub(super) forgotten: u64,
}

impl Flows {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            opened: 0,
            numbers: BTreeMap::new(),
            entries: BTreeMap::new(),
            timers: BTreeSet::new(),
            armed: BTreeMap::new(),
            forgotten: 0,
        }
    }

    /// The number of the next connection.
    pub(super) fn opened(&self) -> u32 {
        self.opened
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        let number = entry.flow.number;
        self.opened = number.wrapping_add(1);
        self.numbers.insert(entry.flow.connection, number);
        self.entries.insert(number, entry);
    }

    pub(super) fn find(&mut self, connection: Connection) -> Option<&mut Entry> {
        self.entries.get_mut(self.numbers.get(&connection)?)
    }

    /// A packet of the host or its peer, as the host reads it; only the size if its connection is unknown.
    pub(super) fn view(&mut self, side: Side, bytes: &[u8]) -> PacketView {
        let unknown = PacketView { size: u32::try_from(bytes.len()).unwrap_or(u32::MAX), segment: None };
        let Ok(Packet::Tcp(tcp)) = parse(bytes) else { return unknown };
        let connection = match side {
            Side::Host => tcp.connection(),
            Side::Peer => tcp.connection().reversed(),
        };
        self.find(connection).map_or(unknown, |entry| entry.flow.view(side, &tcp))
    }

    pub(super) fn get(&mut self, number: u32) -> Option<&mut Entry> {
        self.entries.get_mut(&number)
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Entry> {
        let entry = self.entries.remove(&number)?;
        self.numbers.remove(&entry.flow.connection);
        if let Some(due) = self.armed.remove(&number) {
            self.timers.remove(&(due, number));
        }
        Some(entry)
    }

    /// The connection that has been quiet for longest, if the table is full.
    pub(super) fn to_be_forgotten(&self) -> Option<u32> {
        let quietest = || self.entries.values().min_by_key(|entry| (entry.over.is_none(), entry.flow.active));
        (self.entries.len() >= self.most).then(quietest).flatten().map(|entry| entry.flow.number)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.entries.values()
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.values_mut()
    }

    /// Sets the timer of a connection to that of its shaper.
    pub(super) fn arm(&mut self, number: u32) {
        let next = self.entries.get(&number).and_then(|entry| entry.machine.as_ref()?.next_timeout());
        let before = self.armed.get(&number).copied();
        if next == before {
            return;
        }
        if let Some(before) = before {
            self.timers.remove(&(before, number));
            self.armed.remove(&number);
        }
        if let Some(next) = next {
            self.timers.insert((next, number));
            self.armed.insert(number, next);
        }
    }

    pub(super) fn next_timeout(&self) -> Option<(Instant, u32)> {
        self.timers.first().copied()
    }
}
