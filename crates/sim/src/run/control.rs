//! Controllers in the world: what happens on their links is told to them, what they ask for is done.

use super::parts::Controlled;
use super::world::World;
use crate::net::packet::{LinkId, Packet};
use crate::net::transmitter::{InService, RateChange};
use crate::probe::GatewaySample;
use crate::scenario::Mechanism;
use netlull_mechanism::gateway::{Gateway, GatewayAction, GatewayEvent, SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::rate::{Admission, Earth, PractRa, QueueView, RateAction, RateEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_tcp::{Flags, Segment};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A controller of any kind.
pub(super) enum Controller {
    PractRa(PractRa),
    Earth(Earth),
    Gateway(Box<Gateway>),
}

impl Controller {
    /// The machine of a mechanism at the start of the run.
    pub fn new(mechanism: &Mechanism) -> Result<Self, ConfigError> {
        Ok(match mechanism {
            Mechanism::PractRa(config) => Self::PractRa(PractRa::new(config, Instant::ZERO)?),
            Mechanism::Earth(config) => Self::Earth(Earth::new(config.clone(), Instant::ZERO)?),
            Mechanism::Gateway(config) => Self::Gateway(Box::new(Gateway::new(config, Instant::ZERO)?)),
        })
    }

    /// When to wake it, if nothing happens before.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::PractRa(machine) => machine.next_timeout(),
            Self::Earth(machine) => machine.next_timeout(),
            Self::Gateway(machine) => machine.next_timeout(),
        }
    }

    /// Tells it what happened on its link, to which packet, if one has come; gives the rate and pause it asks for.
    #[inline]
    fn told(&mut self, now: Instant, event: RateEvent, packet: Option<&Packet>) -> Option<(BitRate, Duration)> {
        let action = match self {
            Self::PractRa(machine) => handled(machine, now, event),
            Self::Earth(machine) => handled(machine, now, event),
            Self::Gateway(machine) => return told_gateway(machine, now, event, packet),
        };
        action.map(|RateAction::SetRate { rate, pause }| (rate, pause))
    }
}

/// A machine asks for one change of rate at most.
#[inline(always)]
fn handled<M: Machine>(machine: &mut M, now: Instant, event: M::Event) -> Option<M::Action> {
    machine.handle(now, event);
    let action = machine.poll_action();
    debug_assert!(machine.poll_action().is_none(), "two actions for one event");
    action
}

fn told_gateway(
    gateway: &mut Gateway,
    now: Instant,
    event: RateEvent,
    packet: Option<&Packet>,
) -> Option<(BitRate, Duration)> {
    let event = match event {
        RateEvent::Arrival { admission, queue, .. } => {
            GatewayEvent::Arrival { admission, queue, segment: packet.and_then(seen) }
        }
        RateEvent::Departure { queue } => GatewayEvent::Departure { queue },
        RateEvent::Timeout { queue } => GatewayEvent::Timeout { queue },
    };
    rate_change(handled(gateway, now, event))
}

/// The rate and the pause that an action asks for.
#[inline(always)]
fn rate_change(action: Option<GatewayAction>) -> Option<(BitRate, Duration)> {
    match action {
        Some(GatewayAction::SetRate { rate, pause }) => Some((rate, pause)),
        Some(GatewayAction::SetWindow(_)) | None => None,
    }
}

/// What a gateway reads in a packet; nothing in a datagram. Both directions of a connection have the same key.
#[inline(always)]
fn seen(packet: &Packet) -> Option<SegmentView> {
    let Segment { flags, ts_val, ts_ecr, .. } = packet.segment;
    let kind = match (flags.contains(Flags::SYN), flags.contains(Flags::ACK)) {
        (true, true) => SegmentKind::SynAck,
        (true, false) => SegmentKind::Syn,
        (false, true) => SegmentKind::Other,
        (false, false) => return None,
    };
    let stamped = flags.contains(Flags::HAS_TIMESTAMPS);
    let timestamps = stamped.then_some(Timestamps { value: ts_val, echo: ts_ecr });
    Some(SegmentView { flow: u64::from(packet.agent / 2), kind, timestamps })
}

/// The window field that says at least `window` bytes in units of 2^shift, not more than `field`: rounded up, so that the floor of
/// one MTU holds.
fn window_field(window: Bytes, shift: u8, field: u16) -> u16 {
    // No window is near 2^64.
    let units = (window.as_u64() + (1 << shift) - 1) >> shift;
    u16::try_from(units).map_or(field, |units| units.min(field))
}

impl World {
    /// A controller's timeout has come.
    pub(super) fn wake_controller(&mut self, index: usize) {
        let queue = self.links[self.controllers[index].link as usize].queue_view();
        self.control(index, RateEvent::Timeout { queue }, None);
    }

    /// Tells a controller what happened and does what it asks for.
    #[inline(never)]
    pub(super) fn control(&mut self, index: usize, event: RateEvent, packet: Option<&Packet>) {
        let Controlled { link, machine, in_service, .. } = &mut self.controllers[index];
        let change = machine.told(self.now, event, packet);
        let (link, in_service, wake) = (*link, *in_service, machine.next_timeout());
        self.controlled(index, (link, in_service), change, wake);
    }

    /// A link with a controller has taken a packet. A gateway, which has more to do than other controllers, is told without a
    /// look at what kind of event it is.
    #[inline(always)]
    pub(super) fn took(&mut self, index: usize, link: LinkId, packet: &Packet) {
        let queue = self.links[link as usize].queue_view();
        if let Controller::Gateway(_) = self.controllers[index].machine {
            return self.gateway_took(index, queue, packet);
        }
        let (size, admission) = (Bytes::new(u64::from(packet.size)), Admission::Accepted);
        self.control(index, RateEvent::Arrival { size, admission, queue }, Some(packet));
    }

    #[inline(never)]
    fn gateway_took(&mut self, index: usize, queue: QueueView, packet: &Packet) {
        let event = GatewayEvent::Arrival { admission: Admission::Accepted, queue, segment: seen(packet) };
        self.tell_gateway(index, event);
    }

    /// A packet has left a link with a controller.
    #[inline(always)]
    pub(super) fn let_go(&mut self, index: usize, link: LinkId) {
        let queue = self.links[link as usize].queue_view();
        if let Controller::Gateway(_) = self.controllers[index].machine {
            return self.gateway_let_go(index, queue);
        }
        self.control(index, RateEvent::Departure { queue }, None);
    }

    #[inline(never)]
    fn gateway_let_go(&mut self, index: usize, queue: QueueView) {
        self.tell_gateway(index, GatewayEvent::Departure { queue });
    }

    #[inline(always)]
    fn tell_gateway(&mut self, index: usize, event: GatewayEvent) {
        let Controlled { link, machine: Controller::Gateway(gateway), in_service, .. } = &mut self.controllers[index]
        else {
            return;
        };
        let change = rate_change(handled(gateway.as_mut(), self.now, event));
        let (link, in_service, wake) = (*link, *in_service, gateway.next_timeout());
        self.controlled(index, (link, in_service), change, wake);
    }

    /// A controller has been told something: changes the rate of its link, if it asks for that, and looks after its timer.
    #[inline(always)]
    fn controlled(
        &mut self,
        index: usize,
        (link, in_service): (LinkId, InService),
        change: Option<(BitRate, Duration)>,
        wake: Option<Instant>,
    ) {
        if let Some((rate, pause)) = change {
            let change = RateChange { rate, pause, in_service };
            self.links[link as usize].change_rate(self.now, change, &mut self.schedule);
        }
        let (slot, wake) = (self.slots.controller(index), wake.unwrap_or(Instant::NEVER));
        if self.schedule.at(slot) != wake {
            self.schedule.set(slot, wake);
        }
    }

    /// A packet has come to a gateway's node over the link that brings its acknowledgements: awnd <- min(awnd, swnd).
    #[inline]
    pub(super) fn steer(&mut self, link: LinkId, packet: &mut Packet) {
        let Some(segment) = seen(packet).filter(|segment| segment.kind != SegmentKind::Syn) else { return };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if segment.kind == SegmentKind::SynAck { 0 } else { self.window_shift(packet.agent as usize ^ 1) };
        for index in 0..self.controllers.len() {
            if self.controllers[index].acknowledgements != Some(link) {
                continue;
            }
            let Controller::Gateway(gateway) = &mut self.controllers[index].machine else { continue };
            let window = Bytes::new(u64::from(packet.segment.window) << shift);
            if let Some(GatewayAction::SetWindow(window)) =
                handled(gateway.as_mut(), self.now, GatewayEvent::Acknowledgement { segment, window })
            {
                packet.segment.window = window_field(window, shift, packet.segment.window);
            }
        }
    }

    /// What gateways suggest and estimate at the end of a bin.
    pub(super) fn sample_gateways(&mut self, now: Instant) {
        let Some(table) = &mut self.observers.gateways else { return };
        for Controlled { link, machine, .. } in &self.controllers {
            if let Controller::Gateway(gateway) = machine
                && self.observers.links.contains(link)
            {
                let sample = GatewaySample {
                    window: gateway.window(),
                    flows: gateway.flows(),
                    round_trip: gateway.round_trip(),
                };
                table.push(now, *link, sample);
            }
        }
    }

    /// The shift of the windows that an agent advertises. A gateway on a path reads it in the handshake.
    fn window_shift(&self, agent: usize) -> u8 {
        match self.endpoints.get(agent) {
            Some(endpoint) => endpoint.window_shift(),
            None => self.requests.window_shift(agent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_rounded_up_to_the_scale_and_never_raised() {
        assert_eq!(window_field(Bytes::new(1500), 0, 65_535), 1500);
        // 1500 / 128 = 11.7: 12 units are 1536 B.
        assert_eq!(window_field(Bytes::new(1500), 7, 500), 12);
        assert_eq!(window_field(Bytes::new(1500), 7, 11), 11);
        // Nothing to round: 1536 B are 12 units, and 1537 B 13.
        assert_eq!((window_field(Bytes::new(1536), 7, 500), window_field(Bytes::new(1537), 7, 500)), (12, 13));
        assert_eq!(window_field(Bytes::new(1 << 30), 7, 500), 500);
    }
}
