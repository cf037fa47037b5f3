//! The keys by which gateways distinguish connections.

use crate::net::ids::FlowId;
use crate::scenario::Scenario;
use netlull_mechanism::gateway::{FlowKey, spread};

/// Numbers in place of a hash of addresses and ports. Keys differ between seeds, and between successive connections in
/// the same slot.
#[derive(Default)]
pub(super) struct FlowKeys {
    seed: u64,
    /// The keys by connection; empty without gateways.
    keys: Vec<FlowKey>,
}

impl FlowKeys {
    /// The keys of a scenario's flows.
    pub fn new(scenario: &Scenario) -> Self {
        let mut controls = scenario.links.iter().filter_map(|link| link.control.as_ref());
        if !controls.any(|control| control.mechanism.sees_segments()) {
            return Self::default();
        }
        let mut keys = Self { seed: scenario.seed, keys: vec![0; scenario.flow_paths().count()] };
        FlowId::all(keys.keys.len()).for_each(|connection| keys.opened(connection, 0));
        keys
    }

    /// Sets the key of the n-th connection of a flow when it opens in a slot.
    pub fn opened(&mut self, connection: FlowId, generation: u64) {
        if self.keys.is_empty() {
            return;
        }
        let place = connection.index();
        if place >= self.keys.len() {
            self.keys.resize(place + 1, 0);
        }
        self.keys[place] = spread(spread(spread(self.seed) ^ u64::from(connection.number())) ^ generation);
    }

    /// The key of a connection; the same for both directions.
    #[inline]
    pub fn of(&self, connection: FlowId) -> FlowKey {
        self.keys.get(connection.index()).copied().unwrap_or_default()
    }
}
