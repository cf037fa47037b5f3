//! RACK-TLP: losses by time, and a probe for the tail (RFC 8985).

use super::board::{Delivery, Resent, Transmission};
use netlull_units::{Duration, Instant};

/// RFC 8985 section 6.2 step 4: the window is kept wide for so many recoveries after a D-SACK.
const PERSIST_RECOVERIES: u8 = 16;
/// RFC 8985 section 7.2: an allowance for the receiver's delayed acknowledgement.
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(200);
/// RFC 8985 section 7.2: the timeout before there is a round trip to go by.
const FIRST_PROBE: Duration = Duration::from_secs(1);

/// A tail loss probe whose episode is not over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// TLP.end_seq: SND.NXT when the probe was sent.
    pub end: u64,
    /// TLP.is_retrans.
    pub resent: Resent,
}

/// The meaning of an acknowledgement for a tail loss probe (RFC 8985 section 7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeVerdict {
    /// Nothing, or nothing yet.
    Nothing,
    /// The probe repaired a loss: congestion control is to hear of it.
    RepairedLoss,
}

/// The variables of RFC 8985 section 5.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// RACK.segment: the segment sent last among those delivered.
    latest: Option<Transmission>,
    /// RACK.rtt.
    rtt: Duration,
    /// RACK.min_RTT: the shortest round trip of the connection.
    min_rtt: Duration,
    /// RACK.fack.
    fack: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult and RACK.reo_wnd_persist.
    multiplier: u32,
    persist: u8,
    /// RACK.dsack_round: SND.NXT when the multiplier last grew.
    dsack_round: Option<u64>,
    probe: Option<Probe>,
}

impl Rack {
    pub fn new() -> Self {
        Self {
            latest: None,
            rtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            fack: 0,
            reordering_seen: false,
            multiplier: 1,
            persist: PERSIST_RECOVERIES,
            dsack_round: None,
            probe: None,
        }
    }

    /// True if nothing was delivered and nothing probed yet.
    pub fn is_new(&self) -> bool {
        self.latest.is_none() && self.probe.is_none()
    }

    /// Section 6.2 step 1: a round trip measured otherwise, such as the handshake's.
    pub fn note_round_trip(&mut self, rtt: Duration) {
        self.min_rtt = if self.min_rtt.is_zero() { rtt } else { self.min_rtt.min(rtt) };
    }

    /// Section 6.2 steps 1 to 3: an acknowledgement that delivered something.
    pub fn update(&mut self, now: Instant, delivery: &Delivery) {
        if let Some(sent_at) = delivery.timed {
            self.note_round_trip(now - sent_at);
        }
        if let Some((transmission, resent)) = delivery.latest {
            let rtt = now - transmission.sent_at;
            // Step 2: a retransmission acknowledged sooner than a round trip was not what was acknowledged.
            let spurious = resent == Resent::Yes && rtt < self.min_rtt;
            if !spurious {
                self.rtt = rtt;
                self.latest = self.latest.max(Some(transmission));
            }
        }
        // Step 3: a segment sent once arrives, and later ones have already.
        if delivery.lowest_original.is_some_and(|end| end < self.fack) {
            self.reordering_seen = true;
        }
        self.fack = self.fack.max(delivery.highest);
    }

    /// Section 6.2 step 4: a D-SACK came; the window grows once per round trip.
    pub fn on_duplicate_sack(&mut self, una: u64, nxt: u64) {
        if self.dsack_round.is_none_or(|round| una >= round) {
            self.dsack_round = Some(nxt);
            self.multiplier = self.multiplier.saturating_add(1);
            self.persist = PERSIST_RECOVERIES;
        }
    }

    /// A recovery is over: the memory of D-SACKs fades.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.persist = PERSIST_RECOVERIES;
            self.multiplier = 1;
        }
    }

    /// Section 6.2 step 4: how much later than its successors a segment may arrive.
    fn reordering_window(&self, srtt: Option<Duration>, eager: bool) -> Duration {
        if !self.reordering_seen && eager {
            return Duration::ZERO;
        }
        let window = Duration::from_nanos(self.min_rtt.as_nanos() / 4).saturating_mul(u64::from(self.multiplier));
        srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// RACK.segment, and how long a segment sent before it may take: RACK.rtt + RACK.reo_wnd. `eager`: in recovery, or
    /// with DupThresh segments SACKed.
    pub fn horizon(&self, srtt: Option<Duration>, eager: bool) -> Option<(Transmission, Duration)> {
        let latest = self.latest?;
        Some((latest, self.rtt + self.reordering_window(srtt, eager)))
    }

    /// Section 6.3: at a timeout, what was sent before this is lost.
    pub fn overdue_before(&self, now: Instant, srtt: Option<Duration>) -> Instant {
        let allowed = self.rtt + self.reordering_window(srtt, false);
        Instant::from_nanos(now.as_nanos().saturating_sub(allowed.as_nanos()))
    }

    /// True while a probe's episode lasts: none other is sent.
    pub fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// Section 7.2: TLP_calc_PTO.
    pub fn probe_timeout(srtt: Option<Duration>, single: bool) -> Duration {
        match srtt {
            None => FIRST_PROBE,
            Some(srtt) if single => srtt * 2 + LONGEST_ACK_DELAY,
            Some(srtt) => srtt * 2,
        }
    }

    /// Section 7.3: a probe was sent.
    pub fn probed(&mut self, probe: Probe) {
        self.probe = Some(probe);
    }

    /// Recovery or a timeout takes over.
    pub fn end_probe(&mut self) {
        self.probe = None;
    }

    /// Section 7.4.2. `duplicate_sack`: the end of what the acknowledgement says arrived twice; `bare`: it acknowledges
    /// nothing new and SACKs nothing.
    pub fn judge_probe(&mut self, una: u64, duplicate_sack: Option<u64>, bare: bool) -> ProbeVerdict {
        let Some(probe) = self.probe else { return ProbeVerdict::Nothing };
        if una < probe.end {
            return ProbeVerdict::Nothing;
        }
        if probe.resent == Resent::No || duplicate_sack == Some(probe.end) {
            self.probe = None;
        } else if una > probe.end {
            self.probe = None;
            return ProbeVerdict::RepairedLoss;
        } else if bare {
            // The original and the probe both arrived.
            self.probe = None;
        }
        ProbeVerdict::Nothing
    }
}
