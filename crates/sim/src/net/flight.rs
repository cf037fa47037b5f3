//! Packets on a link, in the order of their arrivals.
//!
//! Arrivals and packets are stored separately. The next arrival is needed as soon as a packet is taken, the packet
//! itself only much later. Eight arrivals share a cache line.

use super::packet::Packet;

/// A first-in first-out queue.
#[derive(Default)]
pub(super) struct Flight {
    /// Arrival times, in nanoseconds. The length equals that of `packets`: a power of two, or zero.
    arrivals: Box<[u64]>,
    packets: Box<[Packet]>,
    /// The place of the first packet, modulo the number of places.
    head: u32,
    length: u32,
    /// The number of packets that have arrived.
    popped: u64,
}

impl Flight {
    /// The initial capacity.
    const FIRST: usize = 4;

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
    pub fn push(&mut self, arrives: u64, packet: &Packet) {
        if self.length as usize == self.packets.len() {
            self.grow();
        }
        let place = self.place(self.length);
        self.length += 1;
        self.arrivals[place] = arrives;
        self.packets[place] = *packet;
    }

    /// The first packet.
    #[inline(always)]
    pub fn front(&self) -> Option<&Packet> {
        if self.is_empty() { None } else { self.packets.get(self.place(0)) }
    }

    /// The arrival time of the first packet.
    #[inline(always)]
    pub fn next_arrival(&self) -> Option<u64> {
        if self.is_empty() { None } else { self.arrivals.get(self.place(0)).copied() }
    }

    /// Removes the first packet, which must exist.
    #[inline(always)]
    pub fn skip(&mut self) {
        debug_assert!(!self.is_empty(), "nothing to skip");
        self.head = self.head.wrapping_add(1);
        self.length -= 1;
        self.popped += 1;
    }

    /// Removes the packets that arrive by `until` and for which `goes` returns true, in order.
    ///
    /// The packets then count as never pushed. The function reads no packet that arrives later.
    pub fn withdraw(&mut self, until: u64, goes: impl Fn(&Packet) -> bool, into: &mut Vec<(u64, Packet)>) {
        let mut end = 0;
        while end < self.length && self.arrivals[self.place(end)] <= until {
            let place = self.place(end);
            if goes(&self.packets[place]) {
                into.push((self.arrivals[place], self.packets[place]));
            }
            end += 1;
        }
        // The remaining packets close the gaps.
        let mut first = end;
        for number in (0..end).rev() {
            let place = self.place(number);
            if !goes(&self.packets[place]) {
                first -= 1;
                let to = self.place(first);
                (self.arrivals[to], self.packets[to]) = (self.arrivals[place], self.packets[place]);
            }
        }
        self.head = self.head.wrapping_add(first);
        self.length -= first;
    }

    /// Removes all packets, in order. They then count as never pushed.
    pub fn clear(&mut self, into: &mut Vec<Packet>) {
        into.extend(self.iter().map(|(_, packet)| *packet));
        self.length = 0;
    }

    /// Changes all packets.
    pub fn for_each(&mut self, mut change: impl FnMut(&mut Packet)) {
        for number in 0..self.length {
            let place = self.place(number);
            change(&mut self.packets[place]);
        }
    }

    /// Arrivals and packets, from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Packet)> {
        (0..self.length).map(|number| self.place(number)).map(|place| (self.arrivals[place], &self.packets[place]))
    }

    /// The place of a packet, numbered from the first.
    #[inline(always)]
    fn place(&self, number: u32) -> usize {
        self.head.wrapping_add(number) as usize & self.packets.len().wrapping_sub(1)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let size = (self.packets.len() * 2).max(Self::FIRST);
        let (mut arrivals, mut packets) = (vec![0; size], vec![Packet::default(); size]);
        for ((arrives, packet), place) in self.iter().zip(0..) {
            let place: usize = place;
            arrivals[place] = arrives;
            packets[place] = *packet;
        }
        (self.arrivals, self.packets, self.head) = (arrivals.into(), packets.into(), 0);
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
            for step in steps {
                match step {
                    0 | 23 => {
                        // The even sizes of the first half.
                        let until = model.front().map_or(0, |first| u64::from(*first) + model.len() as u64 / 2);
                        let goes = |size: u32| size.is_multiple_of(2);
                        let mut out = Vec::new();
                        let before = flight.popped();
                        flight.withdraw(until, |packet| goes(packet.size), &mut out);
                        prop_assert_eq!(flight.popped(), before);
                        let gone = model.iter().copied().filter(|next| u64::from(*next) <= until && goes(*next));
                        prop_assert!(out.iter().map(|(_, packet)| packet.size).eq(gone));
                        model.retain(|next| u64::from(*next) > until || !goes(*next));
                    }
                    1 => {
                        let mut out = Vec::new();
                        flight.clear(&mut out);
                        prop_assert!(out.iter().map(|packet| packet.size).eq(model.drain(..)));
                    }
                    2..=9 if !model.is_empty() => {
                        flight.skip();
                        model.pop_front();
                    }
                    _ => {
                        flight.push(u64::from(next), &Packet { size: next, ..Packet::default() });
                        model.push_back(next);
                        next += 1;
                    }
                }
                prop_assert_eq!(flight.front().map(|packet| packet.size), model.front().copied());
                prop_assert_eq!(flight.next_arrival(), model.front().copied().map(u64::from));
                let all: Vec<u32> = flight.iter().map(|(arrives, packet)| packet.size.max(arrives as u32)).collect();
                prop_assert!(all.iter().eq(model.iter()));
                prop_assert_eq!(flight.pushed() - flight.popped(), model.len() as u64);
            }
        }
    }
}
