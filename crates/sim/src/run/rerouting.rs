//! Links that fall asleep and wake, and routers that learn of it, during the run.
//!
//! All of it is known before the run (`net/routing/link_state.rs`): a list of steps in the order of time, of which the next is in the
//! schedule. After a step each router forwards by its own table; where tables disagree packets may go round until their hops are
//! used up. The network has *settled* when all routers know how it is and every packet is on the path of its flow: then routes are
//! fixed until the next step, hops need not be counted, and what may runs ahead of the run's time (`run/lookahead.rs`). At the next
//! step each packet is told the hops that it has left, as its place on its path tells.

use super::lookahead::{Paths, Senders};
use super::net::Net;
use super::observers::Observers;
use super::requests::Requests;
use crate::net::ids::{ById, LinkId, NodeId};
use crate::net::link::Link;
use crate::net::packet::Packet;
use crate::net::routing::link_state::{self, Cable, Network, Update};
use crate::net::routing::{Edge, NextHop, Routes, first_hops, out_of};
use crate::scenario::{Nap, Scenario};
use netlull_network::outcome::{NetworkMark, RouterLosses};
use netlull_network::plan::{RouteChange, RoutingDeed, RoutingPlan, RoutingStep};
use netlull_units::{Duration, Instant};
use serde::Serialize;
use std::ops::Range;

/// Time between two looks at a network that has not settled.
const SETTLING: Duration = Duration::from_millis(50);

/// What happens to the network.
#[derive(Clone, Debug)]
enum Deed {
    /// A cable falls asleep.
    Sleep(usize),
    /// It begins to wake.
    Stir(usize),
    /// It is awake.
    Wake(usize),
    /// A router, or every one, has a new table, with this news of cables.
    Install(Option<usize>, Vec<(usize, bool)>),
}

/// Why a node loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// It knows no way.
    Unroutable,
    /// The packet has made as many hops as it may.
    Expired,
}

/// A network whose links sleep, or whose packets count their hops.
pub(super) struct Rerouting {
    ttl: u8,
    /// What happens, in the order of time, and how much of it has.
    steps: Vec<(Instant, Deed)>,
    done: usize,
    cables: Vec<Cable>,
    naps: Vec<Nap>,
    /// New tables that routers took into use.
    table_changes: u64,
    /// The longest that a new table took.
    convergence: Option<Duration>,
    edges: Vec<Edge>,
    out: Vec<Vec<LinkId>>,
    /// The cable of each link, if it has one that sleeps.
    cable_of: Vec<Option<usize>>,
    /// What each router knows: whether a cable is up.
    views: Vec<Vec<bool>>,
    pub senders: Senders,
    /// The links of each agent's packets to its peer, while the network is settled.
    paths: Paths,
    /// Packets lost at each node.
    lost_at: Vec<u64>,
    /// Those of all nodes, by why, since the start.
    losses: RouterLosses,
    /// The same where measurement began.
    before: RouterLosses,
}

/// Links that slept, and packets that lost their way, over the time measured.
#[derive(Clone, Debug, Serialize)]
pub struct RoutingSummary {
    /// New tables that routers took into use, since the start.
    pub table_changes: u64,
    /// From an announcement to the last new table because of it, the longest; null if nothing was announced.
    pub convergence_s: Option<f64>,
    /// Packets lost on links that fell asleep or slept.
    pub asleep_packets: u64,
    /// Packets for which a router knew no way.
    pub unroutable_packets: u64,
    /// Packets that had made as many hops as they may.
    pub expired_packets: u64,
    /// Which links slept, and when.
    pub sleep: Vec<NapSummary>,
}

/// A link sleeps once.
#[derive(Clone, Debug, Serialize)]
pub struct NapSummary {
    /// The link, or the duplex link's direction that gives it its name.
    pub link: String,
    /// When it was announced.
    pub announced_s: f64,
    /// It slept from then.
    pub asleep_s: f64,
    /// It carried packets again from then; null if it did not.
    pub awake_s: Option<f64>,
}

impl Rerouting {
    /// `None` where links never sleep and packets need not count their hops.
    pub fn new(scenario: &Scenario) -> Option<Box<Self>> {
        let ttl = scenario.routing.ttl?;
        let (nodes, sleep) = (scenario.nodes.len(), &scenario.sleep);
        let mut cable_of = vec![None; scenario.links.len()];
        for (number, cable) in sleep.cables.iter().enumerate() {
            cable.links.iter().for_each(|&link| cable_of[link.index()] = Some(number));
        }
        let (steps, convergence) = steps(scenario);
        Some(Box::new(Self {
            ttl,
            steps,
            done: 0,
            cables: sleep.cables.clone(),
            naps: sleep.naps.clone(),
            table_changes: 0,
            convergence,
            edges: scenario.edges.clone(),
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

    /// When something happens next.
    pub fn next(&self) -> Instant {
        self.steps.get(self.done).map_or(Instant::NEVER, |&(at, _)| at)
    }

    /// Packets lost at each node since the start.
    pub fn lost_at_nodes(&self) -> &[u64] {
        &self.lost_at
    }

    /// When a link slept, and until when if that is over by `now`, in the order of time.
    pub fn naps_of(&self, link: LinkId, now: Instant) -> Vec<(Instant, Option<Instant>)> {
        let own = self.naps.iter().filter(|nap| self.cable_of[link.index()] == Some(nap.cable) && nap.asleep <= now);
        let mut naps: Vec<_> = own.map(|nap| (nap.asleep, (nap.awake <= now).then_some(nap.awake))).collect();
        naps.sort_unstable();
        naps
    }

    /// Measurement begins.
    pub fn start_measuring(&mut self) {
        self.before = self.losses;
    }

    /// What is due at `now`, if something is left.
    fn take_due(&mut self, now: Instant) -> Option<Deed> {
        let (at, deed) = self.steps.get_mut(self.done)?;
        if *at > now {
            return None;
        }
        self.done += 1;
        Some(std::mem::replace(deed, Deed::Install(None, Vec::new())))
    }

    /// The row of a router's table, as it knows the network.
    fn row(&self, router: usize) -> Vec<Option<LinkId>> {
        let view = &self.views[router];
        first_hops(router, &self.out, &self.edges, |link| self.cable_of[link.index()].is_none_or(|cable| view[cable]))
    }

    /// Every agent's path to its peer, if all routers know the network as it is and no path has more links than a packet may cross.
    fn agreed(&self, routes: &Routes, links: &[Link]) -> Option<Paths> {
        let is_up = |cable: &Cable| cable.links.iter().all(|&link| !links[link.index()].is_closed());
        let up: Vec<bool> = self.cables.iter().map(is_up).collect();
        if self.views.iter().any(|view| *view != up) {
            return None;
        }
        let paths = self.senders.paths(routes, &self.edges)?;
        paths.iter().all(|path| path.len() <= usize::from(self.ttl)).then_some(paths)
    }

    /// Takes a router's news, or every router's, into account; which routers have a new table.
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

    /// Whether something happens at `now`; else somebody only looks at whether the network has settled.
    pub fn is_due(&self, now: Instant) -> bool {
        self.next() <= now
    }

    /// Carries out the next step that is due: the packets that links lose by it, each with its link. `None` if nothing is left.
    pub fn step(&mut self, net: &mut Net, observers: &mut Observers) -> Option<Vec<(LinkId, Packet)>> {
        let mut stranded = Vec::new();
        match self.take_due(net.now)? {
            Deed::Sleep(cable) => {
                for &link in &self.cables[cable].links {
                    let mut lost = Vec::new();
                    net.links[link].fall_asleep(net.now, &mut net.schedule, &mut lost);
                    stranded.extend(lost.into_iter().map(|packet| (link, packet)));
                    if let Some(replay) = &mut observers.replay {
                        replay.fell_asleep(link);
                    }
                }
            }
            Deed::Stir(cable) => {
                self.cables[cable].links.iter().for_each(|&link| net.links[link].begin_to_wake(net.now));
            }
            Deed::Wake(cable) => {
                for &link in &self.cables[cable].links {
                    net.links[link].awake(net.now);
                    if let Some(replay) = &mut observers.replay {
                        replay.woke(link);
                    }
                }
            }
            Deed::Install(router, news) => {
                for router in self.learn(router, &news) {
                    net.routes.set_row(router, &self.row(router));
                }
            }
        }
        Some(stranded)
    }

    /// Every agent's path to its peer, if the network has settled: routers agree, and every packet is on the path of its flow. Schedules the
    /// next step, or the next look.
    pub fn settled(&self, net: &mut Net, requests: &Requests, observers: &Observers) -> Option<Paths> {
        // What is due at this very instant comes first.
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

    /// Routes are fixed to these paths until the next step.
    pub fn fix(&mut self, paths: Paths) {
        self.paths = paths;
    }

    /// Routes may change from now on: packets are told the hops that they have left, by their places on their paths.
    pub fn tell_hops_left(&self, net: &mut Net, requests: &Requests) {
        for (id, link) in LinkId::all(net.links.len()).zip(&mut net.links) {
            link.for_each(|packet| {
                let path = &self.paths[requests.flow_agent(packet.agent).peer()];
                packet.segment.ttl = hops_left(path, id, self.ttl).unwrap_or_default();
            });
        }
    }

    /// The first link of a packet that an agent sends where routes may change.
    pub fn first_link(&self, routes: &Routes, node: NodeId, packet: &mut Packet) -> Result<LinkId, Loss> {
        packet.segment.ttl = u16::from(self.ttl);
        match routes.next_hop(node, packet.destination) {
            NextHop::Changeable(link) => Ok(link),
            _ => Err(Loss::Unroutable),
        }
    }

    /// A node loses a packet.
    pub fn lose(&mut self, node: NodeId, why: Loss) {
        self.lost_at[node.index()] += 1;
        match why {
            Loss::Unroutable => self.losses.unroutable += 1,
            Loss::Expired => self.losses.expired += 1,
        }
    }

    /// What happens up to the end of the run, for packets that go to these nodes: a table is told by what is new in it.
    fn into_plan(mut self, end: Instant, destinations: &[usize]) -> RoutingPlan {
        let mut rows: Vec<Vec<Option<LinkId>>> = (0..self.views.len()).map(|router| self.row(router)).collect();
        let mut steps = Vec::new();
        while let Some(deed) = self.take_due(end) {
            let at = self.steps[self.done - 1].0;
            let links = |cable: usize| self.cables[cable].links.iter().map(|link| link.number()).collect();
            let deed = match deed {
                Deed::Sleep(cable) => RoutingDeed::Sleep(links(cable)),
                Deed::Stir(cable) => RoutingDeed::Stir(links(cable)),
                Deed::Wake(cable) => RoutingDeed::Wake(links(cable)),
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

    /// The same summary of an emulation, by its first mark and its last.
    pub fn of_emulation(mut self, first: &NetworkMark, last: &NetworkMark, asleep_packets: u64) -> RoutingSummary {
        while let Some(deed) = self.take_due(last.at) {
            if let Deed::Install(router, news) = deed {
                self.learn(router, &news);
            }
        }
        (self.before, self.losses) = (first.routers, last.routers);
        self.summarise(last.at, asleep_packets)
    }

    /// Over the time measured up to `now`, in which links lost so many packets to sleep.
    pub fn summarise(&self, now: Instant, asleep_packets: u64) -> RoutingSummary {
        let began = self.naps.iter().filter(|nap| nap.announced <= now);
        let past = |at: Instant| (at <= now).then(|| at.as_secs_f64());
        RoutingSummary {
            table_changes: self.table_changes,
            convergence_s: self.convergence.map(Duration::as_secs_f64),
            asleep_packets,
            unroutable_packets: self.losses.unroutable - self.before.unroutable,
            expired_packets: self.losses.expired - self.before.expired,
            sleep: began
                .map(|nap| NapSummary {
                    link: self.cables[nap.cable].name.clone(),
                    announced_s: nap.announced.as_secs_f64(),
                    asleep_s: nap.asleep.as_secs_f64(),
                    awake_s: past(nap.awake),
                })
                .collect(),
        }
    }
}

/// What becomes of the links and the routes of a scenario up to the end of its run, for packets that go to these nodes; `None` where nothing
/// does and packets need not count their hops.
pub(crate) fn routing_plan(scenario: &Scenario, destinations: &[usize]) -> Option<RoutingPlan> {
    Some(Rerouting::new(scenario)?.into_plan(Instant::ZERO + scenario.duration, destinations))
}

/// All that happens, in the order of time, and the longest that a new table takes. At one instant links change before tables do, and fall
/// asleep before they wake.
fn steps(scenario: &Scenario) -> (Vec<(Instant, Deed)>, Option<Duration>) {
    let sleep = &scenario.sleep;
    let delays: Vec<Duration> = scenario.links.iter().map(|link| link.delay).collect();
    let (mut announcements, outages) = (sleep.announcements(), sleep.outages());
    // What comes after the end of the run is no part of it.
    announcements.retain(|announcement| announcement.at < Instant::ZERO + scenario.duration);
    let network = Network {
        nodes: scenario.nodes.len(),
        edges: &scenario.edges,
        delays: &delays,
        cables: &sleep.cables,
        outages: &outages,
    };
    let update: Update = scenario.routing.update;
    let (installs, convergence) = link_state::installs(&network, &announcements, update);
    let deeds = |nap: &Nap| {
        [(nap.asleep, Deed::Sleep(nap.cable)), (nap.wakes, Deed::Stir(nap.cable)), (nap.awake, Deed::Wake(nap.cable))]
    };
    let mut steps: Vec<(Instant, Deed)> = sleep.naps.iter().flat_map(deeds).collect();
    steps.extend(installs.into_iter().map(|install| (install.at, Deed::Install(install.router, install.news))));
    steps.retain(|&(at, _)| at < Instant::NEVER);
    steps.sort_by_key(|(at, deed)| (*at, matches!(deed, Deed::Install(..))));
    (steps, (!announcements.is_empty()).then_some(convergence))
}

/// The hops left of a packet on a link of its path: it has made one at each router that it has come to.
fn hops_left(path: &[LinkId], link: LinkId, ttl: u8) -> Option<u16> {
    // A path has no more links than a packet may cross.
    let crossed = path.iter().position(|&other| other == link)?;
    u16::try_from(crossed).ok().map(|crossed| u16::from(ttl) - crossed)
}

/// The next link of a packet that has crossed a link, if it may make another hop and there is a way. Each hop takes one off its hops
/// (RFC 791 section 3.2).
pub(super) fn next_link(hop: NextHop, packet: &mut Packet) -> Result<LinkId, Loss> {
    packet.segment.ttl = packet.segment.ttl.saturating_sub(1);
    match hop {
        _ if packet.segment.ttl == 0 => Err(Loss::Expired),
        NextHop::Changeable(link) => Ok(link),
        // Scenarios with unreachable destinations are refused before they run: it was reachable once.
        _ => Err(Loss::Unroutable),
    }
}
