// A congestion control: additive increase, and half of the window after a loss.
#include "netlull.h"

NETLULL_EXPORT(netlull_describe) void netlull_describe(void) {
    say(NETLULL_TEXT(@DESCRIPTION@));
}

static uint64_t smss, acked;

static void windows(uint64_t cwnd, uint64_t ssthresh) {
    if (cwnd < smss) cwnd = smss;
    put(CONTROL_CWND, cwnd);
    put(CONTROL_SSTHRESH, ssthresh);
}

NETLULL_EXPORT(netlull_create) int netlull_create(void) {
    smss = get(CONTROL_MSS);
    windows(smss, UINT64_MAX);
    return 0;
}

// Variables for the tables of `netlull conformance` and of `variables = true` in [probe].
NETLULL_EXPORT(netlull_variables) void netlull_variables(void) {
    begin_report();
    report_number("acked", (double)acked);
    report_state("phase", get(CONTROL_CWND) < get(CONTROL_SSTHRESH) ? "slow start" : "avoidance");
}

NETLULL_EXPORT(netlull_event) void netlull_event(void) {
    uint64_t cwnd = get(CONTROL_CWND), ssthresh = get(CONTROL_SSTHRESH);
    switch (get(CONTROL_EVENT)) {
    case CONTROL_EVENT_ON_ESTABLISHED:
        smss = get(CONTROL_ON_ESTABLISHED_SMSS);
        windows(get(CONTROL_ON_ESTABLISHED_INITIAL_WINDOW), ssthresh);
        break;
    case CONTROL_EVENT_ON_ACK:
        if (get(CONTROL_ON_ACK_PHASE) == RECOVERY_PHASE_FAST_RECOVERY) break;
        if (cwnd < ssthresh) {
            windows(cwnd + get(CONTROL_ON_ACK_ACKED), ssthresh);
        } else if ((acked += get(CONTROL_ON_ACK_ACKED)) >= cwnd) {
            acked -= cwnd;
            windows(cwnd + smss, ssthresh);
        }
        break;
    case CONTROL_EVENT_ON_LOSS: {
        uint64_t half = get(CONTROL_ON_LOSS_FLIGHT) / 2;
        if (half < 2 * smss) half = 2 * smss;
        windows(half, half);
        break;
    }
    case CONTROL_EVENT_ON_TIMEOUT: {
        uint64_t half = get(CONTROL_ON_TIMEOUT_LOSS_FLIGHT) / 2;
        windows(smss, half < 2 * smss ? 2 * smss : half);
        break;
    }
    case CONTROL_EVENT_ON_RECOVERED: windows(get(CONTROL_ON_RECOVERED_WINDOW), ssthresh); break;
    }
}
