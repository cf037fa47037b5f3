// A link controller that gets every event: half of the rate while the queue is short.
import * as netlull from "./netlull";
import { get } from "./netlull";

export { netlull_mailbox } from "./netlull";

let full: u64 = 0;
let present: u64 = 0;

export function netlull_describe(): void {
  netlull.say('@DESCRIPTION@');
}

export function netlull_create(): i32 {
  full = present = get(netlull.LINK_RATE);
  return full < 2 ? 1 : 0;
}

export function netlull_event(): void {
  netlull.answer();
  const event = get(netlull.LINK_EVENT);
  let waiting: u64 = 0;
  if (event == netlull.LINK_EVENT_ARRIVAL) waiting = get(netlull.LINK_ARRIVAL_QUEUE_WAITING);
  else if (event == netlull.LINK_EVENT_DEPARTURE) waiting = get(netlull.LINK_DEPARTURE_WAITING);
  else return;
  const rate = waiting >= get(netlull.PARAMETERS) ? full : full / 2;
  if (rate != present) {
    present = rate;
    netlull.set_rate(rate, 0);
  }
}
