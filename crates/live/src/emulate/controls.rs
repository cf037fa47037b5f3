//! The mechanisms of all links, and the links that carry acknowledgements for gateways.

use super::connections::Connections;
use super::controller::{LinkControl, view};
use super::frame::Frame;
use super::ids::{ById, Id, LinkId};
use crate::error::Result;
use netlull_mechanism::gateway::{SegmentKind, SegmentView};
use netlull_mechanism::link::{LinkAction, LinkEvent};
use netlull_network::plan::{InService, Plan};
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

    /// Delivers an event to a link's mechanism, if it has one.
    pub(super) fn tell(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        if let Some(controller) = &mut self.controllers[link] {
            controller.tell(now, event);
        }
    }

    /// The next action that a link's mechanism requests.
    pub(super) fn next_action(&mut self, link: LinkId) -> Option<LinkAction> {
        self.controllers[link].as_mut()?.next_action()
    }

    /// How a link's mechanism treats the packet in service when the rate changes.
    pub(super) fn in_service(&self, link: LinkId) -> InService {
        self.get(link).map_or_else(InService::default, |controller| controller.in_service)
    }

    /// Ends all recordings.
    ///
    /// # Errors
    /// If a recording could not be written.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.iter_mut().try_for_each(LinkControl::finish)
    }

    /// The gateway of a link, if it reads the acknowledgements that `frames` carries.
    pub(super) fn gateway(&mut self, link: LinkId, frames: LinkId) -> Option<&mut LinkControl> {
        self.controllers[link].as_mut().filter(|control| control.acknowledgements == Some(frames.number()))
    }

    /// An acknowledgement at the end of a link, if gateways read it there.
    pub(super) fn shown(&self, link: LinkId, frame: &Frame, connections: &Connections) -> Option<Shown> {
        if !self.steered[link] {
            return None;
        }
        let tcp = frame.tcp()?;
        let (segment, field, is_syn) = (view(&tcp)?, tcp.window_field(), tcp.flags().syn);
        let owner = frame.owner.filter(|_| segment.kind != SegmentKind::Syn)?;
        // A window with an unknown scale is left unchanged; that of a SYN is unscaled (RFC 7323 section 2.2).
        let known = owner.connection.and_then(|connection| connections.get(connection)?.shift(owner.way));
        let shift = if is_syn { Some(0) } else { known }?;
        Some(Shown { segment, field, shift })
    }
}

/// An acknowledgement that gateways read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// The fields that a gateway reads.
    segment: SegmentView,
    /// The window field.
    field: u16,
    /// The shift of the window.
    shift: u8,
}

impl Shown {
    /// Delivers the acknowledgement to a gateway.
    pub(super) fn tell(self, now: Instant, gateway: &mut LinkControl) {
        gateway.acknowledgement(now, self.segment, Bytes::new(u64::from(self.field) << self.shift));
    }

    /// Lowers the window in the packet: awnd <- min(awnd, swnd). Returns whether the window has changed.
    pub(super) fn lower(self, window: Bytes, frame: &mut Frame) -> bool {
        let lower = window_field(window.as_u64(), self.shift, self.field);
        lower != self.field && set_window(&mut frame.bytes, lower).is_ok()
    }
}
