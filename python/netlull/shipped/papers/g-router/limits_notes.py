"""What the study of the G-Router's failure modes has found, for the report; numbers are of --full, 10 seeds."""

NOTES: dict[str, tuple[str, ...]] = {
    "floor": (
        "The numbers in these notes are of --full, 10 seeds. AWM suggests one window to all flows, never "
        "less than one MTU, so N MTU are in flight at least. Where that is more than C RTT + T the queue is "
        "N MTU - C RTT, whatever T: control ends at N = (C RTT + T) / MTU, 175 flows here, and packets are "
        "lost again from (C RTT + B) / MTU = 225 on. The simulator agrees: 50.6 packets with 175 flows, "
        "73.8 with 200, 98.8 with 225. A slower link has a shorter pipe: at 4 Mb/s control ends at 100 "
        "flows. Even then a floor of one segment loses far less than no control (0.05 % to 9.8 % with 250 "
        "flows).",
        "With delayed acknowledgements one segment in flight waits for the receiver's timer (200 ms), two "
        "do not. Between one and two segments control becomes a switch: losses begin with 140 flows and "
        "reach 8 % with 300, and the link idles. A remedy would be to space acknowledgements, not to shrink "
        "windows, below two segments.",
    ),
    "settled": (
        "Nothing in the equations prefers one rate to another: at q = T both AWM's DT and C-EARTH's g = |q "
        "- T| / T are zero, at any C. C-EARTH moves by changes of the queue, down by all of them below "
        "gamma T, up by a small part of them above T: it needs seconds to fall and, where the queue is "
        "quiet, minutes to rise. It falls whenever the sum of windows is less than C RTT + gamma T, as at "
        "the start: one flow with a suggested window of 10 kB is at C_min after one second, and from there "
        "AWM has to open the window, at beta (T - q) / (N T) a second, and beta has come down with C "
        "(equation 3), to a twentieth. With the paper's beta of 10 kb/s that is 62 B/s, of which the "
        "growing queue takes half: C stays at C_min = 0.5 Mb/s with 1 to 10 flows as long as was simulated.",
        "With beta = 1 Mb/s and a rate per event, all settle at 8.6 to 10 Mb/s from C_max, one flow after "
        "more than a minute. Once a round trip there is one change of the queue to move by instead of two "
        "for each packet: from C_min the rate after a minute is 0.7 to 1.2 Mb/s. beta counts at the rate at "
        "which it is given: from C_min the same number is twenty times as much, which is unstable: with 50 "
        "flows C swings between 5.5 and 10 Mb/s and the queue between 20 and 87 packets, for good. Where N "
        "times the initial window is far above pipe and target (172 kB), as with 50 flows of 10 kB, C falls "
        "less: with beta as printed to 5.0 Mb/s per event, and not at all once a round trip. Congestion "
        "windows play no part: NewReno's grow on while swnd is what limits (RFC 5681), so no slow start is "
        "needed when it opens. A remedy would be a small drift upwards while the queue is at its target.",
    ),
    "unused": (
        "AWM is an integrator without a stop. While nobody fills the link the queue is empty and DT = beta "
        "Dt / N is added to swnd, all of a pause at once with the first packet behind it: thirty seconds at "
        "1 Mb/s are 3.75 MB. Then swnd limits nobody, the queue swings between empty and full around T as "
        "without control, and what is added and taken away cancels: 1,060 drops in 30 s (AWM) where a "
        "gateway that was never idle has 94. Slow applications do the same. C-EARTH helps, if it sees "
        "events: it slows down until there is a queue at T, so swnd cannot wind up (126 drops after "
        "applications of 8 Mb/s). A remedy: freeze swnd while the queue is empty, or bound it by the "
        "windows it has to lower.",
        "The price is the wait: C-EARTH follows applications that ask for less than C_max exactly, and "
        "holds T before them: T / C, 186 ms at 2 Mb/s, where they had none at C_max. Once a round trip, it "
        "does not see queues of a packet or two that come and go within one, and runs at 8.2 Mb/s for "
        "applications of 2 Mb/s. A remedy: a target in time, not in bytes.",
    ),
    "web": (
        "A flow that is over before an acknowledgement has come back is not steered. AWM alone changes "
        "little: at load 0.8 3.5 ± 0.7 % are lost instead of 4.8 ± 0.7 %. The G-Router saves 79 to 18 % "
        "(frequency scaling) at loads of 0.2 to 0.8, and each round trip waits T / C behind the queue it "
        "keeps: completion times are 4.6 times as long at load 0.2 (1.75 s for 0.38 s), 1.7 times at 0.8. "
        "Once a round trip it also falls behind bursts: 9.0 % are lost at load 0.4, and a request takes 2.5 "
        "s on average (no control: 0.41 s).",
    ),
    "deaf": (
        "Datagrams take what they want, and AWM leaves the rest to TCP as long as one MTU for each flow "
        "fits into it: N MTU <= (C - U)(RTT + T / C), U = 8.86 Mb/s. Beyond, the queue follows the closed "
        "form, 73.4 packets at 9 Mb/s (75). With no room at all TCP is pushed out, with and without "
        "control.",
        "TCP whose acknowledgements do not pass the gateway is worse: it does react to losses, and there "
        "are none, because the others give way. One such flow of twenty gets 82 % of the link, where 5 % "
        "would be its part, and nineteen share the rest; the queue is 65 packets on average, off its target "
        "for good. Receivers with windows smaller than swnd do no harm: the others get what is left, and "
        "the queue stays at T. A remedy: drop or mark early (RED, CoDel) in the same queue.",
    ),
    "rtts": (
        "Equal windows give rates of 1 / (RTT + T / C). That is fairer than NewReno behind a full buffer: "
        "ten flows over 20 ms get 2.3 times as much as ten over 100 ms (closed form 2.33, no control 15), "
        "7.3 times as much as over 400 ms (7.33; 28).",
        "C-EARTH has one RTT, an average over the flows. Per event it settles at 6.3 and 3.3 of 10 Mb/s "
        "with 200 and 400 ms beside 20 ms, once a round trip at 8.0 and 7.7. But it is at 7.7 and 7.5 Mb/s "
        "already where all have 20 ms: a short RTT makes each step of C larger (|dr| = Dq / RTT). How much "
        "the mixture adds has not been taken apart.",
    ),
    "rounding": (
        "A gateway can only write multiples of 2^scale, and rounds up. That is a floor, too: with receivers "
        "of 1 GB (scale 14) twenty windows are at least 328 kB, more than C RTT and the buffer, and 0.8 % "
        "are lost (no control: 1.2 %). Up to scale 13 (164 kB < C RTT + T) the queue is held at its target.",
    ),
    "recovery": (
        "RFC 5681 section 2 takes an acknowledgement for a duplicate only if its window is that of the "
        "last. Beside long flows swnd hardly changes, and a lone loss costs a NewReno sender a timeout in "
        "one of five cases; beside short ones, which make the window change with every event, in three of "
        "four: 1.12 s for a loss instead of 0.52 s. Senders with SACK or RACK do not look at the window: no "
        "timeouts, 0.3 to 0.4 s. A remedy on the gateway's side: write the same window into an "
        "acknowledgement that repeats a number as into the one before it; that needs a state for each flow.",
    ),
}
"""Words for the report's sections."""
