//! When routers learn of links that come and go, worked out before the run: announcements follow from what is scheduled,
//! not from what packets do.
//!
//! ```text
//!  a link's two ends ──► flood over what is up, hop by hop ──► a router learns ──► computation ──► its new table
//!     announce             propagation + processing                                  (more news may come in meanwhile)
//! ```
//! As in OSPF (RFC 2328 section 16.1, step 2b) a cable counts only while both of its ends announce it: a router leaves it as soon
//! as it has heard of one of them, and takes it up again when it has heard of both.

use super::{Edge, out_of};
use crate::net::ids::LinkId;
use netlull_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Links that sleep and wake together: the two directions of a duplex link, or a link alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The name of its (first) link.
    pub name: String,
    /// Its links.
    pub links: Vec<LinkId>,
}

/// How the news of a link spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Every router has its new table so long after the announcement.
    Simultaneous {
        /// From the announcement to the tables.
        after: Duration,
    },
    /// Announcements travel over the links that are up.
    Flooding {
        /// What each hop adds to the propagation of a link.
        processing: Duration,
        /// From the first news that a router has not yet worked in to its new table.
        computation: Duration,
    },
}

/// A cable's two ends announce that it goes or comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// When.
    pub at: Instant,
    /// Which cable.
    pub cable: usize,
    /// Whether it is there from now on.
    pub up: bool,
}

/// A time in which a cable carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Which cable.
    pub cable: usize,
    /// From when.
    pub from: Instant,
    /// Until when.
    pub to: Instant,
}

/// The network over which news spreads.
#[derive(Clone, Copy, Debug)]
pub struct Network<'a> {
    /// How many nodes there are.
    pub nodes: usize,
    /// Its links ...
    pub edges: &'a [Edge],
    /// ... and their propagation delays.
    pub delays: &'a [Duration],
    /// The cables that come and go.
    pub cables: &'a [Cable],
    /// When they do not carry, in the order of time.
    pub outages: &'a [Outage],
}

/// A router has a new table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// When.
    pub at: Instant,
    /// Which router; all of them if `None`.
    pub router: Option<usize>,
    /// What it now knows of cables, and whether they are up, that it did not before.
    pub news: Vec<(usize, bool)>,
}

/// Every new table, in the order of time, and how long the last one for any announcement took.
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
    // By router: when it learns of which announcement.
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
                // What it knows already may be newer: the near end's word came before the far end's older one.
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

/// Announcements on their way.
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

    /// When each router learns of it, if ever.
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

    /// When an announcement that `origin` makes reaches each router: the earliest arrival over links that are up while it crosses them.
    fn reaches(&self, origin: usize, at: Instant) -> Vec<Option<Instant>> {
        let mut reached: Vec<Option<Instant>> = vec![None; self.network.nodes];
        let mut frontier = BinaryHeap::from([Reverse((at, origin))]);
        while let Some(Reverse((now, node))) = frontier.pop() {
            if reached[node].is_some() {
                continue;
            }
            reached[node] = Some(now);
            // The origin has nothing to read first.
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

    /// When it can leave over a link, at `now` or as soon as the link is up again for the whole crossing: ends that meet again exchange
    /// what they know. `None` if the link never is.
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

    /// A line 0 - 1 - 2 - 3 of 10 ms each, both ways; cable c joins c and c + 1 by links 2c and 2c + 1.
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
        // Cable 2-3 goes at 100 ms. Its ends have new tables at 105. Node 1 hears of it from 2 at 110, node 0 at 110 + 1 + 10 = 121.
        let announcements = [Announcement { at: ms(100), cable: 2, up: false }];
        let outages = [Outage { cable: 2, from: ms(100), to: Instant::NEVER }];
        let (installs, convergence) = flooded(&announcements, &outages);
        assert_eq!(when(&installs), [(105, 2), (105, 3), (115, 1), (126, 0)]);
        assert!(installs.iter().all(|install| install.news == [(2, false)]));
        assert_eq!(convergence, Duration::from_millis(26));
    }

    #[test]
    fn a_cable_is_taken_up_again_when_both_ends_are_heard_of() {
        // 0-1 comes back at 200 ms: 0's word reaches 1 at 210 and, by 1 and 2, node 3 at 210 + 11 + 11 = 232.
        let announcements = [Announcement { at: ms(200), cable: 0, up: true }];
        let outages = [Outage { cable: 0, from: ms(100), to: ms(200) }];
        let (installs, _) = flooded(&announcements, &outages);
        assert_eq!(when(&installs), [(215, 0), (215, 1), (226, 2), (237, 3)]);
    }

    #[test]
    fn news_that_comes_during_the_computation_is_worked_in() {
        // 0-1 goes at 100, 2-3 at 112 ms. Node 1 knows the first at once: 105. The second reaches it at 122: 127.
        // Node 2 hears of the first at 110, computes by 115, and by then knows of the second, its own.
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
        // Node 0 is cut off from 2-3's ends for ever, node 3 from 0-1's: 1's word would have reached it by 2-3 at 100 + 10 + 1 + 10 = 121.
        assert_eq!(of(0).iter().flat_map(|i| &i.news).collect::<Vec<_>>(), [&(0, false)]);
        assert_eq!(of(3).iter().flat_map(|i| &i.news).collect::<Vec<_>>(), [&(2, false)]);
    }

    #[test]
    fn what_could_not_cross_waits_for_the_link() {
        // 1-2 goes at 100 ms, before the word of it can cross to ... nobody needs it to: both ends know. 0-1 goes at 150 ms;
        // 2 and 3 hear of it when 1-2 is back at 300: 310, and 310 + 11.
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
