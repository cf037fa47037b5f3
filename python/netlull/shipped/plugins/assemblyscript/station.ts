// A station's machine: the radio naps after each silence, and misses every packet that comes meanwhile.
import * as netlull from "./netlull";
import { get } from "./netlull";

export { netlull_mailbox } from "./netlull";

let asleep = false;
// The end of the silence, or of the nap.
let until: u64 = 0;

export function netlull_describe(): void {
  netlull.say('@DESCRIPTION@');
}

export function netlull_create(): i32 {
  until = get(netlull.STATION_START) + get(netlull.PARAMETERS);
  netlull.timeout_at(until);
  return get(netlull.PARAMETERS + 1) > get(netlull.STATION_WAKE) ? 0 : 1;
}

export function netlull_event(): void {
  netlull.answer();
  const timeout = get(netlull.STATION_EVENT) == netlull.STATION_EVENT_TIMEOUT;
  if (timeout && get(netlull.NOW) < until) return;
  if (timeout && !asleep) {
    asleep = true;
    until = get(netlull.NOW) + get(netlull.PARAMETERS + 1);
    netlull.station_act(netlull.STATION_ACTION_SLEEP, 0);
  } else {
    // The end of the nap, or a packet, for which the radio is awake.
    if (asleep) netlull.station_act(netlull.STATION_ACTION_WAKE, 0);
    asleep = false;
    until = get(netlull.NOW) + get(netlull.PARAMETERS);
  }
  netlull.timeout_at(until);
}
