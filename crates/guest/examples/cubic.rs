//! CUBIC as a WebAssembly module: the same source as the built-in congestion control.
#![allow(missing_docs)]

use netlull_guest::tcp::cc::{CongestionControlFactory, PlugInControl};
use netlull_guest::tcp::{Algorithm, Config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CUBIC has no parameters. The connection's TCP options apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cubic {}

impl CongestionControlFactory for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn build(&self, config: &Config, seed: u32) -> Box<dyn PlugInControl> {
        Algorithm::Cubic.control(config, seed)
    }
}

netlull_guest::congestion_control!("cubic", Cubic);
