//! Link controllers of modules.

use crate::instance::Instance;
use crate::module::Configured;
use netlull_document::ConfigError;
use netlull_guest::abi::{Answer, Kind, MOST_ACTIONS, place};
use netlull_guest::description::Settings;
use netlull_guest::record::Record;
use netlull_mechanism::Machine;
use netlull_mechanism::link::{self, Estimates, LinkAction, LinkEvent};
use netlull_mechanism::observe::{Adapter, Decision, Observation, Plug, Subscriber};
use netlull_units::{BitRate, Duration, Instant};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::Arc;

/// The longest pause that a module may ask for. On real packets nothing leaves the link meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A module of a link controller with its parameters.
#[derive(Debug)]
struct Factory {
    configured: Configured,
    initial_rate: Option<BitRate>,
    reads_segments: bool,
}

/// Loads the controller that a table names.
pub(crate) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn link::Factory>, ConfigError> {
    let configured = Configured::load(fields, Kind::LinkController)?;
    let (_, Settings { initial_rate, subscription, transition, .. }) = Instance::configured(&configured)?;
    check_pause("transition", transition)?;
    let reads_segments = subscription.map_or(configured.module.description().reads_segments, |wants| wants.segments);
    Ok(Arc::new(Factory { configured, initial_rate, reads_segments }))
}

impl link::Factory for Factory {
    fn name(&self) -> &str {
        &self.configured.module.description().name
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.initial_rate
    }

    fn reads_segments(&self) -> bool {
        self.reads_segments
    }

    fn table(&self) -> Option<Value> {
        Some(self.configured.table.clone())
    }

    fn build(&self, link: link::Context, start: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        let (mut instance, settings) = Instance::configured(&self.configured)?;
        instance.create(start, link)?;
        if let Settings { subscription: Some(subscription), initial_rate, transition, .. } = settings {
            let plug = Plug { subscription, initial_rate, transition };
            return Ok(Box::new(Adapter::new(plug, RateController(instance), link, start)?));
        }
        let Answer { timeout, .. } = instance.answer(place::ANSWER)?;
        Ok(Box::new(Link {
            instance,
            context: link,
            rate: settings.initial_rate.unwrap_or(link.rate),
            changes: 0,
            actions: VecDeque::with_capacity(MOST_ACTIONS),
            timeout,
            reads_segments: self.reads_segments(),
            fault: None,
        }))
    }
}

/// A module with a rate controller.
#[derive(Debug)]
struct RateController(Instance);

impl Subscriber for RateController {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        let instance = &mut self.0;
        instance.deliver(seen.now, seen)?;
        let Answer { actions, .. } = instance.answer(place::ANSWER)?;
        if actions > 1 {
            return Err(instance.impossible(&format!("{actions} decisions, more than 1")));
        }
        let decision = instance.items::<Decision>(place::ANSWER + Answer::WORDS, actions).next().transpose();
        let decision = decision.map_err(|error| instance.impossible(&error))?;
        if let Some(Decision::Action(LinkAction::SetRate { pause, .. })) = decision {
            check_pause("pause", pause).map_err(|error| instance.impossible(&error))?;
        }
        Ok(decision)
    }
}

/// A controller in a module.
#[derive(Debug)]
struct Link {
    instance: Instance,
    context: link::Context,
    rate: BitRate,
    changes: u64,
    actions: VecDeque<LinkAction>,
    timeout: Option<Instant>,
    reads_segments: bool,
    fault: Option<Box<ConfigError>>,
}

impl Link {
    /// Delivers an event and reads the answer.
    #[inline]
    fn ask(&mut self, now: Instant, event: &LinkEvent) -> Result<(), ConfigError> {
        self.instance.deliver(now, event)?;
        let Answer { actions, timeout } = self.instance.answer(place::ANSWER)?;
        self.timeout = timeout.map(|at| at.max(now));
        if actions > 0 {
            self.take(actions, event)?;
        }
        if let LinkEvent::Timeout { .. } = event {
            self.instance.count_timeout(now)?;
        }
        Ok(())
    }

    /// Reads and checks the actions.
    fn take(&mut self, actions: u64, event: &LinkEvent) -> Result<(), ConfigError> {
        if actions > MOST_ACTIONS as u64 {
            return Err(self.instance.impossible(&format!("{actions} actions, more than {MOST_ACTIONS}")));
        }
        for action in self.instance.items::<LinkAction>(place::ANSWER + Answer::WORDS, actions) {
            let action = action.map_err(|error| self.instance.impossible(&error))?;
            check(action, event, self.context).map_err(|error| self.instance.impossible(&error))?;
            if let LinkAction::SetRate { rate, .. } = action {
                self.rate = rate;
                self.changes += 1;
            }
            self.actions.push_back(action);
        }
        Ok(())
    }

    /// The end of the module's control: the link goes to its full rate.
    #[cold]
    fn fail(&mut self, error: ConfigError) {
        self.fault = Some(Box::new(error));
        self.timeout = None;
        self.actions.clear();
        if self.rate != self.context.rate {
            self.rate = self.context.rate;
            self.changes += 1;
            self.actions.push_back(LinkAction::SetRate { rate: self.rate, pause: Duration::ZERO });
        }
    }
}

fn check_pause(field: &str, pause: Duration) -> Result<(), ConfigError> {
    if pause > LONGEST_PAUSE {
        return Err(ConfigError::new(field, pause, format!("at most {LONGEST_PAUSE}")));
    }
    Ok(())
}

/// Checks that a link can perform an action in answer to an event.
fn check(action: LinkAction, event: &LinkEvent, link: link::Context) -> Result<(), ConfigError> {
    match action {
        LinkAction::SetRate { rate, pause } => {
            link.check_rate("rate", rate)?;
            check_pause("pause", pause)
        }
        LinkAction::SetWindow(window) => {
            if matches!(event, LinkEvent::Acknowledgement { .. }) {
                return Ok(());
            }
            let expected = "a window only in answer to an acknowledgement";
            Err(ConfigError::new("window", format!("{} B", window.as_u64()), expected))
        }
    }
}

impl Machine for Link {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, event: LinkEvent) {
        if self.fault.is_none()
            && let Err(error) = self.ask(now, &event)
        {
            self.fail(error);
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        self.actions.pop_front()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.timeout
    }
}

impl link::Controller for Link {
    fn rate(&self) -> BitRate {
        self.rate
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn reads_segments(&self) -> bool {
        self.reads_segments
    }

    fn estimates(&self) -> Estimates {
        if !self.reads_segments || self.fault.is_some() {
            return Estimates::default();
        }
        self.instance.answer(place::ESTIMATES).unwrap_or_default()
    }

    fn fault(&self) -> Option<&ConfigError> {
        self.fault.as_deref()
    }
}
