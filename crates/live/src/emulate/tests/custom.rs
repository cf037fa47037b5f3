//! A custom controller that answers an acknowledgement with all kinds of actions.

use super::{A, B, SYN, ack, arrivals, at, connection, plan, world};
use crate::emulate::ids::LinkId;
use netlull_mechanism::link::{self, LinkAction, LinkEvent};
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

impl link::Controller for Toy {
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

impl link::Factory for Toys {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn build(&self, _: link::Context, _: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        Ok(Box::new(Toy::default()))
    }
}

#[test]
fn every_action_after_an_acknowledgement_is_performed() {
    let link = link::Context::new(BitRate::from_mbps(10), Bytes::new(1500));
    let mechanism = link::Config::PlugIn(link::PlugIn::new(Arc::new(Toys), link).unwrap());
    let mut plan = plan();
    let in_service = InService::default();
    plan.links[1].control =
        Some(ControlPlan { mechanism, link, acknowledgements: Some(2), coupled_with: None, naps: None, in_service });
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

/// Works no more from its second event on.
#[derive(Debug, Default)]
struct Broken {
    events: u32,
    fault: Option<ConfigError>,
}

impl Machine for Broken {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, _: Instant, _: LinkEvent) {
        self.events += 1;
        if self.events == 2 {
            self.fault = Some(ConfigError::new("module", "broken.wasm", "a module that does not trap"));
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        None
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl link::Controller for Broken {
    fn rate(&self) -> BitRate {
        BitRate::from_mbps(10)
    }

    fn changes(&self) -> u64 {
        0
    }

    fn fault(&self) -> Option<&ConfigError> {
        self.fault.as_ref()
    }
}

#[derive(Debug)]
struct Breaks;

impl link::Factory for Breaks {
    fn name(&self) -> &'static str {
        "breaks"
    }

    fn build(&self, _: link::Context, _: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        Ok(Box::new(Broken::default()))
    }
}

#[test]
fn a_machine_that_works_no_more_ends_the_run() {
    let link = link::Context::new(BitRate::from_mbps(10), Bytes::new(1500));
    let mechanism = link::Config::PlugIn(link::PlugIn::new(Arc::new(Breaks), link).unwrap());
    let mut plan = plan();
    let in_service = InService::default();
    plan.links[1].control =
        Some(ControlPlan { mechanism, link, acknowledgements: None, coupled_with: None, naps: None, in_service });
    let name = plan.links[1].name.clone();
    let mut world = world(plan);
    let mut syn = Vec::new();
    build_tcp(&TcpSpec { flags: SYN, ..TcpSpec::new(connection()) }, &[], &mut syn).unwrap();
    world.send(Instant::ZERO, A, &syn);
    world.send(at(10), B, &ack(1, 60_000, true));
    arrivals(&mut world);
    let told = world.failure().map(|error| (error.to_string(), error.exit_code()));
    let (message, code) = told.expect("the machine has failed");
    assert!(message.starts_with(&format!("link.{name}.controller.module: is broken.wasm; expected")), "{message}");
    assert_eq!(code, crate::error::exit::BAD_INPUT);
}
