//! The mechanisms of all links, and the links that carry acknowledgements for gateways.

use super::connections::Connections;
use super::controller::{LinkControl, view};
use super::frame::Frame;
use super::ids::{ById, Id, LinkId};
use crate::error::Result;
use netlull_mechanism::gateway::SegmentKind;
use netlull_mechanism::link::LinkEvent;
use netlull_network::plan::Plan;
use netlull_network::transmission::RateChange;
use netlull_units::{Bytes, Instant};
use netlull_wire::{set_window, window_field};
use std::path::Path;

/// The mechanisms.
#[derive(Debug)]
pub(super) struct Controls {
    controllers: ById<LinkId, Option<LinkControl>>,
    /// Whether gateways read the acknowledgements of a link, by link.
    steered: ById<LinkId, bool>,
}

impl Controls {
    /// Creates the mechanisms of a plan, recorded in the folder `tapes`.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be started.
    pub(super) fn new(plan: &Plan, tapes: Option<&Path>) -> Result<Self> {
        let mut steered = ById::filled(false, plan.links.len());
        let controls = plan.links.iter().filter_map(|link| link.control.as_ref());
        for way_back in controls.filter_map(|control| control.acknowledgements) {
            steered[LinkId::numbered(way_back)] = true;
        }
        let controllers = plan
            .links
            .iter()
            .map(|link| link.control.as_ref().map(|control| LinkControl::new(control, &link.name, tapes)).transpose());
        Ok(Self { controllers: controllers.collect::<Result<Vec<_>>>()?.into(), steered })
    }

    /// The mechanism of a link.
    pub(super) fn get(&self, link: LinkId) -> Option<&LinkControl> {
        self.controllers[link].as_ref()
    }

    /// All mechanisms.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut LinkControl> {
        self.controllers.iter_mut().flatten()
    }

    /// The instant of the next timeout of a link's mechanism.
    pub(super) fn next_timeout(&self, link: LinkId) -> Instant {
        self.get(link).map_or(Instant::NEVER, LinkControl::next_timeout)
    }

    /// Delivers an event to a link's mechanism and returns the requested change of rate.
    pub(super) fn tell(&mut self, now: Instant, link: LinkId, event: LinkEvent) -> Option<RateChange> {
        let controller = self.controllers[link].as_mut()?;
        let in_service = controller.in_service;
        let (rate, pause) = controller.tell(now, event)?;
        Some(RateChange { rate, pause, in_service })
    }

    /// Ends all recordings.
    ///
    /// # Errors
    /// If a recording could not be written.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.iter_mut().try_for_each(LinkControl::finish)
    }

    /// Lets gateways lower the window of an acknowledgement at the end of a link: awnd <- min(awnd, swnd).
    pub(super) fn steer(&mut self, now: Instant, link: LinkId, frame: &mut Frame, connections: &Connections) {
        if !self.steered[link] {
            return;
        }
        let Some((segment, field, is_syn)) =
            frame.tcp().and_then(|tcp| Some((view(&tcp)?, tcp.window_field(), tcp.flags().syn)))
        else {
            return;
        };
        let Some(owner) = frame.owner.filter(|_| segment.kind != SegmentKind::Syn) else { return };
        // A window with an unknown scale is left unchanged; that of a SYN is unscaled (RFC 7323 section 2.2).
        let known = owner.connection.and_then(|connection| connections.get(connection)?.shift(owner.way));
        let Some(shift) = (if is_syn { Some(0) } else { known }) else { return };
        let gateways = self.iter_mut().filter(|own| own.acknowledgements == Some(link.number()));
        for gateway in gateways {
            let window = Bytes::new(u64::from(field) << shift);
            if let Some(window) = gateway.acknowledgement(now, segment, window) {
                let lower = window_field(window.as_u64(), shift, field);
                if lower != field && set_window(&mut frame.bytes, lower).is_ok() {
                    gateway.rewritten();
                }
            }
        }
    }
}
