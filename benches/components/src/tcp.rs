//! The input of both ends of a connection across a bottleneck, recorded once for replay to one end.

use netlull_tcp::{Algorithm, Config, Data, DelayedAck, Endpoint, Segment, SeqNr};
use netlull_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The time of a packet of 1500 bytes at 10 Mb/s: 1.2 ms.
const PACKET: Duration = Duration::from_micros(1200);
/// The delay in each direction.
const DELAY: Duration = Duration::from_millis(20);
/// The limit of the backlog in packets.
const BUFFER: u64 = 33;

/// An end of the connection.
#[derive(Clone, Copy)]
pub enum End {
    /// The end that sends data and receives acknowledgements.
    Sender,
    /// The end that receives data.
    Receiver,
}

/// A segment or a timeout.
type Heard = (Instant, Option<Segment>);

/// An end and its remaining input.
pub struct Recorded {
    endpoint: Endpoint,
    heard: Vec<Heard>,
}

impl Recorded {
    /// Creates an end of an endless transfer. The first half of its input has been replayed, and `events` remain.
    #[must_use]
    pub fn new(algorithm: Algorithm, end: End, events: usize) -> Self {
        let config = Config::default().with(|c| c.acks.delayed_ack = DelayedAck::Off).with_algorithm(algorithm);
        let mut heard = record(&config, end as usize, 2 * events);
        let to_come = heard.split_off(heard.len() - events);
        let mut recorded = Self { endpoint: endpoint(&config, end as usize), heard };
        recorded.replay();
        recorded.heard = to_come;
        recorded
    }

    /// Replays the remaining input. The end sends its answers.
    #[inline(never)]
    pub fn replay(&mut self) {
        for (now, segment) in &self.heard {
            match segment {
                Some(segment) => self.endpoint.handle_segment(*now, segment),
                None => self.endpoint.handle_timeout(*now),
            }
            while let Some(segment) = self.endpoint.poll_transmit(*now) {
                std::hint::black_box(&segment);
            }
        }
    }
}

/// Creates an end before its first input: the sender has opened the connection.
fn endpoint(config: &Config, end: usize) -> Endpoint {
    if end == 1 {
        return Endpoint::server(config, SeqNr::new(0));
    }
    let mut client = Endpoint::client(config, SeqNr::new(0));
    client.open(Instant::ZERO);
    client.send(Data::Endless);
    while let Some(segment) = client.poll_transmit(Instant::ZERO) {
        std::hint::black_box(&segment);
    }
    client
}

/// Records the first `events` inputs of an end.
fn record(config: &Config, end: usize, events: usize) -> Vec<Heard> {
    let mut ends = [Endpoint::client(config, SeqNr::new(0)), endpoint(config, 1)];
    let mut path = Path { free_at: Instant::ZERO, arrivals: BinaryHeap::new(), segments: Vec::new() };
    let mut heard = Vec::new();
    ends[0].open(Instant::ZERO);
    ends[0].send(Data::Endless);
    path.drain(&mut ends[0], 0, Instant::ZERO);
    while heard.len() < events {
        let arrival = path.arrivals.peek().map_or(Instant::NEVER, |Reverse(next)| next.0);
        let timeouts = ends.each_ref().map(Endpoint::next_timeout);
        let now = arrival.min(timeouts[0]).min(timeouts[1]);
        let (to, segment) = if now == arrival {
            let Some(Reverse((_, number, to))) = path.arrivals.pop() else { break };
            (to, Some(path.segments[number]))
        } else {
            (usize::from(now == timeouts[1]), None)
        };
        match &segment {
            Some(segment) => ends[to].handle_segment(now, segment),
            None => ends[to].handle_timeout(now),
        }
        path.drain(&mut ends[to], to, now);
        if to == end {
            heard.push((now, segment));
        }
    }
    heard
}

/// A drop-tail bottleneck for data, and a pure delay for acknowledgements.
struct Path {
    free_at: Instant,
    /// (time, number, destination).
    arrivals: BinaryHeap<Reverse<(Instant, usize, usize)>>,
    segments: Vec<Segment>,
}

impl Path {
    fn drain(&mut self, end: &mut Endpoint, from: usize, now: Instant) {
        while let Some(segment) = end.poll_transmit(now) {
            let mut at = now;
            if segment.len > 0 {
                let waiting = self.free_at.saturating_since(now).as_nanos().div_ceil(PACKET.as_nanos());
                if waiting > BUFFER {
                    continue;
                }
                self.free_at = self.free_at.max(now) + PACKET;
                at = self.free_at;
            }
            self.arrivals.push(Reverse((at + DELAY, self.segments.len(), 1 - from)));
            self.segments.push(segment);
        }
    }
}
