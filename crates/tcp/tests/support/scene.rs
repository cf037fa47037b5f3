//! Scenes from bytes: the variations of property tests and of the fuzzer, including every configuration option.

use super::{Closing, Fate, Reader, Scene, Writer};
use netlull_tcp::{
    Algorithm, ApplicationRead, Config, DelayedAck, DuplicateAck, Ecn, FastRetransmitTimer, FullAck, Growth,
    HandshakeRtt, Increase, InitialWindow, LossRecovery, PartialAckTimer, RepeatedTimeout, RttClock, RttSampling,
    SackDetection, ShrunkWindow, SsthreshFrom, TimeoutFlight, Undo, WindowReduction, WindowUpdate,
};
use netlull_units::{Bytes, Duration};

/// Number of bytes that describe everything but the fates of segments.
pub const HEAD: usize = 2 * CONFIG + SCENE;
/// Bytes for one end's configuration.
const CONFIG: usize = 48;
/// Bytes for the rest.
const SCENE: usize = 40;

/// A sequence of bytes, followed by zeros.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Two bytes.
    fn word(&mut self) -> u64 {
        u64::from(self.byte()) << 8 | u64::from(self.byte())
    }

    /// A number from `low` to `high`, both included; `high - low` is below 2^16.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.word() % (high - low + 1)
    }

    /// A value from the choices, the first for a byte of zero.
    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.byte()) % choices.len()].clone()
    }

    fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }
}

/// Receiving side of a configuration: arrivals and acknowledgements.
fn receiving(from: &mut Source<'_>) -> Config {
    let mss = u16::try_from(from.between(48, 2000)).unwrap_or(536);
    let segments = 1 + u64::from(from.byte()) % 80;
    let odd_bytes = u64::from(from.byte()) % 100;
    let timeout = from.millis(1, 500);
    let mut config = Config { mss, ..Config::default() };
    config.flow_control.receive_buffer = Bytes::new(segments * u64::from(mss) + odd_bytes);
    config.flow_control.application_read = from.one_of(&[ApplicationRead::Immediate, ApplicationRead::OnDemand]);
    config.acks.delayed_ack = from.one_of(&[DelayedAck::Off, DelayedAck::EverySecond { timeout }]);
    config.flow_control.window_scaling = from.one_of(&[false, true]);
    config.timestamps = from.one_of(&[false, true]);
    config.timestamp_granularity = Duration::from_millis(1 + u64::from(from.byte()) % 20);
    // Longer than the delay of the last FIN on a path that loses hundreds of segments in a row.
    config.time_wait = Duration::from_secs(100_000);
    config
}

/// Configuration of an end: every algorithm with every recovery.
fn config(from: &mut Source<'_>) -> Config {
    use {LossRecovery as L, WindowReduction as W};
    let mut config = receiving(from);
    let algorithms: Vec<Algorithm> = Algorithm::catalogue().iter().map(|info| info.algorithm.clone()).collect();
    let limit = Increase::ByteCounting { limit: 2 };
    let tick = RttClock::Ticks { tick: Duration::from_millis(10) };
    config.congestion_control = from.one_of(&algorithms);
    config.recovery.loss_recovery =
        from.one_of(&[L::NewReno, L::Sack, L::Rack, L::Sack, L::Rack, L::Tahoe, L::Reno, L::Vegas]);
    config.recovery.sack_detection =
        from.one_of(&[SackDetection::Rfc6675, SackDetection::Forward, SackDetection::Counting]);
    config.recovery.window_reduction = from.one_of(&[W::Proportional, W::Immediate, W::RateHalving, W::Linux6]);
    config.ecn = from.one_of(&[Ecn::Off, Ecn::Classic, Ecn::Dctcp]);
    config.cwnd.hystart = from.one_of(&[true, false]);
    config.nagle = from.one_of(&[false, true]);
    config.timer.initial_rto = from.millis(500, 3000);
    config.timer.min_rto = from.millis(50, 1000);
    config.timer.max_backoff = from.one_of(&[16, 6]);
    config.timer.rtt_clock = from.one_of(&[config.timer.rtt_clock, tick]);
    config.timer.rtt_sampling = from.one_of(&[RttSampling::OncePerWindow, RttSampling::EveryAck]);
    config.timer.handshake_rtt = from.one_of(&[HandshakeRtt::Sampled, HandshakeRtt::Ignored]);
    config.cwnd.initial_window =
        from.one_of(&[InitialWindow::Rfc6928, InitialWindow::Segments(1), InitialWindow::Segments(3)]);
    config.cwnd.initial_ssthresh = from.one_of(&[None, Some(Bytes::new(4000))]);
    config.cwnd.increase = from.one_of(&[Increase::PerAck, limit]);
    config.cwnd.growth = from.one_of(&[Growth::Always, Growth::WhenLimited]);
    config.cwnd.ssthresh_from = from.one_of(&[SsthreshFrom::Flight, SsthreshFrom::Window]);
    let mut config = recovering(from, config);
    let counts = matches!(config.recovery.loss_recovery, L::Tahoe | L::Reno | L::NewReno);
    if !counts {
        config.flow_control.shrunk_window = ShrunkWindow::Keep;
    }
    config
}

/// The options of recovery.
fn recovering(from: &mut Source<'_>, mut config: Config) -> Config {
    config.recovery.timeout_flight = from.one_of(&[TimeoutFlight::Deflated, TimeoutFlight::Cumulative]);
    config.cwnd.repeated_timeout = from.one_of(&[RepeatedTimeout::Hold, RepeatedTimeout::Recompute]);
    config.recovery.duplicate_ack = from.one_of(&[DuplicateAck::SameWindow, DuplicateAck::AnyWindow]);
    config.recovery.limited_transmit = from.one_of(&[true, false]);
    config.recovery.limited_repeats = from.one_of(&[false, true]);
    config.recovery.forward_single_pass = from.one_of(&[false, true]);
    config.recovery.forward_forgets = from.one_of(&[false, true]);
    config.recovery.full_ack = from.one_of(&[FullAck::FlightLimited, FullAck::Ssthresh, FullAck::Deflated]);
    config.recovery.partial_ack_timer = from.one_of(&[PartialAckTimer::Impatient, PartialAckTimer::SlowButSteady]);
    config.recovery.fast_retransmit_timer = from.one_of(&[FastRetransmitTimer::Keep, FastRetransmitTimer::Restart]);
    config.recovery.undo = from.one_of(&[Undo::Off, Undo::Rfc, Undo::Linux6]);
    config.flow_control.shrunk_window = from.one_of(&[ShrunkWindow::Keep, ShrunkWindow::PullBack]);
    config.flow_control.window_update =
        from.one_of(&[WindowUpdate::Any, WindowUpdate::Larger, WindowUpdate::LargerOrZero]);
    config.flow_control.send_buffer = from.one_of(&[None, None, Some(Bytes::new(10_000))]);
    config
}

/// Fates of segments, one or more for each byte or two.
fn fates(mut from: Source<'_>) -> [Vec<Fate>; 2] {
    let mut fates = [Vec::new(), Vec::new()];
    while !from.0.is_empty() {
        let byte = from.byte();
        let side = &mut fates[usize::from(byte & 1)];
        match byte >> 1 {
            0..80 => side.push(Fate::Deliver),
            80..100 => side.push(Fate::Drop),
            100..107 => side.push(Fate::Duplicate(1 + u64::from(from.byte()))),
            107..118 => side.push(Fate::Delay(1 + u64::from(from.byte()))),
            118..124 => side.push(Fate::Mark),
            _ => side.extend(vec![Fate::Drop; usize::from(from.byte() % 12)]),
        }
    }
    fates
}

impl Scene {
    /// The scene of these bytes; every byte string is valid.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let part =
            |from: usize, len: usize| Source(bytes.get(from..).map_or(&[][..], |rest| &rest[..rest.len().min(len)]));
        let configs = [config(&mut part(0, CONFIG)), config(&mut part(CONFIG, CONFIG))];
        let mut scene = part(2 * CONFIG, SCENE);
        let from = &mut scene;
        let near_wrap = from.one_of(&[false, true]);
        let initial = |from: &mut Source<'_>| {
            let number = u32::try_from(from.word() << 16 | from.word()).unwrap_or(0);
            if near_wrap { u32::MAX - number % 50_000 } else { number }
        };
        let initial_numbers = [initial(from), initial(from)];
        let upload = from.word() * from.one_of(&[1, 3]);
        let download = from.word() % 50_000 * from.one_of(&[0, 1]);
        Self {
            configs,
            initial_numbers,
            bytes: [upload, download],
            fates: fates(part(HEAD, usize::MAX)),
            delay: from.millis(1, 120),
            readers: [0; 2].map(|_| Reader { bytes: from.between(500, 20_000), every: from.millis(1, 2000) }),
            writers: [0; 2].map(|_| {
                let paced = Writer { bytes: from.between(1000, 20_000), every: from.millis(1, 3000) };
                from.one_of(&[Writer { bytes: u64::MAX, every: Duration::ZERO }, paced])
            }),
            closing: from.one_of(&[Closing::BothAtOnce, Closing::ServerFollows]),
        }
    }
}

/// The largest number of bytes for fates.
const LONGEST: u64 = 600;

/// SplitMix64: every seed starts its own stream.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn input(&mut self) -> Vec<u8> {
        let fates = usize::try_from(self.next() % LONGEST).unwrap_or(0);
        // Some inputs have the same configuration at both ends, or few losses.
        let (twins, calm) = (self.next().is_multiple_of(3), self.next().is_multiple_of(3));
        let mut bytes: Vec<u8> = (0..HEAD + fates).map(|_| self.next().to_le_bytes()[0]).collect();
        if twins {
            let (first, second) = bytes.split_at_mut(CONFIG);
            second[..CONFIG].copy_from_slice(first);
        }
        if calm {
            for byte in &mut bytes[HEAD..] {
                if !self.next().is_multiple_of(4) {
                    *byte &= 1;
                }
            }
        }
        bytes
    }
}

/// The input of that number among those of a seed.
pub fn fuzz_input(seed: u64, number: u64) -> Vec<u8> {
    Random(seed.wrapping_mul(0x1_0000_0001) ^ (number << 1)).input()
}
