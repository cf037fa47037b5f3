//! Rate controllers and gateways. Each receives the events of its link, and the link carries out its actions.

use super::flow_keys::FlowKeys;
use super::net::Net;
use super::observers::Observers;
use crate::net::ids::{AgentId, ControllerId, LinkId};
use crate::net::packet::Packet;
use crate::net::transmitter::{InService, RateChange};
use crate::scenario::Scenario;
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::{Estimates, LinkAction, LinkController, LinkEvent};
use netlull_mechanism::machines::{LinkMachine, LinkVisitor};
use netlull_mechanism::rate::Admission;
use netlull_network::gateway_summary::{Account, GatewaySummary};
use netlull_tcp::{Flags, Segment};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// The controllers of a run.
pub(super) struct Controllers {
    each: Vec<Controlled>,
    pub flow_keys: FlowKeys,
}

/// A controller and its link.
struct Controlled {
    link: LinkId,
    machine: LinkMachine,
    /// The estimates for the summary of a controller that reads segments.
    account: Option<Box<Account>>,
    in_service: InService,
    /// The link with the acknowledgements, for a controller that reads segments.
    acknowledgements: Option<LinkId>,
}

/// A controller's actions after an event.
struct Wish {
    /// The new rate, and the pause for the change.
    change: Option<(BitRate, Duration)>,
    wake: Option<Instant>,
}

impl Controlled {
    /// Changes the link's rate if the controller asks for it, and sets the controller's timer.
    #[inline(always)]
    fn obey(&self, id: ControllerId, wish: &Wish, net: &mut Net) {
        if let Some((rate, pause)) = wish.change {
            net.change_rate(self.link, RateChange { rate, pause, in_service: self.in_service });
        }
        net.set_event(net.order.controller(id), wish.wake.unwrap_or(Instant::NEVER));
    }
}

/// An event for a controller of any type.
struct Told<'a> {
    now: Instant,
    event: LinkEvent,
    account: Option<&'a mut Account>,
}

impl LinkVisitor for Told<'_> {
    type Output = Wish;

    #[inline(always)]
    fn visit<M: LinkController>(self, machine: &mut M) -> Wish {
        if let Some(account) = self.account {
            account.settle(self.now, machine);
        }
        let change = handled(machine, self.now, self.event).and_then(LinkAction::new_rate);
        Wish { change, wake: machine.next_timeout() }
    }
}

/// Passes an event to a machine and returns its action. A machine asks for at most one change of rate.
#[inline(always)]
fn handled<M: Machine>(machine: &mut M, now: Instant, event: M::Event) -> Option<M::Action> {
    machine.handle(now, event);
    let action = machine.poll_action();
    debug_assert!(machine.poll_action().is_none(), "two actions for one event");
    action
}

/// A segment's part in the handshake, and its timestamps; `None` without SYN and ACK.
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

/// The fields of a packet that a gateway reads; `None` for a datagram. Both directions of a connection have the same
/// key.
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

/// The window field for at least `window` bytes in units of 2^shift, at most `field`. It is rounded up to keep the
/// minimum of one MTU.
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
            let machine = control.mechanism.build(control.link, Instant::ZERO).ok()?;
            let account = machine.reads_segments().then(Box::default);
            let acknowledgements = control.acknowledgements.map(LinkId::new);
            Some(Controlled { link, machine, account, in_service: control.in_service, acknowledgements })
        });
        Self { each: controlled.collect(), flow_keys: FlowKeys::new(scenario) }
    }

    /// Registers controllers and gateways with their links, and sets the first timeouts.
    pub fn start(&self, net: &mut Net) {
        for (id, controlled) in ControllerId::all(self.each.len()).zip(&self.each) {
            net.links[controlled.link].controller = Some(id);
            net.schedule.set(net.order.controller(id), controlled.machine.next_timeout().unwrap_or(Instant::NEVER));
        }
    }

    /// Handles a controller's timeout.
    #[inline(never)]
    pub fn wake(&mut self, id: ControllerId, net: &mut Net) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        self.tell(id, LinkEvent::Timeout { queue }, net);
    }

    /// Reports a refused packet to a link's controller, or an accepted packet if every packet is watched.
    #[inline(never)]
    pub fn offered(
        &mut self,
        id: ControllerId,
        admission: Admission,
        packet: &Packet,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        self.arrival(id, admission, packet, net, observers);
    }

    /// Reports an accepted packet to a link's controller.
    #[inline(never)]
    pub fn took(&mut self, id: ControllerId, packet: &Packet, net: &mut Net, observers: &mut Observers) {
        self.arrival(id, Admission::Accepted, packet, net, observers);
    }

    /// Reports a departure to a link's controller.
    #[inline(never)]
    pub fn let_go(&mut self, id: ControllerId, net: &mut Net) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        self.tell(id, LinkEvent::Departure { queue }, net);
    }

    /// Reports a packet to a controller, with its segment if the controller reads segments.
    #[inline(always)]
    fn arrival(
        &mut self,
        id: ControllerId,
        admission: Admission,
        packet: &Packet,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        let Controlled { link, account, .. } = &self.each[id.index()];
        let (queue, size) = (net.links[*link].queue_view(), Bytes::new(u64::from(packet.size)));
        let segment = if account.is_some() {
            if let Some(gateways) = &mut observers.gateways {
                gateways.offered(*link, packet, &self.flow_keys);
            }
            seen(packet, &self.flow_keys)
        } else {
            None
        };
        self.tell(id, LinkEvent::Arrival { size, admission, queue, segment }, net);
    }

    /// Passes an event to a controller and performs its actions. It is inlined into a function per event, so machines
    /// need not check the kind of event.
    #[inline(always)]
    fn tell(&mut self, id: ControllerId, event: LinkEvent, net: &mut Net) {
        let controlled = &mut self.each[id.index()];
        let told = Told { now: net.now, event, account: controlled.account.as_deref_mut() };
        let wish = controlled.machine.visit(told);
        controlled.obey(id, &wish, net);
    }

    /// Adjusts a packet at a gateway's node that arrives over the link with acknowledgements: awnd <- min(awnd, swnd).
    ///
    /// `window_shift` is the shift of an agent's advertised windows.
    #[inline]
    pub fn steer(&mut self, now: Instant, link: LinkId, packet: &mut Packet, window_shift: impl Fn(AgentId) -> u8) {
        let Some(segment) = seen(packet, &self.flow_keys).filter(|segment| segment.kind != SegmentKind::Syn) else {
            return;
        };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if segment.kind == SegmentKind::SynAck { 0 } else { window_shift(packet.agent.peer()) };
        for controlled in self.each.iter_mut().filter(|controlled| controlled.acknowledgements == Some(link)) {
            let Controlled { machine, account: Some(account), .. } = controlled else { continue };
            account.acknowledgements += 1;
            let window = Bytes::new(u64::from(packet.segment.window) << shift);
            if let Some(LinkAction::SetWindow(window)) =
                handled(machine, now, LinkEvent::Acknowledgement { segment, window })
            {
                let field = window_field(window, shift, packet.segment.window);
                account.rewritten += u64::from(field != packet.segment.window);
                packet.segment.window = field;
            }
        }
    }

    /// Starts the measured time of the mean estimates.
    pub fn start_measuring(&mut self, now: Instant) {
        for Controlled { machine, account, .. } in &mut self.each {
            if let Some(account) = account {
                account.restart(now, machine);
            }
        }
    }

    /// The summary of a link's controller, if it reads segments.
    pub fn gateway_summary(&self, now: Instant, link: LinkId) -> Option<GatewaySummary> {
        let Controlled { machine, account, .. } = self.of_link(link)?;
        Some(account.as_ref()?.summarise(now, machine))
    }

    /// The estimates of a link's controller, if it reads segments.
    pub fn estimates(&self, link: LinkId) -> Option<Estimates> {
        let Controlled { machine, .. } = self.of_link(link)?;
        machine.reads_segments().then(|| machine.estimates())
    }

    fn of_link(&self, link: LinkId) -> Option<&Controlled> {
        self.each.iter().find(|controlled| controlled.link == link)
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
        // Exact multiples are not rounded: 1536 B are 12 units, and 1537 B are 13.
        assert_eq!((window_field(Bytes::new(1536), 7, 500), window_field(Bytes::new(1537), 7, 500)), (12, 13));
        assert_eq!(window_field(Bytes::new(1 << 30), 7, 500), 500);
    }
}
