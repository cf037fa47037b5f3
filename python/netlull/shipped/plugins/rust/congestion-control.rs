//! A congestion control: additive increase, and half of the window after a loss.

mod netlull;

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use netlull::*;

const DESCRIPTION: &str = r#"@DESCRIPTION@"#;

static SMSS: AtomicU64 = AtomicU64::new(0);
/// Bytes acknowledged since the window has grown.
static ACKED: AtomicU64 = AtomicU64::new(0);

#[unsafe(no_mangle)]
extern "C" fn netlull_describe() {
    say(DESCRIPTION);
}

fn windows(cwnd: u64, ssthresh: u64) {
    put(CONTROL_CWND, cwnd.max(SMSS.load(Relaxed)));
    put(CONTROL_SSTHRESH, ssthresh);
}

#[unsafe(no_mangle)]
extern "C" fn netlull_create() -> i32 {
    SMSS.store(get(CONTROL_MSS), Relaxed);
    windows(0, u64::MAX);
    0
}

/// Variables for the tables of `netlull conformance` and of `variables = true` in `[probe]`.
#[unsafe(no_mangle)]
extern "C" fn netlull_variables() {
    begin_report();
    report_number("acked", ACKED.load(Relaxed) as f64);
    report_state("phase", if get(CONTROL_CWND) < get(CONTROL_SSTHRESH) { "slow start" } else { "avoidance" });
}

#[unsafe(no_mangle)]
extern "C" fn netlull_event() {
    let (cwnd, ssthresh, smss) = (get(CONTROL_CWND), get(CONTROL_SSTHRESH), SMSS.load(Relaxed));
    match get(CONTROL_EVENT) as usize {
        CONTROL_EVENT_ON_ESTABLISHED => {
            SMSS.store(get(CONTROL_ON_ESTABLISHED_SMSS), Relaxed);
            windows(get(CONTROL_ON_ESTABLISHED_INITIAL_WINDOW), ssthresh);
        }
        CONTROL_EVENT_ON_ACK if get(CONTROL_ON_ACK_PHASE) != RECOVERY_PHASE_FAST_RECOVERY as u64 => {
            let acked = get(CONTROL_ON_ACK_ACKED);
            if cwnd < ssthresh {
                windows(cwnd + acked, ssthresh);
            } else if ACKED.load(Relaxed) + acked >= cwnd {
                ACKED.store(ACKED.load(Relaxed) + acked - cwnd, Relaxed);
                windows(cwnd + smss, ssthresh);
            } else {
                ACKED.store(ACKED.load(Relaxed) + acked, Relaxed);
            }
        }
        CONTROL_EVENT_ON_LOSS => {
            let half = (get(CONTROL_ON_LOSS_FLIGHT) / 2).max(2 * smss);
            windows(half, half);
        }
        CONTROL_EVENT_ON_TIMEOUT => windows(smss, (get(CONTROL_ON_TIMEOUT_LOSS_FLIGHT) / 2).max(2 * smss)),
        CONTROL_EVENT_ON_RECOVERED => windows(get(CONTROL_ON_RECOVERED_WINDOW), ssthresh),
        _ => {}
    }
}
