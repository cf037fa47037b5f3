//! The mechanisms of links: told what happens to packets, asked what rate and which windows there should be.

use crate::error::{LiveError, Result};
use crate::tape::OnTape;
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{Gateway, GatewayAction, GatewayEvent, SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::rate::{Earth, PractRa, RateAction, RateEvent};
use netlull_network::gateway_summary::{Account, GatewaySummary};
use netlull_network::plan::{ControlPlan, InService, MechanismPlan};
use netlull_network::probe::{GatewaySample, GatewayTruth};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use netlull_wire::TcpPacket;
use std::path::Path;

/// A machine of any kind.
#[derive(Debug)]
enum Kind {
    PractRa(OnTape<PractRa>),
    Earth(OnTape<Earth>),
    Gateway(Box<(OnTape<Gateway>, Account)>),
}

/// The mechanism of a link.
#[derive(Debug)]
pub struct LinkController {
    /// What happens to the packet being sent when the rate changes.
    pub in_service: InService,
    /// The link that brings a gateway its acknowledgements.
    pub acknowledgements: Option<u32>,
    kind: Kind,
}

/// A rate and the pause before it.
pub type NewRate = (BitRate, Duration);

fn machine<M: crate::tape::Taped>(config: &M::Config, link: &str, tapes: Option<&Path>) -> Result<OnTape<M>> {
    match tapes {
        Some(folder) => OnTape::recorded(config, Instant::ZERO, link, &folder.join(format!("{link}.tape"))),
        None => OnTape::blank(config, Instant::ZERO).map_err(|error| LiveError::system(format!("link {link}"), error)),
    }
}

/// What a machine asks for; one of a link asks for one thing at most.
fn told<M: Machine>(machine: &mut M, now: Instant, event: M::Event) -> Option<M::Action> {
    machine.handle(now, event);
    let mut asked = None;
    while let Some(action) = machine.poll_action() {
        asked = Some(action);
    }
    asked
}

/// What a gateway reads in a segment; nothing in one with neither SYN nor ACK.
#[must_use]
pub fn view(tcp: &TcpPacket<'_>) -> Option<SegmentView> {
    let flags = tcp.flags();
    let kind = match (flags.syn, flags.ack) {
        (true, true) => SegmentKind::SynAck,
        (true, false) => SegmentKind::Syn,
        (false, true) => SegmentKind::Other,
        (false, false) => return None,
    };
    Some(SegmentView {
        flow: tcp.connection().key(),
        kind,
        end: tcp.seq().wrapping_add(tcp.sequence_len()),
        acknowledged: tcp.ack().unwrap_or(0),
        data: tcp.payload_len() > 0,
        timestamps: tcp.options().timestamps.map(|(value, echo)| Timestamps { value, echo }),
    })
}

impl LinkController {
    /// The machine of a link, recorded in a folder if there is one.
    ///
    /// # Errors
    /// If the machine refuses its configuration, or the recording cannot be begun.
    pub fn new(plan: &ControlPlan, link: &str, tapes: Option<&Path>) -> Result<Self> {
        let kind = match &plan.mechanism {
            MechanismPlan::Practra(config) => Kind::PractRa(machine(config, link, tapes)?),
            MechanismPlan::Earth(config) => Kind::Earth(machine(config, link, tapes)?),
            MechanismPlan::Gateway(config) => {
                Kind::Gateway(Box::new((machine(config.as_ref(), link, tapes)?, Account::default())))
            }
        };
        Ok(Self { in_service: plan.in_service, acknowledgements: plan.acknowledgements, kind })
    }

    /// Whether it wants to see the segments that come to its link.
    #[must_use]
    pub fn reads_segments(&self) -> bool {
        matches!(self.kind, Kind::Gateway(_))
    }

    /// Something has happened on the link; the rate that it asks for. A gateway is shown the segment of an arrival.
    pub fn tell(&mut self, now: Instant, event: RateEvent, segment: Option<SegmentView>) -> Option<NewRate> {
        let of_rate = |RateAction::SetRate { rate, pause }: RateAction| (rate, pause);
        match &mut self.kind {
            Kind::PractRa(machine) => told(machine, now, event).map(of_rate),
            Kind::Earth(machine) => told(machine, now, event).map(of_rate),
            Kind::Gateway(gateway) => {
                let (machine, account) = gateway.as_mut();
                account.settle(now, machine.machine());
                let event = match event {
                    RateEvent::Arrival { admission, queue, .. } => GatewayEvent::Arrival { admission, queue, segment },
                    RateEvent::Departure { queue } => GatewayEvent::Departure { queue },
                    RateEvent::Timeout { queue } => GatewayEvent::Timeout { queue },
                };
                match told(machine, now, event) {
                    Some(GatewayAction::SetRate { rate, pause }) => Some((rate, pause)),
                    Some(GatewayAction::SetWindow(_)) | None => None,
                }
            }
        }
    }

    /// An acknowledgement comes back; the window to be written into it.
    pub fn acknowledgement(&mut self, now: Instant, segment: SegmentView, window: Bytes) -> Option<Bytes> {
        let Kind::Gateway(gateway) = &mut self.kind else { return None };
        let (machine, account) = gateway.as_mut();
        account.acknowledgements += 1;
        match told(machine, now, GatewayEvent::Acknowledgement { segment, window }) {
            Some(GatewayAction::SetWindow(window)) => Some(window),
            Some(GatewayAction::SetRate { .. }) | None => None,
        }
    }

    /// A window was made smaller.
    pub fn rewritten(&mut self) {
        if let Kind::Gateway(gateway) = &mut self.kind {
            gateway.1.rewritten += 1;
        }
    }

    /// When to wake it.
    #[must_use]
    pub fn next_timeout(&self) -> Instant {
        let at = match &self.kind {
            Kind::PractRa(machine) => machine.next_timeout(),
            Kind::Earth(machine) => machine.next_timeout(),
            Kind::Gateway(gateway) => gateway.0.next_timeout(),
        };
        at.unwrap_or(Instant::NEVER)
    }

    /// Measurement begins.
    pub fn restart(&mut self, now: Instant) {
        if let Kind::Gateway(gateway) = &mut self.kind {
            let (machine, account) = gateway.as_mut();
            account.restart(now, machine.machine());
        }
    }

    /// What a gateway did.
    #[must_use]
    pub fn summary(&self, now: Instant) -> Option<GatewaySummary> {
        let Kind::Gateway(gateway) = &self.kind else { return None };
        Some(gateway.1.summarise(now, gateway.0.machine()))
    }

    /// What a gateway suggests and estimates now, beside what is true.
    #[must_use]
    pub fn sample(&self, truth: GatewayTruth) -> Option<GatewaySample> {
        let Kind::Gateway(gateway) = &self.kind else { return None };
        Some(GatewaySample::of(gateway.0.machine(), truth))
    }

    /// The recording ends.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(&mut self) -> Result<()> {
        match &mut self.kind {
            Kind::PractRa(machine) => machine.finish(),
            Kind::Earth(machine) => machine.finish(),
            Kind::Gateway(gateway) => gateway.0.finish(),
        }
    }
}
