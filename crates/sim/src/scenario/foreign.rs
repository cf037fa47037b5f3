//! Controllers, machines of stations, congestion controls and sleep plans from outside netlull, put into a scenario.

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
use netlull_tcp::cc::ControllerFactory;
use netlull_units::{Bytes, Instant};
use std::sync::Arc;

impl Scenario {
    /// Puts a controller from outside on a link, in place of any other.
    ///
    /// A controller that reads segments gets the acknowledgements of the link that leads back.
    ///
    /// # Errors
    /// If there is no such link, its rate must stay as it is, it has no way back, or the controller refuses it.
    pub fn set_controller(&mut self, link: &str, factory: Arc<dyn LinkFactory>) -> Result<(), ScenarioError> {
        let field = format!("link.{link}.controller");
        let refuse = |message: String| Err(ScenarioError::new(field.clone(), message));
        let Some(index) = self.links.iter().position(|spec| spec.name == link) else {
            return refuse("is on no link of the scenario; expected the name of one".to_owned());
        };
        let spec = &self.links[index];
        if spec.capacity.is_some() {
            return refuse("stands beside a capacity; expected one or the other".to_owned());
        }
        if self.stations.iter().any(|station| station.down == index || station.up == index) {
            return refuse("is on the air of a station; expected an air of fixed rate".to_owned());
        }
        let context = LinkContext { rate: spec.rate, mtu: Bytes::new(u64::from(self.mtu)) };
        let refused = |error: ConfigError| ScenarioError::new(format!("{field}.{}", error.field), error.reason());
        let foreign = ForeignLink::new(factory, context).map_err(refused)?;
        let back = self.links.iter().position(|other| (other.from, other.to) == (spec.to, spec.from));
        if foreign.reads_segments() && back.is_none() {
            return refuse("reads acknowledgements, and there is no link back".to_owned());
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

    /// Gives the station at a node a machine from outside, in place of any other.
    ///
    /// # Errors
    /// If there is no station at the node, or the machine refuses it. The caller answers for the traffic that the machine can serve.
    pub fn set_station_machine(&mut self, node: &str, factory: Arc<dyn StationFactory>) -> Result<(), ScenarioError> {
        let field = format!("station.{node}.mechanism");
        let index = self.nodes.iter().position(|name| name == node);
        let Some(station) = self.stations.iter_mut().find(|station| Some(station.node) == index) else {
            let message = "is of no station of the scenario; expected the name of its node";
            return Err(ScenarioError::new(field, message));
        };
        if let Err(error) = factory.build(station.context, Instant::ZERO) {
            return Err(ScenarioError::new(format!("{field}.{}", error.field), error.reason()));
        }
        station.mechanism = Some(StationMechanism::Foreign(ForeignStation(factory)));
        Ok(())
    }

    /// Gives a TCP flow a congestion control from outside; the flow's other TCP options stay.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn set_congestion_control(
        &mut self,
        flow: &str,
        factory: Arc<dyn ControllerFactory>,
    ) -> Result<(), ScenarioError> {
        let Some(found) = self.tcp_flows.iter_mut().find(|other| other.path.name == flow) else {
            let message = "is of no TCP flow of the scenario; expected the name of one";
            return Err(ScenarioError::new(format!("flow.{flow}.tcp.congestion_control"), message));
        };
        found.config = found.config.clone().with_congestion_control(factory);
        Ok(())
    }
}

impl Document {
    /// Lets a plan from outside choose the links of an entry of `sleep`, in place of its `links` or its `plan`.
    ///
    /// The plan is made when the document is checked, so that the door is here and not on [`Scenario`]. The entry's times stay; so do
    /// `nodes` and `tcp_rate` of its plan, if it has one.
    ///
    /// # Errors
    /// If there is no such entry.
    pub fn set_sleep_plan(&mut self, entry: usize, planner: Arc<dyn SleepPlanner>) -> Result<(), ScenarioError> {
        let count = self.sleep.len();
        let Some(sleep) = self.sleep.get_mut(entry) else {
            let message = format!("is no entry of the scenario; expected a number below {count}");
            return Err(ScenarioError::new(format!("sleep.{entry}"), message));
        };
        let (traffic, network) = sleep.plan.take().map(|plan| (plan.traffic, plan.network)).unwrap_or_default();
        sleep.links = None;
        sleep.plan =
            Some(PlanDocument { algorithm: SleepAlgorithm::Foreign(ForeignPlanner(planner)), traffic, network });
        Ok(())
    }
}
