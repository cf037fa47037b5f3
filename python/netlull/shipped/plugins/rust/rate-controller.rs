//! A link controller that looks at its link at ticks: the lowest of four rates that carries the recent arrivals.

mod netlull;

use netlull::*;

const DESCRIPTION: &str = r#"@DESCRIPTION@"#;

#[unsafe(no_mangle)]
extern "C" fn netlull_describe() {
    say(DESCRIPTION);
}

#[unsafe(no_mangle)]
extern "C" fn netlull_create() -> i32 {
    // Nothing to keep: the link and the parameters stay in their places.
    0
}

#[unsafe(no_mangle)]
extern "C" fn netlull_event() {
    answer();
    let (full, headroom) = (get(LINK_RATE), get_number(PARAMETERS + 2));
    if get(SEEN_REASON) == REASON_THRESHOLD as u64 {
        // The backlog is long: the full rate at once.
        if get(SEEN_REASON_THRESHOLD_REACHED) == 1 {
            decide_rate(full);
        }
        return;
    }
    let span = get(SEEN_SPAN);
    if span == 0 {
        return;
    }
    let wanted = headroom * 8e9 * get(SEEN_ARRIVED_BYTES) as f64 / span as f64;
    let quarters = (1..=3).map(|quarter| full / 4 * quarter);
    let lowest = quarters.into_iter().find(|rate| *rate > 0 && *rate as f64 >= wanted);
    decide_rate(lowest.unwrap_or(full));
}
