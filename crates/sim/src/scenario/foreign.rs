//! Insertion of custom controllers, station machines, congestion controls and sleep plans into a scenario.

use super::document::{Document, PlanDocument};
use super::error::ScenarioError;
use super::resolve::{Control, Scenario};
use netlull_mechanism::ConfigError;
use netlull_mechanism::link::{ForeignLink, LinkContext, LinkFactory};
use netlull_mechanism::machines::{LinkMechanism, StationMechanism};
use netlull_mechanism::station::{ForeignStation, StationFactory};
use netlull_mechanism::topology::{ForeignPlanner, SleepAlgorithm, SleepPlanner};
use netlull_network::plan::InService;
use netlull_power::TransitionPower;
use netlull_tcp::cc::CongestionControlFactory;
use netlull_units::{Bytes, Instant};
use std::sync::Arc;

impl Scenario {
    /// Sets a custom controller on a link. It replaces any other controller.
    ///
    /// A controller that reads segments gets the acknowledgements of the reverse link.
    ///
    /// # Errors
    /// If the link does not exist, needs a fixed rate or has no reverse link, or if the controller refuses it.
    pub fn set_controller(&mut self, link: &str, factory: Arc<dyn LinkFactory>) -> Result<(), ScenarioError> {
        let field = format!("link.{link}.controller");
        let refuse = |message: String| Err(ScenarioError::new(field.clone(), message));
        let Some(index) = self.links.iter().position(|spec| spec.name == link) else {
            return refuse("is on an unknown link; expected the name of a link".to_owned());
        };
        let spec = &self.links[index];
        if spec.capacity.is_some() {
            return refuse("conflicts with a capacity; expected only one of them".to_owned());
        }
        if self.stations.iter().any(|station| station.down == index || station.up == index) {
            return refuse("is on a station's link; expected a link of fixed rate".to_owned());
        }
        let context = LinkContext { rate: spec.rate, mtu: Bytes::new(u64::from(self.mtu)) };
        let refused = |error: ConfigError| ScenarioError::new(format!("{field}.{}", error.field), error.reason());
        let foreign = ForeignLink::new(factory, context).map_err(refused)?;
        let back = self.links.iter().position(|other| (other.from, other.to) == (spec.to, spec.from));
        if foreign.reads_segments() && back.is_none() {
            return refuse("reads acknowledgements, but there is no reverse link".to_owned());
        }
        let acknowledgements = back.filter(|_| foreign.reads_segments());
        self.links[index].control = Some(Control {
            mechanism: LinkMechanism::Foreign(foreign),
            link: context,
            acknowledgements,
            in_service: InService::default(),
            transition_power: TransitionPower::default(),
        });
        Ok(())
    }

    /// Sets a custom machine on the station at a node. It replaces any other machine.
    ///
    /// # Errors
    /// If no station is at the node, or if the machine refuses it. The caller must check that the machine can serve
    /// the station's traffic.
    pub fn set_station_machine(&mut self, node: &str, factory: Arc<dyn StationFactory>) -> Result<(), ScenarioError> {
        let field = format!("station.{node}.mechanism");
        let index = self.nodes.iter().position(|name| name == node);
        let Some(station) = self.stations.iter_mut().find(|station| Some(station.node) == index) else {
            let message = "belongs to no station; expected the name of a station's node";
            return Err(ScenarioError::new(field, message));
        };
        if let Err(error) = factory.build(station.context, Instant::ZERO) {
            return Err(ScenarioError::new(format!("{field}.{}", error.field), error.reason()));
        }
        station.mechanism = Some(StationMechanism::Foreign(ForeignStation(factory)));
        Ok(())
    }

    /// Sets a custom congestion control on a TCP flow. The flow's other TCP options stay.
    ///
    /// # Errors
    /// If the flow does not exist, or if the congestion control refuses its own parameters or the flow's TCP options.
    pub fn set_congestion_control(
        &mut self,
        flow: &str,
        factory: Arc<dyn CongestionControlFactory>,
    ) -> Result<(), ScenarioError> {
        let field = format!("flow.{flow}.tcp.congestion_control");
        let Some(found) = self.tcp_flows.iter_mut().find(|other| other.path.name == flow) else {
            return Err(ScenarioError::new(field, "belongs to no TCP flow; expected the name of a TCP flow"));
        };
        let config = found.config.clone().with_congestion_control(factory);
        config.validate().map_err(|error| ScenarioError::new(format!("{field}.{}", error.field()), error.message()))?;
        found.config = config;
        Ok(())
    }
}

impl Document {
    /// Sets a custom plan that chooses the links of an entry of `sleep`, in place of its `links` or its `plan`.
    ///
    /// The check of the document makes the plan. Hence the method is here and not on [`Scenario`]. The entry's times
    /// stay, and so do `nodes` and `tcp_rate` of an existing plan.
    ///
    /// # Errors
    /// If the entry does not exist.
    pub fn set_sleep_plan(&mut self, entry: usize, planner: Arc<dyn SleepPlanner>) -> Result<(), ScenarioError> {
        let count = self.sleep.len();
        let Some(sleep) = self.sleep.get_mut(entry) else {
            let message = format!("does not exist; expected a number below {count}");
            return Err(ScenarioError::new(format!("sleep.{entry}"), message));
        };
        let (traffic, network) = sleep.plan.take().map(|plan| (plan.traffic, plan.network)).unwrap_or_default();
        sleep.links = None;
        sleep.plan =
            Some(PlanDocument { algorithm: SleepAlgorithm::Foreign(ForeignPlanner(planner)), traffic, network });
        Ok(())
    }
}
