"""BBRv3 in Python, after the pseudocode of draft-ietf-ccwg-bbr-06, and copies of it with one rule broken each.

`netlull conformance --congestion-control tests/bbr_in_python.py:Bbr` judges it. The broken copies show that each case
can fail: `BROKEN` has the class for each case. Names are the draft's; rates are in bytes per second.
"""

from __future__ import annotations

import math
from typing import ClassVar

import netlull

INF = math.inf
PROBING = {"PROBE_DOWN", "PROBE_CRUISE", "PROBE_REFILL", "PROBE_UP"}
PACING_GAIN = {"STARTUP": 2.77, "DRAIN": 0.5, "PROBE_DOWN": 0.9, "PROBE_UP": 1.25}
CWND_GAIN = {"PROBE_UP": 2.25, "PROBE_RTT": 0.5}


class Bbr(netlull.CongestionControl):
    """BBRv3."""

    deliveries = True
    owns_window = True

    full_bw_rounds: ClassVar[int] = 3
    min_pipe: ClassVar[int] = 4

    def start(self, connection):
        self.state, self.ack_phase = "STARTUP", "ACKS_INIT"
        self.round_count = self.next_round_delivered = self.delivered = 0
        self.round_start = self.full_bw_now = self.full_bw_reached = self.idle_restart = False
        self.max_bw_now = self.max_bw_before = self.bw = self.full_bw = 0.0
        self.full_bw_count = self.rounds_since_probe_up = self.bw_probe_up_rounds = 0
        self.bw_shortterm = self.inflight_shortterm = self.inflight_longterm = INF
        self.extra_acked = self.extra_acked_delivered = self.bw_probe_up_acked = 0
        self.extra_acked_filter = []
        self.extra_acked_start = self.probe_rtt_min_stamp = self.min_rtt_stamp = self.cycle_stamp = 0.0
        self.min_rtt = self.probe_rtt_min_delay = self.bw_probe_wait = self.probe_up_acked_per_inc = INF
        self.bw_latest = self.inflight_latest = self.loss_round_delivered = self.ranges_lost = self.lost_end = 0
        self.is_loss_in_round = self.loss_round_start = self.is_bw_probe_sample = False
        self.prev_probe_too_high = self.prev_probe_precautionary = self.probe_rtt_expired = False
        self.probe_rtt_done_stamp, self.probe_rtt_round_done = INF, False
        self.drain_start_round, self.prior_cwnd, self.phase = INF, 0, "open"
        self.limited_from, self.limited_until = INF, -1
        self.undo = {}

    # Events

    def on_established(self, start):
        self.initial_cwnd = start.initial_window
        self.min_rtt = self.probe_rtt_min_delay = start.rtt or INF
        self.probe_rtt_min_stamp = self.min_rtt_stamp = self.extra_acked_start = start.now
        self.pacing_rate = 8 * 2.77 * self.initial_cwnd / (start.rtt or 0.001)

    def on_ack(self, ack):
        pass

    def on_loss(self, loss):
        self.save_state_upon_loss()
        self.phase = "fast_recovery"

    def on_timeout(self, loss, repeated):
        if self.phase == "open":
            self.save_state_upon_loss()
        else:
            self.save_cwnd()
        self.phase = "loss"
        self.cwnd = self.smss

    def on_delivery(self, rs):
        self.delivered += rs.newly_acked
        limited = rs.is_app_limited or self.limited_from <= rs.prior_delivered <= self.limited_until
        self.update_model(rs, limited)
        if self.phase != "open" and rs.phase == "open":
            self.cwnd = max(self.cwnd, self.prior_cwnd)
        elif self.phase == "open" and rs.phase != "open":
            self.save_cwnd()
        self.phase = rs.phase
        self.set_pacing_rate(PACING_GAIN.get(self.state, 1.0))
        self.set_cwnd(rs)

    def on_marked_lost(self, now, lost):
        if not self.is_loss_in_round:
            self.loss_round_delivered = self.delivered
        self.is_loss_in_round = True
        if lost.start != self.lost_end or not self.ranges_lost:
            self.ranges_lost += 1
        self.lost_end = lost.end
        if self.is_bw_probe_sample and lost.lost > 0.02 * lost.tx_in_flight:
            size = lost.end - lost.start
            before = max(lost.tx_in_flight - size, 0)
            prefix = (0.02 * before - max(lost.lost - size, 0)) / 0.98
            self.handle_inflight_too_high(now, int(before + max(prefix, 0)), lost.is_app_limited)

    def on_restart(self, now):
        self.idle_restart = True
        self.extra_acked_start, self.extra_acked_delivered = now, 0
        if self.state in PROBING:
            self.set_pacing_rate(1.0)
        elif self.state == "PROBE_RTT":
            self.check_probe_rtt_done(now)

    # The model

    @property
    def max_bw(self):
        return max(self.max_bw_now, self.max_bw_before)

    def update_model(self, rs, limited):
        self.update_latest(rs)
        self.update_congestion_signals(rs, limited)
        self.update_ack_aggregation(rs)
        self.check_full_bw_reached(rs, limited)
        self.check_startup_high_loss(rs)
        if self.state == "STARTUP" and self.full_bw_reached:
            self.state, self.drain_start_round = "DRAIN", self.round_count
        if self.state == "DRAIN" and self.is_drained(rs):
            self.start_probe_bw_down(rs.now)
        self.update_cycle(rs, limited)
        self.update_min_rtt(rs)
        self.check_probe_rtt(rs)
        if self.loss_round_start:
            self.bw_latest, self.inflight_latest = rs.delivery_rate, rs.delivered
        self.bw = min(self.max_bw, self.bw_shortterm)

    def update_latest(self, rs):
        self.bw_latest = max(self.bw_latest, rs.delivery_rate)
        self.inflight_latest = max(self.inflight_latest, rs.delivered)
        self.loss_round_start = rs.prior_delivered >= self.loss_round_delivered
        if self.loss_round_start:
            self.loss_round_delivered = self.delivered

    def update_congestion_signals(self, rs, limited):
        self.round_start = rs.prior_delivered >= self.next_round_delivered
        if self.round_start:
            self.start_round()
            self.round_count += 1
            self.rounds_since_probe_up += 1
        self.update_max_bw(rs.delivery_rate, limited)
        if self.loss_round_start:
            self.adapt_lower_bounds()
            self.is_loss_in_round = False

    def update_max_bw(self, rate, limited):
        if rate > 0 and (rate >= self.max_bw or not limited):
            self.max_bw_now = max(self.max_bw_now, rate)

    def adapt_lower_bounds(self):
        if self.state in {"STARTUP", "PROBE_REFILL", "PROBE_UP"} or not self.is_loss_in_round:
            return
        self.bw_shortterm = max(self.bw_latest, 0.7 * min(self.bw_shortterm, self.max_bw))
        volume = self.cwnd if self.inflight_shortterm == INF else self.inflight_shortterm
        self.inflight_shortterm = max(self.inflight_latest, int(0.7 * volume))

    def update_ack_aggregation(self, rs):
        expected = self.bw * (rs.now - self.extra_acked_start)
        if self.extra_acked_delivered <= expected:
            self.extra_acked_delivered, self.extra_acked_start, expected = 0, rs.now, 0
        self.extra_acked_delivered += rs.newly_acked
        extra = min(self.extra_acked_delivered - expected, self.cwnd)
        rounds = 10 if self.full_bw_reached else 1
        recent = [(count, value) for count, value in self.extra_acked_filter if count > self.round_count - rounds]
        if recent and recent[-1][0] == self.round_count:
            recent[-1] = (self.round_count, max(recent[-1][1], extra))
        else:
            recent.append((self.round_count, extra))
        self.extra_acked_filter = recent
        self.extra_acked = max(value for _, value in recent)

    def check_full_bw_reached(self, rs, limited):
        if self.full_bw_now or not self.round_start or limited:
            return
        if rs.delivery_rate >= 1.25 * self.full_bw:
            self.reset_full_bw(rs.delivery_rate)
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= self.full_bw_rounds
        self.full_bw_reached = self.full_bw_reached or self.full_bw_now

    def reset_full_bw(self, rate):
        self.full_bw, self.full_bw_count, self.full_bw_now = rate, 0, False

    def check_startup_high_loss(self, rs):
        if self.full_bw_reached:
            return
        if self.phase == "fast_recovery" and self.loss_round_start and self.ranges_lost >= 6 and self.is_too_high(rs):
            self.full_bw_reached = self.full_bw_now = True
            self.inflight_longterm = max(self.bdp(), self.inflight_latest)
        if self.loss_round_start:
            self.ranges_lost = 0

    def is_too_high(self, rs):
        return rs.lost > 0.02 * rs.tx_in_flight

    def handle_inflight_too_high(self, now, tx_in_flight, limited):
        self.prev_probe_too_high, self.is_bw_probe_sample = True, False
        if not limited:
            self.inflight_longterm = max(tx_in_flight, int(0.7 * self.target_inflight()))
        if self.state == "PROBE_UP":
            self.undo["state"] = "PROBE_UP"
            self.start_probe_bw_down(now)

    def is_drained(self, rs):
        return rs.inflight <= self.inflight(self.bw, 1.0) or self.round_count > self.drain_start_round + 3

    # Undo

    def save_state_upon_loss(self):
        # NoteLoss would save it again after the first loss has already changed it (5.5.10.2).
        self.save_cwnd()
        bounds = ("bw_shortterm", "inflight_shortterm", "inflight_longterm")
        self.undo = {"state": None, **{name: getattr(self, name) for name in bounds}}

    def on_spurious(self, spurious):
        self.cwnd = max(self.cwnd, self.prior_cwnd)
        self.is_loss_in_round = False
        self.reset_full_bw(0.0)
        state = self.undo.pop("state", None)
        for name, value in self.undo.items():
            setattr(self, name, max(getattr(self, name), value))
        if state == "PROBE_UP" and self.state not in {"PROBE_UP", "PROBE_RTT"}:
            self.start_probe_bw_refill()
        self.undo = {}

    # PROBE_BW

    def start_round(self):
        self.next_round_delivered = self.delivered

    def start_probe_bw_down(self, now):
        self.is_loss_in_round, self.bw_latest, self.inflight_latest = False, 0, 0
        self.probe_up_acked_per_inc = INF
        self.rounds_since_probe_up = self.random.randrange(2)
        self.bw_probe_wait = 2 + self.random.random()
        self.cycle_stamp, self.ack_phase, self.state = now, "ACKS_PROBE_STOPPING", "PROBE_DOWN"
        self.start_round()

    def start_probe_bw_refill(self):
        self.bw_shortterm = self.inflight_shortterm = INF
        self.bw_probe_up_rounds = self.bw_probe_up_acked = 0
        self.prev_probe_precautionary = False
        self.ack_phase, self.state = "ACKS_REFILLING", "PROBE_REFILL"
        self.start_round()

    def start_probe_bw_up(self, rs):
        self.ack_phase, self.state = "ACKS_PROBE_STARTING", "PROBE_UP"
        self.start_round()
        self.reset_full_bw(rs.delivery_rate)
        self.raise_slope()

    def raise_slope(self):
        growth = 1 << self.bw_probe_up_rounds
        self.bw_probe_up_rounds = min(self.bw_probe_up_rounds + 1, 30)
        self.probe_up_acked_per_inc = max(self.cwnd // growth, self.smss)

    def update_cycle(self, rs, limited):
        if not self.full_bw_reached or self.adapt_long_term_model(rs, limited):
            return
        if self.state in {"PROBE_DOWN", "PROBE_CRUISE"} and self.is_time_to_probe(rs.now):
            self.start_probe_bw_refill()
        elif self.state == "PROBE_DOWN" and self.is_time_to_cruise(rs):
            self.state = "PROBE_CRUISE"
        elif self.state == "PROBE_REFILL" and self.round_start:
            self.is_bw_probe_sample = True
            self.start_probe_bw_up(rs)
        elif self.state == "PROBE_UP" and self.is_time_to_go_down(rs):
            self.prev_probe_too_high = False
            self.start_probe_bw_down(rs.now)

    def adapt_long_term_model(self, rs, limited):
        if self.ack_phase == "ACKS_PROBE_STARTING" and self.round_start:
            self.ack_phase = "ACKS_PROBE_FEEDBACK"
        if self.ack_phase == "ACKS_PROBE_STOPPING" and self.round_start:
            self.is_bw_probe_sample, self.ack_phase = False, "ACKS_INIT"
            if self.state in PROBING:
                if not limited:
                    self.advance_max_bw_filter()
                if self.prev_probe_precautionary and not self.prev_probe_too_high:
                    self.start_probe_bw_refill()
                    return True
        if not self.is_too_high(rs) and self.inflight_longterm != INF:
            self.inflight_longterm = max(self.inflight_longterm, rs.tx_in_flight)
            if self.state == "PROBE_UP" and rs.is_cwnd_limited and self.cwnd >= self.inflight_longterm:
                self.bw_probe_up_acked += rs.newly_acked
                steps = self.bw_probe_up_acked // self.probe_up_acked_per_inc
                self.bw_probe_up_acked -= steps * self.probe_up_acked_per_inc
                self.inflight_longterm += steps * self.smss
                if self.round_start:
                    self.raise_slope()
        return False

    def advance_max_bw_filter(self):
        if self.max_bw_now > 0:
            self.max_bw_before, self.max_bw_now = self.max_bw_now, 0.0

    def is_time_to_probe(self, now):
        rounds = min(self.target_inflight() // self.smss, 63)
        return now > self.cycle_stamp + self.bw_probe_wait or self.rounds_since_probe_up >= rounds

    def is_time_to_cruise(self, rs):
        return rs.inflight <= min(self.inflight_with_headroom(), self.inflight(self.max_bw, 1.0))

    def is_time_to_go_down(self, rs):
        if self.prev_probe_too_high and rs.inflight >= self.inflight_longterm:
            self.prev_probe_precautionary = True
            return True
        if rs.is_cwnd_limited and self.cwnd >= self.inflight_longterm:
            self.reset_full_bw(rs.delivery_rate)
            return False
        return self.full_bw_now

    # PROBE_RTT

    def update_min_rtt(self, rs):
        self.probe_rtt_expired = rs.now > self.probe_rtt_min_stamp + 5
        if rs.rtt is not None and (rs.rtt < self.probe_rtt_min_delay or self.probe_rtt_expired):
            self.probe_rtt_min_delay, self.probe_rtt_min_stamp = rs.rtt, rs.now
        if self.probe_rtt_min_delay < self.min_rtt or rs.now > self.min_rtt_stamp + 10:
            self.min_rtt, self.min_rtt_stamp = self.probe_rtt_min_delay, self.probe_rtt_min_stamp

    def check_probe_rtt(self, rs):
        if self.state != "PROBE_RTT" and self.probe_rtt_expired and not self.idle_restart:
            self.save_cwnd()
            self.state, self.ack_phase = "PROBE_RTT", "ACKS_PROBE_STOPPING"
            self.probe_rtt_done_stamp, self.probe_rtt_round_done = INF, False
            self.start_round()
        if self.state == "PROBE_RTT":
            self.limited_from = min(self.limited_from, self.delivered) if self.limited_until >= 0 else self.delivered
            self.limited_until = self.delivered + rs.inflight
            if self.probe_rtt_done_stamp < INF:
                self.probe_rtt_round_done = self.probe_rtt_round_done or self.round_start
                if self.probe_rtt_round_done:
                    self.check_probe_rtt_done(rs.now)
            elif rs.inflight <= self.probe_rtt_cwnd():
                self.probe_rtt_done_stamp = rs.now + 0.2
                self.start_round()
        if rs.delivered > 0:
            self.idle_restart = False

    def check_probe_rtt_done(self, now):
        if now > self.probe_rtt_done_stamp:
            self.probe_rtt_min_stamp = now
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            self.exit_probe_rtt(now)

    def exit_probe_rtt(self, now):
        self.bw_shortterm = self.inflight_shortterm = INF
        self.state = "STARTUP"
        if self.full_bw_reached:
            self.start_probe_bw_down(now)
            self.state = "PROBE_CRUISE"

    # Control

    def bdp(self, gain=1.0, bw=None):
        return self.initial_cwnd if self.min_rtt == INF else int(gain * (self.bw if bw is None else bw) * self.min_rtt)

    def send_quantum(self):
        return max(min(int(self.pacing_rate / 8 * 1e-3), 65536), 2 * self.smss)

    def quantization_budget(self, inflight):
        inflight = max(inflight, 3 * self.send_quantum(), self.min_pipe * self.smss)
        return inflight + 2 * self.smss if self.state == "PROBE_UP" else inflight

    def inflight(self, bw, gain):
        return self.quantization_budget(self.bdp(gain, bw))

    def max_inflight(self):
        return self.quantization_budget(self.bdp(CWND_GAIN.get(self.state, 2.0)) + int(self.extra_acked))

    def target_inflight(self):
        return min(self.bdp(), self.cwnd)

    def inflight_with_headroom(self):
        if self.inflight_longterm == INF:
            return INF
        return max(self.inflight_longterm - max(0.15 * self.inflight_longterm, self.smss), self.min_pipe * self.smss)

    def probe_rtt_cwnd(self):
        return max(self.bdp(0.5), self.min_pipe * self.smss)

    def save_cwnd(self):
        modulated = self.phase != "open" or self.state == "PROBE_RTT"
        self.prior_cwnd = max(self.prior_cwnd, self.cwnd) if modulated else self.cwnd

    def set_pacing_rate(self, gain):
        rate = 8 * 0.99 * gain * self.bw
        if rate >= 1 and (self.full_bw_reached or rate > self.pacing_rate):
            self.pacing_rate = rate

    def set_cwnd(self, rs):
        most, opened = self.max_inflight(), self.cwnd + rs.newly_acked
        if self.full_bw_reached:
            cwnd = min(opened, most)
        elif self.cwnd < most or self.delivered < self.initial_cwnd:
            cwnd = opened
        else:
            cwnd = self.cwnd
        cwnd = max(cwnd, self.min_pipe * self.smss)
        cap = INF
        if self.state == "PROBE_RTT":
            cwnd = min(cwnd, self.probe_rtt_cwnd())
        if self.state in {"PROBE_CRUISE", "PROBE_RTT"}:
            cap = self.inflight_with_headroom()
        elif self.state in PROBING:
            cap = self.inflight_longterm
        cap = max(min(cap, self.inflight_shortterm), self.min_pipe * self.smss)
        self.cwnd = int(min(cwnd, cap, 2**30))

    def variables(self):
        return {
            "BBR.state": self.state,
            "BBR.pacing_gain": PACING_GAIN.get(self.state, 1.0),
            "BBR.cwnd_gain": CWND_GAIN.get(self.state, 2.0),
            "BBR.bdp": self.bdp(),
            "BBRInflight(1.0)": self.inflight(self.max_bw, 1.0),
            "BBRInflightWithHeadroom()": self.inflight_with_headroom(),
            **{f"BBR.{name}": float(getattr(self, name)) for name in _EXPORTED},
        }


_EXPORTED = (
    "round_count",
    "max_bw",
    "bw",
    "bw_shortterm",
    "min_rtt",
    "probe_rtt_min_stamp",
    "inflight_longterm",
    "inflight_shortterm",
    "extra_acked",
    "full_bw_count",
    "full_bw_now",
    "full_bw_reached",
    "drain_start_round",
    "bw_probe_wait",
    "bw_probe_up_rounds",
    "idle_restart",
)


class OneRound(Bbr):
    """A single round without growth fills the pipe (5.3.1.2: three)."""

    full_bw_rounds = 1


class IgnoresStartupLoss(Bbr):
    """Losses never end STARTUP (5.3.1.3)."""

    def check_startup_high_loss(self, rs):
        pass


class DrainsTooLong(Bbr):
    """The data in flight does not end DRAIN (5.3.2)."""

    def is_drained(self, rs):
        return self.round_count > self.drain_start_round + 3


class DrainsForEver(Bbr):
    """Time does not end DRAIN (5.3.2)."""

    def is_drained(self, rs):
        return rs.inflight <= self.inflight(self.bw, 1.0)


class IgnoresPlateau(Bbr):
    """A plateau does not end PROBE_UP (5.3.3.9, IsTimeToGoDown)."""

    def is_time_to_go_down(self, rs):
        return False


class IgnoresProbeLoss(Bbr):
    """Losses do not end PROBE_UP (5.5.10.2, HandleInflightTooHigh)."""

    def handle_inflight_too_high(self, now, tx_in_flight, limited):
        pass


class CountsLimitedRounds(Bbr):
    """Rounds limited by the application count as a plateau (5.3.1.2)."""

    def check_full_bw_reached(self, rs, limited):
        super().check_full_bw_reached(rs, False)


class CruisesAtOnce(Bbr):
    """PROBE_DOWN does not wait for the queue (5.3.3.9, IsTimeToCruise)."""

    def is_time_to_cruise(self, rs):
        return True


class NeverProbesInDown(Bbr):
    """Time does not end PROBE_DOWN (5.3.3.9, UpdateProbeBWCyclePhase)."""

    def is_time_to_probe(self, now):
        return self.state != "PROBE_DOWN" and super().is_time_to_probe(now)


class LeavesProbeRtt(Bbr):
    """PROBE_RTT ends before 200 ms (5.3.4.3)."""

    def check_probe_rtt(self, rs):
        super().check_probe_rtt(rs)
        if self.probe_rtt_done_stamp < INF and self.state == "PROBE_RTT":
            self.probe_rtt_done_stamp = 0


class ForgetsIdling(Bbr):
    """A restart from idle is not noted (5.4.1)."""

    def on_restart(self, now):
        super().on_restart(now)
        self.idle_restart = False


class WithoutAggregation(Bbr):
    """Aggregation is not measured (5.5.9)."""

    def update_ack_aggregation(self, rs):
        pass


class AggregationUnused(Bbr):
    """The measured aggregation does not add to cwnd (5.6.4.2)."""

    def max_inflight(self):
        return self.quantization_budget(self.bdp(CWND_GAIN.get(self.state, 2.0)))


class OnePacket(Bbr):
    """MinPipeCwnd is a packet (5.6.4.3: four), without a budget for bursts."""

    min_pipe = 1

    def quantization_budget(self, inflight):
        return max(inflight, self.smss)


class SteadySlope(Bbr):
    """The step of inflight_longterm does not double (5.3.3.9, RaiseInflightLongtermSlope)."""

    def raise_slope(self):
        self.bw_probe_up_rounds, self.probe_up_acked_per_inc = 1, self.cwnd


class NeverForgets(Bbr):
    """The filter of max_bw never advances (5.5.6)."""

    def advance_max_bw_filter(self):
        pass


class IgnoresLoss(Bbr):
    """Losses set no lower bounds (5.5.10.3)."""

    def adapt_lower_bounds(self):
        pass


class NeverUndoes(Bbr):
    """A spurious fast recovery is not undone (5.5.11)."""

    def on_spurious(self, spurious):
        if spurious.timed_out:
            super().on_spurious(spurious)


class NeverUndoesTimeouts(Bbr):
    """A spurious timeout is not undone (5.5.11)."""

    def on_spurious(self, spurious):
        if not spurious.timed_out:
            super().on_spurious(spurious)


class ForgetsStartup(Bbr):
    """PROBE_RTT always ends in PROBE_BW (5.3.4.4)."""

    def exit_probe_rtt(self, now):
        super().exit_probe_rtt(now)
        self.full_bw_reached, self.state = True, "PROBE_CRUISE"


class KeepsLongtermBound(Bbr):
    """Losses in PROBE_UP leave inflight_longterm (5.5.10.2)."""

    def handle_inflight_too_high(self, now, tx_in_flight, limited):
        super().handle_inflight_too_high(now, tx_in_flight, True)


class TrustsLimitedSamples(Bbr):
    """Samples limited by the application lower max_bw (5.5.5)."""

    def update_max_bw(self, rate, limited):
        super().update_max_bw(rate, limited)
        if limited and rate > 0:
            self.max_bw_now = self.max_bw_before = rate


class PacesAtTheFullRate(Bbr):
    """The pacing rate has no margin of 1 % (5.6.2)."""

    def set_pacing_rate(self, gain):
        super().set_pacing_rate(gain / 0.99)


class WithoutHeadroom(Bbr):
    """PROBE_DOWN and PROBE_CRUISE leave no headroom (5.3.3.9, InflightWithHeadroom)."""

    def inflight_with_headroom(self):
        return self.inflight_longterm


class FallsTooFar(Bbr):
    """A loss lowers the bounds to 30 % (5.5.10.3: 70 %)."""

    def adapt_lower_bounds(self):
        if self.state not in {"STARTUP", "PROBE_REFILL", "PROBE_UP"} and self.is_loss_in_round:
            self.bw_shortterm = max(self.bw_latest, 0.3 * min(self.bw_shortterm, self.max_bw))


BROKEN = {
    "A.1": OneRound,
    "A.2": IgnoresStartupLoss,
    "A.3": DrainsTooLong,
    "A.4": DrainsForEver,
    "A.5": IgnoresPlateau,
    "A.6": IgnoresProbeLoss,
    "A.7": CountsLimitedRounds,
    "A.8": CruisesAtOnce,
    "A.9": NeverProbesInDown,
    "A.10": LeavesProbeRtt,
    "A.11": ForgetsIdling,
    "A.12": WithoutAggregation,
    "A.13": AggregationUnused,
    "A.14": OnePacket,
    "A.15": SteadySlope,
    "A.16": NeverForgets,
    "A.17": IgnoresLoss,
    "A.18": NeverUndoes,
    "A.19": NeverUndoesTimeouts,
    "A.20": ForgetsStartup,
    "A.21": KeepsLongtermBound,
    "A.22": TrustsLimitedSamples,
}
"""The class that must fail each case."""

ALSO_BROKEN = [("A.1", PacesAtTheFullRate), ("A.8", WithoutHeadroom), ("A.16", FallsTooFar)]
"""Cases, and further classes that must fail them."""
