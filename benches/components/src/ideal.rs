//! The lower bound: one schedule operation and one move of a small packet between rings per packet-hop. No TCP,
//! no queue, no counters and no verifier.

use crate::Spread;
use crate::running::GAP;
use netlull_network::schedule::{Schedule, Slot};
use netlull_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet of the smallest size that holds a sequence number, an acknowledgement, sizes and addresses.
#[derive(Clone, Copy, Default)]
struct Packet([u64; 3]);

/// The number of packets in a ring. More packets overwrite each other, at the same cost.
const ROOM: usize = 8;

/// A link: a ring of packets.
#[derive(Clone, Copy, Default)]
struct Ring {
    packets: [Packet; ROOM],
    head: u32,
    tail: u32,
}

impl Ring {
    #[inline(always)]
    fn push(&mut self, packet: Packet) {
        self.packets[self.tail as usize % ROOM] = packet;
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline(always)]
    fn pop(&mut self) -> Packet {
        let packet = self.packets[self.head as usize % ROOM];
        self.head = self.head.wrapping_add(1);
        packet
    }
}

/// The schedule of the loop.
#[derive(Clone, Copy)]
pub enum Order {
    /// The engine's schedule.
    Schedule,
    /// The standard library's binary heap. Its head is replaced in place: one operation instead of two.
    Heap,
}

/// Links in a circle, each with a packet and an event.
pub struct Circle {
    rings: Vec<Ring>,
    schedule: Schedule,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    spread: Spread,
    ahead: u64,
    order: Order,
}

impl Circle {
    /// Creates a circle of `links` links.
    #[must_use]
    pub fn new(links: u32, order: Order) -> Self {
        let mut circle = Self {
            rings: vec![Ring::default(); links as usize],
            schedule: Schedule::new(links as usize),
            heap: BinaryHeap::new(),
            spread: Spread::new(),
            ahead: (u64::from(links) * GAP * 2).next_power_of_two(),
            order,
        };
        for link in 0..links {
            circle.rings[link as usize].push(Packet([u64::from(link); 3]));
            let at = circle.spread.next(circle.ahead);
            match order {
                Order::Schedule => circle.schedule.add(Slot::new(0).nth(link), Instant::from_nanos(at)),
                Order::Heap => circle.heap.push(Reverse((at, link))),
            }
        }
        circle.hop(50_000);
        circle
    }

    /// Runs `hops` packet-hops. The packet of the link whose event is due moves to the next ring, and the link
    /// gets a new event.
    #[inline(never)]
    pub fn hop(&mut self, hops: usize) {
        match self.order {
            Order::Schedule => self.hop_scheduled(hops),
            Order::Heap => self.hop_heaped(hops),
        }
    }

    fn hop_scheduled(&mut self, hops: usize) {
        for _ in 0..hops {
            if let Some((now, slot)) = self.schedule.take_until(END) {
                let at = now.as_nanos() + self.spread.next(self.ahead);
                self.schedule.add(slot, Instant::from_nanos(at));
                self.pass_on(slot.behind(Slot::new(0)));
            }
        }
    }

    fn hop_heaped(&mut self, hops: usize) {
        for _ in 0..hops {
            let ahead = self.spread.next(self.ahead);
            let Some(mut head) = self.heap.peek_mut() else { return };
            let (now, link) = head.0;
            *head = Reverse((now + ahead, link));
            drop(head);
            self.pass_on(link);
        }
    }

    /// Moves a packet to the next ring.
    #[inline(always)]
    fn pass_on(&mut self, link: u32) {
        let mut packet = self.rings[link as usize].pop();
        packet.0[0] += 1;
        let next = if link as usize + 1 == self.rings.len() { 0 } else { link as usize + 1 };
        self.rings[next].push(packet);
    }
}

/// An instant later than every event here.
const END: Instant = Instant::from_nanos(1 << 45);
