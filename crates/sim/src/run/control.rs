//! Rate controllers and gateways. Each receives the events of its link from its driver, which performs its actions.

use super::error::{MachineName, RunError};
use super::gateway_probe::FlowKeys;
use super::net::Net;
use super::observers::Observers;
use super::phases::LowPower;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, ControllerId, LinkId};
use crate::scenario::{ControlSpec, LinkSpec, Scenario};
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps, window_field};
use netlull_mechanism::link::{self, Controller as _, LinkEvent};
use netlull_mechanism::rate::{Admission, HeadVerdict, QueueView};
use netlull_network::driver::{Driver, Line};
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
    driver: Driver<link::Running>,
    name: MachineName,
    /// True if arrivals show their segments.
    sees_segments: bool,
    /// The link with the acknowledgements, for a controller that reads segments.
    acknowledgements: Option<LinkId>,
    /// The other direction, if both sleep and wake together.
    coupled_with: Option<LinkId>,
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

    #[inline]
    fn set_timer(&mut self, at: Instant) {
        self.net.set_timeout(self.controller, at);
    }
}

impl Controlled {
    /// Builds the controller of a link.
    fn new(link: LinkId, spec: &LinkSpec, control: &ControlSpec) -> Result<Self, RunError> {
        let mechanism = &control.mechanism;
        let name = MachineName::new(format!("link.{}.controller", spec.name), mechanism.name());
        let machine = mechanism
            .build_with(control.link, Instant::ZERO, control.naps.as_ref())
            .map_err(|error| name.error(Instant::ZERO, error))?;
        Ok(Self {
            link,
            driver: Driver::new(machine, control.link, control.in_service),
            name,
            sees_segments: mechanism.sees_segments(),
            acknowledgements: control.acknowledgements.map(LinkId::new),
            coupled_with: control.coupled_with.map(LinkId::new),
        })
    }
}

/// A segment's part in the handshake, and its timestamps; `None` without SYN and ACK.
#[inline]
pub(super) fn header(segment: &Segment) -> Option<(SegmentKind, Option<Timestamps>)> {
    let Segment { flags, ts_val, ts_ecr, .. } = *segment;
    let kind = SegmentKind::of(flags.contains(Flags::SYN), flags.contains(Flags::ACK))?;
    let stamped = flags.contains(Flags::HAS_TIMESTAMPS);
    Some((kind, stamped.then_some(Timestamps { value: ts_val, echo: ts_ecr })))
}

/// The fields of a packet that a gateway reads; `None` for a datagram. Both directions of a connection have the same
/// key.
#[inline]
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

// Forced inlines here, by `make counts`: without them and those of `requests`, `hosts`, `fixed` and `transmitter`
// practRA takes 3.8 % more instructions, web 2.4 %.
impl Controllers {
    /// The controllers of a scenario.
    ///
    /// # Errors
    /// If a controller cannot be built.
    pub fn new(scenario: &Scenario) -> Result<Self, RunError> {
        let links = LinkId::all(scenario.links.len()).zip(scenario.links.iter());
        let controlled = links
            .filter(|(_, spec)| spec.is_controlled())
            .filter_map(|(link, spec)| Some(Controlled::new(link, spec, spec.control.as_ref()?)));
        Ok(Self { each: controlled.collect::<Result<_, _>>()?, flow_keys: FlowKeys::new(scenario) })
    }

    /// Registers controllers and gateways with their links, and sets the first timeouts.
    pub fn start(&self, net: &mut Net) {
        for (id, controlled) in ControllerId::all(self.each.len()).zip(&self.each) {
            net.links[controlled.link].controller = Some(id);
            controlled.driver.start(&mut OnLink { net, link: controlled.link, controller: id });
        }
    }

    /// Handles a controller's event in the schedule. It may be earlier than the next timeout: then it sets itself again.
    #[inline(never)]
    pub fn wake(&mut self, id: ControllerId, net: &mut Net) {
        let due = self.each[id.index()].driver.next_timeout();
        if due > net.now {
            // An early event changes nothing, so it does not count.
            net.events -= 1;
            net.set_timeout(id, due);
            return;
        }
        self.time_out(id, net);
    }

    /// Gives a controller a timeout.
    #[inline]
    pub fn time_out(&mut self, id: ControllerId, net: &mut Net) {
        self.tell(id, net, |queue| LinkEvent::Timeout { queue });
    }

    /// Reports a departure to a link's controller.
    #[inline(never)]
    pub fn on_departed(&mut self, id: ControllerId, net: &mut Net) {
        self.tell(id, net, |queue| LinkEvent::Departure { queue });
    }

    /// Reports a decision of queue management at the head of the queue to a link's controller.
    #[inline(never)]
    pub fn on_managed(&mut self, id: ControllerId, verdict: HeadVerdict, size: Bytes, net: &mut Net) {
        self.tell(id, net, |queue| LinkEvent::Managed { size, verdict, queue });
    }

    /// Reports an offered packet to a link's controller, with its segment if the controller reads segments.
    #[inline(never)]
    pub fn on_arrival(
        &mut self,
        id: ControllerId,
        admission: Admission,
        packet: &Packet,
        net: &mut Net,
        observers: &mut Observers,
    ) {
        let Controlled { link, driver, sees_segments, .. } = &self.each[id.index()];
        if driver.keeps_account()
            && let Some(gateways) = &mut observers.gateways
        {
            gateways.offered(*link, packet, &self.flow_keys);
        }
        let size = Bytes::new(u64::from(packet.size));
        let segment = if *sees_segments { seen(packet, &self.flow_keys) } else { None };
        self.tell(id, net, |queue| LinkEvent::Arrival { size, admission, queue, segment });
    }

    /// Delivers an event, which may show the queue. Returns the window that the controller requests.
    // In a function per kind of event, machines need not check the kind. As one function: practRA +3.2 %.
    #[inline(always)]
    fn tell(&mut self, id: ControllerId, net: &mut Net, event: impl FnOnce(QueueView) -> LinkEvent) -> Option<Bytes> {
        let Controlled { link, driver, name, coupled_with, .. } = &mut self.each[id.index()];
        let (now, event) = (net.now, event(net.links[*link].queue_view()));
        let window =
            driver.tell(now, event, &mut OnLink { net, link: *link, controller: id }).unwrap_or_else(|error| {
                net.fail(name.error(now, error));
                None
            });
        if coupled_with.is_some() {
            self.tell_other_direction(id, net);
        }
        window
    }

    /// Tells the other direction of a coupled link if this one may stop, until both know it.
    fn tell_other_direction(&mut self, id: ControllerId, net: &mut Net) {
        let (mut id, now) = (id, net.now);
        loop {
            let Controlled { driver, coupled_with, .. } = &mut self.each[id.index()];
            let Some((link, is_ready)) = coupled_with.zip(driver.news_for_other_direction()) else { return };
            let Some(other) = net.links[link].controller else { return };
            let Controlled { driver, name, .. } = &mut self.each[other.index()];
            let told = driver.tell_of_other_direction(now, is_ready, &mut OnLink { net, link, controller: other });
            if let Err(error) = told {
                net.fail(name.error(now, error));
            }
            id = other;
        }
    }

    /// The times in each state of the links with low-power idle, by the indices of the links.
    pub fn low_power(&self, now: Instant) -> LowPower {
        let times = |each: &Controlled| Some((each.link.index(), each.driver.machine().low_power(now)?));
        self.each.iter().filter_map(times).collect()
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
        for id in ControllerId::all(self.each.len()) {
            if self.each[id.index()].acknowledgements != Some(link) {
                continue;
            }
            let field = packet.segment.window;
            let window = Bytes::new(u64::from(field) << shift);
            if let Some(window) = self.tell(id, net, |_| LinkEvent::Acknowledgement { segment, window }) {
                packet.segment.window = window_field(window, shift, field);
                if packet.segment.window != field {
                    self.each[id.index()].driver.count_rewritten();
                }
            }
        }
    }

    /// Starts the measured time of the mean estimates.
    pub fn start_measuring(&mut self, now: Instant) {
        self.each.iter_mut().for_each(|controlled| controlled.driver.restart(now));
    }

    /// The driver of a link's controller.
    pub fn driver(&self, link: LinkId) -> Option<&Driver<link::Running>> {
        self.each.iter().find(|controlled| controlled.link == link).map(|controlled| &controlled.driver)
    }
}
