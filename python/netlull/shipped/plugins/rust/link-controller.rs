//! A link controller that gets every event: half of the rate while the queue is short.

mod netlull;

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use netlull::*;

const DESCRIPTION: &str = r#"@DESCRIPTION@"#;

/// The present rate.
static PRESENT: AtomicU64 = AtomicU64::new(0);

#[unsafe(no_mangle)]
extern "C" fn netlull_describe() {
    say(DESCRIPTION);
}

#[unsafe(no_mangle)]
extern "C" fn netlull_create() -> i32 {
    PRESENT.store(get(LINK_RATE), Relaxed);
    i32::from(get(LINK_RATE) < 2)
}

#[unsafe(no_mangle)]
extern "C" fn netlull_event() {
    answer();
    let waiting = match get(LINK_EVENT) as usize {
        LINK_EVENT_ARRIVAL => get(LINK_ARRIVAL_QUEUE_WAITING),
        LINK_EVENT_DEPARTURE => get(LINK_DEPARTURE_WAITING),
        _ => return,
    };
    let full = get(LINK_RATE);
    let rate = if waiting >= get(PARAMETERS) { full } else { full / 2 };
    if rate != PRESENT.swap(rate, Relaxed) {
        set_rate(rate, 0);
    }
}
