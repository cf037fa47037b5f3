//! Packets, and packets on links in the order of their arrivals.
//!
//! All links keep their packets in one [`PacketStore`], in chunks of a few places; a link's [`Flight`] is a chain of
//! chunks. Thousands of queues would each keep room for their longest length. The store has room for the packets of
//! all links at one time, and the chunk that became free last, which is still in the processor's caches, is the next to
//! be filled. The neighbours of a packet in a long queue are read together.

use super::ids::{AgentId, NodeId};
use netlull_tcp::{Flags, Segment};

/// A packet in the network: small, `Copy`, without pointers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// The TCP segment. A datagram only stores its number in `segment.seq`.
    pub segment: Segment,
    /// The destination agent.
    pub agent: AgentId,
    /// Size on the wire in bytes, IP header included.
    pub size: u32,
    /// The destination node.
    pub destination: NodeId,
}

impl Packet {
    /// Returns true for an ECN-capable packet, with or without a mark (RFC 3168 section 5).
    #[must_use]
    pub fn can_be_marked(&self) -> bool {
        self.segment.flags.intersects(Flags::ECT | Flags::CE)
    }

    /// Marks the packet: congestion experienced. Returns false if it already has a mark.
    pub fn mark(&mut self) -> bool {
        let newly = !self.is_marked();
        self.segment.flags = self.segment.flags.with(Flags::CE);
        newly
    }

    /// Returns true if a link has marked the packet.
    #[inline]
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.segment.flags.contains(Flags::CE)
    }
}

/// The places of a chunk; a power of two.
const PLACES: u32 = 8;

/// The number of no chunk.
const NOWHERE: u32 = u32::MAX;

/// A packet and its arrival time in nanoseconds.
type Stored = (u64, Packet);

/// Some consecutive packets of a link, or free places.
struct Chunk {
    places: [Stored; PLACES as usize],
    /// The link's next chunk, or the next free chunk.
    next: u32,
}

/// The packets of all links until their arrival.
pub struct PacketStore {
    chunks: Vec<Chunk>,
    /// The first free chunk.
    free: u32,
}

impl PacketStore {
    /// Creates an empty store.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: Vec::new(), free: NOWHERE }
    }

    /// Takes a free chunk.
    #[inline]
    fn take(&mut self) -> u32 {
        let number = self.free;
        let Some(chunk) = self.chunks.get_mut(number as usize) else { return self.grow() };
        self.free = std::mem::replace(&mut chunk.next, NOWHERE);
        number
    }

    /// Adds a chunk.
    ///
    /// # Panics
    /// If there are 2^32 - 1 chunks, which need 2.4 TB.
    #[cold]
    fn grow(&mut self) -> u32 {
        let number = u32::try_from(self.chunks.len()).ok().filter(|&number| number != NOWHERE);
        let number = number.expect("fewer than 2^32 chunks of packets");
        self.chunks.push(Chunk { places: Default::default(), next: NOWHERE });
        number
    }

    /// Frees a chunk and returns the chunk after it.
    #[inline]
    fn give_back(&mut self, number: u32) -> u32 {
        let next = std::mem::replace(&mut self.chunks[number as usize].next, self.free);
        self.free = number;
        next
    }
}

impl Default for PacketStore {
    fn default() -> Self {
        Self::new()
    }
}

/// The packets of a link in the order of their arrivals.
pub(super) struct Flight {
    /// The chunks of the first and of the last packet.
    first: u32,
    last: u32,
    /// The place of the first packet in its chunk.
    start: u32,
    length: u32,
    /// The number of packets that have arrived.
    popped: u64,
}

impl Default for Flight {
    fn default() -> Self {
        Self { first: NOWHERE, last: NOWHERE, start: 0, length: 0, popped: 0 }
    }
}

impl Flight {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The number of packets pushed and not withdrawn.
    pub fn pushed(&self) -> u64 {
        self.popped + u64::from(self.length)
    }

    /// The number of packets that have arrived.
    pub fn popped(&self) -> u64 {
        self.popped
    }

    /// Appends a packet that arrives at `arrives`, not earlier than the others.
    #[inline]
    pub fn push(&mut self, arrives: u64, packet: &Packet, store: &mut PacketStore) {
        let place = (self.start + self.length) % PLACES;
        if place == 0 {
            self.extend(store);
        }
        // Written in place: a copy right after its parts are written would stall the processor.
        let stored = &mut store.chunks[self.last as usize].places[place as usize];
        stored.0 = arrives;
        stored.1 = *packet;
        self.length += 1;
    }

    /// Adds a packet that arrives at `arrives`, behind all packets that arrive no later.
    pub fn insert(&mut self, arrives: u64, packet: &Packet, store: &mut PacketStore) {
        let Some((mut chunk, mut place)) = self.first_after(arrives, store) else {
            return self.push(arrives, packet, store);
        };
        // Each later packet moves to the next place, the last one to a new place.
        let mut moving = (arrives, *packet);
        loop {
            let here = &mut store.chunks[chunk as usize];
            std::mem::swap(&mut here.places[place as usize], &mut moving);
            let next = here.next;
            place += 1;
            let is_last = chunk == self.last && place == self.end();
            if is_last {
                return self.push(moving.0, &moving.1, store);
            }
            if place == PLACES {
                (chunk, place) = (next, 0);
            }
        }
    }

    /// The place after the last packet in its chunk, from 1.
    fn end(&self) -> u32 {
        (self.start + self.length - 1) % PLACES + 1
    }

    /// The chunk and the place of the first packet that arrives after `arrives`.
    fn first_after(&self, arrives: u64, store: &PacketStore) -> Option<(u32, u32)> {
        let mut chunk = store.chunks.get(self.last as usize)?;
        if chunk.places[self.end() as usize - 1].0 <= arrives {
            return None;
        }
        // The first chunk whose last packet arrives later.
        let mut number = self.first;
        loop {
            chunk = &store.chunks[number as usize];
            if number == self.last || chunk.places[PLACES as usize - 1].0 > arrives {
                break;
            }
            number = chunk.next;
        }
        let start = if number == self.first { self.start } else { 0 };
        let place = (start..PLACES).find(|&place| chunk.places[place as usize].0 > arrives)?;
        Some((number, place))
    }

    /// Appends a chunk. An empty queue has none.
    #[inline]
    fn extend(&mut self, store: &mut PacketStore) {
        let chunk = store.take();
        match store.chunks.get_mut(self.last as usize) {
            Some(last) => last.next = chunk,
            None => self.first = chunk,
        }
        self.last = chunk;
    }

    /// The first packet and its arrival time.
    #[inline]
    fn head<'a>(&self, store: &'a PacketStore) -> Option<&'a Stored> {
        store.chunks.get(self.first as usize).map(|chunk| &chunk.places[(self.start % PLACES) as usize])
    }

    /// The first packet.
    #[inline]
    pub fn front<'a>(&self, store: &'a PacketStore) -> Option<&'a Packet> {
        self.head(store).map(|(_, packet)| packet)
    }

    /// The arrival time of the first packet.
    #[inline]
    pub fn next_arrival(&self, store: &PacketStore) -> Option<u64> {
        self.head(store).map(|&(arrives, _)| arrives)
    }

    /// Removes the first packet, which must exist.
    #[inline]
    pub fn skip(&mut self, store: &mut PacketStore) {
        self.leave_out(store);
        self.popped += 1;
    }

    /// Removes the first packet, which must exist, as if it had never been pushed.
    #[inline]
    fn leave_out(&mut self, store: &mut PacketStore) {
        debug_assert!(!self.is_empty(), "nothing to remove");
        self.length -= 1;
        self.start += 1;
        if self.start == PLACES || self.length == 0 {
            self.start = 0;
            self.first = store.give_back(self.first);
            if self.first == NOWHERE {
                self.last = NOWHERE;
            }
        }
    }

    /// Removes the packets that arrive by `until` and for which `goes` returns true, in order.
    ///
    /// The packets then count as never pushed. The function reads no packet after the first that arrives later.
    pub fn withdraw(
        &mut self,
        until: u64,
        goes: impl Fn(&Packet) -> bool,
        into: &mut Vec<Stored>,
        store: &mut PacketStore,
    ) {
        let before = into.len();
        let mut kept = Vec::new();
        for (arrives, packet) in self.iter(store).take_while(|&(arrives, _)| arrives <= until) {
            let list = if goes(packet) { &mut *into } else { &mut kept };
            list.push((arrives, *packet));
        }
        // Those that stay move up to the packets that arrive later.
        for _ in before..into.len() {
            self.leave_out(store);
        }
        let mut kept = kept.into_iter();
        self.walk(store, |place| kept.next().map(|stored| *place = stored).is_some());
    }

    /// Removes all packets, in order. They then count as never pushed.
    pub fn clear(&mut self, into: &mut Vec<Packet>, store: &mut PacketStore) {
        while let Some(packet) = self.front(store) {
            into.push(*packet);
            self.leave_out(store);
        }
    }

    /// Changes all packets.
    pub fn for_each(&mut self, mut change: impl FnMut(&mut Packet), store: &mut PacketStore) {
        self.walk(store, |(_, packet)| {
            change(packet);
            true
        });
    }

    /// Changes packets in order, as long as `change` returns true.
    fn walk(&self, store: &mut PacketStore, mut change: impl FnMut(&mut Stored) -> bool) {
        let (mut chunk, mut place) = (self.first, self.start);
        for _ in 0..self.length {
            let here = &mut store.chunks[chunk as usize];
            if !change(&mut here.places[place as usize]) {
                return;
            }
            place += 1;
            if place == PLACES {
                (chunk, place) = (here.next, 0);
            }
        }
    }

    /// Arrivals and packets, from the first to the last.
    pub fn iter<'a>(&self, store: &'a PacketStore) -> impl Iterator<Item = (u64, &'a Packet)> + use<'a> {
        let (mut chunk, mut place) = (self.first, self.start);
        (0..self.length).map_while(move |_| {
            let here = store.chunks.get(chunk as usize)?;
            let (arrives, packet) = &here.places[place as usize];
            place += 1;
            if place == PLACES {
                (chunk, place) = (here.next, 0);
            }
            Some((*arrives, packet))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn packets_come_out_as_they_went_in(steps in proptest::collection::vec(0_u8..24, 0..400)) {
            let (mut flight, mut model, mut next) = (Flight::default(), VecDeque::new(), 0_u32);
            // Another link keeps packets in the same store.
            let (mut store, mut other) = (PacketStore::new(), Flight::default());
            for step in steps {
                match step {
                    0 | 23 => {
                        // The even sizes of the first half.
                        let until = model.front().map_or(0, |first| u64::from(*first) + model.len() as u64 / 2);
                        let goes = |size: u32| size.is_multiple_of(2);
                        let mut out = Vec::new();
                        let before = flight.popped();
                        flight.withdraw(until, |packet| goes(packet.size), &mut out, &mut store);
                        prop_assert_eq!(flight.popped(), before);
                        let gone = model.iter().copied().filter(|next| u64::from(*next) <= until && goes(*next));
                        prop_assert!(out.iter().map(|(_, packet)| packet.size).eq(gone));
                        model.retain(|next| u64::from(*next) > until || !goes(*next));
                    }
                    1 => {
                        let mut out = Vec::new();
                        flight.clear(&mut out, &mut store);
                        prop_assert!(out.iter().map(|packet| packet.size).eq(model.drain(..)));
                    }
                    2 | 3 => {
                        // Among the packets, behind all of the same arrival.
                        let at = model.front().map_or(next, |first| first + model.len() as u32 / u32::from(step)).min(next);
                        let packet = Packet { size: at, ..Packet::default() };
                        flight.insert(u64::from(at), &packet, &mut store);
                        model.insert(model.partition_point(|size| *size <= at), at);
                    }
                    4..=9 if !model.is_empty() => {
                        flight.skip(&mut store);
                        model.pop_front();
                    }
                    _ => {
                        let packet = Packet { size: next, ..Packet::default() };
                        flight.push(u64::from(next), &packet, &mut store);
                        other.push(0, &packet, &mut store);
                        model.push_back(next);
                        next += 1;
                    }
                }
                prop_assert_eq!(flight.front(&store).map(|packet| packet.size), model.front().copied());
                prop_assert_eq!(flight.next_arrival(&store), model.front().copied().map(u64::from));
                let all: Vec<u32> = flight.iter(&store).map(|(arrives, packet)| packet.size.max(arrives as u32)).collect();
                prop_assert!(all.iter().eq(model.iter()));
                prop_assert_eq!(flight.pushed() - flight.popped(), model.len() as u64);
                prop_assert!(other.iter(&store).map(|(_, packet)| packet.size).eq(0..next));
            }
        }
    }
}
