//! Links with a time-varying capacity, as in the plan.

use super::ids::{ById, Id, LinkId};
use super::net::Net;
use super::timetable::Due;
use netlull_network::plan::{InService, Plan};
use netlull_network::transmission::RateChange;
use netlull_units::{BitRate, Duration, Instant};

/// The number of capacity steps done, by link.
#[derive(Debug)]
pub(super) struct Capacities {
    done: ById<LinkId, usize>,
}

impl Capacities {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { done: ById::filled(0, plan.links.len()) }
    }

    fn next(&self, plan: &Plan, link: LinkId) -> Option<(Instant, BitRate)> {
        plan.links[link.index()].steps.as_ref()?.get(self.done[link]).copied()
    }

    /// Schedules a link's next step.
    pub(super) fn arm(&self, link: LinkId, net: &mut Net) {
        let at = self.next(&net.plan, link).map_or(Instant::NEVER, |(at, _)| at);
        net.timetable.set(Due::Capacity(link), at);
    }

    /// Applies a link's next step.
    pub(super) fn due(&mut self, link: LinkId, net: &mut Net) {
        if let Some((_, rate)) = self.next(&net.plan, link) {
            let change = RateChange { rate, pause: Duration::ZERO, in_service: InService::default() };
            net.change_rate(link, change);
        }
        self.done[link] += 1;
        self.arm(link, net);
    }
}
