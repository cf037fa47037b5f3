//! Machines of stations in modules.

use crate::instance::Instance;
use crate::module::Configured;
use netlull_document::ConfigError;
use netlull_guest::abi::{Answer, Kind, MOST_ACTIONS, place};
use netlull_guest::description::serves_name;
use netlull_guest::record::Record;
use netlull_mechanism::Machine;
use netlull_mechanism::radio::AccessPointConfig;
use netlull_mechanism::station::{self, PowerMode, Serves, StationAction, StationEvent};
use netlull_units::Instant;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::Arc;

/// A module of a station's machine with its parameters.
#[derive(Debug)]
struct Factory {
    configured: Configured,
    serves: Serves,
    access_point: Option<AccessPointConfig>,
}

/// The traffic of a name in descriptions.
pub(crate) fn serves(name: &str) -> Option<Serves> {
    let all = [Serves::Everything, Serves::LastingConnections, Serves::OneDownload];
    all.into_iter().find(|serves| serves_name(*serves) == name)
}

/// Loads the machine that a table names.
pub(crate) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn station::Factory>, ConfigError> {
    let configured = Configured::load(fields, Kind::StationMachine)?;
    let (_, settings) = Instance::configured(&configured)?;
    let serves = serves(&configured.module.description().serves).unwrap_or(Serves::Everything);
    Ok(Arc::new(Factory { configured, serves, access_point: settings.access_point }))
}

impl station::Factory for Factory {
    fn name(&self) -> &str {
        &self.configured.module.description().name
    }

    fn serves(&self) -> Serves {
        self.serves
    }

    fn access_point(&self) -> Option<&AccessPointConfig> {
        self.access_point.as_ref()
    }

    fn table(&self) -> Option<Value> {
        Some(self.configured.table.clone())
    }

    fn build(&self, station: station::Context, start: Instant) -> Result<Box<dyn station::Policy>, ConfigError> {
        let (mut instance, _) = Instance::configured(&self.configured)?;
        instance.create(start, station)?;
        let Answer { timeout, .. } = instance.answer(place::ANSWER)?;
        Ok(Box::new(Station {
            instance,
            actions: VecDeque::with_capacity(MOST_ACTIONS),
            timeout,
            announces: self.access_point.is_some(),
            fault: None,
        }))
    }
}

/// A station's machine in a module.
#[derive(Debug)]
struct Station {
    instance: Instance,
    actions: VecDeque<StationAction>,
    timeout: Option<Instant>,
    /// True if an access point buffers packets.
    announces: bool,
    fault: Option<Box<ConfigError>>,
}

impl Station {
    /// Delivers an event and reads the answer.
    fn ask(&mut self, now: Instant, event: StationEvent) -> Result<(), ConfigError> {
        self.instance.deliver(now, &event)?;
        let Answer { actions, timeout } = self.instance.answer(place::ANSWER)?;
        self.timeout = timeout.map(|at| at.max(now));
        if actions > MOST_ACTIONS as u64 {
            return Err(self.instance.impossible(&format!("{actions} actions, more than {MOST_ACTIONS}")));
        }
        for action in self.instance.items::<StationAction>(place::ANSWER + Answer::WORDS, actions) {
            self.actions.push_back(action.map_err(|error| self.instance.impossible(&error))?);
        }
        if event == StationEvent::Timeout {
            self.instance.count_timeout(now)?;
        }
        Ok(())
    }
}

impl Machine for Station {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        if self.fault.is_some() {
            return;
        }
        if let Err(error) = self.ask(now, event) {
            // The radio stays awake from now on.
            self.fault = Some(Box::new(error));
            self.timeout = None;
            self.actions.clear();
            self.actions.push_back(StationAction::Wake);
            if self.announces {
                self.actions.push_back(StationAction::Announce(PowerMode::Awake));
            }
        }
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.actions.pop_front()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.timeout
    }
}

impl station::Policy for Station {
    fn fault(&self) -> Option<&ConfigError> {
        self.fault.as_deref()
    }
}
