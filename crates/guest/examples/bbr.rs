//! BBR as a WebAssembly module: the same source as the built-in congestion control, with its variables.
#![allow(missing_docs)]

use netlull_guest::tcp::cc::{CongestionControlFactory, PlugInControl};
use netlull_guest::tcp::{Algorithm, Config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BBR has no parameters. The connection's TCP options apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bbr {}

impl CongestionControlFactory for Bbr {
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn build(&self, config: &Config, seed: u32) -> Box<dyn PlugInControl> {
        Algorithm::Bbr.control(config, seed)
    }
}

netlull_guest::congestion_control!("bbr", Bbr);
