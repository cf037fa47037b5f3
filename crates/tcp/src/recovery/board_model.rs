//! The scoreboard compared with a model that keeps every segment and checks all of them each time.

use super::board::Scoreboard;
use super::sent::{Delivery, Span, Transmission};
use netlull_units::{Duration, Instant};
use proptest::prelude::*;

const SMSS: u64 = 100;
const DUP_THRESH: u64 = 3;

#[derive(Clone, Debug, Default)]
struct Segment {
    sent_at: Instant,
    sacked: bool,
    lost: bool,
    /// The last transmission is a retransmission, and not known to be lost.
    retransmitted: bool,
}

/// Segments of `SMSS` bytes, the first numbered `una`.
#[derive(Debug, Default)]
struct Model {
    una: u64,
    segments: Vec<Segment>,
}

impl Model {
    fn pipe(&self) -> u64 {
        // RFC 6675 `SetPipe`: one for each segment neither SACKed nor lost, one for each retransmitted and not
        // SACKed.
        let in_pipe = |s: &&Segment| !s.sacked && !s.lost;
        let again = |s: &&Segment| !s.sacked && s.retransmitted;
        let count = self.segments.iter().filter(in_pipe).count() + self.segments.iter().filter(again).count();
        SMSS * count as u64
    }

    /// RFC 6675 `IsLost`: DupThresh discontiguous sequences, or more than (DupThresh - 1) SMSS bytes, SACKed above.
    fn is_lost(&self, index: usize) -> bool {
        let above = &self.segments[index + 1..];
        let bytes = SMSS * above.iter().filter(|s| s.sacked).count() as u64;
        let starts = above.iter().enumerate().filter(|(i, s)| s.sacked && (*i == 0 || !above[i - 1].sacked)).count();
        starts as u64 >= DUP_THRESH || bytes > (DUP_THRESH - 1) * SMSS
    }

    fn next_waiting(&self) -> Option<u64> {
        let waiting = |s: &Segment| s.lost && !s.retransmitted && !s.sacked;
        self.segments.iter().position(waiting).map(|index| (self.una + index as u64) * SMSS)
    }
}

#[derive(Clone, Debug)]
enum Action {
    Send,
    Acknowledge(u64),
    Sack(u64, u64),
    Judge,
    Retransmit,
    Overdue(u64),
    Timeout,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => Just(Action::Send),
        2 => (0_u64..6).prop_map(Action::Acknowledge),
        6 => (0_u64..20, 1_u64..5).prop_map(|(from, len)| Action::Sack(from, len)),
        4 => Just(Action::Judge),
        4 => Just(Action::Retransmit),
        2 => (0_u64..40).prop_map(Action::Overdue),
        1 => Just(Action::Timeout),
    ]
}

fn at(tick: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(tick)
}

struct Pair {
    board: Scoreboard,
    model: Model,
    now: Instant,
}

impl Pair {
    fn apply(&mut self, action: &Action) {
        let Self { board, model, now } = self;
        match *action {
            Action::Send => {
                let start = (model.una + model.segments.len() as u64) * SMSS;
                board.push(start, 100, *now);
                model.segments.push(Segment { sent_at: *now, ..Segment::default() });
            }
            Action::Acknowledge(count) => {
                let count = count.min(model.segments.len() as u64);
                let news = model.segments.drain(..count as usize).filter(|s| !s.sacked).count() as u64;
                model.una += count;
                let mut delivery = Delivery::default();
                board.acknowledge(model.una * SMSS, &mut delivery);
                assert_eq!(delivery.bytes, news * SMSS);
            }
            Action::Sack(from, len) => self.sack(from, len),
            Action::Judge => {
                let edge = board.rfc6675_edge(DUP_THRESH, SMSS);
                let newly = edge.map_or(0, |edge| board.mark_lost_below(edge));
                let mut expected = 0;
                for index in 0..model.segments.len() {
                    let segment = &model.segments[index];
                    if !segment.sacked && !segment.lost && model.is_lost(index) {
                        model.segments[index].lost = true;
                        expected += SMSS;
                    }
                }
                assert_eq!(newly, expected);
            }
            Action::Retransmit => {
                if let Some(span) = board.next_waiting() {
                    board.retransmitted(span.start, *now);
                    let index = (span.start / SMSS - model.una) as usize;
                    model.segments[index].retransmitted = true;
                    model.segments[index].sent_at = *now;
                }
            }
            Action::Overdue(ago) => self.overdue(ago),
            Action::Timeout => {
                board.mark_all_lost(Instant::NEVER);
                for segment in model.segments.iter_mut().filter(|s| !s.sacked) {
                    segment.lost = true;
                    segment.retransmitted = false;
                }
            }
        }
    }

    fn sack(&mut self, from: u64, len: u64) {
        let Self { board, model, .. } = self;
        // Never the first: SND.UNA covers it.
        let (from, end) =
            ((from + 1).min(model.segments.len() as u64), (from + 1 + len).min(model.segments.len() as u64));
        let mut delivery = Delivery::default();
        board.sack(Span { start: (model.una + from) * SMSS, end: (model.una + end) * SMSS }, &mut delivery);
        let mut news = 0;
        for segment in &mut model.segments[from as usize..end as usize] {
            news += u64::from(!segment.sacked) * SMSS;
            *segment = Segment { sent_at: segment.sent_at, sacked: true, lost: false, retransmitted: false };
        }
        assert_eq!((delivery.bytes, delivery.sacked), (news, news));
    }

    /// Runs RACK with a reference sent 5 ms ago, and `ago` ms allowed.
    fn overdue(&mut self, ago: u64) {
        let Self { board, model, now } = self;
        let latest = Transmission { sent_at: at((now.as_nanos() / 1_000_000).saturating_sub(5)), end: u64::MAX };
        let allowed = Duration::from_millis(ago);
        let overdue = board.mark_overdue(*now, latest, allowed);
        let (mut lost, mut next) = (0, None);
        for segment in &mut model.segments {
            let waits = segment.lost && !segment.retransmitted;
            if segment.sacked || waits || segment.sent_at > latest.sent_at {
                continue;
            }
            // A retransmission that is not lost (none here) would count by its last transmission.
            if segment.sent_at + allowed <= *now {
                segment.lost = true;
                segment.retransmitted = false;
                lost += SMSS;
            } else {
                next = next.max(Some(segment.sent_at + allowed));
            }
        }
        assert_eq!((overdue.lost, overdue.next), (lost, next));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_and_cursors_agree_with_a_look_at_every_segment(actions in prop::collection::vec(action(), 1..200)) {
        let mut pair = Pair { board: Scoreboard::default(), model: Model::default(), now: at(10) };
        for (tick, action) in actions.iter().enumerate() {
            pair.now = at(10 + tick as u64);
            pair.apply(action);
            prop_assert_eq!(pair.board.pipe(), pair.model.pipe());
            prop_assert_eq!(pair.board.outstanding(), SMSS * pair.model.segments.len() as u64);
            prop_assert_eq!(pair.board.next_waiting().map(|span| span.start), pair.model.next_waiting());
        }
    }
}

/// Segments 0 to 6 are lost and retransmitted in this order, with segment 11 SACKed. Then segments 5 and 6 are
/// SACKed, one per acknowledgement. Returns the losses that each of the two reveals, with four later retransmissions
/// allowed.
fn lost_retransmissions(single_pass: bool) -> [u64; 2] {
    let mut board = Scoreboard::default();
    for number in 0..12 {
        board.push(number * SMSS, 100, at(1));
    }
    let segment = |number: u64| Span { start: number * SMSS, end: (number + 1) * SMSS };
    board.sack(segment(11), &mut Delivery::default());
    board.mark_lost_below(7 * SMSS);
    for number in 0..7 {
        board.retransmitted(number * SMSS, at(2));
    }
    [5, 6].map(|number| {
        let mut delivery = Delivery::default();
        board.sack(segment(number), &mut delivery);
        board.mark_lost_retransmissions(&delivery, 4, single_pass)
    })
}

#[test]
fn in_a_single_pass_a_sacked_retransmission_tells_of_lower_ones_an_acknowledgement_later() {
    // The sixth retransmission is five later than the first, the seventh than the second.
    assert_eq!(lost_retransmissions(false), [SMSS, SMSS]);
    // Segment 0 lies below segment 5: the next acknowledgement checks it again, and the one after that segment 1.
    assert_eq!(lost_retransmissions(true), [0, SMSS]);
}
