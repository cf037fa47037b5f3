//! Conversion of link controllers in the document.

use super::queueing::{Measure, buffer};
use super::{Control, Result};
use crate::net::transmitter::InService;
use crate::scenario::ScenarioError;
use crate::scenario::document::{ControllerDocument, LinkDocument};
use netlull_document::check_ranges;
use netlull_mechanism::ConfigError;
use netlull_mechanism::link::LinkContext;
use netlull_units::Instant;
use schemars::JsonSchema;
use serde::Serialize;

/// A link's controller, checked.
pub(super) fn control(
    field: &str,
    document: &ControllerDocument,
    link: &LinkDocument,
    measure: Measure,
) -> Result<Control> {
    let options = document.rate.unwrap_or_default();
    let link = LinkContext {
        rate: link.rate,
        mtu: measure.mtu,
        buffer: buffer(field, link, measure)?.length(measure.mtu),
        suspends: options.in_service == InService::Suspend,
    };
    document.mechanism.build(link, Instant::ZERO).map_err(|error| refused(&format!("{field}.controller"), &error))?;
    Ok(Control {
        mechanism: document.mechanism.clone(),
        link,
        acknowledgements: None,
        in_service: options.in_service,
        transition_power: options.transition_power,
    })
}

/// The name of the link with a controller's acknowledgements; `None` if the controller reads no segments.
pub(super) fn acknowledgements(document: &ControllerDocument) -> Option<Option<&str>> {
    document
        .segments
        .as_ref()
        .filter(|_| document.mechanism.reads_segments())
        .map(|options| options.acknowledgements.as_deref())
}

/// Checks the ranges in the description of a part of the document.
pub(super) fn check<T: Serialize + JsonSchema + 'static>(field: &str, part: &T) -> Result<()> {
    check_ranges(part).map_err(|error| refused(field, &error))
}

/// Converts a mechanism's error to one with the field's path.
pub(in crate::scenario) fn refused(field: &str, error: &ConfigError) -> ScenarioError {
    ScenarioError::new(format!("{field}.{}", error.field), error.reason())
}
