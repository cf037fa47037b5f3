// A link controller that looks at its link at ticks: the lowest of four rates that carries the recent arrivals.
#include "netlull.h"

NETLULL_EXPORT(netlull_describe) void netlull_describe(void) {
    say(NETLULL_TEXT(@DESCRIPTION@));
}

static uint64_t full;
static double headroom;

NETLULL_EXPORT(netlull_create) int netlull_create(void) {
    full = get(LINK_RATE);
    headroom = get_number(PARAMETERS + 2);
    return 0;
}

NETLULL_EXPORT(netlull_event) void netlull_event(void) {
    answer();
    if (get(SEEN_REASON) == REASON_THRESHOLD) {
        // The backlog is long: the full rate at once.
        if (get(SEEN_REASON_THRESHOLD_REACHED)) decide_rate(full);
        return;
    }
    if (get(SEEN_SPAN) == 0) return;
    double wanted = headroom * 8e9 * (double)get(SEEN_ARRIVED_BYTES) / (double)get(SEEN_SPAN);
    for (uint64_t quarter = 1; quarter <= 4; quarter++) {
        uint64_t rate = full / 4 * quarter;
        if (quarter == 4) rate = full;
        if (quarter == 4 || (double)rate >= wanted) {
            decide_rate(rate);
            return;
        }
    }
}
