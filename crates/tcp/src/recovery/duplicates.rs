//! Fast retransmit and recovery without SACK: Tahoe, Reno (RFC 2581) and NewReno (RFC 5681 section 3.2, RFC 6582), with
//! limited transmit (RFC 3042).

use super::RecoveryPhase;
use crate::cc::TimeoutKind;
use crate::config::{Config, FullAck, LossRecovery, PartialAckTimer};

/// RFC 3042: new segments on the first two duplicate acknowledgements.
const LIMITED_TRANSMIT_SEGMENTS: u64 = 2;

/// NewReno's:
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
/// Reno leaves fast recovery at the first acknowledgement of new data, full or partial. Tahoe goes to Loss at once.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    FastRecovery {
        /// What duplicate acknowledgements added to the window, bytes.
        inflation: u64,
        /// What partial acknowledgements took beyond the inflation, bytes.
        deficit: u64,
        partial_acks: u32,
    },
    Loss {
        /// The first unacknowledged byte when the timer expired last.
        timed_out: u64,
    },
}

/// What a duplicate acknowledgement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicate {
    /// Nothing is lost yet, or the window was inflated.
    Noted,
    /// A loss: fast recovery begins with a retransmission.
    Lost,
    /// A loss, and everything is to be sent again from the first unacknowledged segment on, as after a timeout (Tahoe).
    Restart,
}

/// Whether a partial acknowledgement restarts the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialAck {
    RestartsTimer,
    KeepsTimer,
}

/// What an acknowledgement of new data means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acked {
    /// Nothing special.
    Ordinary,
    /// A further segment is lost, and to be retransmitted.
    Partial(PartialAck),
    /// Fast recovery is over.
    Full {
        /// What to take from cwnd (only with [`FullAck::Deflated`]).
        deficit: u64,
    },
}

/// Recovery by counting duplicate acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct DuplicateRecovery {
    /// What the window is larger by than cwnd, in bytes.
    adjustment: i64,
    /// RFC 6582's `recover`, as the offset behind the last byte sent when a loss was last declared.
    recover: u64,
    phase: Phase,
    /// Data that limited transmit sent since the first duplicate acknowledgement, in bytes.
    limited: u32,
    duplicates: u32,
    retransmit: Retransmit,
    threshold: u8,
    kind: LossRecovery,
    limited_transmit: bool,
    /// Limited transmit also repeats segments after a timeout (ns-2).
    limited_repeats: bool,
    full_ack: FullAck,
    partial_ack_timer: PartialAckTimer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retransmit {
    Nothing,
    /// The first unacknowledged segment.
    First,
}

impl DuplicateRecovery {
    pub fn new(config: &Config) -> Self {
        Self {
            adjustment: 0,
            recover: 0,
            phase: Phase::Open,
            limited: 0,
            duplicates: 0,
            retransmit: Retransmit::Nothing,
            threshold: config.duplicate_ack_threshold,
            kind: config.loss_recovery,
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

    /// The window that congestion control and recovery make together, at least a segment.
    #[inline]
    pub fn window(&self, cwnd: u64, smss: u64) -> u64 {
        cwnd.saturating_add_signed(self.adjustment).max(smss)
    }

    /// True if the first unacknowledged segment is to be sent again.
    #[inline]
    pub fn retransmission_is_due(&self) -> bool {
        self.retransmit == Retransmit::First
    }

    /// The retransmission asked for is on its way.
    pub fn retransmitted(&mut self) {
        self.retransmit = Retransmit::Nothing;
    }

    /// True while duplicate acknowledgements are being counted: what is sent beyond cwnd then is limited transmit's.
    #[inline]
    pub fn is_counting(&self) -> bool {
        self.duplicates != 0 && matches!(self.phase, Phase::Open)
    }

    /// Limited transmit sent `bytes`.
    pub fn limited_transmit_sent(&mut self, bytes: u32) {
        self.limited = self.limited.saturating_add(bytes);
    }

    /// What limited transmit sent, which a loss does not count as flight (RFC 5681 section 3.1).
    pub fn limited_transmit_flight(&self) -> u64 {
        u64::from(self.limited)
    }

    /// A duplicate acknowledgement of `una`, with data sent up to `max`.
    pub fn on_duplicate(&mut self, una: u64, max: u64, smss: u64) -> Duplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        if let Phase::FastRecovery { inflation, .. } = &mut self.phase {
            // RFC 6582 section 3.2 (RFC 5681 section 3.2 step 4): cwnd += SMSS for each further duplicate.
            *inflation += smss;
            self.adjust();
            return Duplicate::Noted;
        }
        // RFC 6582 section 3.2 step 1: only if the acknowledgement covers more than `recover` (initially the ISS,
        // which the handshake covers; nothing is declared lost before something is sent, so 0 means that here).
        let news = una > self.recover || self.recover == 0;
        if self.duplicates == u32::from(self.threshold) && news {
            self.recover = max;
            self.limited = 0;
            if self.kind == LossRecovery::Tahoe {
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

    /// `acked` bytes of new data were acknowledged, up to `una`.
    #[inline]
    pub fn on_ack(&mut self, una: u64, acked: u64, smss: u64) -> Acked {
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
        if una >= self.recover || self.kind == LossRecovery::Reno {
            let deficit = *deficit;
            self.reopen();
            return Acked::Full { deficit };
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

    /// The retransmission timer expired with `una` unacknowledged and data sent up to `max`.
    pub fn on_timeout(&mut self, una: u64, max: u64) -> TimeoutKind {
        let kind = match self.phase {
            Phase::Loss { timed_out } if timed_out == una => TimeoutKind::Repeated,
            _ => TimeoutKind::First,
        };
        // RFC 6582 section 3.2 step 4: record the highest sequence number transmitted in `recover`, exit recovery.
        self.recover = max;
        self.phase = Phase::Loss { timed_out: una };
        self.adjustment = 0;
        // ns-2's Tahoe counts on; the others begin anew.
        if self.kind != LossRecovery::Tahoe {
            self.duplicates = 0;
        }
        self.limited = 0;
        self.retransmit = Retransmit::First;
        kind
    }

    /// The window that recovery is left with: RFC 6582 section 3.2 step 3.
    pub fn exit_window(&self, exit: &ExitWindow) -> u64 {
        match self.full_ack {
            // RFC 2581 section 3.2 step 5.
            FullAck::FlightLimited if self.kind == LossRecovery::Reno => exit.ssthresh,
            FullAck::FlightLimited => exit.ssthresh.min(exit.flight.max(exit.smss) + exit.smss),
            FullAck::Ssthresh => exit.ssthresh,
            FullAck::Deflated => exit.cwnd.saturating_sub(exit.deficit).max(exit.smss),
        }
    }

    /// True if the acknowledgement that ends recovery also opens the window.
    pub fn exit_opens_window(&self) -> bool {
        self.full_ack == FullAck::Deflated
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

/// What the window after recovery depends on, all in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitWindow {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub flight: u64,
    pub smss: u64,
    pub deficit: u64,
}
