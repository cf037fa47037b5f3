"""The judges of the claims in claims.toml, and the numbers that show the effect of a reading."""

from __future__ import annotations

from netlull.papers import Headline

from . import conclusions, quality, savings
from .measures import TCP_PC, TCPONLY, UDP_PC, difference, inflation, mean, over_seeds

JUDGES = {
    "I1": savings.transitions_differ,
    "I2": savings.tcp_saves_more,
    "I3": savings.tcp_saves_less,
    "I4": quality.more_loss,
    "I5": quality.at_least_doubles,
    "I6": quality.headline_time,
    "I7": quality.goodput_difference,
    "I8": quality.time_difference,
    "I9": quality.dvs_alike,
    "I10": savings.most_cases,
    "I11": savings.reacts_to_losses,
    "I12": savings.window_falls,
    "I13": savings.retransmits_more,
    "I14": quality.low_load_pays,
    "I15": quality.high_load_does_not,
    "I16": quality.goodput_hardly_falls,
    "I17": conclusions.delay_bound_effects,
    "I18": conclusions.interval_effects,
    "I19": conclusions.jumps_react,
}
"""The judge of each claim."""


def _time_headline(label: str, experiment: str, load: float) -> Headline:
    return Headline(label, "s", lambda evidence: mean(evidence, experiment, load, "completion_s").mean)


def _ratio_headline(load: float) -> Headline:
    label = f"Fig. 5 inflation, load {load:g}"
    return Headline(label, "times", lambda evidence: over_seeds(inflation(evidence, load)).mean)


def _saving_headline(load: float) -> Headline:
    label = f"Fig. 3 saving of TCP+PC, load {load:g}"
    return Headline(label, "%", lambda evidence: mean(evidence, TCP_PC, load, "saving_fs").mean * 100)


def _gap_headline(load: float) -> Headline:
    label = f"Fig. 3 TCP+PC less UDP+PC, load {load:g}"
    return Headline(
        label, "points", lambda evidence: over_seeds(difference(evidence, load, TCP_PC, UDP_PC, "saving_fs")).mean * 100
    )


HEADLINES = (
    _time_headline("Fig. 5 TCPonly, load 0.8", TCPONLY, 0.8),
    _time_headline("Fig. 5 TCP+PC, load 0.8", TCP_PC, 0.8),
    _ratio_headline(0.3),
    _ratio_headline(0.8),
    _saving_headline(0.3),
    _saving_headline(0.8),
    _gap_headline(0.3),
    _gap_headline(0.9),
    Headline("Fig. 4 loss of TCP+PC, load 0.8", "%", lambda evidence: mean(evidence, TCP_PC, 0.8, "loss").mean * 100),
)
"""The numbers that show the effect of a reading."""
