//! The mechanisms of all links, and the links that carry acknowledgements for gateways.

use super::connections::Connections;
use super::frame::Frame;
use super::ids::{ById, Id, LinkId};
use crate::error::{LiveError, Result};
use crate::tape::{LinkSetup, OnTape};
use netlull_mechanism::ConfigError;
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps, window_field};
use netlull_mechanism::link::{self, Controller as _, Estimates, LinkEvent, LowPowerTimes};
use netlull_network::driver::{Driver, Line};
use netlull_network::gateway_summary::GatewaySummary;
use netlull_network::plan::{ControlPlan, LinkPlan, Plan};
use netlull_units::{Bytes, Instant};
use netlull_wire::{TcpPacket, set_window};
use std::path::Path;

/// The mechanisms.
#[derive(Debug)]
pub(super) struct Controls {
    each: ById<LinkId, Option<Controlled>>,
    /// True for each link whose acknowledgements gateways read.
    steered: ById<LinkId, bool>,
    /// The first failure.
    failed: Option<(Instant, LinkId, ConfigError)>,
}

/// The mechanism of a link, which is recorded.
#[derive(Debug)]
struct Controlled {
    driver: Driver<OnTape<link::Running>>,
    /// True if arrivals show their segments.
    sees_segments: bool,
    /// The link with the acknowledgements, for a controller that reads segments.
    acknowledgements: Option<LinkId>,
    /// The other direction, if both sleep and wake together.
    coupled_with: Option<LinkId>,
}

impl Controlled {
    fn new(plan: &ControlPlan, link: &str, tapes: Option<&Path>) -> Result<Self> {
        let setup = LinkSetup { mechanism: plan.mechanism.clone(), link: plan.link, naps: plan.naps.clone() };
        let machine = match tapes {
            Some(folder) => OnTape::recorded(&setup, Instant::ZERO, link, &folder.join(format!("{link}.tape")))?,
            None => OnTape::blank(&setup, Instant::ZERO)
                .map_err(|error| LiveError::system(format!("link {link}"), error))?,
        };
        Ok(Self {
            driver: Driver::new(machine.quiet(), plan.link, plan.in_service),
            sees_segments: plan.mechanism.sees_segments(),
            acknowledgements: plan.acknowledgements.map(LinkId::numbered),
            coupled_with: plan.coupled_with.map(LinkId::numbered),
        })
    }
}

impl Controls {
    /// Creates the mechanisms of a plan, recorded in the folder `tapes`.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be started.
    pub(super) fn new(plan: &Plan, tapes: Option<&Path>) -> Result<Self> {
        let controlled = |link: &LinkPlan| {
            link.control.as_ref().map(|control| Controlled::new(control, &link.name, tapes)).transpose()
        };
        let each: ById<LinkId, _> = plan.links.iter().map(controlled).collect::<Result<Vec<_>>>()?.into();
        let mut steered = ById::filled(false, plan.links.len());
        each.iter()
            .flatten()
            .filter_map(|controlled| controlled.acknowledgements)
            .for_each(|link| steered[link] = true);
        Ok(Self { each, steered, failed: None })
    }

    fn driver(&self, link: LinkId) -> Option<&Driver<OnTape<link::Running>>> {
        self.each[link].as_ref().map(|controlled| &controlled.driver)
    }

    /// Sets the first timer of a link's mechanism.
    pub(super) fn start(&self, link: LinkId, line: &mut impl Line) {
        self.driver(link).into_iter().for_each(|driver| driver.start(line));
    }

    /// True if arrivals show their segments to a link's mechanism.
    pub(super) fn sees_segments(&self, link: LinkId) -> bool {
        self.each[link].as_ref().is_some_and(|controlled| controlled.sees_segments)
    }

    /// True if the mechanism of a link reads the acknowledgements that `frames` carries.
    pub(super) fn reads(&self, link: LinkId, frames: LinkId) -> bool {
        self.each[link].as_ref().is_some_and(|controlled| controlled.acknowledgements == Some(frames))
    }

    /// Delivers an event to a link's mechanism, if it has one, and performs its actions. Returns the window that it
    /// requests. A mechanism that fails gets no more events, and ends the run.
    pub(super) fn tell(&mut self, now: Instant, link: LinkId, event: LinkEvent, line: &mut impl Line) -> Option<Bytes> {
        let driver = &mut self.each[link].as_mut()?.driver;
        driver.tell(now, event, line).unwrap_or_else(|error| {
            self.failed.get_or_insert((now, link, error));
            None
        })
    }

    /// The other direction of a coupled link, if it does not know yet if this one may stop.
    pub(super) fn news(&mut self, link: LinkId) -> Option<(LinkId, bool)> {
        let Controlled { driver, coupled_with, .. } = self.each[link].as_mut()?;
        coupled_with.zip(driver.news_for_other_direction())
    }

    /// Tells the mechanism of a coupled link if the other direction may stop, and performs its actions.
    pub(super) fn tell_of_other_direction(&mut self, now: Instant, link: LinkId, is_ready: bool, line: &mut impl Line) {
        let Some(Controlled { driver, .. }) = &mut self.each[link] else { return };
        if let Err(error) = driver.tell_of_other_direction(now, is_ready, line) {
            self.failed.get_or_insert((now, link, error));
        }
    }

    /// The time in each state of a link's low-power idle, if it has that.
    pub(super) fn low_power(&self, now: Instant, link: LinkId) -> Option<LowPowerTimes> {
        self.driver(link)?.machine().low_power(now)
    }

    /// The first failure of a mechanism: its time and its link.
    pub(super) fn failure(&self) -> Option<&(Instant, LinkId, ConfigError)> {
        self.failed.as_ref()
    }

    /// Counts an acknowledgement with a window reduced by a link's mechanism.
    pub(super) fn count_rewritten(&mut self, link: LinkId) {
        self.each[link].iter_mut().for_each(|controlled| controlled.driver.count_rewritten());
    }

    /// Starts the measured time.
    pub(super) fn restart(&mut self, now: Instant) {
        self.each.iter_mut().flatten().for_each(|controlled| controlled.driver.restart(now));
    }

    /// The summary of a link's mechanism that reads segments.
    pub(super) fn summary(&self, now: Instant, link: LinkId) -> Option<GatewaySummary> {
        self.driver(link)?.summary(now)
    }

    /// The estimates of a link's mechanism that reads segments.
    pub(super) fn estimates(&self, link: LinkId) -> Option<Estimates> {
        self.driver(link)?.estimates()
    }

    /// Ends all recordings.
    ///
    /// # Errors
    /// If a recording could not be written.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.each.iter_mut().flatten().try_for_each(|controlled| controlled.driver.machine_mut().finish())
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
    /// The event for a gateway.
    pub(super) fn event(self) -> LinkEvent {
        LinkEvent::Acknowledgement { segment: self.segment, window: Bytes::new(u64::from(self.field) << self.shift) }
    }

    /// Lowers the window in the packet: awnd <- min(awnd, swnd). Returns whether the window has changed.
    pub(super) fn lower(self, window: Bytes, frame: &mut Frame) -> bool {
        let lower = window_field(window, self.shift, self.field);
        lower != self.field && set_window(&mut frame.bytes, lower).is_ok()
    }
}

/// The fields of a segment that a gateway reads; `None` without SYN and ACK.
#[must_use]
pub fn view(tcp: &TcpPacket<'_>) -> Option<SegmentView> {
    let flags = tcp.flags();
    Some(SegmentView {
        flow: tcp.connection().key(),
        kind: SegmentKind::of(flags.syn, flags.ack)?,
        end: tcp.seq().wrapping_add(tcp.sequence_len()),
        acknowledged: tcp.ack().unwrap_or(0),
        data: tcp.payload_len() > 0,
        fin: flags.fin,
        timestamps: tcp.options().timestamps.map(|(value, echo)| Timestamps { value, echo }),
    })
}
