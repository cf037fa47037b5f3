//! The times at which routers learn of links that fall asleep or wake, computed before the run. Announcements depend
//! on the scheduled sleep times, not on the packets of the run.
//!
//! ```text
//!  a link's two ends ──► flood over live links, hop by hop ──► a router learns ──► computation ──► its new table
//!     announce             propagation + processing                                  (further updates may arrive)
//! ```
//! As in OSPF (RFC 2328 section 16.1, step 2b), a router uses a cable only while both of its ends announce it. A
//! router stops using it after the first announcement of either end, and uses it again after the announcements of both
//! ends.

use super::{Edge, out_of};
use crate::net::ids::LinkId;
use netlull_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Links that sleep and wake together: both directions of a duplex link, or a single link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The name of its (first) link.
    pub name: String,
    /// Its links.
    pub links: Vec<LinkId>,
}

/// The propagation of routing updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Every router has its new table at this time after the announcement.
    Simultaneous {
        /// The time from the announcement to the new tables.
        after: Duration,
    },
    /// Announcements travel over links that are up.
    Flooding {
        /// The time that each hop adds to a link's propagation delay.
        processing: Duration,
        /// The time from a router's first unprocessed announcement to its new table.
        computation: Duration,
    },
}

/// An announcement by both ends of a cable that it goes down or comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The time of the announcement.
    pub at: Instant,
    /// The number of the cable.
    pub cable: usize,
    /// True if the cable comes up.
    pub up: bool,
}

/// A time in which a cable carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The number of the cable.
    pub cable: usize,
    /// Start time.
    pub from: Instant,
    /// End time.
    pub to: Instant,
}

/// The network that carries announcements.
#[derive(Clone, Copy, Debug)]
pub struct Network<'a> {
    /// The number of nodes.
    pub nodes: usize,
    /// The links.
    pub edges: &'a [Edge],
    /// The propagation delays of the links.
    pub delays: &'a [Duration],
    /// The cables that sleep.
    pub cables: &'a [Cable],
    /// The outages of the cables, sorted by time.
    pub outages: &'a [Outage],
}

/// The installation of a router's new table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// The time of the installation.
    pub at: Instant,
    /// The router; all routers if `None`.
    pub router: Option<usize>,
    /// The new information: cables, and true for each that is up.
    pub news: Vec<(usize, bool)>,
}

/// All new tables, sorted by time, and the longest time from an announcement to its last new table.
#[must_use]
pub fn installs(network: &Network<'_>, announcements: &[Announcement], update: Update) -> (Vec<Install>, Duration) {
    match update {
        Update::Simultaneous { after } => simultaneous(announcements, after),
        Update::Flooding { processing, computation } => flooding(network, announcements, processing, computation),
    }
}

fn simultaneous(announcements: &[Announcement], after: Duration) -> (Vec<Install>, Duration) {
    let mut installs: Vec<Install> = Vec::new();
    for announcement in announcements {
        let at = announcement.at + after;
        match installs.last_mut().filter(|last| last.at == at) {
            Some(last) => last.news.push((announcement.cable, announcement.up)),
            None => installs.push(Install { at, router: None, news: vec![(announcement.cable, announcement.up)] }),
        }
    }
    (installs, after)
}

fn flooding(
    network: &Network<'_>,
    announcements: &[Announcement],
    processing: Duration,
    computation: Duration,
) -> (Vec<Install>, Duration) {
    let flood = Flood::new(network, processing);
    // By router: the times at which it learns of announcements.
    let mut learns: Vec<Vec<(Instant, usize)>> = vec![Vec::new(); network.nodes];
    for (number, announcement) in announcements.iter().enumerate() {
        for (router, learnt) in flood.learnt(announcement).into_iter().enumerate() {
            learns[router].extend(learnt.map(|at| (at, number)));
        }
    }
    let (mut installs, mut convergence) = (Vec::new(), Duration::ZERO);
    for (router, mut learnt) in learns.into_iter().enumerate() {
        learnt.sort_unstable();
        let mut newest: Vec<Option<usize>> = vec![None; network.cables.len()];
        let mut rest = &learnt[..];
        while let Some(&(first, _)) = rest.first() {
            let at = first + computation;
            let (batch, later) = rest.split_at(rest.partition_point(|&(when, _)| when <= at));
            rest = later;
            let mut news = Vec::new();
            for &(_, number) in batch {
                let Announcement { at: announced, cable, up } = announcements[number];
                // The router may already have newer information. The announcement of the near end can arrive before an
                // older one of the far end.
                if newest[cable].is_none_or(|known| known < number) {
                    newest[cable] = Some(number);
                    news.push((cable, up));
                    convergence = convergence.max(at - announced);
                }
            }
            if !news.is_empty() {
                installs.push(Install { at, router: Some(router), news });
            }
        }
    }
    installs.sort_by_key(|install| (install.at, install.router));
    (installs, convergence)
}

/// Announcements in propagation.
struct Flood<'a> {
    network: &'a Network<'a>,
    processing: Duration,
    out: Vec<Vec<LinkId>>,
    /// The outages of each link.
    outages: Vec<Vec<Outage>>,
}

impl<'a> Flood<'a> {
    fn new(network: &'a Network<'a>, processing: Duration) -> Self {
        let mut outages = vec![Vec::new(); network.edges.len()];
        for outage in network.outages {
            for &link in &network.cables[outage.cable].links {
                outages[link.index()].push(*outage);
            }
        }
        Self { network, processing, out: out_of(network.nodes, network.edges), outages }
    }

    /// The time at which each router receives an announcement; `None` if it never does.
    fn learnt(&self, announcement: &Announcement) -> Vec<Option<Instant>> {
        let Some(&link) = self.network.cables[announcement.cable].links.first() else {
            return vec![None; self.network.nodes];
        };
        let Edge { from, to, .. } = self.network.edges[link.index()];
        let (near, far) = (self.reaches(from, announcement.at), self.reaches(to, announcement.at));
        let one = |pair: (Option<Instant>, Option<Instant>)| match pair {
            (Some(near), Some(far)) if announcement.up => Some(near.max(far)),
            (Some(near), Some(far)) => Some(near.min(far)),
            (one, other) if !announcement.up => one.or(other),
            _ => None,
        };
        near.into_iter().zip(far).map(one).collect()
    }

    /// The time at which an announcement of `origin` reaches each router: the earliest arrival over links that are up
    /// during the crossing.
    fn reaches(&self, origin: usize, at: Instant) -> Vec<Option<Instant>> {
        let mut reached: Vec<Option<Instant>> = vec![None; self.network.nodes];
        let mut frontier = BinaryHeap::from([Reverse((at, origin))]);
        while let Some(Reverse((now, node))) = frontier.pop() {
            if reached[node].is_some() {
                continue;
            }
            reached[node] = Some(now);
            // The origin need not process its own announcement.
            let sends = if node == origin { now } else { now + self.processing };
            for &link in &self.out[node] {
                let to = self.network.edges[link.index()].to;
                if reached[to].is_none() {
                    let delay = self.network.delays[link.index()];
                    frontier.extend(self.leaves(link, sends, delay).map(|leaves| Reverse((leaves + delay, to))));
                }
            }
        }
        reached
    }

    /// The time at which an announcement can leave over a link; `None` if the link never comes up again.
    ///
    /// It leaves at `now`, or when the link is up for the whole crossing. Ends exchange their information when their
    /// link comes up.
    fn leaves(&self, link: LinkId, mut now: Instant, delay: Duration) -> Option<Instant> {
        for outage in &self.outages[link.index()] {
            if now < outage.to && now + delay > outage.from {
                now = outage.to;
            }
        }
        (now < Instant::NEVER).then_some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A line 0 - 1 - 2 - 3 of 10 ms each, in both directions. Cable c joins c and c + 1 by links 2c and 2c + 1.
    fn line() -> (Vec<Edge>, Vec<Duration>, Vec<Cable>) {
        let ends = (0..3).flat_map(|at| [(at, at + 1), (at + 1, at)]);
        let edges: Vec<Edge> = ends.map(|(from, to)| Edge { from, to, cost: 1 }).collect();
        let cables = (0..3)
            .map(|at| Cable { name: format!("{at}"), links: [2 * at, 2 * at + 1].map(LinkId::new).to_vec() })
            .collect();
        let delays = vec![Duration::from_millis(10); edges.len()];
        (edges, delays, cables)
    }

    fn flooded(announcements: &[Announcement], outages: &[Outage]) -> (Vec<Install>, Duration) {
        let (edges, delays, cables) = line();
        let network = Network { nodes: 4, edges: &edges, delays: &delays, cables: &cables, outages };
        let (processing, computation) = (Duration::from_millis(1), Duration::from_millis(5));
        installs(&network, announcements, Update::Flooding { processing, computation })
    }

    fn when(installs: &[Install]) -> Vec<(u64, usize)> {
        installs.iter().map(|install| (install.at.as_nanos() / 1_000_000, install.router.unwrap())).collect()
    }

    #[test]
    fn news_spreads_from_both_ends_hop_by_hop() {
        // Cable 2-3 goes down at 100 ms. Its ends have new tables at 105. Node 1 learns of it from 2 at 110, node 0 at
        // 110 + 1 + 10 = 121.
        let announcements = [Announcement { at: ms(100), cable: 2, up: false }];
        let outages = [Outage { cable: 2, from: ms(100), to: Instant::NEVER }];
        let (installs, convergence) = flooded(&announcements, &outages);
        assert_eq!(when(&installs), [(105, 2), (105, 3), (115, 1), (126, 0)]);
        assert!(installs.iter().all(|install| install.news == [(2, false)]));
        assert_eq!(convergence, Duration::from_millis(26));
    }

    #[test]
    fn a_cable_is_taken_up_again_when_both_ends_are_heard_of() {
        // 0-1 comes up at 200 ms: the announcement of 0 reaches 1 at 210 and, by 1 and 2, node 3 at 210 + 11 + 11 =
        // 232.
        let announcements = [Announcement { at: ms(200), cable: 0, up: true }];
        let outages = [Outage { cable: 0, from: ms(100), to: ms(200) }];
        let (installs, _) = flooded(&announcements, &outages);
        assert_eq!(when(&installs), [(215, 0), (215, 1), (226, 2), (237, 3)]);
    }

    #[test]
    fn news_that_comes_during_the_computation_is_worked_in() {
        // 0-1 goes down at 100, 2-3 at 112 ms. Node 1 learns of the first at once: 105. The second reaches it at 122:
        // 127. Node 2 learns of the first at 110 and computes by 115. By then it knows of the second, its own.
        let announcements =
            [Announcement { at: ms(100), cable: 0, up: false }, Announcement { at: ms(112), cable: 2, up: false }];
        let outages = [
            Outage { cable: 0, from: ms(100), to: Instant::NEVER },
            Outage { cable: 2, from: ms(112), to: Instant::NEVER },
        ];
        let (installs, _) = flooded(&announcements, &outages);
        let of = |router: usize| -> Vec<&Install> {
            installs.iter().filter(|install| install.router == Some(router)).collect()
        };
        assert_eq!(of(2).iter().map(|i| (i.at, i.news.len())).collect::<Vec<_>>(), [(ms(115), 2)]);
        assert_eq!(of(1).iter().map(|i| (i.at, i.news.len())).collect::<Vec<_>>(), [(ms(105), 1), (ms(127), 1)]);
        // Node 0 is cut off from the ends of 2-3, and node 3 from those of 0-1: the announcement of 1 would reach it
        // by 2-3 at 100 + 10 + 1 + 10 = 121.
        assert_eq!(of(0).iter().flat_map(|i| &i.news).collect::<Vec<_>>(), [&(0, false)]);
        assert_eq!(of(3).iter().flat_map(|i| &i.news).collect::<Vec<_>>(), [&(2, false)]);
    }

    #[test]
    fn what_could_not_cross_waits_for_the_link() {
        // 1-2 goes down at 100 ms; both of its ends know. 0-1 goes down at 150 ms; nodes 2 and 3 learn of it after 1-2
        // comes up at 300: at 310, and at 310 + 11.
        let announcements = [Announcement { at: ms(150), cable: 0, up: false }];
        let outages =
            [Outage { cable: 1, from: ms(100), to: ms(300) }, Outage { cable: 0, from: ms(150), to: Instant::NEVER }];
        let (installs, _) = flooded(&announcements, &outages);
        assert_eq!(when(&installs), [(155, 0), (155, 1), (315, 2), (326, 3)]);
    }

    #[test]
    fn all_at_once_means_at_once() {
        let announcements = [
            Announcement { at: ms(100), cable: 0, up: false },
            Announcement { at: ms(100), cable: 1, up: false },
            Announcement { at: ms(200), cable: 0, up: true },
        ];
        let after = Duration::from_millis(30);
        let (installs, convergence) = simultaneous(&announcements, after);
        let expected = [
            Install { at: ms(130), router: None, news: vec![(0, false), (1, false)] },
            Install { at: ms(230), router: None, news: vec![(0, true)] },
        ];
        assert_eq!((installs, convergence), (expected.to_vec(), after));
    }
}
