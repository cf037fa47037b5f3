//! Rate controllers and gateways. Each receives the events of its link from its driver, which performs its actions.

use super::error::{MachineName, RunError};
use super::gateway_probe::FlowKeys;
use super::net::Net;
use super::observers::Observers;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, ControllerId, LinkId};
use crate::scenario::{Control, LinkSpec, Scenario};
use netlull_mechanism::ConfigError;
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::{Estimates, LinkController, LinkEvent};
use netlull_mechanism::machines::LinkMachine;
use netlull_mechanism::rate::{Admission, HeadVerdict};
use netlull_network::driver::{Driver, Line};
use netlull_network::gateway_summary::GatewaySummary;
use netlull_network::transmission::RateChange;
use netlull_tcp::{Flags, Segment};
use netlull_units::{Bytes, Instant};

/// The controllers of a run.
pub(super) struct Controllers {
    each: Vec<Controlled>,
    pub flow_keys: FlowKeys,
}

/// A controller and its link.
struct Controlled {
    link: LinkId,
    driver: Driver<LinkMachine>,
    name: MachineName,
    /// Whether arrivals show their segments.
    sees_segments: bool,
    /// The link with the acknowledgements, for a controller that reads segments.
    acknowledgements: Option<LinkId>,
}

/// A controlled link of the run.
struct OnLink<'a> {
    net: &'a mut Net,
    link: LinkId,
    controller: ControllerId,
}

impl Line for OnLink<'_> {
    #[inline]
    fn change_rate(&mut self, _: Instant, change: RateChange) {
        self.net.change_rate(self.link, change);
    }

    #[inline(always)]
    fn set_timer(&mut self, at: Instant) {
        self.net.set_timeout(self.controller, at);
    }
}

impl Controlled {
    /// Builds the controller of a link.
    fn new(link: LinkId, spec: &LinkSpec, control: &Control) -> Result<Self, RunError> {
        let mechanism = &control.mechanism;
        let name = MachineName::new(format!("link.{}.controller", spec.name), mechanism.name());
        let machine = mechanism.build(control.link, Instant::ZERO).map_err(|error| name.error(Instant::ZERO, error))?;
        Ok(Self {
            link,
            driver: Driver::new(machine, control.link, control.in_service),
            name,
            sees_segments: mechanism.sees_segments(),
            acknowledgements: control.acknowledgements.map(LinkId::new),
        })
    }

    /// Ends the run.
    #[cold]
    fn fail(&self, net: &mut Net, error: ConfigError) {
        net.fail(self.name.error(net.now, error));
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
            controlled.driver.start(&mut OnLink { net, link: controlled.link, controller: id });
        }
    }

    /// All controllers.
    pub fn ids(&self) -> impl Iterator<Item = ControllerId> + use<> {
        ControllerId::all(self.each.len())
    }

    /// Handles a controller's timeout.
    #[inline(never)]
    pub fn time_out(&mut self, id: ControllerId, net: &mut Net) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        self.tell(id, LinkEvent::Timeout { queue }, net);
    }

    /// Reports a refused packet to a link's controller, or an accepted packet that queue management has marked.
    #[inline(never)]
    pub fn on_refused(
        &mut self,
        id: ControllerId,
        admission: Admission,
        packet: &Packet,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        self.on_arrival(id, admission, packet, net, observers);
    }

    /// Reports an accepted packet to a link's controller.
    #[inline(never)]
    pub fn on_accepted(&mut self, id: ControllerId, packet: &Packet, net: &mut Net, observers: &mut Observers) {
        self.on_arrival(id, Admission::Accepted, packet, net, observers);
    }

    /// Reports a departure to a link's controller.
    #[inline(never)]
    pub fn on_departed(&mut self, id: ControllerId, net: &mut Net) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        self.tell(id, LinkEvent::Departure { queue }, net);
    }

    /// Reports a decision of queue management at the head of the queue to a link's controller.
    #[inline(never)]
    pub fn on_managed(&mut self, id: ControllerId, verdict: HeadVerdict, size: Bytes, net: &mut Net) {
        let queue = net.links[self.each[id.index()].link].queue_view();
        self.tell(id, LinkEvent::Managed { size, verdict, queue }, net);
    }

    /// Reports a packet to a controller, with its segment if the controller reads segments.
    #[inline(always)]
    fn on_arrival(
        &mut self,
        id: ControllerId,
        admission: Admission,
        packet: &Packet,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        let Controlled { link, driver, sees_segments, .. } = &self.each[id.index()];
        let (queue, size) = (net.links[*link].queue_view(), Bytes::new(u64::from(packet.size)));
        if driver.keeps_account()
            && let Some(gateways) = &mut observers.gateways
        {
            gateways.offered(*link, packet, &self.flow_keys);
        }
        let segment = if *sees_segments { seen(packet, &self.flow_keys) } else { None };
        self.tell(id, LinkEvent::Arrival { size, admission, queue, segment }, net);
    }

    /// Delivers an event. It is inlined into a function per event, so machines need not check the kind of event.
    #[inline(always)]
    fn tell(&mut self, id: ControllerId, event: LinkEvent, net: &mut Net) {
        let controlled = &mut self.each[id.index()];
        let (now, link) = (net.now, controlled.link);
        if let Err(error) = controlled.driver.tell(now, event, &mut OnLink { net, link, controller: id }) {
            controlled.fail(net, error);
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
                let field = packet.segment.window;
                let window = Bytes::new(u64::from(field) << shift);
                let (now, event) = (net.now, LinkEvent::Acknowledgement { segment, window });
                let line = &mut OnLink { net, link: controlled.link, controller: ControllerId::new(place) };
                match controlled.driver.tell(now, event, line) {
                    Ok(Some(window)) => {
                        packet.segment.window = window_field(window, shift, field);
                        if packet.segment.window != field {
                            controlled.driver.count_rewritten();
                        }
                    }
                    Ok(None) => {}
                    Err(error) => controlled.fail(net, error),
                }
            }
        }
    }

    /// Starts the measured time of the mean estimates.
    pub fn start_measuring(&mut self, now: Instant) {
        self.each.iter_mut().for_each(|controlled| controlled.driver.restart(now));
    }

    /// The summary of a link's controller, if it reads segments.
    pub fn gateway_summary(&self, now: Instant, link: LinkId) -> Option<GatewaySummary> {
        self.of_link(link)?.driver.summary(now)
    }

    /// The estimates of a link's controller, if it reads segments.
    pub fn estimates(&self, link: LinkId) -> Option<Estimates> {
        let machine = self.of_link(link)?.driver.machine();
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
