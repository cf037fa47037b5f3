//! noq's `Bbr3`, driven as its connection drives it.

use crate::ours::{field, micros};
use crate::path::{Control, INITIAL_WINDOW, Inflight, Packet, RTT, SIZE, Snapshot};
use noq_proto::congestion::{Bbr3Config, Controller, ControllerFactory};
use noq_proto::RttEstimator;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The seed that noq takes from the operating system (`.cargo/config.toml`).
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(dest: *mut u8, len: usize) -> Result<(), getrandom::Error> {
    // SAFETY: `dest` and `len` are a buffer of the caller, by the contract of this function.
    unsafe { std::slice::from_raw_parts_mut(dest, len) }.fill(7);
    Ok(())
}

/// The first `count` random choices of a noq built in a new thread: rounds and milliseconds of wait.
pub fn choices(count: usize) -> Vec<(u64, u64)> {
    let draw = move || {
        let mut random = Pcg32::from_rng(&mut rand::rng());
        let mut pick = || {
            let rounds = u64::from(random.random_bool(0.5));
            let wait = 2000 + random.random_range(0..=1000_u64);
            // noq's third choice: 62 or 63 rounds.
            random.random_bool(0.5);
            (rounds, wait)
        };
        (0..count).map(|_| pick()).collect()
    };
    std::thread::spawn(draw).join().expect("no panic")
}

/// All times of an estimator are `rtt`. noq reads it for its first sample alone.
fn estimator(rtt: Duration) -> RttEstimator {
    // SAFETY: the type has three `Duration`s and an `Option<Duration>`, whose layout is that of a `Duration` if it is
    // `Some`. A change of its size does not compile.
    unsafe { std::mem::transmute::<[Duration; 4], RttEstimator>([rtt; 4]) }
}

pub struct Noq {
    bbr: Box<dyn Controller>,
    start: Instant,
    /// Losses come before the model is updated, as in TCP. noq's connection reports them after it.
    losses_first: bool,
}

/// Keeps a debug output up to a field.
struct Head {
    text: String,
    end: &'static str,
}

impl Write for Head {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if text == self.end {
            return Err(std::fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

impl Noq {
    /// To be called in a new thread, whose random choices are then those of [`choices`].
    pub fn new() -> Self {
        let start = Instant::now();
        let mut config = Bbr3Config::default();
        config.initial_window(INITIAL_WINDOW);
        let bbr = Arc::new(config).build(start, SIZE as u16);
        assert_eq!(micros(field(&format!("{:?}", estimator(Duration::from_nanos(RTT))), "min")), RTT / 1000);
        Self { bbr, start, losses_first: std::env::var_os("NOQ_LOSSES_FIRST").is_some() }
    }

    /// The debug output up to field `end`.
    fn head(&self, end: &'static str) -> String {
        let mut head = Head { text: String::new(), end };
        let _ = write!(head, "{:?}", self.bbr);
        head.text
    }

    fn at(&self, now: u64) -> Instant {
        self.start + Duration::from_nanos(now)
    }
}

impl Control for Noq {
    fn sent(&mut self, packet: &Packet, _inflight: u64) {
        self.bbr.on_packet_sent(self.at(packet.sent), SIZE as u16, packet.number);
    }

    fn cwnd_limited(&mut self, _inflight: u64) {
        self.bbr.on_cwnd_limited();
    }

    fn app_limited(&mut self, _inflight: u64) {}

    fn acked(&mut self, now: u64, packet: &Packet, lost: &[Packet], inflight: &Inflight, _una: u64, app_limited: bool) {
        // QUIC's offload budget becomes that of TCP: a quantum and, for delayed acknowledgements, two more.
        let quantum = self.bbr.metrics().send_quantum.unwrap_or(0);
        self.bbr.on_ack_frequency_update(2 * quantum / SIZE, Duration::from_secs(1000));
        let (now, sent) = (self.at(now), self.at(packet.sent));
        let rtt = estimator(now - sent);
        self.bbr.on_ack(now, sent, SIZE, packet.number, app_limited, &rtt);
        if !self.losses_first {
            self.bbr.on_end_acks(now, inflight.acked, app_limited, Some(packet.number));
        }
        for packet in lost {
            self.bbr.on_packet_lost(SIZE as u16, packet.number, now);
        }
        if self.losses_first {
            self.bbr.on_end_acks(now, inflight.lost, app_limited, Some(packet.number));
        }
        if let Some(last) = lost.last() {
            let sent = self.at(last.sent);
            self.bbr.on_congestion_event(now, sent, false, false, lost.len() as u64 * SIZE, last.number);
        }
    }

    fn spurious(&mut self, _now: u64) {
        self.bbr.on_spurious_congestion_event();
    }

    fn window(&self) -> u64 {
        self.bbr.window()
    }

    fn pacing_rate(&self) -> f64 {
        self.bbr.metrics().pacing_rate.unwrap_or(0) as f64
    }

    fn state(&self) -> String {
        field(&self.head("undo_state"), "state").to_owned()
    }

    fn snapshot(&self) -> Snapshot {
        // Up to the records of packets.
        let debug = self.head("packets");
        let number = |name| field(&debug, name).parse().unwrap_or(u64::MAX);
        let rate = |name| field(&debug, name).parse().unwrap_or(f64::NAN);
        Snapshot {
            state: field(&debug, "state").to_owned(),
            cwnd: self.bbr.window(),
            pacing_rate: rate("pacing_rate"),
            max_bw: rate("max_bw"),
            bw_shortterm: rate("bw_shortterm"),
            min_rtt_us: micros(field(&debug, "min_rtt")),
            inflight_longterm: number("inflight_longterm"),
            inflight_shortterm: number("inflight_shortterm"),
        }
    }
}
