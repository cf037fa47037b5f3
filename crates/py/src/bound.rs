//! Bounds on the energy of a link: a request as JSON and the arrivals in, the bounds as JSON out.

use crate::errors;
use netlull_bound::{Arrival, Discipline, Levels, Memoryless, Problem, Steps, Window, causal, clairvoyant};
use netlull_power::{PowerModel, TransitionPower};
use netlull_sim::scenario::{NamedPower, Scenario};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The link and the bounds to compute.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    link: String,
    rates_bps: Vec<u64>,
    transition_ns: u64,
    in_service: InService,
    transition_power: TransitionPower,
    late_ns: Vec<u64>,
    /// The mean lateness of causal controllers; empty for no causal bound.
    mean_late_ns: Vec<u64>,
    step_ns: Option<u64>,
    from_ns: u64,
    until_ns: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InService {
    FinishThenPause,
    Suspend,
}

impl Request {
    pub(crate) fn read(json: &str) -> PyResult<Self> {
        serde_json::from_str(json).map_err(errors::request)
    }

    fn discipline(&self) -> Discipline {
        match self.in_service {
            InService::FinishThenPause => Discipline::FinishThenPause,
            InService::Suspend => Discipline::Suspend,
        }
    }

    fn window(&self) -> Window {
        let at = |nanos| Instant::ZERO + Duration::from_nanos(nanos);
        Window { from: at(self.from_ns), until: at(self.until_ns) }
    }

    /// The bounds under each power model of the scenario.
    pub(crate) fn bounds(&self, scenario: &Scenario, arrivals: &[Arrival]) -> PyResult<Value> {
        let index = scenario.links.iter().position(|link| link.name == self.link).unwrap_or_default();
        let of = |power: &NamedPower| power.of(index, &scenario.links[index]);
        let mut models = Map::new();
        for power in &scenario.power {
            let model = of(power);
            self.check_rise(&power.name, &model)?;
            models.insert(power.name.clone(), self.under(&model, arrivals));
        }
        Ok(Value::Object(models))
    }

    /// The bounds hold for powers that rise with the rate; a device of the scenario's own may have others.
    fn check_rise(&self, name: &str, model: &PowerModel) -> PyResult<()> {
        let rates: Vec<_> = self.rates_bps.iter().copied().map(BitRate::from_bps).collect();
        let top = rates.last().copied().unwrap_or_default();
        let falls = |pair: &&[BitRate]| model.power(pair[1], top) < model.power(pair[0], top);
        match rates.windows(2).find(falls) {
            Some(pair) => {
                let message = format!("power.{name}: is lower at {} than at {}", pair[1], pair[0]);
                Err(errors::plan(format!("{message}; expected a power that rises with the rate")))
            }
            None => Ok(()),
        }
    }

    fn under(&self, power: &PowerModel, arrivals: &[Arrival]) -> Value {
        let rates: Vec<_> = self.rates_bps.iter().copied().map(BitRate::from_bps).collect();
        let levels = Levels::new(&rates, power, self.transition_power);
        let pause = Duration::from_nanos(self.transition_ns);
        let problem = Problem::new(arrivals, self.window(), levels.clone(), pause, self.discipline());
        let [lates, mean_lates] = [&self.late_ns, &self.mean_late_ns]
            .map(|nanos| nanos.iter().copied().map(Duration::from_nanos).collect::<Vec<_>>());
        let traffic = problem.traffic(power, &rates);
        let bracket = |&late: &Duration| {
            let steps =
                self.step_ns.map_or_else(|| Steps::new(&problem, late), |nanos| Steps { step: nanos as f64 / 1e9 });
            let found = clairvoyant(&problem, late, steps);
            json!({
                "late_s": late.as_secs_f64(), "step_s": steps.step,
                "least_j": found.least + traffic.least, "feasible_j": found.feasible + traffic.most,
            })
        };
        let clairvoyant: Vec<_> = lates.iter().map(bracket).collect();
        let seconds = self.window().until.saturating_since(self.window().from).as_secs_f64();
        let stream = Memoryless {
            packets_per_second: problem.packets_per_second(),
            mean_bits: problem.mean_bits(),
            levels,
            pause,
            discipline: self.discipline(),
        };
        let found = if mean_lates.is_empty() { None } else { causal(&stream, &mean_lates) };
        let causal = found.map(|bounds| {
            let bound = |(late, bound): (&Duration, netlull_bound::CausalBound)| {
                json!({ "mean_late_s": late.as_secs_f64(), "least_j": bound.watts * seconds + traffic.least })
            };
            mean_lates.iter().zip(bounds).map(bound).collect::<Vec<_>>()
        });
        json!({ "always_on_j": problem.always_on() + traffic.always_on, "clairvoyant": clairvoyant, "causal": causal })
    }
}

/// The arrivals, from their times in ns and sizes in bytes.
pub(crate) fn arrivals(times: &[u64], sizes: &[u64]) -> Vec<Arrival> {
    let arrival =
        |(&nanos, &bytes)| Arrival { at: Instant::ZERO + Duration::from_nanos(nanos), size: Bytes::new(bytes) };
    times.iter().zip(sizes).map(arrival).collect()
}
