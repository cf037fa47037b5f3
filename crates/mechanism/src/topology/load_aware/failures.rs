//! Failures of single links: the network stays connected, and no load exceeds a bound (the N-1 criterion).

use super::routing::{Routing, limits};
use super::{Graph, too_loaded};
use crate::ConfigError;
use netlull_units::BitRate;

/// The failures to survive. Sleeping links stay asleep after a failure.
#[derive(Debug)]
pub(super) struct Failures<'a> {
    graph: &'a Graph,
    /// The limit of each link after a failure, in bit/s.
    limits: Vec<u64>,
    /// The links that may fail. The failure that last overloaded a link is first, because it often does so again.
    links: Vec<usize>,
}

/// A failure that the network does not survive, and the overloaded link; `None` if the network is not connected.
type Found = (usize, Option<usize>);

impl<'a> Failures<'a> {
    /// All links may fail, except those without which the whole network is not connected.
    ///
    /// # Errors
    /// If a load exceeds the bound after a failure before any link sleeps.
    pub(super) fn new(
        graph: &'a Graph,
        capacities: &[BitRate],
        bound: f64,
        routing: &mut Routing<'_>,
    ) -> Result<Self, ConfigError> {
        let bridges = graph.bridges();
        let links = (0..bridges.len()).filter(|&link| !bridges[link]).collect();
        let mut failures = Self { graph, limits: limits(capacities, bound), links };
        let Some((failure, Some(link))) = failures.first(routing, |_| true) else { return Ok(failures) };
        let before = routing.remove(failure, |_| true);
        let load = routing.load(link);
        routing.restore(before);
        let when = format!(" after a failure of {}", graph.link_name(failure));
        Err(too_loaded(("failure_bound", bound), graph.link_name(link), load, failures.limits[link], &when))
    }

    /// The first failure that the links that are `on` do not survive.
    pub(super) fn first(&mut self, routing: &mut Routing<'_>, on: impl Fn(usize) -> bool) -> Option<Found> {
        let failing = || self.links.iter().copied().filter(|&link| on(link));
        let cut = |&failure: &usize| self.graph.unreached(0, |link| link != failure && on(link)).is_some();
        // Paths exist only in a connected network, and most failures that refuse a link disconnect it.
        if let Some(failure) = failing().find(cut) {
            return Some((failure, None));
        }
        let found = failing().find_map(|failure| {
            let before = routing.remove(failure, &on);
            let overloaded = routing.overloaded(&self.limits);
            routing.restore(before);
            overloaded.map(|link| (failure, Some(link)))
        });
        if let Some((failure, _)) = found {
            self.links.sort_by_key(|&link| link != failure);
        }
        found
    }
}
