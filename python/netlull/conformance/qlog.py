"""Traces of cases as qlog in JSON text sequences (draft-ietf-quic-qlog-main-schema, -quic-events).

qlog has no events for TCP. A sender's segments are packets of the namespace `quic`: numbered in the order of their
transmission, with a stream frame that has TCP's offset and length. Exported variables are further fields of
`quic:recovery_metrics_updated`, which allows any. When the sender sends data again, its packet counts as lost if the
bottleneck has dropped it. Otherwise the data is marked for retransmission.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from netlull.conformance.trace import FLOW, Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netlull.conformance.frame import Case

__all__ = ["qlog_text"]

_SEPARATOR = "\x1e"
_SCHEMAS = ("urn:ietf:params:qlog:events:quic", "urn:ietf:params:qlog:events:simulation")
_RENAMED = {"C.cwnd": "congestion_window", "C.inflight": "bytes_in_flight"}
_STATES = ("BBR.state",)
"""Variables that are states of congestion control."""
_MS = 1e3

Event = tuple[float, int, str, dict[str, Any]]


def qlog_text(case: Case, trace: Trace, marks: Sequence[tuple[float, str]] = ()) -> str:
    """A run as the text of a `.sqlog` file."""
    head = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": f"{case.number} {case.title}",
        "trace": {
            "title": f"{case.number} {case.title}",
            "description": f"TCP, as packets of QUIC. {case.network}. {case.doc}",
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            },
            "vantage_point": {"name": "sender", "type": "client"},
            "event_schemas": list(_SCHEMAS),
        },
    }
    events = [*_packets(trace), *_metrics(trace)]
    events += [(at, 0, "simulation:marker", {"type": "step", "message": what}) for at, what in marks]
    events.sort(key=lambda event: event[:2])
    lines = [head, *({"time": round(at * _MS, 6), "name": name, "data": data} for at, _, name, data in events)]
    return "".join(f"{_SEPARATOR}{json.dumps(line, separators=(',', ':'))}\n" for line in lines)


def _packets(trace: Trace) -> Iterator[Event]:
    table = trace.result.series("segment")
    columns = ("time_s", "flow", "offset_bytes", "length_bytes", "retransmission")
    last: dict[int, int] = {}
    number = 0
    for at, flow, offset, length, again in zip(*(table[name].to_pylist() for name in columns), strict=True):
        if flow != FLOW:
            continue
        frame = {"frame_type": "stream", "stream_id": 0, "offset": offset, "raw": {"payload_length": length}}
        if again and last.get(offset) in trace.lost:
            yield at, 1, "quic:packet_lost", {"header": _header(last[offset])}
        elif again:
            yield at, 1, "quic:marked_for_retransmit", {"frames": [frame]}
        last[offset] = number
        yield at, 2, "quic:packet_sent", {"header": _header(number), "frames": [frame], "raw": {"length": length}}
        number += 1


def _header(number: int) -> dict[str, object]:
    return {"packet_type": "1RTT", "packet_number": number}


def _metrics(trace: Trace) -> Iterator[Event]:
    table = trace.result.series("variable")
    columns = ("time_s", "flow", "variable", "value", "word")
    known: dict[str, str] = {}
    together: dict[str, Any] = {}
    since = math.nan
    for at, flow, name, value, word in zip(*(table[name].to_pylist() for name in columns), strict=True):
        if flow != FLOW:
            continue
        if at != since and together:
            yield since, 3, "quic:recovery_metrics_updated", together
            together = {}
        since = at
        if name in _STATES:
            data = {"old": known[name], "new": word} if name in known else {"new": word}
            known[name] = word
            yield at, 4, "quic:congestion_state_updated", data
        elif word:
            together[name] = word
        else:
            together |= _metric(name, value)
    if together:
        yield since, 3, "quic:recovery_metrics_updated", together


def _metric(name: str, value: float | None) -> dict[str, Any]:
    """The field of a number. JSON has no infinity: null is "no bound"."""
    if value is None or not math.isfinite(value):
        return {name: None}
    if name == "C.pacing_rate":
        return {"pacing_rate": round(8 * value)}
    if name == "BBR.min_rtt":
        return {"min_rtt": value * _MS}
    if name in _RENAMED:
        return {_RENAMED[name]: round(value)}
    return {name: round(value) if value.is_integer() else value}
