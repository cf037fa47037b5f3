//! Packets on links, in the order of their arrivals.
//!
//! All links keep their packets in one [`PacketStore`]; a link's [`Flight`] is a chain of places in it. Thousands of
//! queues would each keep room for their longest length. The store has room for the packets of all links at one time,
//! and the place that became free last, which is still in the processor's caches, is the next to be filled.

use super::packet::Packet;

/// The number of no place.
const NOWHERE: u32 = u32::MAX;

/// A stored packet, or a free place.
#[derive(Clone, Copy)]
struct Place {
    /// The arrival time, in nanoseconds.
    arrives: u64,
    packet: Packet,
    /// The place of the link's next packet, or the next free place.
    next: u32,
}

/// The packets of all links until their arrival.
pub struct PacketStore {
    places: Vec<Place>,
    /// The first free place.
    free: u32,
}

impl PacketStore {
    /// Creates an empty store.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: Vec::new(), free: NOWHERE }
    }

    /// Stores a packet and returns its place.
    #[inline(always)]
    fn fill(&mut self, arrives: u64, packet: &Packet) -> u32 {
        let number = self.free;
        let Some(place) = self.places.get_mut(number as usize) else { return self.grow(arrives, packet) };
        self.free = place.next;
        // Written in place: a copy right after its parts are written would stall the processor.
        place.arrives = arrives;
        place.packet = *packet;
        place.next = NOWHERE;
        number
    }

    /// Adds a place.
    ///
    /// # Panics
    /// If there are 2^32 - 1 packets, which need 340 GB.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, arrives: u64, packet: &Packet) -> u32 {
        let number = u32::try_from(self.places.len()).ok().filter(|&number| number != NOWHERE);
        let number = number.expect("fewer than 2^32 packets");
        self.places.push(Place { arrives, packet: *packet, next: NOWHERE });
        number
    }

    /// Frees a place and returns the place after it.
    #[inline(always)]
    fn clear(&mut self, number: u32) -> u32 {
        let place = &mut self.places[number as usize];
        let next = std::mem::replace(&mut place.next, self.free);
        self.free = number;
        next
    }
}

impl Default for PacketStore {
    fn default() -> Self {
        Self::new()
    }
}

/// The packets of a link: a first-in first-out queue.
pub(super) struct Flight {
    first: u32,
    last: u32,
    length: u32,
    /// The number of packets that have arrived.
    popped: u64,
}

impl Default for Flight {
    fn default() -> Self {
        Self { first: NOWHERE, last: NOWHERE, length: 0, popped: 0 }
    }
}

impl Flight {
    #[inline(always)]
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
    #[inline(always)]
    pub fn push(&mut self, arrives: u64, packet: &Packet, store: &mut PacketStore) {
        let place = store.fill(arrives, packet);
        match store.places.get_mut(self.last as usize) {
            Some(last) => last.next = place,
            None => self.first = place,
        }
        self.last = place;
        self.length += 1;
    }

    /// The first packet.
    #[inline(always)]
    pub fn front<'a>(&self, store: &'a PacketStore) -> Option<&'a Packet> {
        store.places.get(self.first as usize).map(|place| &place.packet)
    }

    /// The arrival time of the first packet.
    #[inline(always)]
    pub fn next_arrival(&self, store: &PacketStore) -> Option<u64> {
        store.places.get(self.first as usize).map(|place| place.arrives)
    }

    /// Removes the first packet, which must exist.
    #[inline(always)]
    pub fn skip(&mut self, store: &mut PacketStore) {
        debug_assert!(!self.is_empty(), "nothing to skip");
        self.first = store.clear(self.first);
        if self.first == NOWHERE {
            self.last = NOWHERE;
        }
        self.length -= 1;
        self.popped += 1;
    }

    /// Removes the packets that arrive by `until` and for which `goes` returns true, in order.
    ///
    /// The packets then count as never pushed. The function reads no packet that arrives later.
    pub fn withdraw(
        &mut self,
        until: u64,
        goes: impl Fn(&Packet) -> bool,
        into: &mut Vec<(u64, Packet)>,
        store: &mut PacketStore,
    ) {
        let (mut before, mut here) = (NOWHERE, self.first);
        while let Some(&Place { arrives, packet, next }) = store.places.get(here as usize)
            && arrives <= until
        {
            if goes(&packet) {
                into.push((arrives, packet));
                store.clear(here);
                match store.places.get_mut(before as usize) {
                    Some(before) => before.next = next,
                    None => self.first = next,
                }
                if next == NOWHERE {
                    self.last = before;
                }
                self.length -= 1;
            } else {
                before = here;
            }
            here = next;
        }
    }

    /// Removes all packets, in order. They then count as never pushed.
    pub fn clear(&mut self, into: &mut Vec<Packet>, store: &mut PacketStore) {
        while let Some(packet) = self.front(store) {
            into.push(*packet);
            self.first = store.clear(self.first);
        }
        (self.last, self.length) = (NOWHERE, 0);
    }

    /// Changes all packets.
    pub fn for_each(&mut self, mut change: impl FnMut(&mut Packet), store: &mut PacketStore) {
        let mut here = self.first;
        while let Some(place) = store.places.get_mut(here as usize) {
            change(&mut place.packet);
            here = place.next;
        }
    }

    /// Arrivals and packets, from the first to the last.
    pub fn iter<'a>(&self, store: &'a PacketStore) -> impl Iterator<Item = (u64, &'a Packet)> + use<'a> {
        let first = store.places.get(self.first as usize);
        let places = std::iter::successors(first, |place| store.places.get(place.next as usize));
        places.map(|place| (place.arrives, &place.packet))
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
                    2..=9 if !model.is_empty() => {
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
