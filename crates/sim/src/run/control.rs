//! Rate controllers and gateways: each is told what happens on its link, and the link does what it asks for.

use super::flow_keys::FlowKeys;
use super::net::Net;
use super::observers::Observers;
use crate::net::ids::{AgentId, ControllerId, LinkId};
use crate::net::packet::Packet;
use crate::net::transmitter::{InService, RateChange};
use crate::scenario::{Mechanism, Scenario};
use netlull_mechanism::gateway::{Gateway, GatewayAction, GatewayEvent, SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::rate::{Admission, Earth, PractRa, QueueView, RateAction, RateEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::gateway_summary::{Account, GatewaySummary};
use netlull_tcp::{Flags, Segment};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A controller of any kind.
pub(super) enum Controller {
    PractRa(PractRa),
    Earth(Earth),
    Gateway(Box<Steering>),
}

/// A gateway and what the summary says of it.
pub(super) struct Steering {
    pub machine: Gateway,
    pub account: Account,
}

impl Controller {
    /// The machine of a mechanism at the start of the run.
    pub fn new(mechanism: &Mechanism) -> Result<Self, ConfigError> {
        Ok(match mechanism {
            Mechanism::PractRa(config) => Self::PractRa(PractRa::new(config, Instant::ZERO)?),
            Mechanism::Earth(config) => Self::Earth(Earth::new(config.clone(), Instant::ZERO)?),
            Mechanism::Gateway(config) => {
                let machine = Gateway::new(config, Instant::ZERO)?;
                Self::Gateway(Box::new(Steering { machine, account: Account::default() }))
            }
        })
    }

    /// When to wake it, if nothing happens before.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::PractRa(machine) => machine.next_timeout(),
            Self::Earth(machine) => machine.next_timeout(),
            Self::Gateway(steering) => steering.machine.next_timeout(),
        }
    }
}

/// The controllers of a run.
pub(super) struct Controllers {
    each: Vec<Controlled>,
    pub flow_keys: FlowKeys,
}

/// A controller and its link.
struct Controlled {
    link: LinkId,
    machine: Controller,
    in_service: InService,
    /// The link that brings a gateway its acknowledgements.
    acknowledgements: Option<LinkId>,
}

/// What a controller asks for after an event.
struct Wish {
    /// The new rate, and the pause that it costs.
    change: Option<(BitRate, Duration)>,
    wake: Option<Instant>,
}

impl Controlled {
    /// Changes the rate of the link, if the controller asks for that, and sets the controller's timer.
    #[inline(always)]
    fn obey(&self, id: ControllerId, wish: &Wish, net: &mut Net) {
        if let Some((rate, pause)) = wish.change {
            net.change_rate(self.link, RateChange { rate, pause, in_service: self.in_service });
        }
        net.set_event(net.order.controller(id), wish.wake.unwrap_or(Instant::NEVER));
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

/// The rate and the pause that a gateway's action asks for.
#[inline(always)]
fn rate_change(action: Option<GatewayAction>) -> Option<(BitRate, Duration)> {
    match action {
        Some(GatewayAction::SetRate { rate, pause }) => Some((rate, pause)),
        Some(GatewayAction::SetWindow(_)) | None => None,
    }
}

/// A segment's part in the handshake, and its timestamps; nothing of what has neither SYN nor ACK.
#[inline(always)]
pub(super) fn header(segment: &Segment) -> Option<(SegmentKind, Option<Timestamps>)> {
    let Segment { flags, ts_val, ts_ecr, .. } = *segment;
    let kind = match (flags.contains(Flags::SYN), flags.contains(Flags::ACK)) {
        (true, true) => SegmentKind::SynAck,
        (true, false) => SegmentKind::Syn,
        (false, true) => SegmentKind::Other,
        (false, false) => return None,
    };
    let stamped = flags.contains(Flags::HAS_TIMESTAMPS);
    Some((kind, stamped.then_some(Timestamps { value: ts_val, echo: ts_ecr })))
}

/// What a gateway reads in a packet; nothing in a datagram. Both directions of a connection have the same key.
#[inline(always)]
fn seen(packet: &Packet, keys: &FlowKeys) -> Option<SegmentView> {
    let Segment { flags, seq, ack, len, .. } = packet.segment;
    let (kind, timestamps) = header(&packet.segment)?;
    Some(SegmentView {
        flow: keys.of(packet.agent.flow()),
        kind,
        end: seq.advanced_by(u64::from(packet.segment.sequence_len())).as_u32(),
        acknowledged: if flags.contains(Flags::ACK) { ack.as_u32() } else { 0 },
        data: len > 0,
        timestamps,
    })
}

/// The window field that says at least `window` bytes in units of 2^shift, not more than `field`: rounded up, so that the floor of
/// one MTU holds.
pub(super) fn window_field(window: Bytes, shift: u8, field: u16) -> u16 {
    // No window is near 2^64.
    let units = (window.as_u64() + (1 << shift) - 1) >> shift;
    u16::try_from(units).map_or(field, |units| units.min(field))
}

impl Controllers {
    /// The controllers of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let controlled = LinkId::all(scenario.links.len()).zip(&scenario.links).filter_map(|(link, spec)| {
            let control = spec.control.as_ref()?;
            // The scenario has validated the configuration.
            let machine = Controller::new(&control.mechanism).ok()?;
            let acknowledgements = control.acknowledgements.map(LinkId::new);
            Some(Controlled { link, machine, in_service: control.in_service, acknowledgements })
        });
        Self { each: controlled.collect(), flow_keys: FlowKeys::new(scenario) }
    }

    /// Tells the links of their controllers and of the gateways at their ends, and sets the first timeouts.
    pub fn start(&self, net: &mut Net) {
        for (id, controlled) in ControllerId::all(self.each.len()).zip(&self.each) {
            net.links[controlled.link].controller = Some(id);
            net.schedule.set(net.order.controller(id), controlled.machine.next_timeout().unwrap_or(Instant::NEVER));
        }
    }

    /// A controller's timeout has come.
    pub fn wake(&mut self, id: ControllerId, net: &mut Net, observers: &mut Observers) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        self.tell(id, RateEvent::Timeout { queue }, None, net, observers);
    }

    /// A link with a controller has refused a packet, or taken it where every packet is watched.
    pub fn offered(
        &mut self,
        id: ControllerId,
        admission: Admission,
        packet: &Packet,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        let size = Bytes::new(u64::from(packet.size));
        self.tell(id, RateEvent::Arrival { size, admission, queue }, Some(packet), net, observers);
    }

    /// Tells a controller what happened, to which packet, if one has come, and does what it asks for.
    #[inline(never)]
    fn tell(
        &mut self,
        id: ControllerId,
        event: RateEvent,
        packet: Option<&Packet>,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        let controlled = &mut self.each[id.index()];
        let action = match &mut controlled.machine {
            Controller::PractRa(machine) => handled(machine, net.now, event),
            Controller::Earth(machine) => handled(machine, net.now, event),
            Controller::Gateway(_) => return self.tell_gateway_of(id, event, packet, net, observers),
        };
        let change = action.map(|RateAction::SetRate { rate, pause }| (rate, pause));
        let wish = Wish { change, wake: controlled.machine.next_timeout() };
        controlled.obey(id, &wish, net);
    }

    /// The same where the controller is a gateway.
    fn tell_gateway_of(
        &mut self,
        id: ControllerId,
        event: RateEvent,
        packet: Option<&Packet>,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        let event = match event {
            RateEvent::Arrival { admission, queue, .. } => GatewayEvent::Arrival {
                admission,
                queue,
                segment: packet.and_then(|packet| self.arrived(id, packet, observers)),
            },
            RateEvent::Departure { queue } => GatewayEvent::Departure { queue },
            RateEvent::Timeout { queue } => GatewayEvent::Timeout { queue },
        };
        self.tell_gateway(id, event, net);
    }

    /// What a gateway reads in a packet that has come to its link; who records gateways sees it, too.
    #[inline(always)]
    fn arrived(&self, id: ControllerId, packet: &Packet, observers: &mut Observers) -> Option<SegmentView> {
        if let Some(gateways) = &mut observers.gateways {
            gateways.offered(self.each[id.index()].link, packet, &self.flow_keys);
        }
        seen(packet, &self.flow_keys)
    }

    /// A link with a controller has taken a packet. A gateway, which has more to do than other controllers, is told without a
    /// look at the kind of event.
    #[inline(always)]
    pub fn took(&mut self, id: ControllerId, link: LinkId, packet: &Packet, net: &mut Net, observers: &mut Observers) {
        let queue = net.links[link].queue_view();
        if let Controller::Gateway(_) = self.each[id.index()].machine {
            return self.gateway_took(id, queue, packet, net, observers);
        }
        let (size, admission) = (Bytes::new(u64::from(packet.size)), Admission::Accepted);
        self.tell(id, RateEvent::Arrival { size, admission, queue }, Some(packet), net, observers);
    }

    #[inline(never)]
    fn gateway_took(
        &mut self,
        id: ControllerId,
        queue: QueueView,
        packet: &Packet,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        let segment = self.arrived(id, packet, observers);
        let event = GatewayEvent::Arrival { admission: Admission::Accepted, queue, segment };
        self.tell_gateway(id, event, net);
    }

    /// A packet has left a link with a controller.
    #[inline(always)]
    pub fn let_go(&mut self, id: ControllerId, link: LinkId, net: &mut Net, observers: &mut Observers) {
        let queue = net.links[link].queue_view();
        if let Controller::Gateway(_) = self.each[id.index()].machine {
            return self.gateway_let_go(id, queue, net);
        }
        self.tell(id, RateEvent::Departure { queue }, None, net, observers);
    }

    #[inline(never)]
    fn gateway_let_go(&mut self, id: ControllerId, queue: QueueView, net: &mut Net) {
        self.tell_gateway(id, GatewayEvent::Departure { queue }, net);
    }

    #[inline(always)]
    fn tell_gateway(&mut self, id: ControllerId, event: GatewayEvent, net: &mut Net) {
        let controlled = &mut self.each[id.index()];
        let Controller::Gateway(steering) = &mut controlled.machine else { return };
        let Steering { machine, account } = steering.as_mut();
        account.settle(net.now, machine);
        let change = rate_change(handled(machine, net.now, event));
        let wish = Wish { change, wake: machine.next_timeout() };
        controlled.obey(id, &wish, net);
    }

    /// A packet has come to a gateway's node over the link that brings its acknowledgements: awnd <- min(awnd, swnd).
    /// `window_shift` is the shift of the windows that an agent advertises.
    #[inline]
    pub fn steer(&mut self, now: Instant, link: LinkId, packet: &mut Packet, window_shift: impl Fn(AgentId) -> u8) {
        let Some(segment) = seen(packet, &self.flow_keys).filter(|segment| segment.kind != SegmentKind::Syn) else {
            return;
        };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if segment.kind == SegmentKind::SynAck { 0 } else { window_shift(packet.agent.peer()) };
        for controlled in self.each.iter_mut().filter(|controlled| controlled.acknowledgements == Some(link)) {
            let Controller::Gateway(steering) = &mut controlled.machine else { continue };
            let Steering { machine, account } = steering.as_mut();
            account.acknowledgements += 1;
            let window = Bytes::new(u64::from(packet.segment.window) << shift);
            if let Some(GatewayAction::SetWindow(window)) =
                handled(machine, now, GatewayEvent::Acknowledgement { segment, window })
            {
                let field = window_field(window, shift, packet.segment.window);
                account.rewritten += u64::from(field != packet.segment.window);
                packet.segment.window = field;
            }
        }
    }

    /// The gateways' means begin here.
    pub fn start_measuring(&mut self, now: Instant) {
        for controlled in &mut self.each {
            if let Controller::Gateway(steering) = &mut controlled.machine {
                steering.account.restart(now, &steering.machine);
            }
        }
    }

    /// What the gateway of a link did, if it has one.
    pub fn gateway_summary(&self, now: Instant, link: LinkId) -> Option<GatewaySummary> {
        let Steering { machine, account } = self.steering(link)?;
        Some(account.summarise(now, machine))
    }

    /// The gateway of a link, if it has one.
    pub fn gateway(&self, link: LinkId) -> Option<&Gateway> {
        self.steering(link).map(|steering| &steering.machine)
    }

    fn steering(&self, link: LinkId) -> Option<&Steering> {
        let controlled = self.each.iter().find(|controlled| controlled.link == link)?;
        let Controller::Gateway(steering) = &controlled.machine else { return None };
        Some(steering)
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
