"""Turns a trace of ns2_trace.tcl into events for crates/tcp/tests/ns2_golden.rs.

Times are in nanoseconds, windows in thousandths of segments (0 if ns-2 prints none), other numbers in
segments. `wait` is the time since the previous line, `flight` the data in flight after the event:

- `H wait rtt`: handshake (Agent/TCP/Vegas: its segment 0)
- `A wait acked flight rtt state cwnd ssthresh`: acknowledgement of new data; state before: O open, R recovery
- `L wait flight age transmissions cwnd ssthresh`: loss of a segment sent `age` ago, for the n-th time
- `E wait window`: end of recovery: its window (Agent/TCP/Vegas)
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DUPLICATES = 3


@dataclass
class Sender:
    """The state of the sender, from its packets and variables."""

    native: bool
    una: int = 0
    nxt: int = 0
    duplicates: int = 0
    recover: int | None = None
    after_loss: float = 0.0
    cwnd: float = 0.0
    ssthresh: float = 0.0
    last: int = 0
    sent_at: dict[int, list[int]] = field(default_factory=dict)

    def events(self, acks: list[tuple[int, int, list[tuple[str, float]]]]) -> Iterator[str]:
        """Returns one or two lines for each acknowledgement, which is given with its consequences."""
        for now, ack, what_followed in acks:
            before = self.cwnd, self.ssthresh
            sends: list[int] = []
            for kind, value in what_followed:
                if kind == "cwnd_":
                    self.cwnd = value
                elif kind == "ssthresh_":
                    self.ssthresh = value
                else:
                    sends.append(int(value))
            if ack > self.una:
                yield from self._advance(now, ack, before[0])
            elif self.nxt > self.una:
                yield from self._duplicate(now, before)
            for seq in sends:
                self.sent_at.setdefault(seq, []).append(now)
                self.nxt = max(self.nxt, seq + 1)

    def _advance(self, now: int, ack: int, inflated: float) -> Iterator[str]:
        acked = ack - self.una
        rtt = now - self.sent_at[ack - 1][-1]
        sure = len(self.sent_at[ack - 1]) == 1
        self.una = ack
        # Segment 0 of Agent/TCP/Vegas is its SYN.
        if self.native and ack == 1:
            yield f"H {self._wait(now)} {rtt}"
            return
        state, told = "O", True
        if self.recover is not None:
            state = "R"
            told = self.native or ack >= self.recover
            if self.native:
                deflates = self.duplicates > DUPLICATES and inflated > self.after_loss
                window = self.after_loss if deflates else inflated
                yield f"E {self._wait(now)} {_milli(window)}"
                state = "O"
            if told:
                self.recover = None
        self.duplicates = 0
        cwnd = _milli(self.cwnd) if told else 0
        rtt = rtt if sure or not self.native else 0
        yield f"A {self._wait(now)} {acked} {self.nxt - ack} {rtt} {state} {cwnd} {_milli(self.ssthresh)}"

    def _duplicate(self, now: int, before: tuple[float, float]) -> Iterator[str]:
        self.duplicates += 1
        lost = self.cwnd < before[0] if self.native else self.ssthresh != before[1]
        if self.recover is None and lost:
            self.recover = self.nxt
            self.after_loss = self.cwnd - self.duplicates
            sent = self.sent_at[self.una]
            cwnd = _milli(self.after_loss) if self.native else 0
            flight, age = self.nxt - self.una, now - sent[-1]
            yield f"L {self._wait(now)} {flight} {age} {len(sent)} {cwnd} {_milli(self.ssthresh)}"
            if self.native and len(sent) == 1:
                self.duplicates = DUPLICATES

    def _wait(self, now: int) -> int:
        waited = now - self.last
        self.last = now
        return waited


def _milli(segments: float) -> int:
    return round(segments * 1000)


def read(path: str) -> Iterator[tuple[int, int, list[tuple[str, float]]]]:
    """The acknowledgements that reach the sender, each with the changes and the transmissions up to the next one."""
    followed: list[tuple[str, float]] = []
    now, ack = 0, 0
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if fields[0] == "r" and fields[3] == "0":
            yield now, ack, followed
            # As ns-2 does: whole nanoseconds, rounded down.
            now, ack, followed = int(float(fields[1]) * 1e9), int(fields[10]) + 1, []
        elif fields[0] == "+" and fields[2] == "0":
            followed.append(("send", int(fields[10])))
            if now == 0:
                now = int(float(fields[1]) * 1e9)
        elif len(fields) > 5 and fields[5] in ("cwnd_", "ssthresh_"):
            followed.append((fields[5], float(fields[6])))
    yield now, ack, followed


if __name__ == "__main__":
    acks = list(read(sys.argv[1]))
    for event in Sender(native=sys.argv[2] == "native").events(acks):
        sys.stdout.write(f"{event}\n")
