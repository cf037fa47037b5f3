//! The mechanisms that there are, for people: names, one-line descriptions, parameters with defaults and sources.

use crate::link::LinkMechanism;
use netlull_describe::Parameter;
use schemars::JsonSchema;

/// A mechanism as a user meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MechanismInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// Its purpose, in one line.
    pub summary: String,
    /// Where it is described.
    pub source: String,
    /// Its parameters, in the order of its fields.
    pub parameters: Vec<Parameter>,
}

impl MechanismInfo {
    /// The mechanism with the parameters `C`.
    #[must_use]
    pub fn of<C: JsonSchema>(name: &'static str) -> Self {
        let netlull_describe::Description { summary, source, parameters } = netlull_describe::description::<C>();
        Self { name, summary, source, parameters }
    }
}

/// All mechanisms, in alphabetical order.
#[must_use]
pub fn catalogue() -> Vec<MechanismInfo> {
    let mut all: Vec<_> = LinkMechanism::KINDS.iter().map(|kind| (kind.info)()).collect();
    all.sort_by_key(|info| info.name);
    all
}
