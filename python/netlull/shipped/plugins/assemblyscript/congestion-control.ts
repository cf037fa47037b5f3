// A congestion control: additive increase, and half of the window after a loss.
import * as netlull from "./netlull";
import { get, put } from "./netlull";

export { netlull_mailbox } from "./netlull";

let smss: u64 = 0;
// Bytes acknowledged since the window has grown.
let acked: u64 = 0;

export function netlull_describe(): void {
  netlull.say('@DESCRIPTION@');
}

function windows(cwnd: u64, ssthresh: u64): void {
  put(netlull.CONTROL_CWND, max(cwnd, smss));
  put(netlull.CONTROL_SSTHRESH, ssthresh);
}

export function netlull_create(): i32 {
  smss = get(netlull.CONTROL_MSS);
  windows(0, u64.MAX_VALUE);
  return 0;
}

export function netlull_event(): void {
  const cwnd = get(netlull.CONTROL_CWND);
  const ssthresh = get(netlull.CONTROL_SSTHRESH);
  switch (<u32>get(netlull.CONTROL_EVENT)) {
    case netlull.CONTROL_EVENT_ON_ESTABLISHED: {
      smss = get(netlull.CONTROL_ON_ESTABLISHED_SMSS);
      windows(get(netlull.CONTROL_ON_ESTABLISHED_INITIAL_WINDOW), ssthresh);
      break;
    }
    case netlull.CONTROL_EVENT_ON_ACK: {
      if (get(netlull.CONTROL_ON_ACK_PHASE) == netlull.RECOVERY_PHASE_FAST_RECOVERY) break;
      if (cwnd < ssthresh) {
        windows(cwnd + get(netlull.CONTROL_ON_ACK_ACKED), ssthresh);
        break;
      }
      acked += get(netlull.CONTROL_ON_ACK_ACKED);
      if (acked >= cwnd) {
        acked -= cwnd;
        windows(cwnd + smss, ssthresh);
      }
      break;
    }
    case netlull.CONTROL_EVENT_ON_LOSS: {
      const half = max(get(netlull.CONTROL_ON_LOSS_FLIGHT) / 2, 2 * smss);
      windows(half, half);
      break;
    }
    case netlull.CONTROL_EVENT_ON_TIMEOUT: {
      windows(smss, max(get(netlull.CONTROL_ON_TIMEOUT_LOSS_FLIGHT) / 2, 2 * smss));
      break;
    }
    case netlull.CONTROL_EVENT_ON_RECOVERED: {
      windows(get(netlull.CONTROL_ON_RECOVERED_WINDOW), ssthresh);
      break;
    }
  }
}
