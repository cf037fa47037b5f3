// A link controller that gets every event: half of the rate while the queue is short.
#include "netlull.h"

NETLULL_EXPORT(netlull_describe) void netlull_describe(void) {
    say(NETLULL_TEXT(@DESCRIPTION@));
}

static uint64_t full, half, threshold, present;

NETLULL_EXPORT(netlull_create) int netlull_create(void) {
    full = present = get(LINK_RATE);
    half = full / 2;
    threshold = get(PARAMETERS);
    return half > 0 ? 0 : 1;
}

NETLULL_EXPORT(netlull_event) void netlull_event(void) {
    answer();
    uint64_t waiting;
    switch (get(LINK_EVENT)) {
    case LINK_EVENT_ARRIVAL: waiting = get(LINK_ARRIVAL_QUEUE_WAITING); break;
    case LINK_EVENT_DEPARTURE: waiting = get(LINK_DEPARTURE_WAITING); break;
    default: return;
    }
    uint64_t rate = waiting >= threshold ? full : half;
    if (rate != present) {
        present = rate;
        set_rate(rate, 0);
    }
}
