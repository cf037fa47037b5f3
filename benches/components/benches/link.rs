//! A link of fixed rate: offering packets and delivering them.
#![allow(missing_docs)]

use gungraun::{library_benchmark, library_benchmark_group, main};
use netlull_components::OPERATIONS;
use netlull_network::queue::Buffer;
use netlull_network::schedule::{Schedule, Slot};
use netlull_sim::net::flight::{Packet, PacketStore};
use netlull_sim::net::ids::NodeId;
use netlull_sim::net::link::{Link, LinkParts};
use netlull_units::{BitRate, Duration, Instant};

/// The size of a packet. It takes 1.2 ms at 10 Mb/s.
const SIZE: u32 = 1500;
const PACKET: Duration = Duration::from_micros(1200);

struct Driven {
    link: Link,
    schedule: Schedule,
    store: PacketStore,
    now: Instant,
    gap: Duration,
    packet: Packet,
}

impl Driven {
    /// Creates a link with a backlog of `waiting` packets and a buffer of `buffer`, which gets another packet
    /// every `gap`.
    fn new(waiting: u32, buffer: u64, gap: Duration) -> Self {
        let parts = LinkParts {
            to: NodeId::new(1),
            controller: None,
            rate: BitRate::from_mbps(10),
            overhead: 0,
            delay: Duration::from_millis(5),
            buffer: Buffer::Packets(buffer),
            loss: None,
            red: None,
            codel: None,
            arrivals: None,
            trace: None,
            air: None,
            delivery: Slot::new(0),
            departure: None,
        };
        let packet = Packet { size: SIZE, ..Packet::default() };
        let (schedule, store) = (Schedule::new(1), PacketStore::new());
        let mut driven = Self { link: Link::new(parts), schedule, store, now: Instant::ZERO, gap, packet };
        for _ in 0..waiting {
            driven.link.offer(Instant::ZERO, packet, &mut driven.schedule, &mut driven.store);
        }
        driven.run(1000);
        driven
    }

    /// Offers packets, and takes the delivered ones.
    #[inline(never)]
    fn run(&mut self, packets: usize) {
        for _ in 0..packets {
            self.now += self.gap;
            while self.schedule.take_until(self.now).is_some() {
                if let Some(head) = self.link.head(&self.store) {
                    let size = std::hint::black_box(*head).size;
                    self.link.deliver_head(size, &mut self.schedule, &mut self.store);
                }
            }
            std::hint::black_box(self.link.offer(self.now, self.packet, &mut self.schedule, &mut self.store));
        }
    }
}

/// Every packet meets an idle transmitter; three or four packets are in flight.
fn idle() -> Driven {
    Driven::new(0, 33, PACKET + Duration::from_micros(100))
}

/// Every packet meets a backlog of about twenty packets.
fn queued() -> Driven {
    Driven::new(20, 33, PACKET)
}

/// Every packet meets a full buffer, and is dropped.
fn full() -> Driven {
    Driven::new(40, 33, Duration::ZERO)
}

#[library_benchmark]
#[bench::idle(setup = idle)]
#[bench::queued(setup = queued)]
#[bench::full_drops(setup = full)]
fn offer_and_deliver(mut driven: Driven) -> Driven {
    driven.run(OPERATIONS);
    driven
}

library_benchmark_group!(name = link; benchmarks = offer_and_deliver);
main!(library_benchmark_groups = link);
