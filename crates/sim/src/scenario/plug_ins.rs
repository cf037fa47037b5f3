//! Insertion of custom controllers, station machines, congestion controls and sleep plans into a scenario.
//!
//! | door | place | check before the run |
//! |---|---|---|
//! | [`Scenario::set_controller`] | a link | builds a controller |
//! | [`Scenario::set_station_machine`] | a station's node | builds a machine; checks its access point |
//! | [`Scenario::set_congestion_control`] | a TCP flow | `check` of the factory: its `build` cannot fail |
//! | [`Document::set_sleep_plan`] | an entry of `sleep`, by number | [`Scenario::from_document`] makes the plan |
//!
//! A custom part that breaks its contract in the run ends it with [`RunError::Machine`](crate::run::RunError::Machine),
//! which names place and part.

use super::ScenarioError;
use super::document::{Document, PlanDocument};
use super::frame::refused;
use super::station::{At, check_traffic, refused_mechanism};
use super::{ControlSpec, LinkSpec, Scenario, StationSpec, TcpFlow};
use crate::net::ids::LinkId;
use netlull_mechanism::ConfigError;
use netlull_mechanism::link;
use netlull_mechanism::station;
use netlull_mechanism::topology::{self, SleepAlgorithm, SleepPlanner};
use netlull_network::plan::InService;
use netlull_power::TransitionPower;
use netlull_tcp::Algorithm;
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
    pub fn set_controller(&mut self, link: &str, factory: Arc<dyn link::Factory>) -> Result<(), ScenarioError> {
        let field = format!("link.{link}.controller");
        self.change(&field, |run| {
            let (index, control) = run.custom_control(&field, link, &factory)?;
            Arc::make_mut(&mut run.links)[index].control = Some(Box::new(control));
            Ok(())
        })
    }

    /// The custom controller of a link, checked, and the link's index.
    fn custom_control(
        &self,
        field: &str,
        link: &str,
        factory: &Arc<dyn link::Factory>,
    ) -> Result<(usize, ControlSpec), ScenarioError> {
        let refuse = |message: &str| Err(ScenarioError::new(field, message));
        let Some(index) = self.links.iter().position(|spec| spec.name == link) else {
            return refuse("is on an unknown link; expected the name of a link");
        };
        let spec = &self.links[index];
        if spec.capacity.is_some() {
            return refuse("conflicts with a capacity; expected only one of them");
        }
        if self.stations.iter().any(|station| station.down == index || station.up == index) {
            return refuse("is on a station's link; expected a link of fixed rate");
        }
        if self.sleep.cables.iter().any(|cable| cable.links.contains(&LinkId::new(index))) {
            return refuse("is on a link that sleeps; expected a link that is always awake");
        }
        let mtu = Bytes::new(u64::from(self.mtu));
        let context = link::Context { buffer: spec.buffer.length(mtu), ..link::Context::new(spec.rate, mtu) };
        let plug_in = link::PlugIn::new(Arc::clone(factory), context).map_err(|error| refused(field, &error))?;
        let back = self.links.iter().position(|other| (other.from, other.to) == (spec.to, spec.from));
        if plug_in.reads_segments() && back.is_none() {
            return refuse("reads acknowledgements, but there is no reverse link");
        }
        let control = ControlSpec {
            acknowledgements: back.filter(|_| plug_in.reads_segments()),
            mechanism: link::Config::PlugIn(plug_in),
            link: context,
            in_service: InService::default(),
            coupled_with: None,
            naps: None,
            transition_power: TransitionPower::default(),
        };
        Ok((index, control))
    }

    /// Changes a run and its first run for a recording, unless the first run leaves the field out.
    fn change(
        &mut self,
        field: &str,
        change: impl Fn(&mut Self) -> Result<(), ScenarioError>,
    ) -> Result<(), ScenarioError> {
        change(self)?;
        let leaves_out = |path: &String| {
            field.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        match &mut self.recording {
            Some(recording) if !recording.without.iter().any(leaves_out) => change(&mut recording.first),
            _ => Ok(()),
        }
    }

    /// Sets a custom machine on the station at a node. It replaces any other machine.
    ///
    /// # Errors
    /// If no station is at the node, if the machine refuses it or cannot serve its traffic, or if the parameters of
    /// the access point are out of range.
    pub fn set_station_machine(&mut self, node: &str, factory: Arc<dyn station::Factory>) -> Result<(), ScenarioError> {
        let field = format!("station.{node}.mechanism");
        self.change(&field, |run| {
            let index = run.nodes.iter().position(|name| name == node);
            let Some(station) = run.stations.iter_mut().find(|station| Some(station.node) == index) else {
                let message = "belongs to no station; expected the name of a station's node";
                return Err(ScenarioError::new(&field, message));
            };
            let at = At { field: field.clone(), name: node, node: station.node };
            check_traffic(factory.serves(), &run.tcp_flows, &run.request_flows, at)?;
            check_machine(&*factory, station.context)
                .map_err(|error| refused_mechanism(&format!("station.{node}"), &error))?;
            station.mechanism = Some(station::Config::PlugIn(station::PlugIn(Arc::clone(&factory))));
            Ok(())
        })
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
        // The first run of a recording has flows that the second run replays.
        let first = self.recording.as_mut().map(|recording| Arc::make_mut(&mut recording.first.tcp_flows));
        let flows = Arc::make_mut(&mut self.tcp_flows).iter_mut().chain(first.into_iter().flatten());
        let mut named = flows.filter(|other| other.path.name == flow).peekable();
        if named.peek().is_none() {
            return Err(ScenarioError::new(field, "belongs to no TCP flow; expected the name of a TCP flow"));
        }
        for found in named {
            let config = found.config.clone().with_congestion_control(Arc::clone(&factory));
            let refused = |error: netlull_tcp::ConfigError| {
                ScenarioError::new(format!("{field}.{}", error.field()), error.message())
            };
            config.validate().map_err(refused)?;
            found.config = config;
        }
        Ok(())
    }

    /// The custom machines and congestion controls, by their places.
    #[must_use]
    pub fn custom_parts(&self) -> Vec<String> {
        let is_controlled = |link: &&LinkSpec| {
            link.control.as_ref().is_some_and(|control| matches!(control.mechanism, link::Config::PlugIn(_)))
        };
        let has_machine = |station: &&StationSpec| matches!(station.mechanism, Some(station::Config::PlugIn(_)));
        let is_sent = |flow: &&TcpFlow| matches!(flow.config.congestion_control, Algorithm::PlugIn(_));
        let links = self.links.iter().filter(is_controlled).map(|link| format!("link.{}.controller", link.name));
        let stations = self.stations.iter().filter(has_machine);
        let stations = stations.map(|station| format!("station.{}.mechanism", self.nodes[station.node]));
        let flows = self.tcp_flows.iter().filter(is_sent);
        let flows = flows.map(|flow| format!("flow.{}.tcp.congestion_control", flow.path.name));
        links.chain(stations).chain(flows).collect()
    }
}

/// Checks a custom machine and its access point against a station.
fn check_machine(factory: &dyn station::Factory, station: station::Context) -> Result<(), ConfigError> {
    factory.build(station, Instant::ZERO)?;
    let access_point = factory.access_point().map(|access| access.check(station));
    access_point.transpose().map_err(|error| error.within("access_point"))?;
    Ok(())
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
            Some(PlanDocument { algorithm: SleepAlgorithm::PlugIn(topology::PlugIn(planner)), traffic, network });
        Ok(())
    }
}
