//! Congestion controls of modules.

use crate::instance::Instance;
use crate::module::Configured;
use crate::parameters::Parameters;
use netlull_document::ConfigError;
use netlull_guest::abi::{Kind, place};
use netlull_guest::control::{ControlAnswer, ControlContext, Deliveries};
use netlull_guest::record::Record;
use netlull_tcp::cc::{
    Ack, CongestionControl, CongestionControlFactory, ControlEvent, Delivery, Idle, Loss, PlugInControl, Recovered,
    Spurious, Start, TimeoutKind, Transmission, Variable,
};
use netlull_tcp::delivery::{DeliveryRate, LostSegment};
use netlull_tcp::{Config, TcpOptions};
use netlull_units::{BitRate, Instant};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};

/// A module of a congestion control with its parameters.
#[derive(Debug)]
struct Factory {
    configured: Arc<Configured>,
}

/// Loads the congestion control that a table names.
pub(crate) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn CongestionControlFactory>, ConfigError> {
    let configured = Configured::load(fields, Kind::CongestionControl)?;
    Instance::configured(&configured)?;
    Ok(Arc::new(Factory { configured: Arc::new(configured) }))
}

/// A connection whose instance does not exist before its first event: half of the endpoints have none.
#[derive(Clone, Debug)]
struct Plan {
    configured: Arc<Configured>,
    options: Value,
    context: ControlContext,
}

impl Plan {
    fn new(configured: &Arc<Configured>, config: &Config, seed: u32) -> Self {
        // The name of the algorithm is the module's, which is no name of the catalogue.
        let options = TcpOptions { congestion_control: None, ..TcpOptions::of(config) };
        let options = serde_json::to_value(options).unwrap_or_default();
        let context = ControlContext { mss: config.mss.into(), seed };
        Self { configured: Arc::clone(configured), options, context }
    }

    /// A new instance, and its values before the first event.
    fn instance(&self) -> Result<(Instance, ControlAnswer), ConfigError> {
        let (mut instance, _) = Instance::configured(&self.configured)?;
        if let Parameters::Json(_) = self.configured.parameters {
            instance.tell(&self.options)?;
        }
        instance.create(Instant::ZERO, self.context)?;
        let answer = instance.answer(place::ANSWER)?;
        Ok((instance, answer))
    }
}

impl CongestionControlFactory for Factory {
    fn name(&self) -> &str {
        &self.configured.module.description().name
    }

    fn check(&self, config: &Config) -> Result<(), netlull_tcp::ConfigError> {
        let made = Plan::new(&self.configured, config, 0).instance();
        made.map_err(|error| error.within("congestion_control"))?;
        Ok(())
    }

    fn build(&self, config: &Config, seed: u32) -> Box<dyn PlugInControl> {
        let plan = Plan::new(&self.configured, config, seed);
        let (answer, fault) = match plan.instance() {
            Ok((_, answer)) => (answer, None),
            Err(error) => (NO_WINDOW, Some(Box::new(error))),
        };
        Box::new(ModuleControl { plan, instance: None, answer, fault })
    }
}

/// The values of a congestion control that has failed.
const NO_WINDOW: ControlAnswer = ControlAnswer {
    cwnd: 0,
    ssthresh: 0,
    pacing_rate: None,
    send_quantum: 0,
    wants_deliveries: false,
    owns_window: false,
    app_limited: 0,
};

/// A congestion control in a module.
#[derive(Debug)]
struct ModuleControl {
    plan: Plan,
    /// Locked, because it also runs to report its variables to an observer.
    instance: Option<Mutex<Instance>>,
    answer: ControlAnswer,
    fault: Option<Box<ConfigError>>,
}

impl ModuleControl {
    /// Delivers an event. `rate` is the state of deliveries, for events that need it.
    fn tell(&mut self, now: Instant, event: ControlEvent, rate: Deliveries) {
        if self.fault.is_none()
            && let Err(error) = self.ask(now, &event, rate)
        {
            self.fault = Some(Box::new(error));
        }
    }

    fn ask(&mut self, now: Instant, event: &ControlEvent, rate: Deliveries) -> Result<(), ConfigError> {
        let instance = match &mut self.instance {
            Some(instance) => instance,
            none => none.insert(Mutex::new(self.plan.instance()?.0)),
        };
        let instance = instance.get_mut().unwrap_or_else(PoisonError::into_inner);
        rate.write(&mut instance.words_mut(place::DELIVERIES));
        instance.deliver(now, event)?;
        self.answer = instance.answer(place::ANSWER)?;
        Ok(())
    }
}

impl Clone for ModuleControl {
    /// A clone before the first event has an instance of its own. A later one fails: the state of an instance is not
    /// accessible as a whole.
    fn clone(&self) -> Self {
        let (plan, answer) = (self.plan.clone(), self.answer);
        let fault = match &self.instance {
            None => self.fault.clone(),
            Some(instance) => {
                let instance = instance.lock().unwrap_or_else(PoisonError::into_inner);
                Some(Box::new(instance.impossible(&"a copy in the middle of a connection")))
            }
        };
        Self { plan, instance: None, answer, fault }
    }
}

// Every method of the trait is an event of the guest or a value of its answer.
#[deny(clippy::missing_trait_methods)]
impl CongestionControl for ModuleControl {
    fn cwnd(&self) -> u64 {
        self.answer.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.answer.ssthresh
    }

    fn reseed(&mut self, seed: u32) {
        // Before the first event, and thus before there is an instance.
        self.plan.context.seed = seed;
    }

    fn on_established(&mut self, start: &Start) {
        self.tell(start.now, ControlEvent::OnEstablished(*start), Deliveries::default());
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.tell(ack.now, ControlEvent::OnAck(*ack), Deliveries::default());
    }

    fn on_duplicate_ack(&mut self, ack: &Ack) {
        self.tell(ack.now, ControlEvent::OnDuplicateAck(*ack), Deliveries::default());
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.tell(loss.now, ControlEvent::OnLoss(*loss), Deliveries::default());
    }

    fn on_segment_lost(&mut self, loss: &Loss, sent: &Transmission) {
        self.tell(loss.now, ControlEvent::OnSegmentLost { loss: *loss, sent: *sent }, Deliveries::default());
    }

    fn on_congestion_echo(&mut self, loss: &Loss) {
        self.tell(loss.now, ControlEvent::OnCongestionEcho(*loss), Deliveries::default());
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        self.tell(loss.now, ControlEvent::OnTimeout { loss: *loss, kind }, Deliveries::default());
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.tell(recovered.now, ControlEvent::OnRecovered(*recovered), Deliveries::default());
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.tell(spurious.now, ControlEvent::OnSpurious(*spurious), Deliveries::default());
    }

    fn on_idle_restart(&mut self, idle: &Idle) {
        self.tell(idle.now, ControlEvent::OnIdleRestart(*idle), Deliveries::default());
    }

    fn on_flight(&mut self, idle: &Idle) {
        self.tell(idle.now, ControlEvent::OnFlight(*idle), Deliveries::default());
    }

    fn wants_deliveries(&self) -> bool {
        self.answer.wants_deliveries
    }

    fn on_delivery(&mut self, delivery: &Delivery, rate: &mut DeliveryRate) {
        self.tell(delivery.now, ControlEvent::OnDelivery(*delivery), Deliveries::of(rate));
        if self.fault.is_none() {
            rate.set_app_limited(self.answer.app_limited);
        }
    }

    fn on_marked_lost(&mut self, now: Instant, lost: &LostSegment, rate: &DeliveryRate) {
        self.tell(now, ControlEvent::OnMarkedLost { now, lost: *lost }, Deliveries::of(rate));
    }

    fn on_restart(&mut self, now: Instant, rate: &DeliveryRate) {
        self.tell(now, ControlEvent::OnRestart { now }, Deliveries::of(rate));
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.answer.pacing_rate
    }

    fn send_quantum(&self) -> u64 {
        self.answer.send_quantum
    }

    fn failure(&self) -> Option<&ConfigError> {
        self.fault.as_deref()
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        let Some(instance) = self.instance.as_ref().filter(|_| self.fault.is_none()) else { return Ok(()) };
        instance.lock().unwrap_or_else(PoisonError::into_inner).variables(each)
    }

    fn owns_window(&self) -> bool {
        self.answer.owns_window
    }
}
