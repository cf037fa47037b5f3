//! Controllers in the world: what happens on their links is told to them, what they ask for is done.

use super::parts::Controlled;
use super::world::World;
use crate::net::ids::{AgentId, ControllerId, FlowId, LinkId};
use crate::net::packet::Packet;
use crate::net::transmitter::{InService, RateChange};
use crate::scenario::{Mechanism, Scenario};
use netlull_mechanism::gateway::{
    FlowKey, Gateway, GatewayAction, GatewayEvent, SegmentKind, SegmentView, Timestamps, spread,
};
use netlull_mechanism::rate::{Admission, Earth, PractRa, QueueView, RateAction, RateEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::account::{Account, GatewaySummary};
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

/// What gateways tell connections by: numbers that stand for a hash of addresses and ports. Those of another seed are others, as with
/// other hosts, and so are those of connections that follow each other at one place.
#[derive(Default)]
pub(super) struct FlowKeys {
    seed: u64,
    /// By half the number of the connection's agents; empty where there is no gateway.
    keys: Vec<FlowKey>,
}

impl FlowKeys {
    /// The keys of a scenario's flows.
    pub fn new(scenario: &Scenario) -> Self {
        let is_gateway = |mechanism: &Mechanism| matches!(mechanism, Mechanism::Gateway(_));
        if !scenario.links.iter().filter_map(|link| link.control.as_ref()).any(|control| is_gateway(&control.mechanism))
        {
            return Self::default();
        }
        let mut keys = Self { seed: scenario.seed, keys: vec![0; scenario.flow_paths().count()] };
        FlowId::all(keys.keys.len()).for_each(|connection| keys.opened(connection, 0));
        keys
    }

    /// The n-th connection of its flow opens at a place.
    pub fn opened(&mut self, connection: FlowId, generation: u64) {
        if self.keys.is_empty() {
            return;
        }
        if connection.index() >= self.keys.len() {
            self.keys.resize(connection.index() + 1, 0);
        }
        self.keys[connection.index()] = spread(spread(spread(self.seed) ^ u64::from(connection.number())) ^ generation);
    }

    /// The key of the connection with this number; the same for both directions.
    #[inline]
    pub fn of(&self, connection: FlowId) -> FlowKey {
        self.keys.get(connection.index()).copied().unwrap_or_default()
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

impl World {
    /// A controller's timeout has come.
    pub(super) fn wake_controller(&mut self, index: ControllerId) {
        let queue = self.links[self.controllers[index.index()].link].queue_view();
        self.control(index, RateEvent::Timeout { queue }, None);
    }

    /// Tells a controller what happened, to which packet, if one has come, and does what it asks for.
    #[inline(never)]
    pub(super) fn control(&mut self, index: ControllerId, event: RateEvent, packet: Option<&Packet>) {
        let Controlled { link, machine, in_service, .. } = &mut self.controllers[index.index()];
        let action = match machine {
            Controller::PractRa(machine) => handled(machine, self.now, event),
            Controller::Earth(machine) => handled(machine, self.now, event),
            Controller::Gateway(_) => return self.control_gateway(index, event, packet),
        };
        let change = action.map(|RateAction::SetRate { rate, pause }| (rate, pause));
        let (link, in_service, wake) = (*link, *in_service, machine.next_timeout());
        self.controlled(index, (link, in_service), change, wake);
    }

    fn control_gateway(&mut self, index: ControllerId, event: RateEvent, packet: Option<&Packet>) {
        let event = match event {
            RateEvent::Arrival { admission, queue, .. } => GatewayEvent::Arrival {
                admission,
                queue,
                segment: packet.and_then(|packet| self.arrived(index, packet)),
            },
            RateEvent::Departure { queue } => GatewayEvent::Departure { queue },
            RateEvent::Timeout { queue } => GatewayEvent::Timeout { queue },
        };
        self.tell_gateway(index, event);
    }

    /// What a gateway reads in a packet that has come to its link; who records gateways sees it, too.
    #[inline(always)]
    fn arrived(&mut self, index: ControllerId, packet: &Packet) -> Option<SegmentView> {
        if let Some(gateways) = &mut self.observers.gateways {
            gateways.offered(self.controllers[index.index()].link, packet, &self.flow_keys);
        }
        seen(packet, &self.flow_keys)
    }

    /// A link with a controller has taken a packet. A gateway, which has more to do than other controllers, is told without a
    /// look at what kind of event it is.
    #[inline(always)]
    pub(super) fn took(&mut self, index: ControllerId, link: LinkId, packet: &Packet) {
        let queue = self.links[link].queue_view();
        if let Controller::Gateway(_) = self.controllers[index.index()].machine {
            return self.gateway_took(index, queue, packet);
        }
        let (size, admission) = (Bytes::new(u64::from(packet.size)), Admission::Accepted);
        self.control(index, RateEvent::Arrival { size, admission, queue }, Some(packet));
    }

    #[inline(never)]
    fn gateway_took(&mut self, index: ControllerId, queue: QueueView, packet: &Packet) {
        let segment = self.arrived(index, packet);
        let event = GatewayEvent::Arrival { admission: Admission::Accepted, queue, segment };
        self.tell_gateway(index, event);
    }

    /// A packet has left a link with a controller.
    #[inline(always)]
    pub(super) fn let_go(&mut self, index: ControllerId, link: LinkId) {
        let queue = self.links[link].queue_view();
        if let Controller::Gateway(_) = self.controllers[index.index()].machine {
            return self.gateway_let_go(index, queue);
        }
        self.control(index, RateEvent::Departure { queue }, None);
    }

    #[inline(never)]
    fn gateway_let_go(&mut self, index: ControllerId, queue: QueueView) {
        self.tell_gateway(index, GatewayEvent::Departure { queue });
    }

    #[inline(always)]
    fn tell_gateway(&mut self, index: ControllerId, event: GatewayEvent) {
        let Controlled { link, machine: Controller::Gateway(steering), in_service, .. } =
            &mut self.controllers[index.index()]
        else {
            return;
        };
        let Steering { machine, account } = steering.as_mut();
        account.settle(self.now, machine);
        let change = rate_change(handled(machine, self.now, event));
        let (link, in_service, wake) = (*link, *in_service, machine.next_timeout());
        self.controlled(index, (link, in_service), change, wake);
    }

    /// A controller has been told something: changes the rate of its link, if it asks for that, and looks after its timer.
    #[inline(always)]
    fn controlled(
        &mut self,
        index: ControllerId,
        (link, in_service): (LinkId, InService),
        change: Option<(BitRate, Duration)>,
        wake: Option<Instant>,
    ) {
        if let Some((rate, pause)) = change {
            let change = RateChange { rate, pause, in_service };
            self.links[link].change_rate(self.now, change, &mut self.schedule);
        }
        let (slot, wake) = (self.slots.controller(index), wake.unwrap_or(Instant::NEVER));
        if self.schedule.at(slot) != wake {
            self.schedule.set(slot, wake);
        }
    }

    /// A packet has come to a gateway's node over the link that brings its acknowledgements: awnd <- min(awnd, swnd).
    #[inline]
    pub(super) fn steer(&mut self, link: LinkId, packet: &mut Packet) {
        let Some(segment) = seen(packet, &self.flow_keys).filter(|segment| segment.kind != SegmentKind::Syn) else {
            return;
        };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if segment.kind == SegmentKind::SynAck { 0 } else { self.window_shift(packet.agent.peer()) };
        for index in 0..self.controllers.len() {
            if self.controllers[index].acknowledgements != Some(link) {
                continue;
            }
            let Controller::Gateway(steering) = &mut self.controllers[index].machine else { continue };
            let Steering { machine, account } = steering.as_mut();
            account.acknowledgements += 1;
            let window = Bytes::new(u64::from(packet.segment.window) << shift);
            if let Some(GatewayAction::SetWindow(window)) =
                handled(machine, self.now, GatewayEvent::Acknowledgement { segment, window })
            {
                let field = window_field(window, shift, packet.segment.window);
                account.rewritten += u64::from(field != packet.segment.window);
                packet.segment.window = field;
            }
        }
    }

    /// The gateways' means begin here.
    pub(super) fn restart_accounts(&mut self) {
        for controlled in &mut self.controllers {
            if let Controller::Gateway(steering) = &mut controlled.machine {
                steering.account.restart(self.now, &steering.machine);
            }
        }
    }

    /// What the gateway of a link did, if it has one.
    pub(super) fn gateway_summary(&self, link: LinkId) -> Option<GatewaySummary> {
        let controlled = self.controllers.iter().find(|controlled| controlled.link == link)?;
        let Controller::Gateway(steering) = &controlled.machine else { return None };
        Some(steering.account.summarise(self.now, &steering.machine))
    }

    /// The shift of the windows that an agent advertises. A gateway on a path reads it in the handshake.
    pub(super) fn window_shift(&self, agent: AgentId) -> u8 {
        match self.endpoints.get(agent.index()) {
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
