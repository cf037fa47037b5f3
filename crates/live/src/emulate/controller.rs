//! The controller of an emulated link: a recorded machine, and its estimates for the summary.

use crate::error::{LiveError, Result};
use crate::tape::{LinkSetup, OnTape};
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::{LinkAction, LinkController, LinkEvent};
use netlull_mechanism::machines::LinkMachine;
use netlull_network::gateway_summary::{Account, GatewaySummary};
use netlull_network::plan::{ControlPlan, InService};
use netlull_network::probe::{GatewaySample, GatewayTruth};
use netlull_units::{Bytes, Instant};
use netlull_wire::TcpPacket;
use std::path::Path;

/// The controller of a link.
#[derive(Debug)]
pub struct LinkControl {
    /// The treatment of the packet in service when the rate changes.
    pub in_service: InService,
    /// The link that carries the acknowledgements, for a controller that reads segments.
    pub acknowledgements: Option<u32>,
    machine: OnTape<LinkMachine>,
    /// Whether arrivals show their segments.
    sees_segments: bool,
    /// The estimates for the summary, for a controller that reads segments.
    account: Option<Account>,
}

/// The fields of a segment that a gateway reads; `None` without SYN and ACK.
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
        fin: flags.fin,
        timestamps: tcp.options().timestamps.map(|(value, echo)| Timestamps { value, echo }),
    })
}

impl LinkControl {
    /// Creates the controller of a link, recorded in a folder if given.
    ///
    /// # Errors
    /// If the machine refuses its configuration, or the recording cannot be started.
    pub fn new(plan: &ControlPlan, link: &str, tapes: Option<&Path>) -> Result<Self> {
        let setup = LinkSetup { mechanism: plan.mechanism.clone(), link: plan.link };
        let machine = match tapes {
            Some(folder) => OnTape::recorded(&setup, Instant::ZERO, link, &folder.join(format!("{link}.tape")))?,
            None => OnTape::blank(&setup, Instant::ZERO)
                .map_err(|error| LiveError::system(format!("link {link}"), error))?,
        };
        let account = plan.mechanism.reads_segments().then(Account::default);
        let sees_segments = plan.mechanism.sees_segments();
        Ok(Self {
            in_service: plan.in_service,
            acknowledgements: plan.acknowledgements,
            machine,
            sees_segments,
            account,
        })
    }

    /// Whether arrivals show it their segments.
    #[must_use]
    pub fn sees_segments(&self) -> bool {
        self.sees_segments
    }

    /// Delivers an event of the link. [`next_action`](Self::next_action) returns the requested actions.
    pub fn tell(&mut self, now: Instant, event: LinkEvent) {
        if let Some(account) = &mut self.account {
            account.settle(now, self.machine.machine());
        }
        self.machine.handle(now, event);
    }

    /// Delivers an acknowledgement of the reverse direction.
    pub fn acknowledgement(&mut self, now: Instant, segment: SegmentView, window: Bytes) {
        if let Some(account) = &mut self.account {
            account.acknowledgements += 1;
            self.machine.handle(now, LinkEvent::Acknowledgement { segment, window });
        }
    }

    /// The next requested action. A driver performs all of them, in their order.
    pub fn next_action(&mut self) -> Option<LinkAction> {
        self.machine.poll_action()
    }

    /// Counts a reduced window.
    pub fn rewritten(&mut self) {
        if let Some(account) = &mut self.account {
            account.rewritten += 1;
        }
    }

    /// The instant of its next timeout.
    #[must_use]
    pub fn next_timeout(&self) -> Instant {
        self.machine.next_timeout().unwrap_or(Instant::NEVER)
    }

    /// Starts the measurement.
    pub fn restart(&mut self, now: Instant) {
        if let Some(account) = &mut self.account {
            account.restart(now);
        }
    }

    /// The summary of a controller that reads segments.
    #[must_use]
    pub fn summary(&self, now: Instant) -> Option<GatewaySummary> {
        Some(self.account?.summarise(now, self.machine.machine()))
    }

    /// The estimates of a controller that reads segments, next to the true values.
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
