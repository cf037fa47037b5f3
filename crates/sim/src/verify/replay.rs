//! A second, independent model of every link that follows every packet beside the run.
//!
//! It knows only what a link promises: first in, first out; drop-tail at its limit; scripted losses and no others,
//! where losses are not random; no bit before its time. Times of a
//! link of fixed rate are worked out from the start of each busy period in exact arithmetic and must agree to the
//! nanosecond; a link whose rate varies must not be faster than its highest rate.

use super::Findings;
use crate::net::buffer::Buffer;
use crate::net::link::Admission;
use crate::net::loss::LossModel;
use crate::net::packet::Packet;
use netlull_units::{BitRate, Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// What the model needs to know of a link.
#[derive(Clone, Debug)]
pub struct ReplayLink {
    /// Name, for messages.
    pub name: String,
    /// (Maximum) rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Buffer.
    pub buffer: Buffer,
    /// Whether the rate varies.
    pub varies: bool,
    /// Which packets it loses.
    pub loss: Option<LossModel>,
}

#[derive(Clone, Copy, Debug)]
struct Shadow {
    agent: u32,
    segment: netlull_tcp::Segment,
    size: u32,
    starts: u64,
    departs: u64,
}

struct Line {
    link: ReplayLink,
    held: VecDeque<Shadow>,
    /// How many of the last packets of `held` wait, and their bytes.
    waiting: (usize, u64),
    busy_from: u64,
    busy_bits: u128,
    last_departure: u64,
    /// Packets of each flow offered so far, where losses are scripted.
    offered: BTreeMap<u32, u64>,
}

/// The model of a run.
pub struct Replay {
    lines: Vec<Line>,
    findings: Findings,
}

impl Replay {
    /// Idle links.
    #[must_use]
    pub fn new(links: Vec<ReplayLink>) -> Self {
        let line = |link| Line {
            link,
            held: VecDeque::new(),
            waiting: (0, 0),
            busy_from: 0,
            busy_bits: 0,
            last_departure: 0,
            offered: BTreeMap::new(),
        };
        Self { lines: links.into_iter().map(line).collect(), findings: Findings::default() }
    }

    /// A packet was offered to a link, which decided on it.
    pub fn offered(&mut self, now: Instant, link: u32, packet: &Packet, admission: Admission) {
        let line = &mut self.lines[link as usize];
        let lost = admission == Admission::Lost;
        self.findings.check(line.may_lose(packet.agent / 2).is_none_or(|loses| loses == lost), &line.link.name, || {
            format!("{admission:?} a packet of flow {} at {now}, but its losses say otherwise", packet.agent / 2)
        });
        if lost {
            return;
        }
        if !line.link.varies {
            let admits = line.admits(now.as_nanos(), packet.size);
            self.findings.check(admits == (admission == Admission::Accepted), &line.link.name, || {
                format!("{admission:?} a packet of {} B at {now}, but its buffer says otherwise", packet.size)
            });
        }
        if admission == Admission::Accepted {
            line.accept(now.as_nanos(), packet);
        }
    }

    /// A packet reached the other end of a link.
    pub fn delivered(&mut self, now: Instant, link: u32, packet: &Packet) {
        let line = &mut self.lines[link as usize];
        let Some(head) = line.held.pop_front() else {
            self.findings.check(false, &line.link.name, || format!("delivered at {now} what it never held"));
            return;
        };
        if line.waiting.0 > line.held.len() {
            line.waiting = (line.held.len(), line.waiting.1 - u64::from(head.size));
        }
        let same = (head.agent, head.segment, head.size) == (packet.agent, packet.segment, packet.size);
        self.findings.check(same, &line.link.name, || {
            format!("delivered {:?} at {now}, but {:?} was first in line", packet.segment, head.segment)
        });
        let departed = now.as_nanos().saturating_sub(line.link.delay.as_nanos());
        if line.link.varies {
            // Departures are rounded down to a nanosecond, so two of them may seem one too close.
            let least = u128::from(head.size) * 8_000_000_000 / u128::from(line.link.rate.as_bps());
            let gap = u128::from(departed.saturating_sub(line.last_departure.max(head.starts)));
            self.findings.check(gap + 1 >= least, &line.link.name, || {
                format!("sent {} B within {gap} ns, faster than {}", head.size, line.link.rate)
            });
        } else {
            self.findings.check(departed == head.departs, &line.link.name, || {
                format!("sent a packet's last bit at {departed} ns, but exact arithmetic says {} ns", head.departs)
            });
        }
        line.last_departure = departed;
    }

    /// What it found.
    #[must_use]
    pub fn into_findings(self) -> Findings {
        self.findings
    }
}

impl Line {
    /// Whether the link loses the next packet of a flow; unknown where that is random.
    fn may_lose(&mut self, flow: u32) -> Option<bool> {
        match &self.link.loss {
            None => Some(false),
            Some(LossModel::Bernoulli(_) | LossModel::GilbertElliott(_)) => None,
            Some(LossModel::Scripted(drops)) => {
                let number = self.offered.entry(flow).or_insert(0);
                *number += 1;
                Some(drops.iter().any(|script| script.flow == flow && script.packets.contains(number)))
            }
        }
    }

    /// Whether drop-tail lets a packet in, by this model's own count and comparison.
    fn admits(&mut self, now: u64, size: u32) -> bool {
        while self.waiting.0 > 0 {
            let first = self.held[self.held.len() - self.waiting.0];
            if first.starts > now {
                break;
            }
            self.waiting = (self.waiting.0 - 1, self.waiting.1 - u64::from(first.size));
        }
        let idle = self.held.back().is_none_or(|last| last.departs <= now);
        idle || match self.link.buffer {
            Buffer::Packets(limit) => (self.waiting.0 as u64) < limit,
            Buffer::Bytes(limit) => self.waiting.1 + u64::from(size) <= limit.as_u64(),
            Buffer::Unlimited => true,
        }
    }

    fn accept(&mut self, now: u64, packet: &Packet) {
        let last = self.held.back().map_or(self.last_departure, |shadow| shadow.departs);
        if now > last {
            (self.busy_from, self.busy_bits) = (now, 0);
        }
        let starts = now.max(last);
        self.busy_bits += u128::from(packet.size) * 8;
        let busy = self.busy_bits * 1_000_000_000 / u128::from(self.link.rate.as_bps());
        let departs = if self.link.varies { now } else { self.busy_from + u64::try_from(busy).unwrap_or(u64::MAX) };
        let starts = if self.link.varies { now } else { starts };
        if starts > now {
            self.waiting = (self.waiting.0 + 1, self.waiting.1 + u64::from(packet.size));
        }
        self.held.push_back(Shadow {
            agent: packet.agent,
            segment: packet.segment,
            size: packet.size,
            starts,
            departs,
        });
    }
}
