//! The path of one segment and its acknowledgement through two endpoints, without a network, for counts of
//! instructions and cache lines:
//!
//! ```text
//! cargo build --release -p netlull-tcp --example packet_path
//! valgrind --tool=callgrind --toggle-collect='*data_arrives' --toggle-collect='*ack_arrives' \
//!     target/release/examples/packet_path new_reno ns2 1 20000
//! ```
//!
//! Arguments: algorithm, preset (`ns2` or `rfc`), connections, segments in total. Every connection keeps its segments
//! in flight in its own pipe. The next connection is drawn at random, so with many connections the caches have none
//! of them.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)]

use netlull_tcp::{Algorithm, Config, Data, Endpoint, Segment, SeqNr};
use netlull_units::{Bytes, Duration, Instant};
use std::hint::black_box;

/// The slow-start threshold in segments.
const WINDOW: u64 = 20;
/// Segments in the receive buffer.
const BUFFER: u64 = 10_000;
/// Time between two segments of one connection.
const SPACING: Duration = Duration::from_micros(800);

/// Segments in transit; each is written to its final place.
struct Pipe {
    ring: Vec<Segment>,
    first: usize,
    len: usize,
}

impl Pipe {
    fn new() -> Self {
        Self { ring: vec![Segment::default(); 1 << 4], first: 0, len: 0 }
    }

    /// Takes the segments of `endpoint`.
    #[inline]
    fn take_from(&mut self, endpoint: &mut Endpoint, now: Instant) {
        loop {
            let place = (self.first + self.len) & (self.ring.len() - 1);
            if !endpoint.poll_transmit_into(now, &mut self.ring[place]) {
                return;
            }
            self.len += 1;
            if self.len == self.ring.len() {
                self.grow();
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.ring.rotate_left(self.first);
        self.first = 0;
        self.ring.resize(2 * self.ring.len(), Segment::default());
    }

    fn pop(&mut self) -> Option<Segment> {
        let segment = (self.len > 0).then(|| self.ring[self.first])?;
        self.first = (self.first + 1) & (self.ring.len() - 1);
        self.len -= 1;
        Some(segment)
    }
}

struct Connection {
    sender: Endpoint,
    receiver: Endpoint,
    data: Pipe,
    acks: Pipe,
}

fn config(algorithm: &str, preset: &str) -> Config {
    let algorithm = Algorithm::by_name(algorithm).unwrap();
    let config = if preset == "ns2" { Config::ns2() } else { Config::default() };
    let config =
        if preset == "ns2" && algorithm == Algorithm::NewReno { config } else { config.with_algorithm(algorithm) };
    let mss = u64::from(config.mss);
    config.with(|c| {
        c.flow_control.receive_buffer = Bytes::new(BUFFER * mss);
        c.cwnd.initial_ssthresh = Some(Bytes::new(WINDOW * mss));
    })
}

// Its own function in profiles, as the next one.
#[inline(never)]
fn data_arrives(receiver: &mut Endpoint, now: Instant, segment: &Segment, acks: &mut Pipe) -> Instant {
    receiver.handle_segment(now, segment);
    acks.take_from(receiver, now);
    receiver.next_timeout()
}

#[inline(never)]
fn ack_arrives(sender: &mut Endpoint, now: Instant, ack: &Segment, data: &mut Pipe) -> (Instant, u64, bool) {
    sender.handle_segment(now, ack);
    data.take_from(sender, now);
    (sender.next_timeout(), sender.cwnd(), sender.all_acked())
}

impl Connection {
    fn new(config: &Config, number: u32) -> Self {
        let iss = SeqNr::new(number.wrapping_mul(0x9e37_79b9));
        let (mut sender, receiver) = (Endpoint::client(config, iss), Endpoint::server(config, iss));
        sender.open(Instant::ZERO);
        sender.send(Data::Endless);
        let mut new = Self { sender, receiver, data: Pipe::new(), acks: Pipe::new() };
        new.data.take_from(&mut new.sender, Instant::ZERO);
        new
    }

    /// Delivers a data segment and its acknowledgements.
    fn step(&mut self, now: Instant) {
        if black_box(&self.sender).next_timeout() <= now {
            self.sender.handle_timeout(now);
            self.data.take_from(&mut self.sender, now);
        }
        if black_box(&self.receiver).next_timeout() <= now {
            self.receiver.handle_timeout(now);
            self.acks.take_from(&mut self.receiver, now);
        }
        if let Some(segment) = self.data.pop() {
            black_box(data_arrives(&mut self.receiver, now, &segment, &mut self.acks));
        }
        while let Some(ack) = self.acks.pop() {
            black_box(ack_arrives(&mut self.sender, now, &ack, &mut self.data));
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count: u32 = arguments[3].parse().unwrap();
    let segments: u64 = arguments[4].parse().unwrap();
    let config = config(&arguments[1], &arguments[2]);
    let mut connections: Vec<Connection> = (0..count).map(|number| Connection::new(&config, number)).collect();
    let mut draw = 1_u64;
    let start = std::time::Instant::now();
    for step in 0..segments {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let index = ((draw >> 32) * u64::from(count)) >> 32;
        let now = Instant::ZERO + Duration::from_nanos(SPACING.as_nanos() * (step + 1) / u64::from(count));
        connections[index as usize].step(now);
    }
    let nanos = start.elapsed().as_nanos() as f64 / segments as f64;
    let delivered: u64 = connections.iter().map(|connection| connection.receiver.bytes_delivered()).sum();
    let sum = connections.iter().fold(0_u64, |sum, one| sum.wrapping_add(one.sender.cwnd()));
    let timeouts: u64 = connections.iter().map(|one| one.sender.counters().timeouts).sum();
    println!("{nanos:.1} ns per step, {delivered} bytes delivered, cwnd {sum}, {timeouts} timeouts");
    println!("Endpoint {} bytes, Segment {} bytes", size_of::<Endpoint>(), size_of::<Segment>());
    if count == 1 {
        let one = &connections[0];
        println!("sender at {:p}, receiver at {:p}", &raw const one.sender, &raw const one.receiver);
    }
}
