//! Needless recoveries: their detection by timestamps (RFC 3522), by D-SACKs (RFC 3708) and after a timeout by new data
//! (F-RTO, RFC 5682), and the window that returns.

use super::sent::Span;
use crate::config;

/// The evidence of an acknowledgement that a recovery was needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A timestamp older than the first retransmission.
    Timestamp,
    /// D-SACKs for all retransmissions.
    DuplicateSack,
}

/// The state of congestion control at the start of a recovery, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prior {
    pub cwnd: u64,
    pub ssthresh: u64,
}

/// A needless recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needless {
    /// `None` if congestion was reported meanwhile: the reduction stands.
    pub prior: Option<Prior>,
    pub timed_out: bool,
    /// True if the recovery was not over yet.
    pub ends_recovery: bool,
}

/// A recovery, until the next begins: D-SACKs for its retransmissions may come late.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// SND.UNA at its start (`undo_marker`).
    start: u64,
    prior: Option<Prior>,
    timed_out: bool,
    /// Retransmissions without a D-SACK; `None` before the first (`undo_retrans`).
    unreported: Option<u32>,
    /// True once an acknowledgement of new data has been judged: RFC 3522 takes only the first.
    judged: bool,
}

/// The steps of F-RTO (RFC 5682 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forward {
    Off,
    /// Step 2: the first segment was retransmitted.
    Retransmitted,
    /// Step 3: its acknowledgement released new data.
    NewData,
}

/// The detection of needless recoveries.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    rule: config::Undo,
    episode: Option<Episode>,
    /// The timestamp of the first retransmission (RFC 3522's RetransmitTS, `retrans_stamp`).
    stamp: Option<u32>,
    forward: Forward,
    /// True if this acknowledgement releases new data only.
    new_data_first: bool,
    /// Retransmissions and D-SACKs of the connection, in segments.
    retransmitted: u64,
    reported: u64,
    needless: Option<Needless>,
    /// The retransmissions of the recovery without a D-SACK, with the RFCs' rules.
    repeats: Vec<Span>,
}

impl Undo {
    pub fn new(rule: config::Undo) -> Self {
        Self {
            rule,
            episode: None,
            stamp: None,
            forward: Forward::Off,
            new_data_first: false,
            retransmitted: 0,
            reported: 0,
            needless: None,
            repeats: Vec::new(),
        }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.rule != config::Undo::Off
    }

    pub fn is_linux(&self) -> bool {
        self.rule == config::Undo::Linux6
    }

    /// Handles the start of a recovery. `in_flight`: retransmissions of earlier ones that may still arrive, in segments.
    pub fn begin(&mut self, start: u64, prior: Option<Prior>, timed_out: bool, in_flight: u32) {
        if !self.is_on() {
            return;
        }
        let in_flight = if self.is_linux() { in_flight } else { 0 };
        if in_flight == 0 {
            self.stamp = None;
        }
        let unreported = (in_flight > 0).then_some(in_flight);
        self.episode = Some(Episode { start, prior, timed_out, unreported, judged: false });
        self.forward = Forward::Off;
        self.new_data_first = false;
        self.repeats.clear();
    }

    /// Handles a timeout that continues a recovery.
    pub fn time_out(&mut self) {
        if let Some(episode) = &mut self.episode {
            episode.timed_out = true;
        }
    }

    /// Forgets the recovery: nothing can be undone.
    pub fn forget(&mut self) {
        self.episode = None;
        self.forward = Forward::Off;
        self.new_data_first = false;
    }

    /// Handles a report of congestion: the reduction stands.
    pub fn confirm_congestion(&mut self) {
        if let Some(episode) = &mut self.episode {
            episode.prior = None;
        }
    }

    /// Records a retransmission with this timestamp; `segments` counts its segments.
    pub fn retransmitted(&mut self, span: Span, stamp: u32, segments: u32) {
        self.retransmitted += u64::from(segments);
        self.stamp = self.stamp.or(Some(stamp));
        let linux = self.is_linux();
        let Some(episode) = &mut self.episode else { return };
        episode.unreported = Some(episode.unreported.unwrap_or(0).saturating_add(segments));
        if !linux {
            self.repeats.push(span);
        }
    }

    /// Handles a D-SACK of `segments` segments, of which `ours` are known as retransmitted; `una` precedes the
    /// acknowledgement. Returns false for one that no retransmission explains (`tcp_dsack_seen`).
    pub fn duplicated(&mut self, twice: Span, segments: u32, ours: u32, una: u64) -> bool {
        self.reported += u64::from(segments);
        if self.reported > self.retransmitted {
            return false;
        }
        let linux = self.is_linux();
        if let Some(episode) = &mut self.episode
            && let Some(unreported) = &mut episode.unreported
            && twice.end > episode.start
        {
            if linux {
                // For acknowledged data the segments of the block count: their fates are forgotten.
                *unreported = unreported.saturating_sub(if twice.end <= una { segments } else { ours });
            } else {
                *unreported = unreported.saturating_sub(take_within(&mut self.repeats, twice));
            }
        }
        true
    }

    /// True if the echoed timestamp precedes the first retransmission. With Linux also if there is none.
    fn is_delayed(&self, echo: Option<u32>) -> bool {
        match self.stamp {
            Some(stamp) => echo.is_some_and(|echo| echo.wrapping_sub(stamp).cast_signed() < 0),
            None => self.is_linux(),
        }
    }

    /// The evidence of an acknowledgement that advances SND.UNA in recovery.
    pub fn evidence(&mut self, echo: Option<u32>) -> Option<Evidence> {
        let delayed = self.is_delayed(echo);
        let linux = self.is_linux();
        let episode = self.episode.as_mut()?;
        let first = !std::mem::replace(&mut episode.judged, true);
        if delayed && (first || linux) {
            return Some(Evidence::Timestamp);
        }
        (episode.unreported == Some(0)).then_some(Evidence::DuplicateSack)
    }

    /// True if D-SACKs have reported all retransmissions.
    pub fn is_reported(&self) -> bool {
        self.episode.is_some_and(|episode| episode.unreported == Some(0))
    }

    /// Erases the timestamp of the first retransmission: none is in flight.
    pub fn forget_stamp(&mut self) {
        self.stamp = None;
    }

    /// Ends the episode: the recovery was needless.
    pub fn conclude(&mut self, ends_recovery: bool) {
        let episode = self.episode.take();
        self.forward = Forward::Off;
        self.new_data_first = false;
        self.needless = Some(Needless {
            prior: episode.and_then(|episode| episode.prior),
            timed_out: episode.is_some_and(|episode| episode.timed_out),
            ends_recovery,
        });
    }

    /// True if the last acknowledgement has proved a recovery needless.
    #[inline]
    pub fn has_needless(&self) -> bool {
        self.needless.is_some()
    }

    /// True if the last acknowledgement has ended a needless recovery.
    #[inline]
    pub fn ends_recovery(&self) -> bool {
        self.needless.is_some_and(|needless| needless.ends_recovery)
    }

    /// The needless recovery that the last acknowledgement revealed.
    #[inline]
    pub fn take_needless(&mut self) -> Option<Needless> {
        self.needless.take()
    }

    /// RFC 5682 step 1: F-RTO begins with a timeout.
    pub fn try_forward(&mut self) {
        if self.is_on() {
            self.forward = Forward::Retransmitted;
        }
    }

    /// True while F-RTO decides.
    #[inline]
    pub fn tries_forward(&self) -> bool {
        self.forward != Forward::Off
    }

    /// RFC 5682 step 2.b: new data goes out.
    pub fn send_forward(&mut self) {
        self.forward = Forward::NewData;
    }

    /// True in step 3 of F-RTO.
    #[inline]
    pub fn waits_for_new_data(&self) -> bool {
        self.forward == Forward::NewData
    }

    /// Ends F-RTO: the loss is real, or cannot be judged.
    pub fn stop_forward(&mut self) {
        self.forward = Forward::Off;
        self.new_data_first = false;
    }

    /// Holds retransmissions until the next acknowledgement.
    pub fn hold_retransmissions(&mut self) {
        self.new_data_first = true;
    }

    /// True if this acknowledgement releases new data only.
    #[inline]
    pub fn holds_retransmissions(&self) -> bool {
        self.new_data_first
    }

    /// Handles the next acknowledgement or timer: retransmissions may go out again.
    #[inline]
    pub fn release_retransmissions(&mut self) {
        self.new_data_first = false;
    }
}

/// RFC 3708 section 3: removes a retransmission of each segment in the block; returns their number.
fn take_within(repeats: &mut Vec<Span>, block: Span) -> u32 {
    let (mut from, mut count) = (block.start, 0);
    while let Some((index, next)) = repeats
        .iter()
        .enumerate()
        .filter(|(_, span)| span.start >= from && span.end <= block.end)
        .min_by_key(|(_, span)| span.start)
        .map(|(index, span)| (index, *span))
    {
        repeats.swap_remove(index);
        from = next.end;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    fn begun(rule: config::Undo) -> Undo {
        let mut undo = Undo::new(rule);
        undo.begin(1000, Some(Prior { cwnd: 10_000, ssthresh: u64::MAX }), false, 0);
        undo
    }

    #[test]
    fn an_echo_before_the_first_retransmission_is_evidence() {
        for rule in [config::Undo::Rfc, config::Undo::Linux6] {
            for (echo, evidence) in [(Some(99), Some(Evidence::Timestamp)), (Some(100), None), (None, None)] {
                let mut undo = begun(rule);
                undo.retransmitted(span(1000, 2000), 100, 1);
                undo.retransmitted(span(2000, 3000), 105, 1);
                assert_eq!(undo.evidence(echo), evidence, "{rule:?} {echo:?}");
                // A second acknowledgement counts in Linux alone.
                let second = (rule == config::Undo::Linux6).then_some(Evidence::Timestamp);
                assert_eq!(undo.evidence(Some(99)), second, "{rule:?}");
            }
        }
        // The clock wraps: 2^32 - 1 precedes 0.
        let mut undo = begun(config::Undo::Rfc);
        undo.retransmitted(span(1000, 2000), 0, 1);
        assert_eq!(undo.evidence(Some(u32::MAX)), Some(Evidence::Timestamp));
    }

    #[test]
    fn every_retransmission_needs_a_report_of_its_own() {
        let mut undo = begun(config::Undo::Rfc);
        undo.retransmitted(span(1000, 2000), 0, 1);
        undo.retransmitted(span(2000, 3000), 0, 1);
        undo.retransmitted(span(1000, 2000), 0, 1);
        // Data that was sent once, then a block of both segments, then the first again.
        for (block, reported) in [(span(5000, 6000), false), (span(1000, 3000), false), (span(1000, 2000), true)] {
            undo.duplicated(block, 1, 0, 9000);
            assert_eq!(undo.is_reported(), reported, "{block:?}");
        }
    }

    #[test]
    fn linux_counts_segments_and_doubts_more_reports_than_retransmissions() {
        let mut undo = begun(config::Undo::Linux6);
        undo.retransmitted(span(1000, 2000), 0, 1);
        undo.retransmitted(span(2000, 3000), 0, 1);
        // Below SND.UNA the block's segments count, above it those known as retransmitted.
        assert!(undo.duplicated(span(5000, 6000), 1, 0, 4000));
        assert!(!undo.is_reported());
        assert!(undo.duplicated(span(1000, 2000), 1, 0, 4000));
        assert!(!undo.is_reported());
        assert!(!undo.duplicated(span(2000, 3000), 1, 0, 4000));
        let mut undo = begun(config::Undo::Linux6);
        undo.retransmitted(span(1000, 2000), 0, 1);
        assert!(undo.duplicated(span(1000, 2000), 1, 0, 4000) && undo.is_reported());
    }

    #[test]
    fn a_congestion_echo_keeps_the_reduction() {
        let mut undo = begun(config::Undo::Linux6);
        undo.confirm_congestion();
        undo.conclude(true);
        assert!(undo.take_needless().is_some_and(|needless| needless.prior.is_none() && needless.ends_recovery));
        assert!(undo.take_needless().is_none());
    }
}
