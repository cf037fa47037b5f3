// A link controller that looks at its link at ticks: the lowest of four rates that carries the recent arrivals.
import * as netlull from "./netlull";
import { get, get_number } from "./netlull";

export { netlull_mailbox } from "./netlull";

export function netlull_describe(): void {
  netlull.say('@DESCRIPTION@');
}

export function netlull_create(): i32 {
  // Nothing to keep: the link and the parameters stay in their places.
  return 0;
}

export function netlull_event(): void {
  netlull.answer();
  const full = get(netlull.LINK_RATE);
  if (get(netlull.SEEN_REASON) == netlull.REASON_THRESHOLD) {
    // The backlog is long: the full rate at once.
    if (get(netlull.SEEN_REASON_THRESHOLD_REACHED) == 1) netlull.decide_rate(full);
    return;
  }
  const span = get(netlull.SEEN_SPAN);
  if (span == 0) return;
  const headroom = get_number(netlull.PARAMETERS + 2);
  const wanted = headroom * 8e9 * <f64>get(netlull.SEEN_ARRIVED_BYTES) / <f64>span;
  for (let quarter: u64 = 1; quarter < 4; quarter++) {
    const rate = full / 4 * quarter;
    if (rate > 0 && <f64>rate >= wanted) {
      netlull.decide_rate(rate);
      return;
    }
  }
  netlull.decide_rate(full);
}
