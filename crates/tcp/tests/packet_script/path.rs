//! `path rtt SECONDS ...`: two endpoints and a path of that round trip, without queues, that drops packets on
//! request.

use super::{Action, Outcome, Script, parse_number, parse_seconds, seconds};
use netlull_tcp::{Endpoint, Flags, Segment, SeqNr};
use netlull_units::{Duration, Instant};
use std::collections::VecDeque;

/// Packets of data, counted from 1, that the path drops or marks.
#[derive(Clone, Debug)]
pub struct PathModel {
    rtt: Duration,
    drops: Vec<u64>,
    every: Option<u64>,
    marks: Vec<u64>,
}

impl PathModel {
    /// `rtt SECONDS [drop N ...] [drop_every N] [mark N ...]`.
    pub fn parse(words: &[&str]) -> Result<Self, String> {
        let mut path = Self { rtt: Duration::ZERO, drops: Vec::new(), every: None, marks: Vec::new() };
        let mut word = words.iter();
        let mut what = "";
        while let Some(&each) = word.next() {
            match (each, what) {
                ("rtt", _) => path.rtt = parse_seconds(word.next().ok_or("`rtt` of what?")?)?,
                ("drop_every", _) => path.every = Some(parse_number(word.next().ok_or("`drop_every` what?")?)?),
                ("drop" | "mark", _) => what = each,
                (number, "drop") => path.drops.push(parse_number(number)?),
                (number, "mark") => path.marks.push(parse_number(number)?),
                _ => return Err(format!("`{each}` is not understood")),
            }
        }
        Ok(path)
    }

    fn drops(&self, number: u64) -> bool {
        self.drops.contains(&number) || self.every.is_some_and(|every| number.is_multiple_of(every))
    }
}

/// Both ends, and the segments in transit to each.
struct World<'a> {
    path: &'a PathModel,
    ends: [Endpoint; 2],
    on_their_way: [VecDeque<(Instant, Segment)>; 2],
    now: Instant,
    sent: u64,
    /// The integral of cwnd / SMSS over time since `measured_from`, in segments times seconds.
    area: f64,
    measured_from: Instant,
}

impl Script {
    pub(super) fn run_on_path(&self, path: &PathModel) -> Outcome {
        let mut outcome = Outcome::default();
        let numbers = [self.iss, self.irs].map(SeqNr::new);
        let mut world = World {
            path,
            ends: [Endpoint::client(&self.config, numbers[0]), Endpoint::server(&self.config, numbers[1])],
            on_their_way: [VecDeque::new(), VecDeque::new()],
            now: Instant::ZERO,
            sent: 0,
            area: 0.0,
            measured_from: Instant::ZERO,
        };
        for step in &self.steps {
            world.until(step.at);
            match &step.action {
                Action::Connect(_) | Action::Open => world.ends[0].open(world.now),
                Action::Send(data) => world.ends[0].send(*data),
                Action::Close => world.ends[0].close(),
                Action::Measure => (world.area, world.measured_from) = (0.0, world.now),
                Action::Expect(expectations) => {
                    let tcp = &world.ends[0];
                    let span = world.now.saturating_since(world.measured_from).as_secs_f64();
                    let mean = (span > 0.0).then(|| world.area / span);
                    let window = format!("cwnd {} mean_cwnd {:.1}", tcp.cwnd(), mean.unwrap_or(0.0));
                    outcome.note(world.now, &window);
                    for expectation in expectations {
                        outcome.checks += 1;
                        if let Some(why) = expectation.check(tcp, mean) {
                            outcome.differs(step.line, &format!("at {}: {why}", seconds(world.now)));
                        }
                    }
                }
                Action::In(_) | Action::Out(..) | Action::OutAny | Action::Acks(_) | Action::Read(_) => {
                    outcome.differs(step.line, "on a modelled path the peer is not scripted");
                }
            }
            world.transmit(0);
        }
        outcome
    }
}

impl World<'_> {
    fn until(&mut self, end: Instant) {
        loop {
            let arrivals =
                self.on_their_way.each_ref().map(|queue| queue.front().map_or(Instant::NEVER, |next| next.0));
            let timeouts = self.ends.each_ref().map(Endpoint::next_timeout);
            let next = arrivals[0].min(arrivals[1]).min(timeouts[0]).min(timeouts[1]);
            self.pass(next.min(end));
            if next > end {
                return;
            }
            for side in 0..2 {
                if arrivals[side] == next {
                    if let Some((_, segment)) = self.on_their_way[side].pop_front() {
                        self.ends[side].handle_segment(next, &segment);
                    }
                } else if timeouts[side] == next {
                    self.ends[side].handle_timeout(next);
                } else {
                    continue;
                }
                self.transmit(side);
                break;
            }
        }
    }

    /// Advances the time, with a constant window.
    fn pass(&mut self, to: Instant) {
        let span = to.saturating_since(self.now).as_secs_f64();
        self.area += span * self.ends[0].cwnd() as f64 / f64::from(self.ends[0].smss());
        self.now = to;
    }

    fn transmit(&mut self, side: usize) {
        while let Some(mut segment) = self.ends[side].poll_transmit(self.now) {
            if side == 0 && segment.len > 0 {
                self.sent += 1;
                if self.path.drops(self.sent) {
                    continue;
                }
                if self.path.marks.contains(&self.sent) && segment.flags.contains(Flags::ECT) {
                    segment.flags = segment.flags | Flags::CE;
                }
            }
            let at = self.now + Duration::from_nanos(self.path.rtt.as_nanos() / 2);
            self.on_their_way[1 - side].push_back((at, segment));
        }
    }
}
