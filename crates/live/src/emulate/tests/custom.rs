//! A custom controller that answers an acknowledgement with all kinds of actions.

use super::{A, B, SYN, ack, arrivals, at, connection, plan, world};
use crate::emulate::ids::LinkId;
use netlull_mechanism::link::{ForeignLink, LinkAction, LinkContext, LinkController, LinkEvent, LinkFactory};
use netlull_mechanism::machines::LinkMechanism;
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::plan::{ControlPlan, InService};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use netlull_wire::{TcpSpec, build_tcp};
use std::collections::VecDeque;
use std::sync::Arc;

/// Answers an acknowledgement with a window, two rates and a timer, and its timeout with a third rate.
#[derive(Debug, Default)]
struct Toy {
    actions: VecDeque<LinkAction>,
    timer: Option<Instant>,
}

fn set(mbps: u64) -> LinkAction {
    LinkAction::SetRate { rate: BitRate::from_mbps(mbps), pause: Duration::ZERO }
}

impl Machine for Toy {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, event: LinkEvent) {
        match event {
            LinkEvent::Acknowledgement { .. } => {
                self.actions.extend([set(5), LinkAction::SetWindow(Bytes::new(6000)), set(4)]);
                self.timer = Some(now + Duration::from_millis(1));
            }
            LinkEvent::Timeout { .. } => {
                self.actions.push_back(set(2));
                self.timer = None;
            }
            LinkEvent::Arrival { .. } | LinkEvent::Departure { .. } | LinkEvent::Managed { .. } => {}
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        self.actions.pop_front()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.timer
    }
}

impl LinkController for Toy {
    fn rate(&self) -> BitRate {
        BitRate::from_mbps(10)
    }

    fn changes(&self) -> u64 {
        0
    }

    fn reads_segments(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Toys;

impl LinkFactory for Toys {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn build(&self, _: LinkContext, _: Instant) -> Result<Box<dyn LinkController>, ConfigError> {
        Ok(Box::new(Toy::default()))
    }
}

#[test]
fn every_action_after_an_acknowledgement_is_performed() {
    let link = LinkContext::new(BitRate::from_mbps(10), Bytes::new(1500));
    let mechanism = LinkMechanism::Foreign(ForeignLink::new(Arc::new(Toys), link).unwrap());
    let mut plan = plan();
    let in_service = InService::default();
    plan.links[1].control = Some(ControlPlan { mechanism, link, acknowledgements: Some(2), in_service });
    let mut world = world(plan);
    let mut syn = Vec::new();
    build_tcp(&TcpSpec { flags: SYN, ..TcpSpec::new(connection()) }, &[], &mut syn).unwrap();
    world.send(Instant::ZERO, A, &syn);
    world.send(at(10), B, &ack(1, 60_000, true));
    let all = arrivals(&mut world);
    let (_, _, frame) = all.iter().find(|(_, host, _)| *host == A).unwrap();
    assert_eq!(frame.tcp().unwrap().window_field(), 6000);
    let remains = world.remains();
    let (times, rates): (Vec<Instant>, Vec<BitRate>) = remains.links[LinkId(1)].rates().iter().copied().unzip();
    assert_eq!(rates, [10, 5, 4, 2].map(BitRate::from_mbps));
    assert_eq!((times[2] - times[1], times[3] - times[1]), (Duration::ZERO, Duration::from_millis(1)));
}
