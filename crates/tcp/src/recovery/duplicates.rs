//! Fast retransmit and recovery by counting duplicate acknowledgements, with limited transmit (RFC 3042): Tahoe, Reno
//! (RFC 2581), NewReno (RFC 5681 section 3.2, RFC 6582), Vegas' (early retransmission) and Sack1 (the count, with
//! SACK blocks that identify missing data).

use super::early::EarlyRetransmit;
use super::sent::Span;
use super::{Holes, RecoveryPhase};
use crate::cc::{TimeoutKind, Transmission};
use crate::config::{FullAck, LossRecovery, PartialAckTimer, Recovery, SackDetection};
use netlull_units::{Duration, Instant};

/// RFC 3042: new segments on the first two duplicate acknowledgements.
const LIMITED_TRANSMIT_SEGMENTS: u64 = 2;

/// The phases of NewReno:
///
/// ```text
///            duplicate_ack_threshold, una > recover             timeout
///     Open ----------------------------------> FastRecovery --------------> Loss
///      ^ |                                          |                       | ^
///      | +------------------------------------------+-----------------------+ |
///      |            una >= recover (full acknowledgement)                     |
///      +----------------------------------------------------------------------+
///                                   timeout
/// ```
///
/// Reno and Vegas leave fast recovery at the first acknowledgement of new data, full or partial. Tahoe enters Loss at
/// once.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    FastRecovery {
        /// Growth of the window by duplicate acknowledgements, bytes.
        inflation: u64,
        /// Reduction by partial acknowledgements beyond the inflation, bytes.
        deficit: u64,
        partial_acks: u32,
    },
    Loss {
        /// The first unacknowledged byte at the last expiration of the timer.
        timed_out: u64,
    },
}

/// The meaning of a duplicate acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Duplicate {
    /// No loss yet, or the window was inflated.
    Noted,
    /// A loss: fast recovery begins with a retransmission.
    Lost,
    /// A loss after which everything from the first unacknowledged segment on is retransmitted, as after a timeout
    /// (Tahoe).
    Restart,
    /// A loss as `Lost`, in Vegas' recovery, with the transmission of the segment. The window falls only if
    /// `reduces`.
    Expired { sent: Transmission, reduces: bool },
}

/// The retransmission timer at a partial acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialAck {
    RestartsTimer,
    KeepsTimer,
}

/// The meaning of an acknowledgement of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acked {
    /// Nothing special.
    Ordinary,
    /// Another segment is lost, and needs retransmission.
    Partial(PartialAck),
    /// Fast recovery is over.
    Full {
        /// The reduction of cwnd (only with [`FullAck::Deflated`]).
        deficit: u64,
    },
}

/// Recovery by counting duplicate acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct DuplicateRecovery {
    /// The window minus cwnd, in bytes.
    adjustment: i64,
    /// RFC 6582's `recover`: the offset after the last byte sent at the last declaration of a loss.
    recover: u64,
    phase: Phase,
    /// Data sent by limited transmit since the first duplicate acknowledgement, in bytes.
    limited: u32,
    duplicates: u32,
    retransmit: Retransmit,
    threshold: u8,
    kind: Kind,
    limited_transmit: bool,
    /// Limited transmit also repeats segments after a timeout (ns-2).
    limited_repeats: bool,
    full_ack: FullAck,
    partial_ack_timer: PartialAckTimer,
}

/// The kind of recovery, with its own state.
#[derive(Clone, Debug)]
enum Kind {
    Tahoe,
    Reno,
    NewReno,
    Vegas {
        early: Box<EarlyRetransmit>,
        /// cwnd after the last loss, bytes.
        reduced: u64,
        /// True if the retransmission timer has expired, and no loss was found since.
        timed_out: bool,
        /// The inflation at the acknowledgement that ends recovery.
        exit: VegasExit,
    },
    /// With SACK, if the peer agrees; else NewReno.
    Sack1 {
        holes: Box<Holes>,
        /// True if the retransmission timer has expired, and nothing was acknowledged since.
        timed_out: bool,
        /// True if the acknowledgement has new blocks.
        news: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VegasExit {
    /// cwnd is the window after the loss.
    Deflate { inflation: u64 },
    /// cwnd stays larger by this number: three duplicates or fewer arrived (ns-2).
    Keep { inflation: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retransmit {
    Nothing,
    /// The first unacknowledged segment.
    First,
}

impl Kind {
    fn new(config: &Recovery) -> Self {
        match (config.loss_recovery, config.sack_detection) {
            (LossRecovery::Tahoe, _) => Self::Tahoe,
            (LossRecovery::Reno, _) => Self::Reno,
            (LossRecovery::Vegas, _) => {
                let exit = VegasExit::Keep { inflation: 0 };
                Self::Vegas { early: Box::default(), reduced: 0, timed_out: false, exit }
            }
            (LossRecovery::Sack, SackDetection::Counting) => {
                Self::Sack1 { holes: Box::default(), timed_out: false, news: false }
            }
            (LossRecovery::NewReno | LossRecovery::Sack | LossRecovery::Rack, _) => Self::NewReno,
        }
    }
}

impl DuplicateRecovery {
    pub fn new(config: &Recovery) -> Self {
        Self {
            adjustment: 0,
            recover: 0,
            phase: Phase::Open,
            limited: 0,
            duplicates: 0,
            retransmit: Retransmit::Nothing,
            threshold: config.duplicate_ack_threshold,
            kind: Kind::new(config),
            limited_transmit: config.limited_transmit,
            limited_repeats: config.limited_repeats,
            full_ack: config.full_ack,
            partial_ack_timer: config.partial_ack_timer,
        }
    }

    #[inline]
    pub fn phase(&self) -> RecoveryPhase {
        match self.phase {
            Phase::Open => RecoveryPhase::Open,
            Phase::FastRecovery { .. } => RecoveryPhase::FastRecovery,
            Phase::Loss { .. } => RecoveryPhase::Loss,
        }
    }

    /// True outside recovery and with nothing to retransmit.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open) && self.retransmit == Retransmit::Nothing
    }

    /// True if also no duplicates have arrived, and acknowledgements of new data change nothing.
    pub fn is_plain(&self) -> bool {
        let plain_kind = matches!(self.kind, Kind::Tahoe | Kind::Reno | Kind::NewReno);
        plain_kind && self.is_open() && (self.duplicates, self.limited, self.adjustment) == (0, 0, 0)
    }

    /// The sum of congestion control's window and the recovery's change, at least one segment.
    #[inline]
    pub fn window(&self, cwnd: u64, smss: u64) -> u64 {
        cwnd.saturating_add_signed(self.adjustment).max(smss)
    }

    /// True if the first unacknowledged segment needs retransmission.
    #[inline]
    pub fn retransmission_is_due(&self) -> bool {
        self.retransmit == Retransmit::First
    }

    /// Records that the requested retransmission is on its way.
    pub fn retransmitted(&mut self) {
        self.retransmit = Retransmit::Nothing;
    }

    /// Handles the start of data transmission; the handshake took `rtt`.
    pub fn begin(&mut self, rtt: Option<Duration>) {
        if let (Kind::Vegas { early, .. }, Some(rtt)) = (&mut self.kind, rtt) {
            early.begin(rtt);
        }
    }

    /// Handles a peer without SACK.
    pub fn without_sack(&mut self) {
        if matches!(self.kind, Kind::Sack1 { .. }) {
            self.kind = Kind::NewReno;
        }
    }

    /// Records a transmission of a segment, new or again.
    #[inline]
    pub fn note_sent(&mut self, now: Instant, span: Span) {
        if let Kind::Vegas { early, .. } = &mut self.kind {
            early.sent(now, span.start, span.end);
        }
    }

    /// The round trip of exactly the last acknowledged segment, if each segment is timed. The inner `None` marks a
    /// retransmitted segment.
    #[inline]
    pub fn segment_rtt(&self) -> Option<Option<Duration>> {
        match &self.kind {
            Kind::Vegas { early, .. } => Some(early.rtt),
            _ => None,
        }
    }

    /// True if the acknowledgement of `una` may be a sample for the retransmission timer. ns-2's Sack1 takes no
    /// samples from partial ones.
    #[inline]
    pub fn samples(&self, una: u64) -> bool {
        !matches!((&self.kind, self.phase), (Kind::Sack1 { .. }, Phase::FastRecovery { .. }) if una < self.recover)
    }

    /// True if SACK blocks are used.
    #[inline]
    pub fn reads_blocks(&self) -> bool {
        matches!(self.kind, Kind::Sack1 { .. })
    }

    /// Takes the SACK blocks of an acknowledgement above SND.UNA.
    pub fn take_blocks(&mut self, blocks: impl Iterator<Item = Span>) {
        if let Kind::Sack1 { holes, news, .. } = &mut self.kind {
            *news = false;
            for block in blocks {
                // Evaluates each block, also after one with news.
                *news |= holes.add(block);
            }
        }
    }

    /// The next hole to fill, during recovery.
    #[inline]
    pub fn next_hole(&self, una: u64) -> Option<Span> {
        match (&self.kind, self.phase) {
            (Kind::Sack1 { holes, .. }, Phase::FastRecovery { .. }) => holes.next(una),
            _ => None,
        }
    }

    /// Records a segment that fills a hole: it counts as in flight.
    pub fn hole_filled(&mut self, span: Span) {
        if let (Kind::Sack1 { holes, .. }, Phase::FastRecovery { deficit, .. }) = (&mut self.kind, &mut self.phase) {
            holes.fill(span.end);
            *deficit += span.end - span.start;
            self.adjust();
        }
    }

    /// Records the reduced cwnd after a loss, for Vegas.
    pub fn reduced_to(&mut self, cwnd: u64) {
        if let Kind::Vegas { reduced, .. } = &mut self.kind {
            *reduced = cwnd;
        }
    }

    /// True during the count of duplicate acknowledgements: data sent beyond cwnd then belongs to limited transmit.
    #[inline]
    pub fn is_counting(&self) -> bool {
        self.duplicates != 0 && matches!(self.phase, Phase::Open)
    }

    /// Duplicate acknowledgements of SND.UNA since its last advance, outside recovery.
    pub fn counted_duplicates(&self) -> u32 {
        if self.is_counting() { self.duplicates } else { 0 }
    }

    /// Records `bytes` of limited transmit.
    pub fn limited_transmit_sent(&mut self, bytes: u32) {
        self.limited = self.limited.saturating_add(bytes);
    }

    /// The data sent by limited transmit, which is no flight at a loss (RFC 5681 section 3.1).
    pub fn limited_transmit_flight(&self) -> u64 {
        u64::from(self.limited)
    }

    /// Handles a duplicate acknowledgement of `una`, with data sent up to `max`.
    pub fn on_duplicate(&mut self, now: Instant, una: u64, max: u64, smss: u64) -> Duplicate {
        if matches!(self.kind, Kind::Vegas { .. }) {
            return self.on_duplicate_vegas(now, una, max, smss);
        }
        if let Phase::FastRecovery { inflation, .. } = &mut self.phase {
            // RFC 6582 section 3.2 (RFC 5681 section 3.2 step 4): cwnd += SMSS for each further duplicate.
            *inflation += smss;
            self.adjust();
            return Duplicate::Noted;
        }
        // Sack1: only a duplicate with news counts, and after a timeout none before an acknowledgement of new data.
        if let Kind::Sack1 { timed_out, news, .. } = self.kind
            && (timed_out || !news)
        {
            return Duplicate::Noted;
        }
        self.duplicates = self.duplicates.saturating_add(1);
        // RFC 6582 section 3.2 step 1: only if the acknowledgement covers more than `recover`. Initially that is the
        // ISS, which the handshake covers; no loss precedes the first data, so 0 means that here.
        let news = una > self.recover || self.recover == 0;
        if self.duplicates == u32::from(self.threshold) && news {
            self.recover = max;
            self.limited = 0;
            if let Kind::Sack1 { holes, .. } = &mut self.kind {
                holes.fill(una + smss);
            }
            if matches!(self.kind, Kind::Tahoe) {
                self.phase = Phase::Loss { timed_out: una };
                self.adjustment = 0;
                return Duplicate::Restart;
            }
            // RFC 6582 section 3.2 step 2 (RFC 5681 step 3): cwnd = ssthresh + 3 SMSS.
            let inflation = u64::from(self.threshold) * smss;
            self.phase = Phase::FastRecovery { inflation, deficit: 0, partial_acks: 0 };
            self.retransmit = Retransmit::First;
            self.adjust();
            return Duplicate::Lost;
        }
        // RFC 3042 section 2: on the first two duplicates, a new segment beyond cwnd.
        let may_send = self.limited_transmit && (self.limited_repeats || matches!(self.phase, Phase::Open));
        self.adjustment = if may_send && self.duplicates < u32::from(self.threshold) {
            (u64::from(self.duplicates).min(LIMITED_TRANSMIT_SEGMENTS) * smss).cast_signed()
        } else {
            0
        };
        Duplicate::Noted
    }

    /// Brakmo and Peterson 1995 section 3.1: the third duplicate means a loss, and any duplicate if the segment has
    /// expired.
    fn on_duplicate_vegas(&mut self, now: Instant, una: u64, max: u64, smss: u64) -> Duplicate {
        let Kind::Vegas { early, timed_out, .. } = &mut self.kind else { return Duplicate::Noted };
        let threshold = u32::from(self.threshold);
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates != threshold && !early.has_expired(now) {
            if self.duplicates > threshold {
                self.adjustment += smss.cast_signed();
            }
            return Duplicate::Noted;
        }
        if *timed_out && una <= self.recover {
            return Duplicate::Noted;
        }
        let (sent, reduces) = early.lose(now);
        *timed_out = false;
        self.recover = max;
        if reduces {
            self.adjustment = (u64::from(self.duplicates) * smss).cast_signed();
        }
        if sent.count == 1 {
            self.duplicates = threshold;
        }
        self.phase = Phase::FastRecovery { inflation: 0, deficit: 0, partial_acks: 0 };
        self.retransmit = Retransmit::First;
        Duplicate::Expired { sent, reduces }
    }

    /// Handles an acknowledgement of new data up to `una`. If it ends the inflation, it removes it after more than
    /// three duplicates; otherwise ns-2 keeps it (`dupacks_ > numdupacks_`).
    fn on_ack_vegas(&mut self, now: Instant, una: u64) -> Acked {
        let Kind::Vegas { early, exit, .. } = &mut self.kind else { return Acked::Ordinary };
        early.acknowledge(now, una);
        let inflation = self.adjustment.unsigned_abs();
        let ends = inflation > 0 || matches!(self.phase, Phase::FastRecovery { .. });
        let many = self.duplicates > u32::from(self.threshold);
        *exit = if many { VegasExit::Deflate { inflation } } else { VegasExit::Keep { inflation } };
        let expired = early.is_suspicious(now);
        if una >= self.recover || matches!(self.phase, Phase::FastRecovery { .. }) {
            self.reopen();
        }
        self.adjustment = 0;
        self.duplicates = 0;
        if expired {
            self.duplicates = u32::from(self.threshold);
            self.retransmit = Retransmit::First;
        }
        if ends { Acked::Full { deficit: 0 } } else { Acked::Ordinary }
    }

    /// Handles an acknowledgement of `acked` new bytes, up to `una`.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, una: u64, acked: u64, smss: u64) -> Acked {
        match &mut self.kind {
            Kind::Tahoe | Kind::Reno | Kind::NewReno => {}
            Kind::Vegas { .. } => return self.on_ack_vegas(now, una),
            Kind::Sack1 { holes, timed_out, .. } => {
                *timed_out = false;
                if !matches!(self.phase, Phase::FastRecovery { .. }) {
                    holes.clear();
                }
            }
        }
        match self.phase {
            Phase::Open => {
                self.duplicates = 0;
                self.limited = 0;
                self.adjustment = 0;
                Acked::Ordinary
            }
            Phase::FastRecovery { .. } => self.on_ack_in_recovery(una, acked, smss),
            Phase::Loss { .. } => {
                self.duplicates = 0;
                self.adjustment = 0;
                if una >= self.recover {
                    self.reopen();
                }
                Acked::Ordinary
            }
        }
    }

    #[cold]
    fn on_ack_in_recovery(&mut self, una: u64, acked: u64, smss: u64) -> Acked {
        let Phase::FastRecovery { inflation, deficit, partial_acks } = &mut self.phase else {
            return Acked::Ordinary;
        };
        // RFC 6582 section 3.2 step 3, full acknowledgements; RFC 2581 section 3.2 step 5, any.
        if una >= self.recover || matches!(self.kind, Kind::Reno) {
            let deficit = *deficit;
            self.reopen();
            if let Kind::Sack1 { holes, .. } = &mut self.kind {
                holes.clear();
                self.recover = 0;
            }
            return Acked::Full { deficit };
        }
        if let Kind::Sack1 { holes, .. } = &mut self.kind {
            // Fall and Floyd 1996 section 5: a partial acknowledgement subtracts two from pipe, the lost segment and
            // its retransmission.
            holes.acknowledge(una);
            *inflation += 2 * smss;
            *deficit += acked;
            self.adjust();
            return Acked::Partial(PartialAck::RestartsTimer);
        }
        // Partial acknowledgements: retransmit the first unacknowledged segment, deflate by what was acknowledged,
        // add back SMSS if that was at least SMSS.
        *partial_acks += 1;
        let add_back = if acked >= smss { smss } else { 0 };
        if *inflation > acked {
            *inflation -= acked - add_back;
        } else {
            *deficit += acked - *inflation;
            *inflation = add_back;
        }
        let timer = match self.partial_ack_timer {
            PartialAckTimer::SlowButSteady => PartialAck::RestartsTimer,
            PartialAckTimer::Impatient if *partial_acks == 1 => PartialAck::RestartsTimer,
            PartialAckTimer::Impatient => PartialAck::KeepsTimer,
        };
        self.retransmit = Retransmit::First;
        self.adjust();
        Acked::Partial(timer)
    }

    /// Handles the retransmission timer with `una` unacknowledged and data sent up to `max`.
    pub fn on_timeout(&mut self, now: Instant, una: u64, max: u64) -> TimeoutKind {
        let kind = match self.phase {
            Phase::Loss { timed_out } if timed_out == una => TimeoutKind::Repeated,
            _ => TimeoutKind::First,
        };
        // RFC 6582 section 3.2 step 4: record the highest sequence number transmitted in `recover`, exit recovery.
        self.recover = max;
        self.phase = Phase::Loss { timed_out: una };
        self.adjustment = 0;
        // ns-2's Tahoe continues its count; the others restart it.
        if !matches!(self.kind, Kind::Tahoe) {
            self.duplicates = 0;
        }
        match &mut self.kind {
            Kind::Tahoe | Kind::Reno | Kind::NewReno => {}
            Kind::Vegas { early, reduced, timed_out, .. } => {
                early.on_timeout(now);
                (*reduced, *timed_out) = (0, true);
            }
            Kind::Sack1 { holes, timed_out, .. } => {
                holes.clear();
                *timed_out = true;
            }
        }
        self.limited = 0;
        self.retransmit = Retransmit::First;
        kind
    }

    /// True if needless recoveries can be undone: these repairs keep no state that would have to return too.
    pub fn can_undo(&self) -> bool {
        matches!(self.kind, Kind::Reno | Kind::NewReno)
    }

    /// The offset after the last byte sent before the last loss.
    pub fn recovery_point(&self) -> u64 {
        self.recover
    }

    /// Ends a needless recovery.
    pub fn abort(&mut self) {
        self.reopen();
    }

    /// Makes the window `target` until the next acknowledgement of new data (RFC 5682 section 2.1 step 2.b).
    pub fn admit(&mut self, target: u64, cwnd: u64) {
        self.adjustment = target.cast_signed() - cwnd.cast_signed();
    }

    /// Retransmits everything from the first unacknowledged byte on, without a detected loss. Returns the phase
    /// before.
    pub fn pull_back(&mut self) -> RecoveryPhase {
        let (before, phase) = (self.phase(), self.phase);
        self.reopen();
        if before == RecoveryPhase::Loss {
            self.phase = phase;
        }
        before
    }

    /// The window at the end of recovery: RFC 6582 section 3.2 step 3.
    pub fn exit_window(&self, exit: &ExitWindow) -> u64 {
        match (&self.kind, self.full_ack) {
            (Kind::Vegas { exit: VegasExit::Keep { inflation }, .. }, _) => exit.cwnd.saturating_add(*inflation),
            (Kind::Vegas { exit: VegasExit::Deflate { inflation }, reduced, .. }, _) => {
                exit.cwnd.saturating_add(*inflation).min(*reduced).max(exit.smss)
            }
            (Kind::Sack1 { .. }, _) => exit.cwnd,
            // RFC 2581 section 3.2 step 5.
            (Kind::Reno, FullAck::FlightLimited) => exit.ssthresh,
            (_, FullAck::FlightLimited) => exit.ssthresh.min(exit.flight.max(exit.smss) + exit.smss),
            (_, FullAck::Ssthresh) => exit.ssthresh,
            (_, FullAck::Deflated) => exit.cwnd.saturating_sub(exit.deficit).max(exit.smss),
        }
    }

    /// True if the acknowledgement that ends recovery also opens the window.
    pub fn exit_opens_window(&self) -> bool {
        match self.kind {
            Kind::Vegas { .. } => true,
            Kind::Sack1 { .. } => false,
            Kind::Tahoe | Kind::Reno | Kind::NewReno => self.full_ack == FullAck::Deflated,
        }
    }

    fn reopen(&mut self) {
        self.phase = Phase::Open;
        self.adjustment = 0;
        self.duplicates = 0;
        self.limited = 0;
        self.retransmit = Retransmit::Nothing;
    }

    fn adjust(&mut self) {
        if let Phase::FastRecovery { inflation, deficit, .. } = self.phase {
            self.adjustment = inflation.cast_signed() - deficit.cast_signed();
        }
    }
}

/// The terms of the window after recovery, all in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitWindow {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub flight: u64,
    pub smss: u64,
    pub deficit: u64,
}
