//! Controllers of links in an emulation: a machine on tape, and its estimates for the summary.

use crate::error::{LiveError, Result};
use crate::tape::{LinkSetup, OnTape};
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::{LinkAction, LinkController, LinkEvent};
use netlull_mechanism::machines::LinkMachine;
use netlull_network::gateway_summary::{Account, GatewaySummary};
use netlull_network::plan::{ControlPlan, InService};
use netlull_network::probe::{GatewaySample, GatewayTruth};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use netlull_wire::TcpPacket;
use std::path::Path;

/// The controller of a link.
#[derive(Debug)]
pub struct LinkControl {
    /// The fate of the packet being sent when the rate changes.
    pub in_service: InService,
    /// The link that brings the acknowledgements, to a controller that reads segments.
    pub acknowledgements: Option<u32>,
    machine: OnTape<LinkMachine>,
    /// The estimates for the summary, of a controller that reads segments.
    account: Option<Account>,
}

/// A rate and the pause before it.
pub type NewRate = (BitRate, Duration);

/// The request of a machine after an event; a link's machine makes one at most.
fn told(machine: &mut OnTape<LinkMachine>, now: Instant, event: LinkEvent) -> Option<LinkAction> {
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

impl LinkControl {
    /// The machine of a link, recorded in a folder if there is one.
    ///
    /// # Errors
    /// If the machine refuses its configuration, or the recording cannot be begun.
    pub fn new(plan: &ControlPlan, link: &str, tapes: Option<&Path>) -> Result<Self> {
        let setup = LinkSetup { mechanism: plan.mechanism.clone(), link: plan.link };
        let machine = match tapes {
            Some(folder) => OnTape::recorded(&setup, Instant::ZERO, link, &folder.join(format!("{link}.tape")))?,
            None => OnTape::blank(&setup, Instant::ZERO)
                .map_err(|error| LiveError::system(format!("link {link}"), error))?,
        };
        let account = plan.mechanism.reads_segments().then(Account::default);
        Ok(Self { in_service: plan.in_service, acknowledgements: plan.acknowledgements, machine, account })
    }

    /// Whether it wants to see the segments that come to its link.
    #[must_use]
    pub fn reads_segments(&self) -> bool {
        self.account.is_some()
    }

    /// Tells the machine an event on the link; returns the rate that it asks for.
    pub fn tell(&mut self, now: Instant, event: LinkEvent) -> Option<NewRate> {
        if let Some(account) = &mut self.account {
            account.settle(now, self.machine.machine());
        }
        told(&mut self.machine, now, event).and_then(LinkAction::new_rate)
    }

    /// Shows the machine an acknowledgement that comes back; returns the window to be written into it.
    pub fn acknowledgement(&mut self, now: Instant, segment: SegmentView, window: Bytes) -> Option<Bytes> {
        self.account.as_mut()?.acknowledgements += 1;
        match told(&mut self.machine, now, LinkEvent::Acknowledgement { segment, window }) {
            Some(LinkAction::SetWindow(window)) => Some(window),
            Some(LinkAction::SetRate { .. }) | None => None,
        }
    }

    /// Counts a window that was made smaller.
    pub fn rewritten(&mut self) {
        if let Some(account) = &mut self.account {
            account.rewritten += 1;
        }
    }

    /// The instant at which to wake it.
    #[must_use]
    pub fn next_timeout(&self) -> Instant {
        self.machine.next_timeout().unwrap_or(Instant::NEVER)
    }

    /// Measurement begins.
    pub fn restart(&mut self, now: Instant) {
        if let Some(account) = &mut self.account {
            account.restart(now, self.machine.machine());
        }
    }

    /// The summary of a controller that reads segments.
    #[must_use]
    pub fn summary(&self, now: Instant) -> Option<GatewaySummary> {
        Some(self.account?.summarise(now, self.machine.machine()))
    }

    /// The estimates of a controller that reads segments, next to the truth.
    #[must_use]
    pub fn sample(&self, truth: GatewayTruth) -> Option<GatewaySample> {
        self.account.map(|_| GatewaySample::of(self.machine.machine().estimates(), truth))
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(&mut self) -> Result<()> {
        self.machine.finish()
    }
}
