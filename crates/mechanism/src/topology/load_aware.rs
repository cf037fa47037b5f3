//! The load-aware plan: idle links sleep first, and no link may become too busy. Our own.

mod routing;

use super::guard::Guard;
use super::{Graph, SleepPlan, Step, Verdict, check_threshold};
use crate::ConfigError;
use netlull_units::BitRate;
use routing::Routing;

/// What the load-aware plan needs to know beside the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadAwareConfig {
    /// Of each link, what it carries in each direction.
    pub capacities: Vec<BitRate>,
    /// Of each link, its cost to routing, at least 1.
    pub weights: Vec<u32>,
    /// The traffic.
    pub demands: Vec<Demand>,
    /// The utilisation that no direction of a link may exceed: above 0, at most 1.
    pub bound: f64,
    /// The part of the initial lambda_2 that must be left; 0: connected is enough.
    pub threshold: f64,
}

/// Traffic from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The node it comes from.
    pub from: usize,
    /// The node it goes to.
    pub to: usize,
    /// How much.
    pub rate: BitRate,
}

impl LoadAwareConfig {
    /// Checks every value against the graph.
    ///
    /// # Errors
    /// Names the first value that cannot be used, and what was expected.
    pub fn validate(&self, graph: &Graph) -> Result<(), ConfigError> {
        check_threshold(self.threshold)?;
        if !(self.bound > 0.0 && self.bound <= 1.0) {
            return Err(ConfigError::new("bound", self.bound, "a utilisation above 0, at most 1"));
        }
        self.check_links(graph)?;
        self.check_demands(graph)
    }

    fn check_links(&self, graph: &Graph) -> Result<(), ConfigError> {
        let links = graph.links().len();
        for (field, count) in [("capacities", self.capacities.len()), ("weights", self.weights.len())] {
            if count != links {
                let expected = format!("one for each of the {links} links");
                return Err(ConfigError::new(field, format!("a list of {count}"), expected));
            }
        }
        if let Some(link) = self.capacities.iter().position(|capacity| capacity.is_zero()) {
            let value = format!("{} for link {}", self.capacities[link], graph.link_name(link));
            return Err(ConfigError::new("capacities", value, "a rate above zero"));
        }
        if let Some(link) = self.weights.iter().position(|&weight| weight == 0) {
            return Err(ConfigError::new("weights", format!("0 for link {}", graph.link_name(link)), "1 or more"));
        }
        Ok(())
    }

    fn check_demands(&self, graph: &Graph) -> Result<(), ConfigError> {
        let mut total = 0_u64;
        for (index, demand) in self.demands.iter().enumerate() {
            if let Some(node) = [demand.from, demand.to].into_iter().find(|&node| node >= graph.nodes()) {
                let expected = format!("a node from 0 to {}", graph.nodes() - 1);
                return Err(ConfigError::new("demands", format!("node {node} in demand {index}"), expected));
            }
            if demand.from == demand.to {
                let value = format!("node {} to itself in demand {index}", graph.node_name(demand.from));
                return Err(ConfigError::new("demands", value, "two different nodes"));
            }
            total = total.checked_add(demand.rate.as_bps()).ok_or_else(|| {
                ConfigError::new("demands", "more than 2^64 bit/s in all", "rates that can be added up")
            })?;
        }
        Ok(())
    }
}

/// Switches off the link that carries least, as long as nothing else becomes too busy.
///
/// The next to try is the link with the least load (the busier direction; equal ones by (lower end, higher end)) among those not yet
/// tried. It sleeps if the graph stays connected, lambda_2 stays at or above `threshold` x initial, and with all demands on
/// shortest paths over what is left no direction of a link carries more than `bound` x capacity. Among equal paths the one over the
/// lowest-numbered link is taken, where link i has the directions 2 i (as given) and 2 i + 1 (back), as in the simulator.
///
/// # Errors
/// If a value cannot be used, the graph is not connected or has more than 5000 nodes, or a link is beyond the bound before anything sleeps.
pub fn load_aware(graph: &Graph, config: &LoadAwareConfig) -> Result<SleepPlan, ConfigError> {
    config.validate(graph)?;
    let mut guard = Guard::new(graph, config.threshold)?;
    let mut routing = Routing::new(graph, config);
    if let Some(link) = routing.overloaded() {
        let (load, limit) = (BitRate::from_bps(routing.load(link)), BitRate::from_bps(routing.limit(link)));
        let value = format!("{load} on link {} before anything sleeps", graph.link_name(link));
        return Err(ConfigError::new("demands", value, format!("at most {limit}: bound x capacity")));
    }
    let initial_connectivity = guard.connectivity();
    let (mut off, mut steps) = (Vec::new(), Vec::with_capacity(graph.links().len()));
    let mut untried: Vec<usize> = (0..graph.links().len()).collect();
    while let Some(link) = take_least(&mut untried, |link| (routing.load(link), graph.ordered_ends(link))) {
        #[allow(clippy::cast_precision_loss)]
        let rank = routing.load(link) as f64;
        let mut verdict = guard.judge(link);
        if verdict == Verdict::Off && !routing.do_without(link, |other| guard.is_on(other)) {
            verdict = Verdict::TooLoaded;
        }
        if verdict == Verdict::Off {
            guard.put_to_sleep(link);
            off.push(link);
        }
        steps.push(Step { link, rank, verdict, connectivity: guard.connectivity() });
    }
    Ok(SleepPlan { initial_connectivity, off, steps })
}

/// Takes the link with the least key out of the list.
fn take_least<K: Ord>(links: &mut Vec<usize>, key: impl Fn(usize) -> K) -> Option<usize> {
    let (place, _) = links.iter().enumerate().min_by_key(|&(_, &link)| key(link))?;
    Some(links.swap_remove(place))
}

#[cfg(test)]
mod tests;
