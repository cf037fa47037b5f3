//! Fast recovery with selective acknowledgements (RFC 6675) or by time (RFC 8985), and the reduction to congestion
//! control's window (RFC 6937, rate halving).

use super::board::Scoreboard;
use super::rack::Rack;
use super::sent::{Delivery, Span};
use super::undo::{Evidence, Undo};
use super::{Journal, RecoveryPhase};
use crate::cc::TimeoutKind;
use crate::config::{LossRecovery, RackClock, Recovery, SackDetection, WindowReduction};
use crate::jiffies;
use netlull_units::{Duration, Instant};

/// The number of segments beyond the flight with which ns-2's TCP/Linux leaves recovery (`tcp_max_burst`).
const LARGEST_BURST: u64 = 3;

/// `TCP_TIMEOUT_MIN_US`.
const LEAST_TIMEOUT: Duration = Duration::from_millis(2);

/// The rule that detects losses.
#[derive(Clone, Debug)]
enum Detection {
    Rfc6675,
    Forward { reordering: u32, single_pass: bool, forgets: bool },
    Rack(Box<Rack>),
}

/// The reduction of the window; the fields are valid for one recovery.
#[derive(Clone, Copy, Debug)]
enum Reduction {
    Immediate,
    /// RFC 6937's variables, in bytes.
    Proportional {
        delivered: u64,
        out: u64,
        flight: u64,
        window: u64,
    },
    /// ns-2's `next_pkts_in_flight_`, in bytes.
    RateHalving {
        allowed: u64,
    },
    /// Linux' `prr_delivered`, `prr_out`, `prior_cwnd` and `snd_cwnd`, in bytes.
    Linux6 {
        delivered: u64,
        out: u64,
        prior: u64,
        window: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The reduction after an ECN echo, without a loss (Linux `TCP_CA_CWR`).
    Reduction,
    FastRecovery,
    Loss {
        timed_out: u64,
    },
}

/// The result of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    /// Nothing special.
    Ordinary,
    /// A loss: recovery begins when congestion control has set its window.
    Lost,
    /// Everything sent before the loss is acknowledged.
    Recovered,
    /// The same, but data sent later is lost: the next recovery begins.
    RecoveredAndLost,
}

impl Repair {
    /// The same, at the early end of a recovery.
    fn after_end(self) -> Self {
        match self {
            Self::Ordinary | Self::Recovered => Self::Recovered,
            Self::Lost | Self::RecoveredAndLost => Self::RecoveredAndLost,
        }
    }
}

/// The state of the connection around one acknowledgement, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub now: Instant,
    pub una: u64,
    pub nxt: u64,
    pub smss: u64,
    pub srtt: Option<Duration>,
    /// True if the acknowledgement repeats SND.UNA.
    pub duplicate: bool,
}

/// The parts of an acknowledgement that can prove a recovery needless.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// The echoed timestamp.
    pub echo: Option<u32>,
    /// True if new data is queued and fits the peer's window.
    pub may_send: bool,
    /// True if it reports data that arrived twice.
    pub repeats: bool,
}

/// The recovery after an acknowledgement was searched for a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// No proof.
    Unchanged,
    /// The reduction is undone; the recovery ends in the usual way, or is over.
    Restored,
    /// The reduction is undone, and the recovery ends here.
    Ended,
    /// Retransmissions are in flight, and no proof is complete. This acknowledgement marks and retransmits nothing.
    Waits,
}

/// Recovery on a scoreboard.
#[derive(Clone, Debug)]
pub(crate) struct Selective {
    pub board: Scoreboard,
    detection: Detection,
    phase: Phase,
    /// RFC 6675's RecoveryPoint.
    recover: u64,
    reduction: Reduction,
    /// RFC 6675 section 5 step 4.3: the first retransmission does not wait for the window.
    forced: bool,
    /// RFC 6675's RescueRxt.
    rescued: Option<u64>,
    /// HighRxt: the end of the highest retransmission of this recovery.
    highest_retransmitted: u64,
    /// The number of the last retransmission before this recovery.
    order_before: u32,
    /// True if the last acknowledgement or timer reported a lost retransmission.
    lost_now: bool,
    /// True if the last acknowledgement advanced SND.UNA and reported no loss (RFC 9937's SafeACK).
    safe: bool,
    duplicates: u32,
    threshold: u32,
    limited_transmit: bool,
    clock: RackClock,
    /// Time of RACK's next check.
    pub reorder_at: Instant,
    /// Time of the next tail probe.
    pub probe_at: Instant,
}

impl Selective {
    /// `owns_window`: congestion control's window also holds in recovery; `journal`: it wants the fates of segments.
    pub fn new(config: &Recovery, owns_window: bool, journal: bool) -> Self {
        let mut board = Scoreboard::default();
        board.journal = journal.then(Box::default);
        let detection = match (config.loss_recovery, config.sack_detection) {
            (LossRecovery::Rack, _) => Detection::Rack(Box::new(Rack::new(config.rack_clock))),
            (_, SackDetection::Forward) => Detection::Forward {
                reordering: u32::from(config.forward_reordering),
                single_pass: config.forward_single_pass,
                forgets: config.forward_forgets,
            },
            // Counting needs no scoreboard.
            (_, SackDetection::Rfc6675 | SackDetection::Counting) => Detection::Rfc6675,
        };
        Self {
            board,
            detection,
            phase: Phase::Open,
            recover: 0,
            reduction: match config.window_reduction {
                _ if owns_window => Reduction::Immediate,
                WindowReduction::Immediate => Reduction::Immediate,
                WindowReduction::Proportional => Reduction::Proportional { delivered: 0, out: 0, flight: 0, window: 0 },
                WindowReduction::RateHalving => Reduction::RateHalving { allowed: 0 },
                WindowReduction::Linux6 => Reduction::Linux6 { delivered: 0, out: 0, prior: 0, window: 0 },
            },
            forced: false,
            rescued: None,
            highest_retransmitted: 0,
            order_before: 0,
            lost_now: false,
            safe: false,
            duplicates: 0,
            threshold: u32::from(config.duplicate_ack_threshold),
            limited_transmit: config.limited_transmit,
            clock: config.rack_clock,
            reorder_at: Instant::NEVER,
            probe_at: Instant::NEVER,
        }
    }

    /// Takes the state of `fresh`, whose scoreboard is empty, in the same memory.
    pub fn renew(&mut self, fresh: &Self) {
        let mut board = std::mem::take(&mut self.board);
        board.renew();
        let detection = match (std::mem::replace(&mut self.detection, Detection::Rfc6675), &fresh.detection) {
            (Detection::Rack(mut own), Detection::Rack(fresh)) => {
                *own = Rack::clone(fresh);
                Detection::Rack(own)
            }
            (_, fresh) => fresh.clone(),
        };
        *self = Self {
            board,
            detection,
            phase: fresh.phase,
            recover: fresh.recover,
            reduction: fresh.reduction,
            forced: fresh.forced,
            rescued: fresh.rescued,
            highest_retransmitted: fresh.highest_retransmitted,
            order_before: fresh.order_before,
            lost_now: fresh.lost_now,
            safe: fresh.safe,
            duplicates: fresh.duplicates,
            threshold: fresh.threshold,
            limited_transmit: fresh.limited_transmit,
            clock: fresh.clock,
            reorder_at: fresh.reorder_at,
            probe_at: fresh.probe_at,
        };
    }

    /// The fates of segments, if congestion control wants them.
    #[inline]
    pub fn journal(&mut self) -> Option<&mut Journal> {
        self.board.journal.as_deref_mut()
    }

    #[inline]
    pub fn phase(&self) -> RecoveryPhase {
        match self.phase {
            Phase::Open | Phase::Reduction => RecoveryPhase::Open,
            Phase::FastRecovery => RecoveryPhase::FastRecovery,
            Phase::Loss { .. } => RecoveryPhase::Loss,
        }
    }

    /// True while the recovery reduces the window, for a loss or for an ECN echo (`tcp_in_cwnd_reduction`).
    #[inline]
    pub fn reduces(&self) -> bool {
        matches!(self.phase, Phase::FastRecovery | Phase::Reduction)
    }

    /// True while it does so for an ECN echo.
    pub fn reduces_for_echo(&self) -> bool {
        self.phase == Phase::Reduction
    }

    pub fn rack(&mut self) -> Option<&mut Rack> {
        match &mut self.detection {
            Detection::Rack(rack) => Some(rack),
            Detection::Rfc6675 | Detection::Forward { .. } => None,
        }
    }

    /// The sum of congestion control's window and the recovery's change, at least one segment.
    #[inline]
    pub fn window(&self, cwnd: u64, smss: u64) -> u64 {
        if !self.reduces() {
            return cwnd.max(smss);
        }
        match self.reduction {
            Reduction::Immediate => cwnd,
            Reduction::Proportional { window, .. } | Reduction::Linux6 { window, .. } => window,
            Reduction::RateHalving { allowed } => cwnd.max(allowed),
        }
        .max(smss)
    }

    /// The data that counts against the window. Without limited transmit, SACKed data counts until the declaration of
    /// a loss.
    #[inline]
    pub fn flight(&self) -> u64 {
        let pipe = self.board.pipe();
        if self.limited_transmit || self.phase != Phase::Open { pipe } else { pipe.max(self.board.outstanding()) }
    }

    /// True if nothing is in flight and acknowledgements of old data change nothing.
    pub fn is_idle(&self) -> bool {
        let rack_has_seen_nothing = match &self.detection {
            Detection::Rack(rack) => rack.is_new(),
            Detection::Rfc6675 | Detection::Forward { .. } => true,
        };
        self.phase == Phase::Open
            && self.board.is_empty()
            && self.duplicates == 0
            && !self.lost_now
            && self.wake_at() == Instant::NEVER
            && rack_has_seen_nothing
    }

    /// True at rest: all data is in flight for the first time, and after the latest delivery. New data and
    /// acknowledgements without SACK blocks find and end nothing.
    pub fn is_plain(&self) -> bool {
        let rack_rests = match &self.detection {
            Detection::Rack(rack) => !rack.is_probing() && rack.comes_before(self.board.first()),
            Detection::Rfc6675 | Detection::Forward { .. } => true,
        };
        let nothing_pending = self.duplicates == 0 && !self.lost_now && self.reorder_at == Instant::NEVER;
        self.phase == Phase::Open && nothing_pending && rack_rests && self.board.is_plain()
    }

    /// Does the work of [`Self::on_ack`] while [`Self::is_plain`], for an acknowledgement of everything before `una`
    /// without SACK blocks.
    #[inline]
    pub fn on_plain_ack(&mut self, now: Instant, una: u64) -> Delivery {
        let mut delivery = Delivery::default();
        self.board.acknowledge(una, &mut delivery);
        if let Detection::Rack(rack) = &mut self.detection {
            rack.update(now, &delivery);
        }
        delivery
    }

    /// RFC 8985 sections 7.2 and 7.3: sets the probe's timer, if a probe is allowed. The retransmission timer expires
    /// at `timeout_at`.
    #[inline]
    pub fn arm_probe(&mut self, at: &Situation, timeout_at: Instant) {
        let Detection::Rack(rack) = &self.detection else { return };
        let outstanding = self.board.outstanding();
        let quiet = matches!(self.phase, Phase::Open | Phase::Reduction) && self.board.sacked_bytes() == 0;
        self.probe_at = if quiet && outstanding > 0 && rack.may_probe() && !self.replaces_timeout() {
            self.timer(at.now, Rack::probe_timeout(at.srtt, outstanding <= at.smss)).min(timeout_at)
        } else {
            Instant::NEVER
        };
    }

    /// The first expiration of a timer.
    #[inline]
    pub fn wake_at(&self) -> Instant {
        self.reorder_at.min(self.probe_at)
    }

    /// RFC 8985 section 8: true if the reordering timer runs instead of that of retransmission. With
    /// [`RackClock::Jiffies`] both run.
    #[inline]
    pub fn replaces_timeout(&self) -> bool {
        self.reorder_at != Instant::NEVER && self.clock == RackClock::Fine
    }

    /// Handles the end of the connection.
    pub fn stop_timers(&mut self) {
        self.reorder_at = Instant::NEVER;
        self.probe_at = Instant::NEVER;
    }

    /// True if the SACK blocks of acknowledgements below SND.UNA count (Linux).
    pub fn takes_old_acks(&self) -> bool {
        matches!((&self.detection, self.clock), (Detection::Rack(_), RackClock::Jiffies))
    }

    /// True if a segment goes out regardless of the window.
    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// Handles a delivery: called once per acknowledgement, after the scoreboard.
    pub fn on_ack(&mut self, at: &Situation, delivery: &Delivery, undo: &mut Undo, proof: &Proof) -> Repair {
        let order = self.board.last_lost_order();
        if let Detection::Rack(rack) = &mut self.detection {
            rack.update(at.now, delivery);
        }
        let course = if undo.is_on() { self.judge(at, delivery, undo, proof) } else { Course::Unchanged };
        let lost = self.losses_after(course, at, delivery);
        self.lost_now = self.board.last_lost_order() > order;
        self.safe = self.phase != Phase::Open && delivery.advances && lost == 0;
        if at.duplicate && delivery.sacked > 0 {
            self.duplicates = self.duplicates.saturating_add(1);
        } else if !at.duplicate {
            self.duplicates = 0;
        }
        let repair = match self.phase {
            Phase::Open => {
                // RFC 6675 section 5 step 2: DupThresh duplicates are enough, even if their bytes are not.
                let lost = lost + self.lost_by_count();
                // A loss beyond the last recovery point begins the next recovery.
                if lost > 0 || self.board.next_waiting().is_some() { Repair::Lost } else { Repair::Ordinary }
            }
            Phase::Reduction => self.follow_reduction(at.una, lost > 0),
            Phase::FastRecovery | Phase::Loss { .. } if at.una >= self.recover => {
                self.leave(course == Course::Restored)
            }
            // ns-2's TCP/Linux takes a loss found after a timeout as a new one.
            Phase::Loss { .. } if lost > 0 && self.is_rate_halving() => Repair::Lost,
            Phase::FastRecovery if self.lost_again() => Repair::Lost,
            Phase::FastRecovery | Phase::Loss { .. } => Repair::Ordinary,
        };
        if course == Course::Ended { repair.after_end() } else { repair }
    }

    /// Searches for losses as far as the course of recovery allows. Returns the bytes.
    fn losses_after(&mut self, course: Course, at: &Situation, delivery: &Delivery) -> u64 {
        match (course, &self.detection) {
            (Course::Waits, _) => {
                self.reorder_at = Instant::NEVER;
                0
            }
            // By number, the same segment would be lost again at once.
            (Course::Ended, Detection::Rfc6675 | Detection::Forward { .. }) => 0,
            _ => self.find_losses(at, delivery),
        }
    }

    /// Looks for a proof that the recovery was needless.
    fn judge(&mut self, at: &Situation, delivery: &Delivery, undo: &mut Undo, proof: &Proof) -> Course {
        undo.release_retransmissions();
        match self.phase {
            Phase::Open => {
                if !undo.is_reported() {
                    return Course::Unchanged;
                }
                self.note_undone_by_duplicates();
                undo.conclude(false);
                Course::Restored
            }
            Phase::Reduction => Course::Unchanged,
            Phase::FastRecovery => self.judge_fast_recovery(at, delivery, undo, proof),
            Phase::Loss { .. } => self.judge_timeout(at, delivery, undo, proof),
        }
    }

    fn judge_fast_recovery(&mut self, at: &Situation, delivery: &Delivery, undo: &mut Undo, proof: &Proof) -> Course {
        let evidence = if delivery.advances { undo.evidence(proof.echo) } else { None };
        if at.una >= self.recover {
            // `tcp_try_undo_recovery`.
            if evidence.is_none() {
                return Course::Unchanged;
            }
            undo.conclude(true);
            return Course::Restored;
        }
        if evidence == Some(Evidence::Timestamp) {
            // `tcp_try_undo_partial`: the original has filled the hole.
            if let Some(rack) = self.rack() {
                rack.note_reordering();
            }
            if undo.is_linux() && self.board.retransmitted_bytes() > 0 {
                undo.hold_retransmissions();
                return Course::Waits;
            }
            if !self.board.has_retransmitted() {
                undo.forget_stamp();
            }
            // Linux' RACK does not look at a segment again that it has found lost.
            self.board.unmark_losses(!undo.is_linux());
            self.abort();
            undo.conclude(true);
            return Course::Ended;
        }
        if !undo.is_reported() {
            return Course::Unchanged;
        }
        // `tcp_try_undo_dsack` keeps the marks of losses.
        if !undo.is_linux() {
            self.board.unmark_losses(true);
        }
        self.note_undone_by_duplicates();
        self.abort();
        undo.conclude(true);
        Course::Ended
    }

    /// RFC 5682 section 3.1, as `tcp_process_loss` has it.
    fn judge_timeout(&mut self, at: &Situation, delivery: &Delivery, undo: &mut Undo, proof: &Proof) -> Course {
        let evidence = if delivery.advances { undo.evidence(proof.echo) } else { None };
        let new_data_sent = at.nxt > self.recover;
        // Step 3.b: data that was not retransmitted has arrived. RFC 5682 expects new data before, Linux does not.
        let original = delivery.lowest_original.is_some_and(|end| end <= self.recover);
        let forward = undo.tries_forward() && original && (new_data_sent || undo.is_linux());
        if evidence.is_some() || forward {
            self.board.unmark_losses(true);
            self.abort();
            undo.conclude(true);
            return Course::Ended;
        }
        if !undo.tries_forward() {
            return Course::Unchanged;
        }
        if new_data_sent {
            // Step 3.a: the new data has arrived before the old.
            if delivery.sacked > 0 || (at.duplicate && !proof.repeats) {
                undo.stop_forward();
            }
        } else if delivery.advances && at.una < self.recover {
            // Step 2.b: new data, if possible.
            if proof.may_send {
                undo.hold_retransmissions();
            } else {
                undo.stop_forward();
            }
        }
        Course::Unchanged
    }

    fn note_undone_by_duplicates(&mut self) {
        if let Some(rack) = self.rack() {
            rack.on_undone();
        }
    }

    /// Ends recovery before all data sent before it is acknowledged.
    fn abort(&mut self) {
        self.phase = Phase::Open;
        self.forced = false;
        self.duplicates = 0;
    }

    /// The offset after the last byte sent before the recovery or the timeout.
    pub fn recovery_point(&self) -> u64 {
        self.recover
    }

    /// The end of a reduction without a loss: the acknowledgement of data sent after its start.
    fn follow_reduction(&mut self, una: u64, lost: bool) -> Repair {
        let over = una > self.recover;
        if over {
            self.phase = Phase::Open;
            self.safe = false;
        }
        match (over, lost) {
            (true, true) => Repair::RecoveredAndLost,
            (true, false) => Repair::Recovered,
            (false, true) => Repair::Lost,
            (false, false) => Repair::Ordinary,
        }
    }

    /// RFC 5681 section 4.3: the loss of a retransmission is a second sign of congestion. Only retransmissions of
    /// this recovery count. Linux and ns-2's TCP/Linux do not check.
    fn lost_again(&self) -> bool {
        !matches!(self.reduction, Reduction::RateHalving { .. } | Reduction::Linux6 { .. })
            && self.board.last_lost_order() > self.order_before
    }

    /// ns-2's TCP/Linux restarts the retransmission timer at every acknowledgement.
    pub fn restarts_timer_always(&self) -> bool {
        self.is_rate_halving()
    }

    fn is_rate_halving(&self) -> bool {
        matches!(self.reduction, Reduction::RateHalving { .. })
    }

    fn lost_by_count(&mut self) -> u64 {
        let enough = self.duplicates >= self.threshold && matches!(self.detection, Detection::Rfc6675);
        if enough { self.board.mark_first_lost() } else { 0 }
    }

    /// Marks the losses that this acknowledgement reveals; returns the bytes.
    fn find_losses(&mut self, at: &Situation, delivery: &Delivery) -> u64 {
        let threshold = u64::from(self.threshold);
        match &mut self.detection {
            Detection::Rfc6675 => {
                // `IsLost` can change only with newly SACKed data.
                let edge = if delivery.sacked > 0 { self.board.rfc6675_edge(threshold, at.smss) } else { None };
                edge.map_or(0, |edge| self.board.mark_lost_below(edge))
            }
            Detection::Forward { reordering, single_pass, .. } => {
                let Some(highest) = self.board.highest_sacked() else { return 0 };
                let first = self.board.mark_lost_below(highest.saturating_sub(u64::from(*reordering) * at.smss));
                first + self.board.mark_lost_retransmissions(delivery, *reordering, *single_pass)
            }
            Detection::Rack(_) => self.find_overdue(at),
        }
    }

    /// RFC 8985 section 6.2 step 5. Returns the bytes newly lost.
    fn find_overdue(&mut self, at: &Situation) -> u64 {
        let sacked_enough = self.board.sacked_segments() >= self.threshold;
        let eager = !matches!(self.phase, Phase::Open | Phase::Reduction) || sacked_enough;
        self.reorder_at = Instant::NEVER;
        let Detection::Rack(rack) = &self.detection else { return 0 };
        let Some((latest, allowed)) = rack.horizon(at.srtt, eager) else { return 0 };
        let overdue = self.board.mark_overdue(at.now, latest, allowed);
        self.reorder_at = overdue.next.map_or(Instant::NEVER, |due| self.timer(at.now, due.saturating_since(at.now)));
        if self.reorder_at != Instant::NEVER {
            // RFC 8985 section 8: the timers exclude each other.
            self.probe_at = Instant::NEVER;
        }
        overdue.lost
    }

    /// The expiration of a timer set now for `span`.
    pub fn timer(&self, now: Instant, span: Duration) -> Instant {
        match self.clock {
            RackClock::Fine => now + span,
            RackClock::Jiffies => jiffies::expiry(now, span + LEAST_TIMEOUT),
        }
    }

    /// Handles the reordering timer (RFC 8985 section 6.2 step 5).
    pub fn on_reorder_timeout(&mut self, at: &Situation) -> Repair {
        let order = self.board.last_lost_order();
        let lost = self.find_overdue(at);
        self.lost_now = self.board.last_lost_order() > order;
        match self.phase {
            Phase::Open | Phase::Reduction if lost > 0 => Repair::Lost,
            Phase::FastRecovery if self.lost_again() => Repair::Lost,
            _ => Repair::Ordinary,
        }
    }

    /// Begins the reduction after an ECN echo, from a window of `cwnd`; `advances`: the echo came with new data
    /// acknowledged. Returns false if the reduction happens at once.
    pub fn reduce(&mut self, nxt: u64, cwnd: u64, advances: bool) -> bool {
        let Reduction::Linux6 { delivered, out, prior, window } = &mut self.reduction else { return false };
        (*delivered, *out, *prior, *window) = (0, 0, cwnd, cwnd);
        self.phase = Phase::Reduction;
        self.safe = advances;
        self.recover = nxt;
        true
    }

    /// Begins recovery: `flight` was in flight before, and congestion control's window is now `cwnd`.
    pub fn enter(&mut self, nxt: u64, flight: u64, cwnd_before: u64, pipe_before: u64) {
        // The loss of data sent before an echo continues its reduction.
        let continues = self.phase == Phase::Reduction;
        self.phase = Phase::FastRecovery;
        if !continues {
            self.recover = nxt;
        }
        self.order_before = self.board.last_order();
        self.forced = !continues && !self.is_rate_halving();
        self.rescued = None;
        self.highest_retransmitted = 0;
        self.probe_at = Instant::NEVER;
        self.reduction = match self.reduction {
            Reduction::Immediate => Reduction::Immediate,
            // RFC 6937 section 3: at the start of recovery.
            Reduction::Proportional { .. } => {
                Reduction::Proportional { delivered: 0, out: 0, flight, window: pipe_before }
            }
            Reduction::RateHalving { .. } => Reduction::RateHalving { allowed: cwnd_before },
            Reduction::Linux6 { .. } if continues => self.reduction,
            Reduction::Linux6 { .. } => Reduction::Linux6 { delivered: 0, out: 0, prior: cwnd_before, window: 0 },
        };
        if let Detection::Rack(rack) = &mut self.detection {
            rack.end_probe();
        }
    }

    /// Handles an acknowledgement in recovery, including the one that began it, that delivered some bytes. Sets the
    /// data that may go out now.
    pub fn proceed(&mut self, delivered_now: u64, ssthresh: u64, smss: u64) {
        if !self.reduces() {
            return;
        }
        let pipe = self.board.pipe();
        match &mut self.reduction {
            Reduction::Immediate => {}
            Reduction::Proportional { delivered, out, flight, window } => {
                *delivered += delivered_now;
                // RFC 6937 section 3.
                let count = if pipe > ssthresh {
                    // CEIL, to whole segments as in the RFC's example.
                    let due = (*delivered * ssthresh).div_ceil((*flight).max(1)).next_multiple_of(smss);
                    due.saturating_sub(*out)
                } else {
                    // PRR-SSRB; PRR-CRB for an acknowledgement that reports a lost retransmission (RFC 9937's
                    // SafeACK).
                    let extra = if self.lost_now { 0 } else { smss };
                    let limit = delivered.saturating_sub(*out).max(delivered_now) + extra;
                    (ssthresh - pipe).min(limit)
                };
                *window = pipe + count;
            }
            Reduction::Linux6 { delivered, out, prior, window } => {
                // A timer that finds the loss counts as a delivered segment (`tcp_rack_reo_timeout`).
                let begins = *delivered == 0 && self.phase == Phase::FastRecovery;
                let delivered_now = if begins { delivered_now.max(smss) } else { delivered_now };
                if delivered_now == 0 {
                    return;
                }
                *delivered += delivered_now;
                let count = if pipe > ssthresh {
                    (ssthresh / smss * *delivered).div_ceil((*prior).max(1)).saturating_mul(smss).saturating_sub(*out)
                } else {
                    let extra = if self.safe { smss } else { 0 };
                    (ssthresh - pipe).min(delivered.saturating_sub(*out).max(delivered_now) + extra)
                };
                // At least a fast retransmission.
                *window = pipe + count.max(if *out == 0 { smss } else { 0 });
            }
            // ns-2's TCP/Linux `send_much`: at most one more than in flight.
            Reduction::RateHalving { allowed } => *allowed = (*allowed).min(pipe + smss),
        }
    }

    /// Records a transmission of some bytes, new or again.
    #[inline]
    pub fn sent(&mut self, len: u64, smss: u64) {
        self.forced = false;
        if self.reduces() {
            match &mut self.reduction {
                Reduction::Immediate => {}
                Reduction::Proportional { out, .. } | Reduction::Linux6 { out, .. } => *out += len,
                Reduction::RateHalving { allowed } => {
                    *allowed = (*allowed).min(self.board.pipe().saturating_sub(smss).max(smss));
                }
            }
        }
    }

    /// The end of recovery; `restored`: it was needless.
    fn leave(&mut self, restored: bool) -> Repair {
        if let Detection::Rack(rack) = &mut self.detection
            && !restored
        {
            rack.on_recovered();
        }
        let fast = self.phase == Phase::FastRecovery;
        self.phase = Phase::Open;
        self.forced = false;
        self.safe = false;
        self.duplicates = 0;
        if matches!(self.detection, Detection::Forward { forgets: true, .. }) {
            self.board.forget_marks();
        }
        // A loss beyond this recovery point begins the next recovery at once.
        match (fast || self.is_rate_halving(), self.board.next_waiting().is_some()) {
            (true, false) => Repair::Recovered,
            (true, true) => Repair::RecoveredAndLost,
            (false, true) => Repair::Lost,
            (false, false) => Repair::Ordinary,
        }
    }

    /// The window after recovery: RFC 6675's reduced window, or ssthresh with RFC 6937. ns-2's TCP/Linux raises it
    /// towards ssthresh as far as a burst of three segments allows.
    pub fn exit_window(&self, cwnd: u64, ssthresh: u64, smss: u64) -> u64 {
        match self.reduction {
            // As in ns-2's Sack1, whose ssthresh is the same, rounded down.
            Reduction::Immediate => cwnd,
            Reduction::Proportional { .. } | Reduction::Linux6 { .. } => ssthresh,
            Reduction::RateHalving { .. } if cwnd < ssthresh => ssthresh.min(self.board.pipe() + LARGEST_BURST * smss),
            Reduction::RateHalving { .. } => cwnd,
        }
    }

    /// Handles the retransmission timer (RFC 6675 section 5.1, RFC 8985 section 6.3).
    pub fn on_timeout(&mut self, at: &Situation) -> TimeoutKind {
        let kind = match self.phase {
            Phase::Loss { timed_out } if timed_out == at.una => TimeoutKind::Repeated,
            _ => TimeoutKind::First,
        };
        if self.board.has_reneged() {
            self.board.forget_sacks();
        }
        let before = match &mut self.detection {
            Detection::Rack(rack) => {
                rack.end_probe();
                rack.overdue_before(at.now, at.srtt)
            }
            Detection::Rfc6675 | Detection::Forward { .. } => Instant::NEVER,
        };
        self.board.mark_all_lost(before);
        self.phase = Phase::Loss { timed_out: at.una };
        self.recover = at.nxt;
        self.duplicates = 0;
        self.forced = true;
        self.reorder_at = Instant::NEVER;
        self.probe_at = Instant::NEVER;
        kind
    }

    /// The next segment to retransmit: lost ones first; `None` if there is none, or before recovery.
    #[inline]
    pub fn next_lost(&mut self) -> Option<Span> {
        if matches!(self.phase, Phase::Open | Phase::Reduction) { None } else { self.board.next_waiting() }
    }

    /// The segment to retransmit if none is known to be lost and no new data can go out (RFC 6675 `NextSeg` rules 3,
    /// 4).
    pub fn next_speculative(&mut self, una: u64) -> Option<Span> {
        if self.phase != Phase::FastRecovery || !matches!(self.detection, Detection::Rfc6675) {
            return None;
        }
        // Rule 3: a hole above HighRxt that is not lost yet.
        if let Some(hole) = self.board.next_hole(self.highest_retransmitted.max(una)) {
            return Some(hole);
        }
        // Rule 4: the end of the outstanding data, once per recovery point, unless it was sent again. The rule has no
        // such condition: it repeats a retransmission that is still in flight.
        if self.rescued.is_none_or(|rescued| una > rescued) {
            let last = self.board.last_hole()?;
            if last.start >= self.highest_retransmitted {
                self.rescued = Some(self.recover);
                return Some(last);
            }
        }
        None
    }

    /// Records a retransmission.
    pub fn retransmitted(&mut self, span: Span, now: Instant) {
        self.board.retransmitted(span.start, now);
        if self.rescued != Some(self.recover) {
            self.highest_retransmitted = self.highest_retransmitted.max(span.end);
        }
        // RFC 6675 section 5 step 4.3: no rescue until more than the first retransmission is acknowledged.
        self.rescued.get_or_insert(span.end);
    }
}
