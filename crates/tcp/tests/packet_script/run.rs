//! Runs a script on one endpoint, with the script as its peer.

use super::pattern::{Defaults, Origins, Pattern, describe};
use super::{Action, Outcome, Script, ScriptStep, Side, seconds};
use netlull_tcp::{Endpoint, Flags, Segment, SeqNr, State};
use netlull_units::{Duration, Instant};
use std::collections::VecDeque;

/// A segment of the endpoint that the script has not mentioned yet.
struct Sent {
    at: Instant,
    segment: Segment,
    retransmission: bool,
}

struct Runner {
    tcp: Endpoint,
    now: Instant,
    /// Offsets 0 of both streams, as the endpoint sees them.
    origins: Origins,
    defaults: Defaults,
    /// The highest offset sent, excluded.
    highest: u64,
    sent: VecDeque<Sent>,
    /// The delay of the peer's own acknowledgements, with their times and numbers.
    ack_delay: Option<Duration>,
    acks: VecDeque<(Instant, u64)>,
    outcome: Outcome,
}

impl Script {
    /// Runs the script.
    pub fn run(&self) -> Outcome {
        if let Some(path) = &self.path {
            return self.run_on_path(path);
        }
        let mut runner = Runner::new(self);
        for step in &self.steps {
            runner.step(step);
        }
        let last = self.steps.last().map_or(0, |step| step.line);
        runner.nothing_unexpected(last);
        runner.outcome
    }
}

impl Runner {
    fn new(script: &Script) -> Self {
        let (iss, irs) = (SeqNr::new(script.iss), SeqNr::new(script.irs));
        let tcp = match script.side {
            Side::Client => Endpoint::client(&script.config, iss),
            Side::Server => Endpoint::server(&script.config, iss),
        };
        Self {
            tcp,
            now: Instant::ZERO,
            origins: Origins { own: iss.advanced_by(1), other: irs.advanced_by(1) },
            defaults: Defaults { seq: 0, ack: 0, window: u16::MAX },
            highest: 0,
            sent: VecDeque::new(),
            ack_delay: None,
            acks: VecDeque::new(),
            outcome: Outcome::default(),
        }
    }

    fn step(&mut self, step: &ScriptStep) {
        self.until(step.at);
        match &step.action {
            Action::Out(latest, patterns) => {
                self.until(*latest);
                for pattern in patterns {
                    self.expect_segment(step, *latest, pattern);
                }
                return;
            }
            Action::OutAny => {
                self.sent.clear();
                return;
            }
            _ => {}
        }
        self.nothing_unexpected(step.line);
        match &step.action {
            Action::Open => self.tcp.open(self.now),
            Action::Connect(rtt) => self.connect(step.line, *rtt),
            Action::Send(data) => self.tcp.send(*data),
            Action::Acks(delay) => self.ack_delay = *delay,
            Action::Close => self.tcp.close(),
            Action::Read(bytes) => {
                self.tcp.read(*bytes);
            }
            Action::In(patterns) => {
                for pattern in patterns {
                    self.take(step.line, pattern);
                }
            }
            Action::Expect(expectations) => {
                for expectation in expectations {
                    self.outcome.checks += 1;
                    if let Some(why) = expectation.check(&self.tcp, None) {
                        self.outcome.differs(step.line, &format!("at {}: {why}", seconds(self.now)));
                    }
                }
            }
            Action::Measure => self.outcome.differs(step.line, "`measure` needs a `path`"),
            Action::Out(..) | Action::OutAny => {}
        }
        self.drain();
    }

    /// Advances the time. Expires timers and delivers the peer's own acknowledgements on the way.
    fn until(&mut self, at: Instant) {
        loop {
            let (timeout, ack) = (self.tcp.next_timeout(), self.acks.front().map_or(Instant::NEVER, |ack| ack.0));
            if timeout.min(ack) > at {
                break;
            }
            self.now = timeout.min(ack);
            if ack <= timeout
                && let Some((_, number)) = self.acks.pop_front()
            {
                self.take(0, &Pattern { ack: Some(number), ..Pattern::default() });
            } else {
                self.tcp.handle_timeout(self.now);
                self.drain();
            }
        }
        self.now = at;
    }

    /// A handshake of this duration, with a peer that accepts every offer.
    fn connect(&mut self, line: usize, rtt: Duration) {
        self.tcp.open(self.now);
        let Some(syn) = self.tcp.poll_transmit(self.now) else {
            self.outcome.differs(line, "no SYN was sent");
            return;
        };
        let answer = Segment {
            seq: self.origins.other.advanced_by(u64::from(u32::MAX)),
            ack: self.origins.own,
            flags: syn.flags | Flags::ACK,
            window: self.defaults.window,
            window_scale: 0,
            ts_val: 0,
            ts_ecr: syn.ts_val,
            ..syn
        };
        // A SYN+ACK that agrees to ECN has ECE without CWR (RFC 3168 section 6.1.1).
        let flags = if answer.flags.contains(Flags::CWR) { answer.flags.bits() & !Flags::CWR.bits() } else { u16::MAX };
        let answer = Segment { flags: masked(answer.flags, flags), ..answer };
        self.until(self.now + rtt);
        self.tcp.handle_segment(self.now, &answer);
        while self.tcp.poll_transmit(self.now).is_some() {}
        if self.tcp.state() != State::Established {
            self.outcome.differs(line, "the handshake failed");
        }
        self.outcome.note(self.now, "connected");
    }

    /// Delivers a segment of the peer.
    fn take(&mut self, line: usize, pattern: &Pattern) {
        let origins = Origins { own: self.origins.other, other: self.origins.own };
        if let Some(ack) = pattern.ack {
            self.defaults.ack = ack;
        }
        if let Some(window) = pattern.window {
            self.defaults.window = window;
        }
        let segment = match pattern.build(origins, self.defaults) {
            Ok(segment) => segment,
            Err(why) => return self.outcome.differs(line, &why),
        };
        if let Some((_, end)) = pattern.range {
            self.defaults.seq = self.defaults.seq.max(end);
        }
        self.defaults.seq += u64::from(segment.flags.contains(Flags::FIN));
        self.outcome.note(self.now, &format!("in  {}", describe(&segment, false, origins)));
        self.tcp.handle_segment(self.now, &segment);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(segment) = self.tcp.poll_transmit(self.now) {
            let start = u64::from(segment.seq.as_u32().wrapping_sub(self.origins.own.as_u32()));
            let end = start + u64::from(segment.len);
            let retransmission = segment.len > 0 && start < self.highest;
            if segment.len > 0 {
                self.highest = self.highest.max(end);
                self.acks.extend(self.ack_delay.map(|delay| (self.now + delay, end)));
            }
            self.outcome.note(self.now, &format!("out {}", describe(&segment, retransmission, self.origins)));
            self.sent.push_back(Sent { at: self.now, segment, retransmission });
        }
    }

    fn expect_segment(&mut self, step: &ScriptStep, latest: Instant, pattern: &Pattern) {
        self.outcome.checks += 1;
        let Some(sent) = self.sent.pop_front() else {
            let data = pattern.range.map_or(String::new(), |(start, end)| format!(" {start}:{end}"));
            return self.outcome.differs(step.line, &format!("nothing was sent, expected a segment{data}"));
        };
        let shown = describe(&sent.segment, sent.retransmission, self.origins);
        if sent.at < step.at || sent.at > latest {
            let interval = if latest > step.at { format!("..{}", seconds(latest)) } else { String::new() };
            let why = format!("sent at {}, expected at {}{interval}: {shown}", seconds(sent.at), seconds(step.at));
            self.outcome.differs(step.line, &why);
        } else if let Some(why) = pattern.difference(&sent.segment, sent.retransmission, self.origins) {
            self.outcome.differs(step.line, &format!("sent {shown}; {why}"));
        }
    }

    /// Checks that the script has mentioned every segment sent so far.
    fn nothing_unexpected(&mut self, line: usize) {
        while let Some(sent) = self.sent.pop_front() {
            let shown = describe(&sent.segment, sent.retransmission, self.origins);
            self.outcome.differs(line, &format!("before this, unexpected at {}: out {shown}", seconds(sent.at)));
        }
    }
}

/// `flags` without those outside `mask`.
fn masked(flags: Flags, mask: u16) -> Flags {
    let all = [
        Flags::SYN,
        Flags::ACK,
        Flags::ECE,
        Flags::CWR,
        Flags::HAS_MSS,
        Flags::HAS_TIMESTAMPS,
        Flags::HAS_WINDOW_SCALE,
        Flags::HAS_SACK_PERMITTED,
    ];
    let kept = all.iter().filter(|flag| flags.contains(**flag) && mask & flag.bits() != 0);
    kept.fold(Flags::NONE, |sum, flag| sum | *flag)
}
