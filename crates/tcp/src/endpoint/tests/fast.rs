//! The fast path and the general code are equivalent. Two connections, one of which never takes the fast path, get
//! the same segments, at random lost, delayed, repeated, marked or invented, and are compared completely.

use super::super::fast::{Polled, Prediction};
use crate::{
    Algorithm, ApplicationRead, Config, Data, DelayedAck, Ecn, Endpoint, Flags, RttSampling, Segment, SeqNr, Undo,
};
use netlull_units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::VecDeque;

/// An endpoint, and its twin that uses the general code only.
struct Twins {
    short: Endpoint,
    general: Endpoint,
    /// Segments that took the fast path.
    predicted: u64,
    /// Polls that the fast path answered, and all polls.
    answered: (u64, u64),
}

/// Everything but the difference between the twins.
fn state(endpoint: &Endpoint) -> String {
    format!("{:?}", Endpoint { prediction: Prediction::NOTHING, limit: 0, general_only: false, ..endpoint.clone() })
}

impl Twins {
    fn new(endpoint: Endpoint) -> Self {
        let general = Endpoint { general_only: true, ..endpoint.clone() };
        Self { short: endpoint, general, predicted: 0, answered: (0, 0) }
    }

    fn each(&mut self, call: impl Fn(&mut Endpoint)) {
        call(&mut self.short);
        call(&mut self.general);
        self.compare();
    }

    fn compare(&self) {
        assert!(self.short.prediction.holds(self.short.prediction_now()), "{:?}", self.short);
        assert_eq!(self.short.limit, self.short.limit_now(), "{:?}", self.short);
        assert_eq!(state(&self.short), state(&self.general));
        assert_eq!(self.short.next_timeout(), self.general.next_timeout());
    }

    fn take(&mut self, now: Instant, segment: &Segment) {
        self.predicted += u64::from(self.short.clone().take_predicted(now, segment));
        self.each(|endpoint| endpoint.handle_segment(now, segment));
    }

    fn send(&mut self, now: Instant) -> Vec<Segment> {
        let mut sent = Vec::new();
        loop {
            let polled = self.short.clone().poll_predicted(now, &mut Segment::default());
            self.answered.0 += u64::from(!matches!(polled, Polled::Unknown));
            self.answered.1 += 1;
            let (one, other) = (self.short.poll_transmit(now), self.general.poll_transmit(now));
            assert_eq!(one, other);
            self.compare();
            match one {
                Some(segment) => sent.push(segment),
                None => return sent,
            }
        }
    }
}

/// Event of one segment, or of the connection.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    Lost,
    Twice,
    /// Overtaken by the next.
    Late,
    Marked,
    /// A gateway has limited its window field to this number.
    Steered(u16),
    /// Arrives, then arrives again changed.
    Forged {
        ack: i32,
        seq: i32,
        len: u16,
        window: i16,
        flags: u16,
        ts: i32,
    },
    /// The receiving side queues data too.
    Answered(u16),
    /// Nothing more arrives for this number of ms.
    Silence(u16),
    /// The receiving side closes.
    Closed,
    /// The application of the side that learns of it stops.
    Stopped,
}

fn fate() -> impl Strategy<Value = Fate> {
    let forged = (-3000..3000_i32, -3000..3000_i32, 0..2000_u16, -40..40_i16, any::<u16>(), -3..3_i32);
    prop_oneof![
        60 => Just(Fate::Arrives),
        2 => Just(Fate::Lost),
        1 => Just(Fate::Twice),
        2 => Just(Fate::Late),
        1 => Just(Fate::Marked),
        // Room for part of a segment, for some segments, for all.
        20 => prop_oneof![0..3000_u16, 0..30_000_u16, any::<u16>()].prop_map(Fate::Steered),
        1 => forged.prop_map(|(ack, seq, len, window, bits, ts)| {
            let flags = [Flags::PSH, Flags::ECE, Flags::CWR, Flags::FIN, Flags::CE].into_iter().enumerate();
            let set = flags.filter(|(bit, _)| bits >> (3 * bit) & 7 == 7);
            let flags = set.fold(Flags::NONE, |all, (_, flag)| all | flag).bits();
            Fate::Forged { ack: ack * i32::from(bits & 3 == 3), seq: seq * i32::from(bits & 12 == 12), len, window, flags, ts }
        }),
        1 => (1..4000_u16).prop_map(Fate::Answered),
        1 => (1..1500_u16).prop_map(Fate::Silence),
        1 => (0..20_u8).prop_map(|n| match n {
            0 | 1 => Fate::Closed,
            2 | 3 => Fate::Stopped,
            _ => Fate::Arrives,
        }),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let algorithms = prop_oneof![3 => Just(Algorithm::NewReno), 3 => prop::sample::select(ALGORITHMS.to_vec())];
    let presets = (0..3_u8, algorithms, any::<bool>());
    let choices = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0..8_u8, 1..40_u64, any::<bool>());
    (presets, choices).prop_map(
        |((preset, algorithm, agent), (timestamps, delays, every_ack, ecn, rare, buffer, scaling))| {
            let base = if preset == 1 { Config::ns2() } else { Config::default() };
            let base = match (preset, agent) {
                (2, _) => Config::linux_6().with_linux_6_algorithm(algorithm),
                (_, true) => base.with_ns2_agent(algorithm),
                (_, false) => base.with_algorithm(algorithm),
            };
            // Small segments and a large buffer: the window's unit is larger than a segment.
            let mss = if rare == 2 { 60 } else { base.mss };
            let room = if rare == 2 { 1 << (buffer % 15 + 16) } else { buffer * buffer * u64::from(mss) / 3 };
            base.with(|c| {
                c.timestamps = timestamps;
                c.flow_control.window_scaling = scaling;
                c.acks.delayed_ack = if delays { Config::default().acks.delayed_ack } else { DelayedAck::Off };
                c.timer.rtt_sampling = if every_ack { RttSampling::EveryAck } else { RttSampling::OncePerWindow };
                if ecn && c.ecn == Ecn::Off {
                    c.ecn = Ecn::Classic;
                }
                c.mss = mss;
                c.flow_control.receive_buffer = Bytes::new((room + u64::from(mss)).min(1 << 30));
                if rare == 0 {
                    c.flow_control.application_read = ApplicationRead::OnDemand;
                }
                c.nagle = rare == 1;
                c.recovery.undo = [Undo::Off, Undo::Rfc, Undo::Linux6][usize::from(rare % 3)];
            })
        },
    )
}

const ALGORITHMS: [Algorithm; 12] = [
    Algorithm::Tahoe,
    Algorithm::Reno,
    Algorithm::Reno2622,
    Algorithm::NewReno,
    Algorithm::Sack,
    Algorithm::Bbr,
    Algorithm::Bic,
    Algorithm::Compound,
    Algorithm::Cubic,
    Algorithm::Cubic2622,
    Algorithm::Dctcp,
    Algorithm::Vegas,
];

struct Path {
    ends: [Twins; 2],
    /// Segments on their way to each end.
    on_way: [VecDeque<(Instant, Segment)>; 2],
    now: Instant,
    delay: Duration,
    /// The largest window field that passes. With less than two segments, half of the largest window is less than one
    /// (RFC 9293 section 3.8.6.2.1 rule 3).
    cap: u16,
}

impl Path {
    fn new(config: &Config, iss: u32, delay: Duration, size: Data, closes: bool) -> Self {
        let client = Twins::new(Endpoint::client(config, SeqNr::new(iss)));
        let server = Twins::new(Endpoint::server(config, SeqNr::new(iss.wrapping_mul(77))));
        let mut path =
            Self { ends: [client, server], on_way: Default::default(), now: Instant::ZERO, delay, cap: u16::MAX };
        path.ends[0].each(|endpoint| endpoint.open(Instant::ZERO));
        path.ends[0].each(|endpoint| endpoint.send(size));
        if closes {
            path.ends[0].each(Endpoint::close);
        }
        path.pump(0);
        path
    }

    fn pump(&mut self, end: usize) {
        for segment in self.ends[end].send(self.now) {
            self.on_way[1 - end].push_back((self.now + self.delay, segment));
        }
    }

    fn timers(&mut self) {
        for end in 0..2 {
            if self.ends[end].short.next_timeout() <= self.now {
                let now = self.now;
                self.ends[end].each(|endpoint| endpoint.handle_timeout(now));
                self.pump(end);
            }
        }
    }

    /// The end with the next event; sets the time to that event.
    fn advance(&mut self) -> Option<usize> {
        loop {
            let first = |end: usize| self.on_way[end].front().map_or(Instant::NEVER, |(at, _)| *at);
            let arrival = first(0).min(first(1));
            let timer = self.ends[0].short.next_timeout().min(self.ends[1].short.next_timeout());
            if arrival.min(timer) == Instant::NEVER {
                return None;
            }
            self.now = self.now.max(arrival.min(timer));
            if arrival <= timer {
                return Some(usize::from(first(1) < first(0)));
            }
            self.timers();
        }
    }

    fn deliver(&mut self, end: usize, segment: &Segment) {
        self.ends[end].take(self.now, segment);
        self.pump(end);
    }

    fn step(&mut self, fate: Fate) -> bool {
        let Some(end) = self.advance() else { return false };
        let Some((at, mut segment)) = self.on_way[end].pop_front() else { return false };
        segment.window = segment.window.min(self.cap);
        match fate {
            Fate::Arrives => self.deliver(end, &segment),
            Fate::Lost => {}
            Fate::Twice => {
                self.deliver(end, &segment);
                self.deliver(end, &segment);
            }
            Fate::Late => {
                let place = self.on_way[end].len().min(1);
                let at = self.on_way[end].front().map_or(at, |(next, _)| *next);
                self.on_way[end].insert(place, (at, segment));
            }
            Fate::Marked => {
                segment.flags = segment.flags | Flags::CE;
                self.deliver(end, &segment);
            }
            Fate::Steered(window) => {
                segment.window = segment.window.min(window);
                self.deliver(end, &segment);
            }
            Fate::Forged { ack, seq, len, window, flags, ts } => {
                self.deliver(end, &segment);
                let step = |number: SeqNr, by: i32| number.advanced_by(i64::from(by).cast_unsigned());
                segment.ack = step(segment.ack, ack);
                segment.seq = step(segment.seq, seq).advanced_by(u64::from(segment.len) * u64::from(seq == 0));
                segment.len = if len < 500 { 0 } else { len };
                segment.window = segment.window.saturating_add_signed(window);
                segment.ts_val = segment.ts_val.wrapping_add_signed(ts);
                for flag in [Flags::PSH, Flags::ECE, Flags::CWR, Flags::FIN, Flags::CE] {
                    if flags & flag.bits() != 0 {
                        segment.flags = segment.flags | flag;
                    }
                }
                self.deliver(end, &segment);
            }
            Fate::Answered(bytes) => {
                self.deliver(end, &segment);
                self.ends[end].each(|endpoint| endpoint.send(Data::Bytes(u64::from(bytes))));
                self.pump(end);
                self.ends[end].each(|endpoint| _ = endpoint.read(u64::from(bytes)));
                self.pump(end);
            }
            Fate::Silence(millis) => {
                for (at, _) in self.on_way.iter_mut().flatten() {
                    *at += Duration::from_millis(u64::from(millis));
                }
                self.on_way[end].push_front((self.now, segment));
            }
            Fate::Closed => self.ends[end].each(Endpoint::close),
            Fate::Stopped => {
                self.deliver(end, &segment);
                self.ends[end].each(Endpoint::stop);
                self.pump(end);
            }
        }
        true
    }
}

proptest! {
    #[test]
    fn the_fast_path_leads_to_the_same_state(
        config in config(),
        iss in any::<u32>(),
        delay in 0..30_000_000_u64,
        size in prop_oneof![Just(Data::Endless), (1..300_000_u64).prop_map(Data::Bytes), (1..100_u64).prop_map(|n| Data::Bytes(n * 1000))],
        closes in any::<bool>(),
        cap in prop_oneof![2 => Just(u16::MAX), 1 => 100..3000_u16],
        fates in prop::collection::vec(fate(), 1..400),
    ) {
        prop_assert!(config.validate().is_ok());
        let closes = closes && size != Data::Endless;
        let mut path = Path::new(&config, iss, Duration::from_nanos(delay), size, closes);
        path.cap = cap;
        for fate in fates {
            if !path.step(fate) {
                break;
            }
        }
    }
}

/// The comparison above is meaningful only with a fast path that is used: by nearly every segment that arrives
/// undisturbed, also after the repair of losses.
#[test]
fn most_segments_take_the_fast_path() {
    for config in [Config::ns2().with_ns2_window(1000), Config::default()] {
        let mut path = Path::new(&config, 7, Duration::from_millis(10), Data::Endless, false);
        for lost in [false, true] {
            let before = path.ends.each_ref().map(|end| end.predicted);
            for step in 0..1000 {
                let fate = if lost && step == 0 { Fate::Lost } else { Fate::Arrives };
                assert!(path.step(fate));
            }
            // Of 1000 segments, at most the window that repairs the loss (about 1000 in slow start) does not.
            for (end, before) in path.ends.iter().zip(before) {
                assert!(end.predicted - before > 200, "{} of 1000 after a loss: {lost}", end.predicted - before);
            }
        }
    }
}

/// Losses apart, acknowledgements take the fast path also with a scoreboard, and so does data ahead of a gap.
#[test]
fn scoreboards_and_gaps_do_not_stop_the_fast_path() {
    for algorithm in [Algorithm::Sack, Algorithm::Cubic, Algorithm::Bbr] {
        let config = Config::default().with_algorithm(algorithm.clone());
        let mut path = Path::new(&config, 7, Duration::from_millis(10), Data::Endless, false);
        for lost in [false, true] {
            let before = path.ends.each_ref().map(|end| end.predicted);
            let mut arrived = [0_u64; 2];
            for step in 0..600 {
                let end = path.advance().expect("an endless transfer");
                arrived[end] += 1;
                assert!(path.step(if lost && step == 0 { Fate::Lost } else { Fate::Arrives }));
            }
            let [sender, receiver] = [0, 1].map(|end| (path.ends[end].predicted - before[end]) * 100 / arrived[end]);
            // All but the handshake. At the sender, the repair of the loss is left to the general code.
            assert!(receiver >= 98, "{algorithm:?}: {receiver} % of data, after a loss: {lost}");
            assert!(lost || sender >= 98, "{algorithm:?}: {sender} % of acknowledgements");
        }
    }
}

/// A gateway writes another window into every acknowledgement, which nearly always leaves room for a part of a
/// segment.
#[test]
fn windows_that_change_do_not_stop_the_fast_path() {
    for timestamps in [false, true] {
        // Without a shift: windows in bytes.
        let config = Config::ns2().with(|c| {
            c.timestamps = timestamps;
            c.flow_control.receive_buffer = Bytes::new(65_535);
        });
        let mut path = Path::new(&config, 7, Duration::from_millis(10), Data::Endless, false);
        for step in 0..2000_u16 {
            if step == 1000 {
                path.ends.iter_mut().for_each(|end| (end.predicted, end.answered) = (0, (0, 0)));
            }
            // From 20 to 30 kB and back in steps of 37 B: it shrinks by less than a segment at a time.
            let distance = (37 * (step % 540)).abs_diff(10_000);
            assert!(path.step(Fate::Steered(20_000 + distance)));
        }
        let sender = &path.ends[0];
        assert!(sender.predicted > 400, "{} of about 500 acknowledgements", sender.predicted);
        let (answered, asked) = sender.answered;
        assert!(answered * 100 > asked * 95, "{answered} of {asked}");
    }
}

/// RFC 9293 section 3.8.6.2.1 rule 3: half of the largest window goes out although it is no full segment, also with
/// data in flight.
#[test]
fn the_fast_path_leaves_half_of_the_largest_window_to_the_general_code() {
    let base = Config::default().with_algorithm(Algorithm::NewReno);
    let (delayed_ack, receive_buffer) = (DelayedAck::Off, Bytes::new(65_535));
    let config = base.with(|c| {
        c.timestamps = false;
        c.nagle = false;
        c.acks.delayed_ack = delayed_ack;
        c.flow_control.receive_buffer = receive_buffer;
    });
    let mut path = Path::new(&config, 7, Duration::from_millis(10), Data::Endless, false);
    path.cap = 1000;
    // Handshake, and some segments of 1000 B, as many as the window allows.
    for _ in 0..10 {
        assert!(path.step(Fate::Arrives));
    }
    while path.on_way[0].is_empty() {
        assert!(path.step(Fate::Arrives));
    }
    let (_, acknowledgement) = path.on_way[0].pop_front().unwrap();
    path.deliver(0, &Segment { window: 1000, ..acknowledgement });
    assert_eq!(path.on_way[1].back().unwrap().1.len, 1000);
    // The window opens to twice the flight: room for 1000 B, half of the largest so far.
    let (sent, flight) = (path.on_way[1].len(), path.ends[0].short.flight());
    path.deliver(0, &Segment { window: 2000, ..acknowledgement });
    assert_eq!((flight, path.on_way[1].len()), (1000, sent + 1));
    assert_eq!(path.on_way[1].back().unwrap().1.len, 1000);
    // To 2600 B there would be room for 600 B, less than half: nothing goes out.
    path.deliver(0, &Segment { window: 2600, ..acknowledgement });
    assert_eq!(path.on_way[1].len(), sent + 1);
}

/// The borders of cache lines of 64 bytes: the fields documented as adjacent are adjacent.
#[test]
fn what_every_segment_touches_lies_in_few_cache_lines() {
    use super::super::Receiver;
    use std::mem::offset_of;
    let line = |offset: usize| offset / 64;
    // Both: counters, timestamps, prediction and state.
    let shared = offset_of!(Endpoint, counters) + offset_of!(crate::Counters, data_segments_sent);
    assert_eq!(shared % 64, 0);
    assert_eq!(line(shared), line(offset_of!(Endpoint, state)));
    // Both: the sending half, which fills a line.
    assert_eq!((offset_of!(Endpoint, snd) % 64, offset_of!(Endpoint, cc) % 64), (0, 0));
    // The sender of data: congestion control and times fill the next.
    assert_eq!(
        (line(offset_of!(Endpoint, times)), offset_of!(Endpoint, rcv) % 64),
        (line(offset_of!(Endpoint, cc)), 0)
    );
    // The receiver of data; then both: what comes next, the timers, and the RTO, which `rtt` begins with.
    assert_eq!((offset_of!(Endpoint, rcv) + offset_of!(Receiver, nxt)) % 64, 0);
    assert_eq!(line(offset_of!(Endpoint, rcv) + offset_of!(Receiver, nxt)), line(offset_of!(Endpoint, rtt)));
    assert_eq!((offset_of!(Endpoint, rtt) + 8) % 64, 0);
}
