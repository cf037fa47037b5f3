//! Links that fall asleep and wake during the run, and the routers' new tables.
//!
//! All steps are known before the run (`net/routing/link_state.rs`). They form a list sorted by time, and the schedule
//! contains the next. After a step, each router forwards by its own table. While tables disagree, packets may loop
//! until they reach their maximum number of hops. The network has *settled* when all routers know its actual state and
//! every packet is on the path of its flow. Then routes are fixed until the next step, hops need not be counted, and
//! links may run ahead of the run's time (`run/lookahead.rs`). At the next step, the remaining hops of each packet are
//! computed from its position on its path.

use super::lookahead::{Paths, Senders};
use super::net::Net;
use super::observers::Observers;
use super::requests::Requests;
use crate::net::flight::Packet;
use crate::net::ids::{ById, LinkId, NodeId};
use crate::net::link::Link;
use crate::net::routing::link_state::{self, Cable, Network, Update};
use crate::net::routing::{Edge, NextHop, Routes, first_hops, out_of};
use crate::scenario::{Nap, Scenario, SleepSpec};
use netlull_network::outcome::{NetworkMark, RouterLosses};
use netlull_network::plan::{RouteChange, RoutingDeed, RoutingPlan, RoutingStep};
use netlull_units::{Duration, Instant};
use serde::Serialize;
use std::collections::VecDeque;
use std::ops::Range;

/// The time between two checks of a network that has not settled.
const SETTLING: Duration = Duration::from_millis(50);

/// A step of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Deed {
    /// A cable falls asleep.
    Sleep(usize),
    /// A cable begins to wake.
    Stir(usize),
    /// A cable is awake.
    Wake(usize),
    /// A router, or every router, installs a new table, with this information on cables.
    Install(Option<usize>, Vec<(usize, bool)>),
    /// The run stops for a decision (`run/steps`).
    Halt,
}

/// The values that steps depend on, next to the sleeps.
#[derive(Clone, Debug)]
struct Rules {
    delays: Vec<Duration>,
    update: Update,
    end: Instant,
}

/// The times of sleep by decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct SleepTimes {
    /// From the announcement until the cable sleeps.
    pub notice: Duration,
    /// From the decision to wake until the cable carries packets.
    pub wake: Duration,
}

/// The reason for a packet's loss at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The node has no route.
    Unroutable,
    /// The packet has reached its maximum number of hops.
    Expired,
}

/// The routing of a network whose links sleep or whose packets count hops.
pub(super) struct Rerouting {
    ttl: u8,
    /// The steps to come, sorted by time.
    steps: VecDeque<(Instant, Deed)>,
    sleep: SleepSpec,
    rules: Rules,
    /// True if the run waits for a decision.
    halted: bool,
    /// The number of new tables that routers installed.
    table_changes: u64,
    /// The longest time from an announcement to a new table.
    convergence: Option<Duration>,
    edges: Vec<Edge>,
    out: Vec<Vec<LinkId>>,
    /// The cable of each link; `None` if the cable never sleeps.
    cable_of: Vec<Option<usize>>,
    /// The knowledge of each router: for each cable, true if it is up.
    views: Vec<Vec<bool>>,
    pub senders: Senders,
    /// The links of each agent's packets to its peer, while the network is settled.
    paths: Paths,
    /// Packets lost at each node.
    lost_at: Vec<u64>,
    /// Packets lost at all nodes since the start, by reason.
    losses: RouterLosses,
    /// The same losses at the start of the measured time.
    before: RouterLosses,
}

/// Sleeping links and lost packets in the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct RoutingSummary {
    /// New tables that routers installed, since the start.
    pub table_changes: u64,
    /// Longest time from an announcement to the last resulting table; null without announcements.
    pub convergence_s: Option<f64>,
    /// Packets lost because links slept or fell asleep.
    pub asleep_packets: u64,
    /// Packets lost at a router without a route.
    pub unroutable_packets: u64,
    /// Packets lost because of their maximum number of hops.
    pub expired_packets: u64,
    /// The links that slept, and their sleep times.
    pub sleep: Vec<NapSummary>,
}

/// A single sleep of a link.
#[derive(Clone, Debug, Serialize)]
pub struct NapSummary {
    /// The name of the link. A duplex link has the name of its first direction.
    pub link: String,
    /// Time of the announcement.
    pub announced_s: f64,
    /// Start of the sleep.
    pub asleep_s: f64,
    /// End of the sleep and of waking; null if the link did not carry packets again.
    pub awake_s: Option<f64>,
}

impl Rerouting {
    /// The routing of a scenario; `None` if links never sleep and packets need not count hops.
    pub fn new(scenario: &Scenario) -> Option<Box<Self>> {
        let ttl = scenario.routing.ttl?;
        let (nodes, sleep) = (scenario.nodes.len(), &scenario.sleep);
        let mut cable_of = vec![None; scenario.links.len()];
        for (number, cable) in sleep.cables.iter().enumerate() {
            cable.links.iter().for_each(|&link| cable_of[link.index()] = Some(number));
        }
        let rules = Rules {
            delays: scenario.links.iter().map(|link| link.delay).collect(),
            update: scenario.routing.update,
            end: Instant::ZERO + scenario.duration,
        };
        let (steps, convergence) = rules.steps(nodes, &scenario.edges, sleep);
        Some(Box::new(Self {
            ttl,
            steps: steps.into(),
            sleep: sleep.clone(),
            rules,
            halted: false,
            table_changes: 0,
            convergence,
            edges: scenario.edges.to_vec(),
            out: out_of(nodes, &scenario.edges),
            cable_of,
            views: vec![vec![true; sleep.cables.len()]; nodes],
            senders: Senders::new(scenario),
            paths: ById::default(),
            lost_at: vec![0; nodes],
            losses: RouterLosses::default(),
            before: RouterLosses::default(),
        }))
    }

    /// The time of the next step.
    pub fn next(&self) -> Instant {
        self.steps.front().map_or(Instant::NEVER, |&(at, _)| at)
    }

    /// Packets lost at each node since the start.
    pub fn lost_at_nodes(&self) -> &[u64] {
        &self.lost_at
    }

    /// The sleeps of a link up to `now`, sorted by time. Each has a start, and an end if it is over by `now`.
    pub fn naps_of(&self, link: LinkId, now: Instant) -> Vec<(Instant, Option<Instant>)> {
        let own =
            self.sleep.naps.iter().filter(|nap| self.cable_of[link.index()] == Some(nap.cable) && nap.asleep <= now);
        let mut naps: Vec<_> = own.map(|nap| (nap.asleep, (nap.awake <= now).then_some(nap.awake))).collect();
        naps.sort_unstable();
        naps
    }

    /// Starts the measured time.
    pub fn start_measuring(&mut self) {
        self.before = self.losses;
    }

    /// The next step due at `now`, with its time, if there is one.
    fn take_due(&mut self, now: Instant) -> Option<(Instant, Deed)> {
        if self.steps.front()?.0 > now {
            return None;
        }
        self.steps.pop_front()
    }

    /// The row of a router's table, from its knowledge of the network.
    fn row(&self, router: usize) -> Vec<Option<LinkId>> {
        let view = &self.views[router];
        first_hops(router, &self.out, &self.edges, |link| self.cable_of[link.index()].is_none_or(|cable| view[cable]))
    }

    /// The path of every agent to its peer. `None` if routers do not know the actual network, or if a path exceeds the
    /// maximum number of hops.
    fn agreed(&self, routes: &Routes, links: &[Link]) -> Option<Paths> {
        let is_up = |cable: &Cable| cable.links.iter().all(|&link| !links[link.index()].is_closed());
        let up: Vec<bool> = self.sleep.cables.iter().map(is_up).collect();
        if self.views.iter().any(|view| *view != up) {
            return None;
        }
        let paths = self.senders.paths(routes, &self.edges)?;
        paths.iter().all(|path| path.len() <= usize::from(self.ttl)).then_some(paths)
    }

    /// Adds information to a router, or to all routers. Returns the routers with a new table.
    fn learn(&mut self, router: Option<usize>, news: &[(usize, bool)]) -> Range<usize> {
        let routers = router.map_or(0..self.views.len(), |router| router..router + 1);
        self.table_changes += routers.len() as u64;
        for router in routers.clone() {
            for &(cable, up) in news {
                self.views[router][cable] = up;
            }
        }
        routers
    }

    /// Returns true if a step is due at `now`. Otherwise the event only checks whether the network has settled.
    pub fn is_due(&self, now: Instant) -> bool {
        self.next() <= now
    }

    /// Performs the next due step. Returns the packets lost by links, each with its link; `None` without a due step.
    pub fn step(&mut self, net: &mut Net, observers: &mut Observers) -> Option<Vec<(LinkId, Packet)>> {
        let mut stranded = Vec::new();
        match self.take_due(net.now)?.1 {
            Deed::Sleep(cable) => {
                for &link in &self.sleep.cables[cable].links {
                    let mut lost = Vec::new();
                    net.links[link].fall_asleep(net.now, &mut net.schedule, &mut net.store, &mut lost);
                    stranded.extend(lost.into_iter().map(|packet| (link, packet)));
                    if let Some(replay) = &mut observers.replay {
                        replay.fell_asleep(net.now, link);
                    }
                }
            }
            Deed::Stir(cable) => {
                self.sleep.cables[cable].links.iter().for_each(|&link| net.links[link].begin_to_wake(net.now));
            }
            Deed::Wake(cable) => {
                for &link in &self.sleep.cables[cable].links {
                    net.links[link].awake(net.now);
                    if let Some(replay) = &mut observers.replay {
                        replay.woke(link);
                    }
                }
            }
            Deed::Halt => self.halted = true,
            Deed::Install(router, news) => {
                for router in self.learn(router, &news) {
                    net.routes.set_row(router, &self.row(router));
                }
            }
        }
        Some(stranded)
    }

    /// The path of every agent to its peer if the network has settled: routers agree, and every packet is on the path
    /// of its flow. Schedules the next step or check.
    pub fn settled(&self, net: &mut Net, requests: &Requests, observers: &Observers) -> Option<Paths> {
        // Other steps due at this instant come first.
        let agreed =
            if observers.watching || self.is_due(net.now) { None } else { self.agreed(&net.routes, &net.links) };
        let settled = agreed.filter(|paths| {
            net.packets().all(|(link, packet)| {
                let path = &paths[requests.flow_agent(packet.agent).peer()];
                hops_left(path, link, self.ttl) == Some(packet.segment.ttl)
            })
        });
        let look = if settled.is_some() || observers.watching { Instant::NEVER } else { net.now + SETTLING };
        net.schedule.set(net.order.reroute(), self.next().min(look));
        settled
    }

    /// Fixes routes to these paths until the next step.
    pub fn fix(&mut self, paths: Paths) {
        self.paths = paths;
    }

    /// Prepares for changes of routes. Each packet gets its remaining hops, computed from its position on its path.
    pub fn tell_hops_left(&self, net: &mut Net, requests: &Requests) {
        for (id, link) in LinkId::all(net.links.len()).zip(&mut net.links) {
            let set = |packet: &mut Packet| {
                let path = &self.paths[requests.flow_agent(packet.agent).peer()];
                packet.segment.ttl = hops_left(path, id, self.ttl).unwrap_or_default();
            };
            link.for_each(set, &mut net.store);
        }
    }

    /// The first link of an agent's packet while routes may change.
    pub fn first_link(&self, routes: &Routes, node: NodeId, packet: &mut Packet) -> Result<LinkId, Loss> {
        packet.segment.ttl = u16::from(self.ttl);
        match routes.next_hop(node, packet.destination) {
            NextHop::Changeable(link) => Ok(link),
            _ => Err(Loss::Unroutable),
        }
    }

    /// Counts a packet lost at a node.
    pub fn lose(&mut self, node: NodeId, why: Loss) {
        self.lost_at[node.index()] += 1;
        match why {
            Loss::Unroutable => self.losses.unroutable += 1,
            Loss::Expired => self.losses.expired += 1,
        }
    }

    /// All steps up to the end of the run, for packets to these nodes. Each table contains only its changes.
    fn into_plan(mut self, end: Instant, destinations: &[usize]) -> RoutingPlan {
        let mut rows: Vec<Vec<Option<LinkId>>> = (0..self.views.len()).map(|router| self.row(router)).collect();
        let mut steps = Vec::new();
        while let Some((at, deed)) = self.take_due(end) {
            let links = |cable: usize| self.sleep.cables[cable].links.iter().map(|link| link.number()).collect();
            let deed = match deed {
                Deed::Sleep(cable) => RoutingDeed::Sleep(links(cable)),
                Deed::Stir(cable) => RoutingDeed::Stir(links(cable)),
                Deed::Wake(cable) => RoutingDeed::Wake(links(cable)),
                Deed::Halt => continue,
                Deed::Install(router, news) => {
                    let mut changes = Vec::new();
                    for node in self.learn(router, &news) {
                        let before = std::mem::replace(&mut rows[node], self.row(node));
                        let differs = |&&to: &&usize| rows[node][to] != before[to];
                        changes.extend(destinations.iter().filter(differs).map(|&to| RouteChange {
                            node: NodeId::new(node).number(),
                            destination: NodeId::new(to).number(),
                            link: rows[node][to].map(LinkId::number),
                        }));
                    }
                    RoutingDeed::Install(changes)
                }
            };
            steps.push(RoutingStep { at, deed });
        }
        RoutingPlan { ttl: self.ttl, steps }
    }

    /// The routing summary of an emulation, from its first and last marks.
    pub fn of_emulation(mut self, first: &NetworkMark, last: &NetworkMark, asleep_packets: u64) -> RoutingSummary {
        while let Some((_, deed)) = self.take_due(last.at) {
            if let Deed::Install(router, news) = deed {
                self.learn(router, &news);
            }
        }
        (self.before, self.losses) = (first.routers, last.routers);
        self.summarise(last.at, asleep_packets)
    }

    /// The routing summary of the measured time up to `now`. `asleep_packets` were lost because of sleep.
    pub fn summarise(&self, now: Instant, asleep_packets: u64) -> RoutingSummary {
        let began = self.sleep.naps.iter().filter(|nap| nap.announced <= now);
        let past = |at: Instant| (at <= now).then(|| at.as_secs_f64());
        RoutingSummary {
            table_changes: self.table_changes,
            convergence_s: self.convergence.map(Duration::as_secs_f64),
            asleep_packets,
            unroutable_packets: self.losses.unroutable - self.before.unroutable,
            expired_packets: self.losses.expired - self.before.expired,
            sleep: began
                .map(|nap| NapSummary {
                    link: self.sleep.cables[nap.cable].name.clone(),
                    announced_s: nap.announced.as_secs_f64(),
                    asleep_s: nap.asleep.as_secs_f64(),
                    awake_s: past(nap.awake),
                })
                .collect(),
        }
    }
}

/// The changes of a scenario's links and routes up to the end of its run, for packets to these nodes; `None` without
/// changes and hop counts.
pub(crate) fn routing_plan(scenario: &Scenario, destinations: &[usize]) -> Option<RoutingPlan> {
    Some(Rerouting::new(scenario)?.into_plan(Instant::ZERO + scenario.duration, destinations))
}

impl Rules {
    /// All steps, sorted by time, and the longest time from an announcement to a new table.
    ///
    /// At the same instant, links change before tables, and links fall asleep before others wake.
    fn steps(&self, nodes: usize, edges: &[Edge], sleep: &SleepSpec) -> (Vec<(Instant, Deed)>, Option<Duration>) {
        let (mut announcements, outages) = (sleep.announcements(), sleep.outages());
        // Steps after the end of the run are ignored.
        announcements.retain(|announcement| announcement.at < self.end);
        let network = Network { nodes, edges, delays: &self.delays, cables: &sleep.cables, outages: &outages };
        let (installs, convergence) = link_state::installs(&network, &announcements, self.update);
        let deeds = |nap: &Nap| {
            [
                (nap.asleep, Deed::Sleep(nap.cable)),
                (nap.wakes, Deed::Stir(nap.cable)),
                (nap.awake, Deed::Wake(nap.cable)),
            ]
        };
        let mut steps: Vec<(Instant, Deed)> = sleep.naps.iter().flat_map(deeds).collect();
        steps.extend(installs.into_iter().map(|install| (install.at, Deed::Install(install.router, install.news))));
        steps.retain(|&(at, _)| at < Instant::NEVER);
        steps.sort_by_key(|(at, deed)| (*at, matches!(deed, Deed::Install(..))));
        (steps, (!announcements.is_empty()).then_some(convergence))
    }
}

impl Rerouting {
    /// Lets the run stop at these instants, after all other steps of the instant.
    pub fn stop_at(&mut self, instants: impl Iterator<Item = Instant>) {
        self.steps.extend(instants.map(|at| (at, Deed::Halt)));
        self.steps
            .make_contiguous()
            .sort_by_key(|(at, deed)| (*at, matches!(deed, Deed::Install(..)), *deed == Deed::Halt));
    }

    /// Returns true if the run waits for a decision.
    pub fn is_halted(&self) -> bool {
        self.halted
    }

    /// Ends the wait for a decision.
    pub fn go_on(&mut self) {
        self.halted = false;
    }

    /// Puts cables to sleep and wakes others: `awake` has an entry for each cable.
    ///
    /// Steps up to now are done. The steps that follow from earlier decisions stay, because announcements do not depend
    /// on later ones.
    pub fn decide(&mut self, now: Instant, awake: &[bool], times: SleepTimes) {
        let before = self.sleep.clone();
        for (cable, &awake) in awake.iter().enumerate() {
            let open = self.sleep.naps.iter_mut().find(|nap| nap.cable == cable && nap.wakes == Instant::NEVER);
            match open {
                Some(nap) if awake => (nap.wakes, nap.awake) = (now, now + times.wake),
                None if !awake => self.sleep.naps.push(Nap {
                    cable,
                    announced: now,
                    asleep: now + times.notice,
                    wakes: Instant::NEVER,
                    awake: Instant::NEVER,
                }),
                _ => {}
            }
        }
        if self.sleep.naps == before.naps {
            return;
        }
        let (nodes, halts) = (self.views.len(), std::mem::take(&mut self.steps));
        let done = self.rules.steps(nodes, &self.edges, &before).0;
        let (steps, convergence) = self.rules.steps(nodes, &self.edges, &self.sleep);
        self.steps = steps.into();
        self.steps.retain(|step| step.0 > now || step.0 == now && !done.contains(step));
        self.convergence = convergence;
        self.stop_at(halts.into_iter().filter(|(_, deed)| *deed == Deed::Halt).map(|(at, _)| at));
    }
}

/// The remaining hops of a packet on a link of its path. Each router that it has reached counts.
fn hops_left(path: &[LinkId], link: LinkId, ttl: u8) -> Option<u16> {
    // A path does not exceed the maximum number of hops.
    let crossed = path.iter().position(|&other| other == link)?;
    u16::try_from(crossed).ok().map(|crossed| u16::from(ttl) - crossed)
}

/// The next link of a packet that has crossed a link, if it has a route and hops left. Each hop decrements the count
/// (RFC 791 section 3.2).
pub(super) fn next_link(hop: NextHop, packet: &mut Packet) -> Result<LinkId, Loss> {
    packet.segment.ttl = packet.segment.ttl.saturating_sub(1);
    match hop {
        _ if packet.segment.ttl == 0 => Err(Loss::Expired),
        NextHop::Changeable(link) => Ok(link),
        // Scenarios with unreachable destinations are refused before they run, so the route has been lost since.
        _ => Err(Loss::Unroutable),
    }
}
