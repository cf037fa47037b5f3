"""CUBIC in Python, after RFC 9438, and copies of it with one rule broken each.

`netlull conformance --suite cubic --congestion-control tests/cubic_in_python.py:Cubic` judges it. `BROKEN` has the
class that must fail each case.
"""

from __future__ import annotations

import math
from typing import ClassVar

import netlull


class Cubic(netlull.CongestionControl):
    """CUBIC with windows in segments."""

    beta: ClassVar[float] = 0.7
    steepness: ClassVar[float] = 0.4

    def start(self, connection):
        self.window, self.threshold = 1.0, math.inf
        self.w_max = self.cwnd_prior = 0.0
        self.epoch = None

    def on_established(self, start):
        self.window = start.initial_window / start.smss

    def on_ack(self, ack):
        if ack.phase == "fast_recovery" or ack.flight_before < self.cwnd - 3 * self.smss:
            return
        acked = ack.acked / self.smss
        if self.window < self.threshold:
            self.window += min(acked, 2)
        else:
            self.avoid(ack, acked)
        self.publish()

    def avoid(self, ack, acked):
        if self.epoch is None:
            plateau = max(self.w_max, self.window)
            self.epoch = (ack.now, plateau, ((plateau - self.window) / self.steepness) ** (1 / 3))
            self.w_est, self.alpha = self.window, 3 * (1 - self.beta) / (1 + self.beta)
        since, plateau, k = self.epoch
        self.w_est += self.alpha * acked / self.window
        if self.w_est >= self.cwnd_prior:
            self.alpha = 1.0
        t = ack.now - since
        if plateau + self.steepness * (t - k) ** 3 < self.friendly():
            self.window = max(self.window, self.w_est)
        else:
            target = plateau + self.steepness * (t + (ack.srtt or 0) - k) ** 3
            target = min(max(target, self.window), 1.5 * self.window)
            self.window += (target - self.window) / self.window * acked

    def friendly(self):
        return self.w_est

    def remember(self):
        self.w_max = self.window * (1 + self.beta) / 2 if self.window < self.w_max else self.window

    def on_loss(self, loss):
        self.remember()
        self.cwnd_prior, self.epoch = self.window, None
        self.window = self.threshold = max(self.beta * loss.flight / self.smss, 2)
        self.publish()

    def on_timeout(self, loss, repeated):
        if not repeated:
            self.cwnd_prior = self.window
            self.threshold = max(self.beta * loss.flight / self.smss, 2)
        self.w_max, self.epoch, self.window = 0.0, None, self.loss_window()
        self.publish()

    def loss_window(self):
        return 1.0

    def publish(self):
        self.cwnd = self.window * self.smss
        self.ssthresh = self.threshold * self.smss

    def variables(self):
        _, _, k = self.epoch or (0, 0, math.inf)
        alpha = self.alpha if self.epoch else math.inf
        return {"W_max": self.w_max, "K": k, "ssthresh": self.threshold, "alpha_cubic": alpha}


class Halves(Cubic):
    """A loss halves the window (4.6: 0.7)."""

    beta = 0.5


class Steep(Cubic):
    """The function is twice as steep (5: C = 0.4)."""

    steepness = 0.8


class Selfish(Cubic):
    """No fast convergence (4.7)."""

    def remember(self):
        self.w_max = self.window


class Unfriendly(Cubic):
    """No Reno-friendly region (4.3)."""

    def friendly(self):
        return 0.0


class Hasty(Cubic):
    """A timeout leaves ten segments (4.8)."""

    def loss_window(self):
        return 10.0


BROKEN = {"C.1": Halves, "C.2": Steep, "C.3": Selfish, "C.4": Unfriendly, "C.5": Hasty}
"""The class that must fail each case."""
