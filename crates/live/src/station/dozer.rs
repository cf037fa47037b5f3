//! The machines that a station can have, as one.

use super::config::StationMechanism;
use crate::error::{LiveError, Result};
use crate::tape::{OnTape, Taped};
use netlull_mechanism::Machine;
use netlull_mechanism::radio::{Bsd, Eager, Psm, Shaper, StationAction, StationEvent};
use netlull_units::Instant;
use std::path::Path;

/// What lets a station's radio sleep.
#[derive(Debug)]
pub(super) enum Dozer {
    AlwaysOn,
    Eager(OnTape<Eager>),
    Shaper(Box<OnTape<Shaper>>),
    Psm(OnTape<Psm>),
    Bsd(OnTape<Bsd>),
}

impl Dozer {
    pub(super) fn new(mechanism: &StationMechanism, start: Instant, tape: Option<&Path>) -> Result<Self> {
        Ok(match mechanism {
            StationMechanism::AlwaysOn => Self::AlwaysOn,
            StationMechanism::Eager(config) => Self::Eager(made(config, start, tape)?),
            StationMechanism::ClientShaper(config) => Self::Shaper(Box::new(made(config, start, tape)?)),
            StationMechanism::Psm(config) => Self::Psm(made(config, start, tape)?),
            StationMechanism::Bsd(config) => Self::Bsd(made(config, start, tape)?),
        })
    }

    pub(super) fn handle(&mut self, now: Instant, event: StationEvent) {
        match self {
            Self::AlwaysOn => {}
            Self::Eager(machine) => machine.handle(now, event),
            Self::Shaper(machine) => machine.handle(now, event),
            Self::Psm(machine) => machine.handle(now, event),
            Self::Bsd(machine) => machine.handle(now, event),
        }
    }

    pub(super) fn poll_action(&mut self) -> Option<StationAction> {
        match self {
            Self::AlwaysOn => None,
            Self::Eager(machine) => machine.poll_action(),
            Self::Shaper(machine) => machine.poll_action(),
            Self::Psm(machine) => machine.poll_action(),
            Self::Bsd(machine) => machine.poll_action(),
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::AlwaysOn => None,
            Self::Eager(machine) => machine.next_timeout(),
            Self::Shaper(machine) => machine.next_timeout(),
            Self::Psm(machine) => machine.next_timeout(),
            Self::Bsd(machine) => machine.next_timeout(),
        }
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        match self {
            Self::AlwaysOn => Ok(()),
            Self::Eager(machine) => machine.finish(),
            Self::Shaper(machine) => machine.finish(),
            Self::Psm(machine) => machine.finish(),
            Self::Bsd(machine) => machine.finish(),
        }
    }

    pub(super) fn shaper(&self) -> Option<&Shaper> {
        match self {
            Self::Shaper(machine) => Some(machine.machine()),
            _ => None,
        }
    }
}

fn made<M: Taped>(config: &M::Config, start: Instant, tape: Option<&Path>) -> Result<OnTape<M>> {
    match tape {
        Some(file) => OnTape::recorded(config, start, M::kind(config), file),
        None => OnTape::blank(config, start).map_err(|error| LiveError::system(M::kind(config), error)),
    }
}
