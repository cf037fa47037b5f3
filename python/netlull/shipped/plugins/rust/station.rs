//! A station's machine: the radio naps after each silence, and misses every packet that comes meanwhile.

mod netlull;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use netlull::*;

const DESCRIPTION: &str = r#"@DESCRIPTION@"#;

static ASLEEP: AtomicBool = AtomicBool::new(false);
/// The end of the silence, or of the nap.
static UNTIL: AtomicU64 = AtomicU64::new(0);

#[unsafe(no_mangle)]
extern "C" fn netlull_describe() {
    say(DESCRIPTION);
}

fn wait_until(instant: u64) {
    UNTIL.store(instant, Relaxed);
    timeout_at(Some(instant));
}

#[unsafe(no_mangle)]
extern "C" fn netlull_create() -> i32 {
    wait_until(get(STATION_START) + get(PARAMETERS));
    i32::from(get(PARAMETERS + 1) <= get(STATION_WAKE))
}

#[unsafe(no_mangle)]
extern "C" fn netlull_event() {
    answer();
    let (now, is_timeout) = (get(NOW), get(STATION_EVENT) == STATION_EVENT_TIMEOUT as u64);
    if is_timeout && now < UNTIL.load(Relaxed) {
        return;
    }
    if is_timeout && !ASLEEP.load(Relaxed) {
        ASLEEP.store(true, Relaxed);
        station_act(STATION_ACTION_SLEEP, 0);
        wait_until(now + get(PARAMETERS + 1));
    } else {
        // The end of the nap, or a packet, for which the radio is awake.
        if ASLEEP.swap(false, Relaxed) {
            station_act(STATION_ACTION_WAKE, 0);
        }
        wait_until(now + get(PARAMETERS));
    }
}
