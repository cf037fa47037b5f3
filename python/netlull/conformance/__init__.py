"""Conformance of congestion controls and loss recovery: numbered procedures with the expected observations."""

from netlull.conformance import bbr as _bbr  # noqa: F401  # registers its cases
from netlull.conformance import cubic as _cubic  # noqa: F401
from netlull.conformance import rack as _rack  # noqa: F401
from netlull.conformance import sack as _sack  # noqa: F401
from netlull.conformance.frame import (
    SUITES,
    Bench,
    Case,
    Check,
    Judgement,
    Subject,
    Verdict,
    cases,
    chosen,
    judge,
    suite_of,
)
from netlull.conformance.output import KIND, document, names_of, overview, write
from netlull.conformance.trace import Trace

__all__ = [
    "KIND",
    "SUITES",
    "Bench",
    "Case",
    "Check",
    "Judgement",
    "Subject",
    "Trace",
    "Verdict",
    "cases",
    "chosen",
    "document",
    "judge",
    "names_of",
    "overview",
    "suite_of",
    "write",
]
