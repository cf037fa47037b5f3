//! BIC, CUBIC, Vegas and Compound TCP compared with the kernel's own files, segment for segment.
//!
//! `golden/linux_oracle.c` wrote the traces, and explains how. It runs the congestion control of Linux 2.6.22, built
//! and called as in ns-2.35's TCP/Linux, on a scripted sequence of acknowledgements, losses and timeouts. The
//! algorithms here get the same sequence.

use crate::trace::{self, Event};
use netlull_tcp::cc::{Ack, Bic, Compound, CongestionControl, Cubic2622, Loss, Recovered, Start, TimeoutKind, Vegas};
use netlull_tcp::{Algorithm, Config, RecoveryPhase, VegasFlavour};
use netlull_units::{Bytes, Duration, Instant};

const SMSS: u64 = 1000;
/// `snd_ssthresh` and `snd_cwnd_clamp` of the oracle.
const WINDOW: u64 = 2000;

fn config(algorithm: Algorithm) -> Config {
    Config::ns2().with_algorithm(algorithm).with(|c| {
        c.flow_control.receive_buffer = Bytes::new(WINDOW * SMSS);
        c.cwnd.initial_ssthresh = Some(Bytes::new(WINDOW * SMSS));
        c.cwnd.vegas = netlull_tcp::VegasBounds::LINUX;
        c.cwnd.vegas_flavour = VegasFlavour::Linux;
    })
}

fn now(event: &Event) -> Instant {
    Instant::from_nanos(event.numbers[0] * 1000)
}

/// cwnd and ssthresh in segments.
fn result(event: &Event) -> (u64, u64) {
    let [.., cwnd, ssthresh] = event.numbers[..] else { unreachable!() };
    (cwnd, ssthresh)
}

/// State of the replay.
#[derive(Default)]
struct Replay {
    una: u64,
    recover: u64,
}

impl Replay {
    fn play(&mut self, event: &Event, cc: &mut impl CongestionControl) {
        match event.kind {
            "A" => self.acknowledge(event, cc),
            kind => {
                let (now, nxt) = (now(event), event.numbers[1] * SMSS);
                self.recover = nxt;
                let loss = Loss { now, flight: nxt - self.una, window: cc.cwnd().min(WINDOW * SMSS), nxt };
                if kind == "T" { cc.on_timeout(&loss, TimeoutKind::First) } else { cc.on_loss(&loss) }
            }
        }
    }

    fn acknowledge(&mut self, event: &Event, cc: &mut impl CongestionControl) {
        let [_, una, nxt, flight_before, rtt, ..] = event.numbers[..] else { unreachable!() };
        let (una, nxt) = (una * SMSS, nxt * SMSS);
        let phase = match event.state {
            "O" => RecoveryPhase::Open,
            "R" => RecoveryPhase::FastRecovery,
            _ => RecoveryPhase::Loss,
        };
        let (now, acked, flight) = (now(event), una - self.una, nxt - una);
        self.una = una;
        cc.on_ack(&Ack {
            now,
            acked,
            delivered: acked,
            una,
            nxt,
            flight_before: flight_before * SMSS,
            flight,
            rtt: Some(Duration::from_micros(rtt)),
            srtt: None,
            ece: false,
            phase,
        });
        if phase == RecoveryPhase::FastRecovery && una >= self.recover {
            cc.on_recovered(&Recovered { now, flight, window: cc.ssthresh() });
        }
    }
}

fn replay(name: &str, mut cc: impl CongestionControl) {
    let start = Start { now: Instant::ZERO, smss: 1000, initial_window: 2 * SMSS, rtt: None };
    cc.on_established(&start);
    let mut replay = Replay::default();
    let mut lines = 0;
    for line in trace::read(include_bytes!("golden/linux.txt.xz"), name).lines() {
        let event = Event::parse(line);
        replay.play(&event, &mut cc);
        lines += 1;
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS), result(&event), "line {lines}: {line}");
    }
    assert_eq!(lines, 3000);
}

#[test]
fn bic_is_the_kernels() {
    replay("bic", Bic::new(&config(Algorithm::Bic)));
}

#[test]
fn cubic_is_the_kernels() {
    replay("cubic", Cubic2622::new(&config(Algorithm::Cubic2622)));
}

#[test]
fn vegas_is_the_kernels() {
    replay("vegas", Vegas::new(&config(Algorithm::Vegas)));
}

#[test]
fn compound_is_that_of_tcp_linux() {
    replay("compound", Compound::new(&config(Algorithm::Compound)));
}
