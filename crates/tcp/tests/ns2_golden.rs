//! BIC, CUBIC, Vegas and Compound TCP compared with runs of ns-2.35 itself: Agent/TCP/Linux and Agent/TCP/Vegas.
//!
//! The algorithms here get the events of a sender of ns-2: acknowledgements with their round trips, and losses. The
//! windows are compared after each event. `golden/ns2_trace.tcl` and `golden/ns2_events.py` wrote the traces, and
//! explain how.

use crate::trace::{self, Event};
use netlull_tcp::cc::{Ack, Bic, Compound, CongestionControl, Cubic2622, Loss, Recovered, Start, Transmission, Vegas};
use netlull_tcp::{Algorithm, Config, RecoveryPhase, VegasBounds, VegasFlavour};
use netlull_units::{Bytes, Duration, Instant};

/// With this size, windows in bytes are thousandths of segments.
const SMSS: u64 = 1000;
/// `window_`, segments.
const WINDOW: u64 = 300;

fn native() -> Config {
    Config::ns2()
        .with(|c| c.flow_control.receive_buffer = Bytes::new(WINDOW * SMSS))
        .with_ns2_window(u32::try_from(WINDOW).unwrap_or_default())
}

fn linux(algorithm: Algorithm) -> Config {
    native().with_algorithm(algorithm).with(|c| {
        c.cwnd.vegas = VegasBounds::LINUX;
        c.cwnd.vegas_flavour = VegasFlavour::Linux;
    })
}

/// State of the replay, in nanoseconds and bytes.
struct Replay {
    now: u64,
    una: u64,
    nxt: u64,
    recover: u64,
}

impl Replay {
    fn play(&mut self, event: &Event, cc: &mut impl CongestionControl) {
        self.now += event.numbers[0];
        let now = Instant::from_nanos(self.now);
        match event.kind {
            "H" => {
                let rtt = Some(Duration::from_nanos(event.numbers[1]));
                cc.on_established(&Start { now, smss: 1000, initial_window: 2 * SMSS, rtt });
            }
            "A" => self.acknowledge(now, event, cc),
            "L" => {
                self.nxt = self.una + event.numbers[1] * SMSS;
                self.recover = self.nxt;
                let window = cc.cwnd().min(WINDOW * SMSS);
                let loss = Loss { now, flight: self.nxt - self.una, window, nxt: self.nxt };
                let at = Instant::from_nanos(self.now - event.numbers[2]);
                let count = u32::try_from(event.numbers[3]).unwrap_or_default();
                cc.on_segment_lost(&loss, &Transmission { at, count });
            }
            _ => cc.on_recovered(&Recovered { now, flight: self.nxt - self.una, window: event.numbers[1] }),
        }
    }

    fn acknowledge(&mut self, now: Instant, event: &Event, cc: &mut impl CongestionControl) {
        let [_, acked, flight, rtt, ..] = event.numbers[..] else { unreachable!() };
        let phase = if event.state == "O" { RecoveryPhase::Open } else { RecoveryPhase::FastRecovery };
        let acked = acked * SMSS;
        // Data sent since the previous event was in flight as well.
        let nxt = self.una + acked + flight * SMSS;
        let flight_before = nxt - self.una;
        self.una += acked;
        self.nxt = nxt;
        cc.on_ack(&Ack {
            now,
            acked,
            delivered: acked,
            una: self.una,
            nxt,
            flight_before,
            flight: nxt - self.una,
            rtt: (rtt > 0).then_some(Duration::from_nanos(rtt)),
            srtt: None,
            ece: false,
            phase,
        });
        if phase == RecoveryPhase::FastRecovery && self.una >= self.recover {
            cc.on_recovered(&Recovered { now, flight: nxt - self.una, window: cc.ssthresh() });
        }
    }
}

/// Compares the windows after each event for which ns-2 prints them.
fn replay(name: &str, mut cc: impl CongestionControl) {
    // Agent/TCP/Linux begins with data: `syn_` is false.
    cc.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window: 2 * SMSS, rtt: None });
    let mut replay = Replay { now: 0, una: 0, nxt: 2 * SMSS, recover: 0 };
    let mut compared = 0;
    for (index, line) in trace::read(include_bytes!("golden/ns2.txt.xz"), name).lines().enumerate() {
        let event = Event::parse(line);
        replay.play(&event, &mut cc);
        if matches!(event.kind, "H" | "E") {
            continue;
        }
        let [.., cwnd, ssthresh] = event.numbers[..] else { unreachable!() };
        // ns-2 prints three decimals, rounded to the nearest; bytes are rounded down.
        let same = cwnd == 0 || cwnd.abs_diff(cc.cwnd()) <= 1;
        assert!(same && ssthresh == cc.ssthresh(), "line {}: {line}: {} {}", index + 1, cc.cwnd(), cc.ssthresh());
        compared += u64::from(cwnd > 0);
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn bic_after_losses() {
    replay("bic_drops", Bic::new(&linux(Algorithm::Bic)));
}

#[test]
fn cubic_after_losses() {
    replay("cubic_drops", Cubic2622::new(&linux(Algorithm::Cubic2622)));
}

#[test]
fn vegas_without_losses() {
    replay("vegas", Vegas::new(&linux(Algorithm::Vegas)));
}

#[test]
fn vegas_after_losses() {
    replay("vegas_drops", Vegas::new(&linux(Algorithm::Vegas)));
}

#[test]
fn compound_without_losses() {
    replay("compound", Compound::new(&linux(Algorithm::Compound)));
}

#[test]
fn compound_after_losses() {
    replay("compound_drops", Compound::new(&linux(Algorithm::Compound)));
}

#[test]
fn native_vegas_without_losses() {
    replay("native", Vegas::new(&native()));
}

#[test]
fn native_vegas_after_losses() {
    replay("native_drops", Vegas::new(&native()));
}
