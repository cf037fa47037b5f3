//! The smallest link that can drive a rate controller: a FIFO with one transmitter.

use netlull_mechanism::Machine;
use netlull_mechanism::link::{Controller as _, LinkAction, LinkEvent};
use netlull_mechanism::rate::{Admission, PractRa, QueueView};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;

/// An event and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub now: Instant,
    pub event: LinkEvent,
    pub action: Option<LinkAction>,
    /// The rate and the forecast after the event, in bit/s.
    pub rate: BitRate,
    pub forecast: f64,
    pub next_timeout: Option<Instant>,
}

/// A link with a buffer of `buffer` bytes. A packet in service finishes at its old rate; the pause starts after it.
pub struct Link {
    pub controller: PractRa,
    pub lines: Vec<Line>,
    buffer: u64,
    rate: BitRate,
    waiting: VecDeque<u64>,
    in_service: Option<(u64, Instant)>,
    paused_until: Instant,
}

impl Link {
    pub fn new(controller: PractRa, buffer: u64) -> Self {
        let rate = controller.rate();
        Self {
            controller,
            lines: Vec::new(),
            buffer,
            rate,
            waiting: VecDeque::new(),
            in_service: None,
            paused_until: Instant::ZERO,
        }
    }

    /// Runs the packets (arrival time, size in bytes), in order of time, until no event is due or `end` is
    /// reached. At the same instant departures precede arrivals, and arrivals precede timeouts.
    pub fn run(&mut self, packets: &[(Instant, u64)], end: Instant) {
        let mut packets = packets.iter().copied().peekable();
        loop {
            let departure = self.in_service.map_or(Instant::NEVER, |(_, at)| at);
            let resume =
                if self.in_service.is_none() && !self.waiting.is_empty() { self.paused_until } else { Instant::NEVER };
            let arrival = packets.peek().map_or(Instant::NEVER, |&(at, _)| at);
            let timeout = self.controller.next_timeout().unwrap_or(Instant::NEVER);
            let now = departure.min(resume).min(arrival).min(timeout);
            if now == Instant::NEVER || now > end {
                return;
            }
            if resume == now {
                self.serve(now);
            } else if departure == now {
                self.in_service = None;
                self.serve(now);
                let queue = self.view();
                self.tell(now, LinkEvent::Departure { queue });
            } else if let Some((_, size)) = packets.next_if(|&(at, _)| at == now) {
                self.arrive(now, size);
            } else {
                let queue = self.view();
                self.tell(now, LinkEvent::Timeout { queue });
            }
        }
    }

    pub fn changes(&self) -> Vec<(Instant, BitRate)> {
        let change = |line: &Line| Some((line.now, line.action?.new_rate()?.0));
        self.lines.iter().filter_map(change).collect()
    }

    fn arrive(&mut self, now: Instant, size: u64) {
        let waiting: u64 = self.waiting.iter().sum();
        let admission = if waiting + size > self.buffer { Admission::Dropped } else { Admission::Accepted };
        if admission == Admission::Accepted {
            self.waiting.push_back(size);
            self.serve(now);
        }
        let queue = self.view();
        self.tell(now, LinkEvent::Arrival { size: Bytes::new(size), admission, queue, segment: None });
    }

    fn serve(&mut self, now: Instant) {
        if self.in_service.is_none()
            && now >= self.paused_until
            && let Some(size) = self.waiting.pop_front()
        {
            self.in_service = Some((size, now + self.rate.time_for(Bytes::new(size))));
        }
    }

    fn tell(&mut self, now: Instant, event: LinkEvent) {
        self.controller.handle(now, event);
        let action = self.controller.poll_action();
        assert!(self.controller.poll_action().is_none(), "at most one change per event");
        if let Some(LinkAction::SetRate { rate, pause }) = action {
            self.rate = rate;
            self.paused_until = self.in_service.map_or(now, |(_, end)| end) + pause;
        }
        let (rate, forecast) = (self.controller.rate(), self.controller.forecast());
        let next_timeout = self.controller.next_timeout();
        assert!(self.lines.len() < 100_000, "the controller asks for a timeout without end at {now}");
        self.lines.push(Line { now, event, action, rate, forecast, next_timeout });
    }

    fn view(&self) -> QueueView {
        QueueView {
            waiting: Bytes::new(self.waiting.iter().sum()),
            in_service: Bytes::new(self.in_service.map_or(0, |(size, _)| size)),
        }
    }
}

pub fn at_us(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}
