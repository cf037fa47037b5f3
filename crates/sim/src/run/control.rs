//! Rate controllers and gateways. Each receives the events of its link, and the link carries out its actions.

use super::conduct::Conduct;
use super::error::RunError;
use super::flow_keys::FlowKeys;
use super::net::Net;
use super::observers::Observers;
use crate::net::ids::{AgentId, ControllerId, LinkId};
use crate::net::packet::Packet;
use crate::net::transmitter::{InService, RateChange};
use crate::scenario::{Control, LONGEST, LinkSpec, Scenario};
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::{Estimates, LinkAction, LinkContext, LinkController, LinkEvent};
use netlull_mechanism::machines::{LinkMachine, LinkVisitor};
use netlull_mechanism::rate::{Admission, HeadVerdict};
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::gateway_summary::{Account, GatewaySummary};
use netlull_tcp::{Flags, Segment};
use netlull_units::{Bytes, Duration, Instant};
use std::iter::{from_fn, once};

/// The controllers of a run.
pub(super) struct Controllers {
    each: Vec<Controlled>,
    pub flow_keys: FlowKeys,
}

/// A controller and its link.
struct Controlled {
    link: LinkId,
    machine: LinkMachine,
    driver: Driver,
    /// Whether arrivals show their segments.
    sees_segments: bool,
    /// The estimates for the summary of a controller that reads segments.
    account: Option<Box<Account>>,
    /// The link with the acknowledgements, for a controller that reads segments.
    acknowledgements: Option<LinkId>,
}

/// The rules by which a link performs its controller's actions.
struct Driver {
    context: LinkContext,
    in_service: InService,
    conduct: Box<Conduct>,
}

impl Driver {
    /// Performs the controller's actions in their order. `change` changes the link's rate. Returns the last window that
    /// the controller requests.
    ///
    /// # Errors
    /// If the link cannot perform an action, or the actions never end.
    #[inline(never)]
    fn perform(
        &mut self,
        now: Instant,
        actions: impl Iterator<Item = LinkAction>,
        mut change: impl FnMut(RateChange),
    ) -> Result<Option<Bytes>, RunError> {
        let mut window = None;
        for action in actions {
            self.conduct.count(now)?;
            match action {
                LinkAction::SetRate { rate, pause } => {
                    let impossible = |error| self.conduct.error(now, error);
                    self.context.check_rate("rate", rate).map_err(impossible)?;
                    check_pause(pause).map_err(impossible)?;
                    change(RateChange { rate, pause, in_service: self.in_service });
                }
                LinkAction::SetWindow(bytes) => window = Some(bytes),
            }
        }
        Ok(window)
    }

    /// The error of a window without an acknowledgement.
    #[cold]
    fn unasked(&self, window: Bytes, now: Instant) -> RunError {
        let expected = "a window only in answer to an acknowledgement";
        self.conduct.error(now, ConfigError::new("window", format!("{} B", window.as_u64()), expected))
    }
}

/// A controller's first two actions after an event, and its next timeout after them.
struct Wish {
    action: Option<LinkAction>,
    second: Option<LinkAction>,
    wake: Option<Instant>,
    /// Whether the controller has failed.
    failed: bool,
}

impl Controlled {
    /// Builds the controller of a link.
    fn new(link: LinkId, spec: &LinkSpec, control: &Control) -> Result<Self, RunError> {
        let mechanism = &control.mechanism;
        let conduct = Conduct::new(format!("link.{}.controller", spec.name), mechanism.name());
        let machine =
            mechanism.build(control.link, Instant::ZERO).map_err(|error| conduct.error(Instant::ZERO, error))?;
        Ok(Self {
            link,
            machine,
            driver: Driver { context: control.link, in_service: control.in_service, conduct: Box::new(conduct) },
            sees_segments: mechanism.sees_segments(),
            account: mechanism.reads_segments().then(Box::default),
            acknowledgements: control.acknowledgements.map(LinkId::new),
        })
    }

    /// Performs the controller's actions and sets its timer. Returns the window that it requests.
    #[inline(always)]
    fn obey(&mut self, id: ControllerId, wish: &Wish, net: &mut Net) -> Option<Bytes> {
        if wish.failed
            && let Some(fault) = self.machine.fault()
        {
            net.fail(self.driver.conduct.error(net.now, fault.clone()));
        }
        let (mut window, mut wake) = (None, wish.wake);
        match (wish.action, wish.second) {
            (None, _) => {}
            // The usual answer to an acknowledgement.
            (Some(LinkAction::SetWindow(bytes)), None) => window = Some(bytes),
            (Some(action), second) => {
                let (now, link, machine) = (net.now, self.link, &mut self.machine);
                let actions = once(action).chain(second).chain(from_fn(|| machine.poll_action()));
                let performed = self.driver.perform(now, actions, |change| net.change_rate(link, change));
                window = performed.unwrap_or_else(|error| {
                    net.fail(error);
                    None
                });
                wake = self.machine.next_timeout();
            }
        }
        net.set_timeout(id, wake.unwrap_or(Instant::NEVER));
        window
    }
}

/// Checks that a pause leaves room for sums of times.
fn check_pause(pause: Duration) -> Result<(), ConfigError> {
    if pause > LONGEST {
        return Err(ConfigError::new("pause", pause, format!("at most {LONGEST}")));
    }
    Ok(())
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
        machine.handle(self.now, self.event);
        let action = machine.poll_action();
        let second = if action.is_some() { machine.poll_action() } else { None };
        Wish { action, second, wake: machine.next_timeout(), failed: machine.fault().is_some() }
    }
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
        fin: flags.contains(Flags::FIN),
        timestamps,
    })
}

/// The window field for at least `window` bytes in units of 2^shift, at most `field`. It is rounded up to keep the
/// minimum of one MTU.
pub(super) fn window_field(window: Bytes, shift: u8, field: u16) -> u16 {
    let window = window.as_u64().min(u64::from(field) << shift);
    u16::try_from((window + (1 << shift) - 1) >> shift).unwrap_or(field)
}

impl Controllers {
    /// The controllers of a scenario.
    ///
    /// # Errors
    /// If a controller cannot be built.
    pub fn new(scenario: &Scenario) -> Result<Self, RunError> {
        let links = LinkId::all(scenario.links.len()).zip(scenario.links.iter());
        let controlled = links.filter_map(|(link, spec)| Some(Controlled::new(link, spec, spec.control.as_ref()?)));
        Ok(Self { each: controlled.collect::<Result<_, _>>()?, flow_keys: FlowKeys::new(scenario) })
    }

    /// Registers controllers and gateways with their links, and sets the first timeouts.
    pub fn start(&self, net: &mut Net) {
        for (id, controlled) in self.ids().zip(&self.each) {
            net.links[controlled.link].controller = Some(id);
            let first = controlled.machine.next_timeout().unwrap_or(Instant::NEVER);
            net.set_timeout(id, first);
        }
    }

    /// All controllers.
    pub fn ids(&self) -> impl Iterator<Item = ControllerId> + use<> {
        ControllerId::all(self.each.len())
    }

    /// Handles a controller's timeout.
    #[inline(never)]
    pub fn wake(&mut self, id: ControllerId, net: &mut Net) {
        let controlled = &mut self.each[id.index()];
        if let Err(error) = controlled.driver.conduct.count(net.now) {
            return net.fail(error);
        }
        let queue = net.links[controlled.link].queue_view();
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

    /// Reports a decision of queue management at the head of the queue to a link's controller.
    #[inline(never)]
    pub fn managed(&mut self, id: ControllerId, verdict: HeadVerdict, size: Bytes, net: &mut Net) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        self.tell(id, LinkEvent::Managed { size, verdict, queue }, net);
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
        let Controlled { link, sees_segments, account, .. } = &self.each[id.index()];
        let (queue, size) = (net.links[*link].queue_view(), Bytes::new(u64::from(packet.size)));
        if account.is_some()
            && let Some(gateways) = &mut observers.gateways
        {
            gateways.offered(*link, packet, &self.flow_keys);
        }
        let segment = if *sees_segments { seen(packet, &self.flow_keys) } else { None };
        self.tell(id, LinkEvent::Arrival { size, admission, queue, segment }, net);
    }

    /// Passes an event to a controller and performs its actions. It is inlined into a function per event, so machines
    /// need not check the kind of event.
    #[inline(always)]
    fn tell(&mut self, id: ControllerId, event: LinkEvent, net: &mut Net) {
        let controlled = &mut self.each[id.index()];
        let told = Told { now: net.now, event, account: controlled.account.as_deref_mut() };
        let wish = controlled.machine.visit(told);
        if let Some(window) = controlled.obey(id, &wish, net) {
            net.fail(controlled.driver.unasked(window, net.now));
        }
    }

    /// Adjusts a packet at a gateway's node that arrives over the link with acknowledgements: awnd <- min(awnd, swnd).
    ///
    /// `window_shift` is the shift of an agent's advertised windows.
    #[inline]
    pub fn steer(&mut self, link: LinkId, packet: &mut Packet, window_shift: impl Fn(AgentId) -> u8, net: &mut Net) {
        let Some(segment) = seen(packet, &self.flow_keys).filter(|segment| segment.kind != SegmentKind::Syn) else {
            return;
        };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if segment.kind == SegmentKind::SynAck { 0 } else { window_shift(packet.agent.peer()) };
        for (place, controlled) in self.each.iter_mut().enumerate() {
            if controlled.acknowledgements == Some(link) {
                let id = ControllerId::new(place);
                let window = Bytes::new(u64::from(packet.segment.window) << shift);
                let event = LinkEvent::Acknowledgement { segment, window };
                let wish = controlled.machine.visit(Told { now: net.now, event, account: None });
                let field = match controlled.obey(id, &wish, net) {
                    Some(window) => window_field(window, shift, packet.segment.window),
                    None => packet.segment.window,
                };
                if let Some(account) = &mut controlled.account {
                    account.acknowledgements += 1;
                    account.rewritten += u64::from(field != packet.segment.window);
                }
                packet.segment.window = field;
            }
        }
    }

    /// Starts the measured time of the mean estimates.
    pub fn start_measuring(&mut self, now: Instant) {
        for account in self.each.iter_mut().filter_map(|controlled| controlled.account.as_mut()) {
            account.restart(now);
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
        assert_eq!(window_field(Bytes::new(u64::MAX), 14, u16::MAX), u16::MAX);
    }
}
