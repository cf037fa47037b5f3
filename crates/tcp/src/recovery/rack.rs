//! RACK-TLP: losses by time, and a probe for the tail (RFC 8985).

use super::sent::{Delivery, Resent, Transmission};
use crate::config::RackClock;
use netlull_units::{Duration, Instant};

/// RFC 8985 section 6.2 step 4: the number of recoveries after a D-SACK in which the window stays wide.
const PERSIST_RECOVERIES: u8 = 16;
/// RFC 8985 section 7.2: an allowance for the receiver's delayed acknowledgement.
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(200);
/// RFC 8985 section 7.2: the timeout before the first round trip.
const FIRST_PROBE: Duration = Duration::from_secs(1);

/// A tail loss probe during its episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// TLP.end_seq: SND.NXT at the transmission of the probe.
    pub end: u64,
    /// TLP.is_retrans.
    pub resent: Resent,
}

/// The meaning of an acknowledgement for a tail loss probe (RFC 8985 section 7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeVerdict {
    /// None, or none yet.
    Nothing,
    /// The probe repaired a loss, which congestion control must get.
    RepairedLoss,
}

/// The variables of RFC 8985 section 5.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// RACK.segment: the latest transmission among delivered segments.
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
    /// RACK.dsack_round: SND.NXT at the last growth of the multiplier.
    dsack_round: Option<u64>,
    probe: Option<Probe>,
    /// True if a round trip was measured since the last probe, or if there was no probe.
    measured: bool,
    clock: RackClock,
}

impl Rack {
    pub fn new(clock: RackClock) -> Self {
        Self {
            clock,
            latest: None,
            rtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            fack: 0,
            reordering_seen: false,
            multiplier: 1,
            persist: PERSIST_RECOVERIES,
            dsack_round: None,
            probe: None,
            measured: true,
        }
    }

    /// True before any delivery and any probe.
    pub fn is_new(&self) -> bool {
        self.latest.is_none() && self.probe.is_none()
    }

    /// Section 6.2 step 1: handles another measurement of the round trip, such as the handshake's.
    #[inline]
    pub fn note_round_trip(&mut self, rtt: Duration) {
        self.measured = true;
        self.min_rtt = if self.min_rtt.is_zero() { rtt } else { self.min_rtt.min(rtt) };
    }

    /// Section 6.2 steps 1 to 3: handles an acknowledgement with a delivery.
    #[inline]
    pub fn update(&mut self, now: Instant, delivery: &Delivery) {
        if let Some(sent_at) = delivery.timed {
            self.note_round_trip(now - sent_at);
        }
        if let Some((transmission, resent)) = delivery.latest {
            let rtt = now - transmission.sent_at;
            // Step 2: an acknowledgement within less than a round trip does not belong to the retransmission.
            let spurious = resent == Resent::Yes && rtt < self.min_rtt;
            if !spurious {
                self.rtt = rtt;
                if self.latest.is_none_or(|latest| latest < transmission) {
                    self.latest = Some(transmission);
                }
            }
        }
        // Linux passes the segments from the lowest to the highest, and the last one sets the round trip
        // (`tcp_rack_advance`).
        if self.clock == RackClock::Jiffies
            && let Some(sent_at) = delivery.original_above
        {
            self.rtt = now - sent_at;
        }
        // Step 3: a segment without retransmissions arrives after later ones.
        if delivery.lowest_original.is_some_and(|end| end < self.fack) {
            self.reordering_seen = true;
        }
        self.fack = self.fack.max(delivery.highest);
    }

    /// Handles a round trip that an echoed timestamp gives. It may be that of a retransmission.
    pub fn note_echo(&mut self) {
        self.measured = true;
    }

    /// Handles the proof that a segment arrived after later ones.
    pub fn note_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Section 6.2 step 4: handles a D-SACK of data up to `end`; the window grows once per round trip. In Linux only
    /// after reordering, and not for a tail loss probe (`tcp_dsack_seen`).
    pub fn on_duplicate_sack(&mut self, end: u64, una: u64, nxt: u64) {
        let of_probe = self.probe.is_some_and(|probe| probe.end == end);
        if self.clock == RackClock::Jiffies && (!self.reordering_seen || of_probe) {
            return;
        }
        if self.dsack_round.is_none_or(|round| una >= round) {
            self.dsack_round = Some(nxt);
            self.multiplier = self.multiplier.saturating_add(1);
            self.persist = PERSIST_RECOVERIES;
        }
    }

    /// Handles the end of a recovery: the memory of D-SACKs fades.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.persist = PERSIST_RECOVERIES;
            self.multiplier = 1;
        }
    }

    /// Handles a recovery undone by D-SACKs: it does not count.
    pub fn on_undone(&mut self) {
        self.persist = PERSIST_RECOVERIES.min(self.persist + 1);
    }

    /// Section 6.2 step 4: the time by which a segment may arrive later than its successors.
    fn reordering_window(&self, srtt: Option<Duration>, eager: bool) -> Duration {
        if !self.reordering_seen && eager {
            return Duration::ZERO;
        }
        let window = Duration::from_nanos(self.min_rtt.as_nanos() / 4).saturating_mul(u64::from(self.multiplier));
        srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// RACK.segment, and the time allowed for a segment sent before it: RACK.rtt + RACK.reo_wnd. `eager`: in
    /// recovery, or with DupThresh segments SACKed.
    pub fn horizon(&self, srtt: Option<Duration>, eager: bool) -> Option<(Transmission, Duration)> {
        let latest = self.latest?;
        Some((latest, self.rtt + self.reordering_window(srtt, eager)))
    }

    /// Section 6.3: at a timeout, data sent before this time is lost.
    pub fn overdue_before(&self, now: Instant, srtt: Option<Duration>) -> Instant {
        let allowed = self.rtt + self.reordering_window(srtt, false);
        Instant::from_nanos(now.as_nanos().saturating_sub(allowed.as_nanos()))
    }

    /// True if no delivered segment was sent after `first`.
    pub fn comes_before(&self, first: Option<Transmission>) -> bool {
        self.latest.is_none() || first.is_none() || self.latest <= first
    }

    /// True during a probe's episode.
    pub fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// Section 7.3: true if no probe is in flight, and a round trip was measured since the last one. Linux does not
    /// check the second condition (`tcp_send_loss_probe`).
    pub fn may_probe(&self) -> bool {
        !self.is_probing() && (self.measured || self.clock == RackClock::Jiffies)
    }

    /// Section 7.2: TLP_calc_PTO.
    pub fn probe_timeout(srtt: Option<Duration>, single: bool) -> Duration {
        match srtt {
            None => FIRST_PROBE,
            Some(srtt) if single => srtt * 2 + LONGEST_ACK_DELAY,
            Some(srtt) => srtt * 2,
        }
    }

    /// Section 7.3: records a probe.
    pub fn probed(&mut self, probe: Probe) {
        self.measured = false;
        self.probe = Some(probe);
    }

    /// Ends the episode: recovery or a timeout takes over.
    pub fn end_probe(&mut self) {
        self.probe = None;
    }

    /// Section 7.4.2. `duplicate_sack`: the end of the data reported as arrived twice; `bare`: the acknowledgement
    /// has no newly acknowledged and no SACKed data.
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
