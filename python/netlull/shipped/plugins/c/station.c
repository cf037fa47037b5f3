// A station's machine: the radio naps after each silence, and misses every packet that comes meanwhile.
#include "netlull.h"

NETLULL_EXPORT(netlull_describe) void netlull_describe(void) {
    say(NETLULL_TEXT(@DESCRIPTION@));
}

static int asleep;
static uint64_t until;

NETLULL_EXPORT(netlull_create) int netlull_create(void) {
    until = get(STATION_START) + get(PARAMETERS);
    timeout_at(until);
    return get(PARAMETERS + 1) > get(STATION_WAKE) ? 0 : 1;
}

NETLULL_EXPORT(netlull_event) void netlull_event(void) {
    answer();
    if (get(STATION_EVENT) == STATION_EVENT_TIMEOUT && get(NOW) < until) return;
    if (get(STATION_EVENT) == STATION_EVENT_TIMEOUT && !asleep) {
        asleep = 1;
        until = get(NOW) + get(PARAMETERS + 1);
        station_act(STATION_ACTION_SLEEP, 0);
    } else {
        // The end of the nap, or a packet, for which the radio is awake.
        if (asleep) station_act(STATION_ACTION_WAKE, 0);
        asleep = 0;
        until = get(NOW) + get(PARAMETERS);
    }
    timeout_at(until);
}
