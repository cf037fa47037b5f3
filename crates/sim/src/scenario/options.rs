//! Run options: the fields that may differ between runs of a scenario.

use super::document::{ProbeDocument, Verify};
use super::error::ScenarioError;
use super::read::read_value;
use super::resolve::{Scenario, check_seed, probe};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The options of a run. `None` keeps the scenario's own value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// The seed of every random stream.
    pub seed: Option<u64>,
    /// The time series to record.
    pub probe: Option<ProbeDocument>,
    /// The verifier.
    pub verify: Option<Verify>,
}

impl RunOptions {
    /// Reads options; `probe` is a table in JSON.
    ///
    /// # Errors
    /// Names the field, its value and the expectation, as [`read_document`](super::read_document) does.
    pub fn read(seed: Option<u64>, probe: Option<&str>, verify: Option<&str>) -> Result<Self, ScenarioError> {
        let mut fields = Map::new();
        if let Some(probe) = probe {
            let table = serde_json::from_str(probe);
            let table = table.map_err(|error| ScenarioError::new("probe", format!("is not JSON: {error}")))?;
            fields.insert("probe".to_owned(), table);
        }
        if let Some(verify) = verify {
            fields.insert("verify".to_owned(), verify.into());
        }
        Ok(Self { seed, ..read_value(&Value::Object(fields))? })
    }

    /// Returns a document in JSON with every default filled in. These options replace its fields.
    ///
    /// # Errors
    /// If the text is not such a document.
    pub fn set_in(&self, document: &str) -> serde_json::Result<String> {
        let mut fields: Map<String, Value> = serde_json::from_str(document)?;
        let Self { seed, probe, verify } = self;
        let options = [
            ("seed", seed.map(serde_json::to_value)),
            ("probe", probe.as_ref().map(serde_json::to_value)),
            ("verify", verify.map(serde_json::to_value)),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value?);
            }
        }
        serde_json::to_string(&fields)
    }

    /// Returns these options, with those of `earlier` where these keep the scenario's own value.
    #[must_use]
    pub fn after(&self, earlier: &Self) -> Self {
        let Self { seed, probe, verify } = self.clone();
        Self {
            seed: seed.or(earlier.seed),
            probe: probe.or_else(|| earlier.probe.clone()),
            verify: verify.or(earlier.verify),
        }
    }
}

impl Scenario {
    /// Returns the scenario with these options in place of its own. The rest is not checked again.
    ///
    /// # Errors
    /// Names the option, its value and the expectation.
    pub fn with_options(&self, options: &RunOptions) -> Result<Self, ScenarioError> {
        let mut changed = self.clone();
        if let Some(seed) = options.seed {
            check_seed(seed)?;
            changed.seed = seed;
        }
        if let Some(wanted) = &options.probe {
            changed.probe = probe(wanted, self.duration, &self.links, self.flow_paths())?;
        }
        changed.verify = options.verify.unwrap_or(self.verify);
        Ok(changed)
    }
}
