//! A sender with BBR, a bottleneck and a receiver.

use super::super::{Bbr, Phase, State};
use crate::cc::Controller;
use crate::config::Config;
use crate::endpoint::{Data, Endpoint};
use crate::segment::Segment;
use crate::seq::SeqNr;
use crate::{Algorithm, DelayedAck};
use netlull_units::{BitRate, Duration, Instant};
use std::collections::VecDeque;

/// Data in a segment.
pub const SMSS: u64 = 1000;
/// The round trip without queues, all of it on the reverse path. Handshakes and acknowledgements take no transmission
/// time.
pub const RTT: Duration = Duration::from_millis(40);

pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The path: data is sent at `rate`, counted without headers, with at most `buffer` segments queued.
pub struct Path {
    pub now: Instant,
    pub sender: Endpoint,
    receiver: Endpoint,
    pub rate: BitRate,
    pub buffer: usize,
    pub dropped: u64,
    /// Loses every n-th data segment, if not zero.
    pub lose_every: u64,
    data_segments: u64,
    free_at: Instant,
    forth: VecDeque<(Instant, Segment)>,
    back: VecDeque<(Instant, Segment)>,
}

impl Path {
    /// `rate` in segments per second: 1 per ms is 40 per round trip.
    pub fn new(segments_per_second: u64, buffer: usize) -> Self {
        let config = Config::default().with_algorithm(Algorithm::Bbr).with(|c| {
            c.mss = 1000;
            c.timestamps = false;
            c.acks.delayed_ack = DelayedAck::Off;
            c.flow_control.receive_buffer = netlull_units::Bytes::new(1 << 27);
        });
        let mut path = Self {
            now: Instant::ZERO,
            sender: Endpoint::client(&config, SeqNr::new(12345)),
            receiver: Endpoint::server(&config, SeqNr::new(0)),
            rate: BitRate::from_bps(segments_per_second * SMSS * 8),
            buffer,
            dropped: 0,
            lose_every: 0,
            data_segments: 0,
            free_at: Instant::ZERO,
            forth: VecDeque::new(),
            back: VecDeque::new(),
        };
        path.sender.open(path.now);
        path.pump();
        path
    }

    /// A sender of an endless stream.
    pub fn busy(segments_per_second: u64, buffer: usize) -> Self {
        let mut path = Self::new(segments_per_second, buffer);
        path.send(Data::Endless);
        path
    }

    pub fn send(&mut self, data: Data) {
        self.sender.send(data);
        self.pump();
    }

    pub fn bbr(&self) -> &Bbr {
        match self.sender.controller() {
            Controller::Bbr(bbr) => bbr,
            other => panic!("{other:?}"),
        }
    }

    pub fn state(&self) -> State {
        self.bbr().state
    }

    /// The bandwidth-delay product in bytes.
    pub fn bdp(&self) -> u64 {
        self.rate.bytes_in(RTT).as_u64()
    }

    fn pump(&mut self) {
        let now = self.now;
        while let Some(segment) = self.sender.poll_transmit(now) {
            self.transmit(segment);
        }
        while let Some(segment) = self.receiver.poll_transmit(now) {
            self.back.push_back((now + RTT, segment));
        }
    }

    fn transmit(&mut self, segment: Segment) {
        if segment.len == 0 {
            self.forth.push_back((self.now.max(self.free_at), segment));
            return;
        }
        self.data_segments += 1;
        let unlucky = self.lose_every > 0 && self.data_segments.is_multiple_of(self.lose_every);
        if self.forth.len() > self.buffer || unlucky {
            self.dropped += 1;
            return;
        }
        self.free_at = self.now.max(self.free_at) + self.rate.time_for(netlull_units::Bytes::new(segment.len.into()));
        self.forth.push_back((self.free_at, segment));
    }

    /// The next event.
    pub fn step(&mut self) {
        let arrival = |queue: &VecDeque<(Instant, Segment)>| queue.front().map_or(Instant::NEVER, |front| front.0);
        let (forth, back) = (arrival(&self.forth), arrival(&self.back));
        let timer = self.sender.next_timeout().min(self.receiver.next_timeout());
        self.now = self.now.max(forth.min(back).min(timer));
        assert!(self.now < Instant::NEVER, "nothing will ever happen");
        if timer <= forth.min(back) {
            self.sender.handle_timeout(self.now);
            self.receiver.handle_timeout(self.now);
        } else if forth <= back {
            let (_, segment) = self.forth.pop_front().expect("the earliest");
            self.receiver.handle_segment(self.now, &segment);
        } else {
            let (_, segment) = self.back.pop_front().expect("the earliest");
            self.sender.handle_segment(self.now, &segment);
        }
        self.pump();
    }

    pub fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.next_event() <= end {
            self.step();
        }
        self.now = end;
    }

    fn next_event(&self) -> Instant {
        let queues = [&self.forth, &self.back].into_iter().filter_map(|queue| queue.front().map(|front| front.0));
        queues.chain([self.sender.next_timeout(), self.receiver.next_timeout()]).min().unwrap_or(Instant::NEVER)
    }

    /// Runs until `state` holds; returns the elapsed time.
    pub fn run_until(&mut self, what: &str, condition: impl Fn(State) -> bool) -> Duration {
        let start = self.now;
        while !condition(self.state()) {
            self.step();
            assert!(self.now - start < Duration::from_secs(60), "no {what} within a minute: {:?}", self.state());
        }
        self.now - start
    }

    pub fn run_until_phase(&mut self, phase: Phase) -> Duration {
        self.run_until("such phase", |state| state == State::ProbeBw(phase))
    }
}
