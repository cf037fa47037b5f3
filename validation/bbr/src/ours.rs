//! netlull's BBR, driven as the endpoint drives it.

use crate::path::{Control, INITIAL_WINDOW, Inflight, Packet, SIZE, Snapshot};
use netlull_tcp::cc::{Bbr, CongestionControl, Delivery, Loss, Spurious, Start};
use netlull_tcp::delivery::{DeliveryRate, Sent};
use netlull_tcp::{Algorithm, Config, RecoveryPhase};
use netlull_units::Instant;

pub struct Ours {
    bbr: Bbr,
    rate: DeliveryRate,
    /// A seed for each random choice.
    seeds: Vec<u32>,
    choices: usize,
    phase: RecoveryPhase,
    recover: u64,
    segments: u64,
    cwnd_limited_until: u64,
    /// The debug output of the algorithm after its last event.
    debug: String,
}

fn at(now: u64) -> Instant {
    Instant::from_nanos(now)
}

/// The value of field `name` in a debug output.
pub fn field<'a>(debug: &'a str, name: &str) -> &'a str {
    let key = format!(" {name}: ");
    let rest = debug.find(&key).map_or("", |at| &debug[at + key.len()..]);
    rest[..rest.find([',', '}']).unwrap_or(rest.len())].trim()
}

/// A time in a debug output, in microseconds.
pub fn micros(text: &str) -> u64 {
    let number = text.trim_matches(|c: char| !c.is_alphanumeric()).trim_start_matches(|c: char| !c.is_ascii_digit());
    let split = number.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(number.len());
    let value: f64 = number[..split].parse().unwrap_or(f64::NAN);
    let unit = match number[split..].trim() {
        "s" => 1e6,
        "ms" => 1e3,
        "µs" | "us" => 1.0,
        // netlull's times are nanoseconds without a unit.
        "ns" | "" => 1e-3,
        _ => f64::NAN,
    };
    (value * unit).round() as u64
}

impl Ours {
    pub fn new(seeds: &[u32]) -> Self {
        let config = Config::default().with_algorithm(Algorithm::Bbr).with(|config| config.mss = SIZE as u16);
        let mut bbr = Bbr::new(&config, seeds[0]);
        // noq's interface does not tell its controls the round trip of the handshake.
        bbr.on_established(&Start { now: Instant::ZERO, smss: SIZE as u32, initial_window: INITIAL_WINDOW, rtt: None });
        let debug = format!("{bbr:?}");
        Self {
            bbr,
            rate: DeliveryRate::new(),
            seeds: seeds.to_vec(),
            choices: 0,
            phase: RecoveryPhase::Open,
            recover: 0,
            segments: 0,
            cwnd_limited_until: 0,
            debug,
        }
    }

    /// Gives the next choice its seed after an event. A choice is made when DOWN begins.
    fn look(&mut self) {
        let before = std::mem::replace(&mut self.debug, format!("{:?}", self.bbr));
        if field(&self.debug, "cycle_stamp") != field(&before, "cycle_stamp") {
            self.choices += 1;
            self.bbr.reseed(self.seeds[self.choices]);
        }
    }
}

impl Control for Ours {
    fn sent(&mut self, packet: &Packet, inflight: u64) {
        let now = at(packet.sent);
        if inflight == 0 {
            self.bbr.on_restart(now, &self.rate);
            self.look();
        }
        let start = packet.segment * SIZE;
        self.rate.on_sent(&Sent { now, start, end: start + SIZE, inflight });
        self.segments = self.segments.max(packet.segment + 1);
    }

    fn cwnd_limited(&mut self, inflight: u64) {
        self.cwnd_limited_until = self.rate.delivered() + inflight;
    }

    fn app_limited(&mut self, inflight: u64) {
        if inflight > 0 || !self.rate.is_app_limited() {
            self.rate.mark_app_limited(inflight);
        }
    }

    fn acked(&mut self, now: u64, packet: &Packet, lost: &[Packet], inflight: &Inflight, una: u64, _app_limited: bool) {
        let now = at(now);
        if self.phase == RecoveryPhase::FastRecovery && una >= self.recover {
            self.phase = RecoveryPhase::Open;
        }
        if !lost.is_empty() && self.phase == RecoveryPhase::Open {
            (self.phase, self.recover) = (RecoveryPhase::FastRecovery, self.segments);
            self.bbr.on_loss(&Loss { now, flight: inflight.acked, window: self.bbr.cwnd(), nxt: self.segments * SIZE });
        }
        self.rate.on_sacked(now, packet.segment * SIZE, (packet.segment + 1) * SIZE);
        self.rate.on_acked(now, una * SIZE);
        for packet in lost {
            if let Some(lost) = self.rate.mark_lost(packet.segment * SIZE, (packet.segment + 1) * SIZE) {
                self.bbr.on_marked_lost(now, &lost, &self.rate);
            }
        }
        if let Some(sample) = self.rate.sample(now) {
            let is_cwnd_limited = self.rate.delivered() <= self.cwnd_limited_until;
            let (inflight, phase) = (inflight.lost, self.phase);
            let delivery = Delivery { now, sample, inflight, is_cwnd_limited, selective: true, phase };
            self.bbr.on_delivery(&delivery, &mut self.rate);
        }
        self.look();
    }

    fn spurious(&mut self, now: u64) {
        let (now, cwnd) = (at(now), self.bbr.cwnd());
        self.bbr.on_spurious(&Spurious { now, flight: 0, cwnd, ssthresh: u64::MAX, timed_out: false });
        self.look();
    }

    fn window(&self) -> u64 {
        self.bbr.cwnd()
    }

    fn pacing_rate(&self) -> f64 {
        self.bbr.pacing_rate().map_or(0.0, |rate| rate.as_bps() as f64 / 8.0)
    }

    fn state(&self) -> String {
        field(&self.debug, "state").split(' ').next().unwrap_or_default().to_owned()
    }

    fn snapshot(&self) -> Snapshot {
        let debug = &self.debug;
        let number = |name| field(debug, name).parse().unwrap_or(u64::MAX);
        let rate = |name| field(debug, name).parse().unwrap_or(f64::NAN);
        Snapshot {
            state: self.state(),
            cwnd: self.bbr.cwnd(),
            pacing_rate: rate("pacing_rate"),
            max_bw: rate("most"),
            bw_shortterm: rate("bw_shortterm"),
            min_rtt_us: micros(field(debug, "min_rtt")),
            inflight_longterm: number("inflight_longterm"),
            inflight_shortterm: number("inflight_shortterm"),
        }
    }
}
