//! The links and datagram sources that need no events, because the order of their packets is known.

use super::{Paths, Senders};
use crate::net::ids::{AgentId, ById, FlowId, LinkId, SourceId};
use crate::net::link::Link;
use crate::net::routing::NextHop;

/// The maximum number of drawn sources on one link: each draw examines all of them.
const MOST_DRAWN_TOGETHER: usize = 16;

/// The source of a link's packets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Feeder {
    Nobody,
    Link(LinkId),
    Agent(AgentId),
    Many,
}

/// The source and next hop of a link's packets, over the routes of all flows.
#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    pub feeder: Feeder,
    /// The next hop of all packets, if it is the same. `Unreachable` before one is known.
    leads_to: Option<NextHop>,
}

/// The paths of all packets, and the properties of their links.
pub(super) struct Ways<'a> {
    senders: &'a Senders,
    paths: &'a Paths,
    /// Links without extra components.
    plain: ById<LinkId, bool>,
    /// Links with a gateway at the far end, whose action depends on the earlier packets, and links on which packets
    /// overtake others.
    steered: ById<LinkId, bool>,
}

impl<'a> Ways<'a> {
    pub fn new(senders: &'a Senders, paths: &'a Paths, links: &[Link]) -> Self {
        Self {
            senders,
            paths,
            plain: links.iter().map(Link::can_run_ahead).collect(),
            steered: links.iter().map(|link| link.is_steered || link.reorders()).collect(),
        }
    }

    /// TCP flows, each with true if its application acts at its own times.
    pub fn tcp_flows(&self) -> impl Iterator<Item = (FlowId, bool)> + '_ {
        FlowId::all(self.senders.acts.len()).zip(self.senders.acts.iter().copied())
    }

    /// Sources of datagrams, and their agents.
    pub fn sources(&self) -> impl DoubleEndedIterator<Item = (SourceId, AgentId)> + use<> {
        let first = self.senders.acts.len();
        SourceId::all(self.senders.datagrams)
            .map(move |source| (source, AgentId::sender(FlowId::new(first + source.index()))))
    }

    /// The datagram source of an agent, if it is one.
    fn source_of(&self, agent: AgentId) -> Option<SourceId> {
        let place = agent.flow().index().checked_sub(self.senders.acts.len())?;
        (place < self.senders.datagrams && agent.is_sender()).then(|| SourceId::new(place))
    }

    /// The paths of each source's datagrams.
    fn datagrams(&self) -> impl Iterator<Item = &'a [LinkId]> + '_ {
        self.sources().map(|(_, sender)| &self.paths[sender][..])
    }

    /// The last link on the path to an agent.
    pub fn arrives_on(&self, agent: AgentId) -> LinkId {
        self.paths[agent.peer()].last().copied().unwrap_or_default()
    }

    /// Sources that may be drawn, judged by their first links alone.
    ///
    /// Such a link is plain, carries no requests and has few enough sources. At the same instant, datagrams precede
    /// requests and follow all other packets offered to a link.
    fn candidates(&self) -> ById<SourceId, bool> {
        let flows = self.senders.acts.len() + self.senders.datagrams;
        let requests = AgentId::all(self.paths.len()).skip(AgentId::sender(FlowId::new(flows)).index());
        let asked: Vec<LinkId> = requests.filter_map(|agent| self.paths[agent].first().copied()).collect();
        let mut together: ById<LinkId, usize> = self.plain.map(|_| 0);
        self.datagrams().filter_map(<[LinkId]>::first).for_each(|&link| together[link] += 1);
        let may_be = |path: &[LinkId]| {
            path.first().is_some_and(|first| {
                self.plain[*first] && !asked.contains(first) && together[*first] <= MOST_DRAWN_TOGETHER
            })
        };
        self.datagrams().map(may_be).collect()
    }

    /// Follows the packets of all flows in both directions. Drawn datagrams are ignored on their first link, which
    /// runs ahead as if they were not there.
    fn neighbours(&self, drawn: &ById<SourceId, bool>) -> ById<LinkId, Neighbours> {
        let unknown = Neighbours { feeder: Feeder::Nobody, leads_to: Some(NextHop::Unreachable) };
        let mut neighbours = self.plain.map(|_| unknown);
        for agent in AgentId::all(self.paths.len()) {
            let is_drawn = self.source_of(agent).is_some_and(|source| drawn[source]);
            let mut feeder = if is_drawn { Feeder::Nobody } else { Feeder::Agent(agent) };
            let way = &self.paths[agent];
            for (place, &link) in way.iter().enumerate() {
                let next = way.get(place + 1).map_or(NextHop::Here, |&next| NextHop::Link(next));
                let Neighbours { feeder: fed, leads_to } = &mut neighbours[link];
                *fed = match (*fed, feeder) {
                    (Feeder::Nobody, feeder) | (feeder, Feeder::Nobody) => feeder,
                    (one, other) if one == other => one,
                    _ => Feeder::Many,
                };
                *leads_to = leads_to.filter(|hop| *hop == NextHop::Unreachable || *hop == next).map(|_| next);
                feeder = Feeder::Link(link);
            }
        }
        neighbours
    }
}

/// The links and sources without events.
pub(super) struct Order {
    pub neighbours: ById<LinkId, Neighbours>,
    /// Links that run ahead: all their packets come from one other link.
    pub runs_ahead: ById<LinkId, bool>,
    /// Drawn sources of datagrams.
    pub drawn: ById<SourceId, bool>,
}

impl Order {
    /// The order without drawn sources.
    pub fn of_events(ways: &Ways<'_>) -> Self {
        Self::with(ways.datagrams().map(|_| false).collect(), ways)
    }

    /// The order with the most drawn sources: the fixed point of [`Self::kept`].
    ///
    /// Invariant: `drawn` contains every set of sources that can be drawn together. This holds at the start. A removed
    /// source becomes another feeder of its links. It can only prevent other sources from being drawn, never allow
    /// them. Thus no removed source could have stayed. The set only shrinks, so the loop ends after at most as many
    /// rounds as there are sources.
    pub fn furthest(ways: &Ways<'_>) -> Self {
        let mut drawn = ways.candidates();
        loop {
            let order = Self::with(drawn, ways);
            let kept = order.kept(ways);
            if kept == order.drawn {
                return order;
            }
            drawn = kept;
        }
    }

    /// The order for a set of drawn sources.
    fn with(drawn: ById<SourceId, bool>, ways: &Ways<'_>) -> Self {
        let neighbours = ways.neighbours(&drawn);
        let runs_ahead = LinkId::all(neighbours.len()).map(|link| {
            let fed_by_one = matches!(neighbours[link].feeder, Feeder::Link(feeder) if !ways.steered[feeder]);
            ways.plain[link] && fed_by_one
        });
        Self { runs_ahead: runs_ahead.collect(), neighbours, drawn }
    }

    /// The drawn sources whose datagrams need no events in this order.
    ///
    /// All links after the first must run ahead. The first link must carry no datagrams that are drawn elsewhere or
    /// have events: the order of both would be unknown.
    fn kept(&self, ways: &Ways<'_>) -> ById<SourceId, bool> {
        let mut mixed = self.runs_ahead.map(|_| false);
        for ((source, _), path) in ways.sources().zip(ways.datagrams()) {
            let others = if self.drawn[source] { path.get(1..) } else { path.get(..1) };
            others.unwrap_or_default().iter().for_each(|&link| mixed[link] = true);
        }
        let needs_none = |path: &[LinkId]| {
            path.split_first()
                .is_some_and(|(&first, rest)| !mixed[first] && rest.iter().all(|&link| self.runs_ahead[link]))
        };
        ways.sources().zip(ways.datagrams()).map(|((source, _), path)| self.drawn[source] && needs_none(path)).collect()
    }

    /// The next hop of all packets of a link, if it is the same.
    pub fn leads_to(&self, link: LinkId) -> Option<NextHop> {
        self.neighbours[link].leads_to.map(|hop| match hop {
            NextHop::Link(next) if self.runs_ahead[next] => NextHop::Ahead(next),
            hop => hop,
        })
    }

    /// Returns true if an agent is the only sender on its first link, which is plain, and its packets need no event: no
    /// gateway inspects them, and none overtakes others on the last link.
    pub fn is_alone(&self, ways: &Ways<'_>, agent: AgentId) -> bool {
        let alone = |&first: &LinkId| self.neighbours[first].feeder == Feeder::Agent(agent) && ways.plain[first];
        ways.paths[agent].first().is_some_and(alone) && !ways.steered[ways.arrives_on(agent)]
    }

    /// Returns true if packets of a flow meet others in either direction, after its first links.
    pub fn meets_others(&self, ways: &Ways<'_>, flow: FlowId) -> bool {
        let ways = [AgentId::sender(flow), AgentId::receiver(flow)].map(|agent| ways.paths[agent].get(1..));
        ways.into_iter().flatten().flatten().any(|&link| !self.runs_ahead[link])
    }
}
