"""A kernel's TCP as the endpoint of a packet script, behind a TUN device in a network namespace of its own.

`play` sends the script's segments at their times, records the kernel's segments and checks the expectations. It
understands the statements of validation/rfc/README.md that `_Player` names, and refuses others.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

__all__ = ["Outcome", "ScriptError", "in_new_namespace", "play"]

TOLERANCE_S = 0.02
"""The longest delay of a segment after its time in the script: timers of the kernel, and a busy machine."""
EARLY_S = 0.001
"""A segment that answers an event has the script's time of the event, and the kernel's clock after it."""
SETTLE_S = 0.003
"""The time that the kernel gets to answer, before a script looks at it."""
KERNEL, PEER, PORT = "10.77.0.1", "10.77.0.2", 8080
CLOCK_MONOTONIC_COARSE = 6
"""The time of the last jiffy."""
JIFFY_S, STEP_JIFFIES = 0.004, 512
"""A jiffy with HZ = 250, and a step of the wheel for timers from 16.1 to 129 s."""
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128
ECT = 256
"""Not a flag of TCP: ECT(0) of the IP header."""
FLAGS = {"fin": FIN, "syn": SYN, "rst": RST, "ece": ECE, "cwr": CWR, "ect": ECT}
SWITCHES = {"retransmission": "retransmission", "sackok": "permits_sack"}
NUMBERS = {"ack": "ack", "win": "window", "mss": "mss", "scale": "scale"}
SENDERS = {"sack": "reno", "new_reno": "reno", "cubic": "cubic"}
"""The kernel's algorithm for each of the scenario's names."""
SYSCTLS = {
    "timestamps": "tcp_timestamps",
    "window_scaling": "tcp_window_scaling",
    "idle_restart": "tcp_slow_start_after_idle",
}
"""Options of a script that are settings of a namespace."""
PRESET = {"tcp_no_metrics_save": 1, "tcp_ecn": 0, "tcp_timestamps": 1, "tcp_slow_start_after_idle": 1}


class ScriptError(ValueError):
    """A statement that the kernel cannot carry out."""


def in_new_namespace() -> None:
    """Moves this process to a new network namespace, which ends with it.

    Raises:
        OSError: If the process is not allowed to.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot make a network namespace; expected root")


@dataclass
class Outcome:
    """The result of a script."""

    checks: int = 0
    transcript: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Segment:
    at: float
    seq: int
    ack: int
    flags: int
    length: int
    retransmission: bool = False

    def words(self) -> str:
        flags = [word for word, flag in FLAGS.items() if self.flags & flag]
        data = [f"{self.seq}:{self.seq + self.length}"] if self.length else []
        return " ".join([*flags, *data, *(["retransmission"] if self.retransmission else [])])


@dataclass
class _Pattern:
    """A segment of a line, with offsets from the first byte of each stream."""

    flags: int = 0
    span: tuple[int, int] | None = None
    retransmission: bool = False
    ack: int | None = None
    window: int | None = None
    sack: list[tuple[int, int]] = field(default_factory=list)
    stamps: tuple[int, int] | None = None
    mss: int | None = None
    scale: int | None = None
    permits_sack: bool = False

    @property
    def words(self) -> str:
        start, end = self.span or (0, 0)
        return _Segment(0, start, 0, self.flags, end - start, self.retransmission).words()


def _patterns(words: list[str]) -> list[_Pattern]:
    """The segments of a line: `by N` cuts the data, `times N` repeats."""
    pattern, numbers = _Pattern(), {"by": 0, "times": 1}
    rest = iter(words)
    for word in rest:
        if word in FLAGS:
            pattern.flags |= FLAGS[word]
        elif word in SWITCHES:
            setattr(pattern, SWITCHES[word], True)
        elif word in NUMBERS:
            setattr(pattern, NUMBERS[word], int(next(rest)))
        elif word in numbers:
            numbers[word] = int(next(rest))
        elif word == "ts":
            pattern.stamps = (int(next(rest)), int(next(rest)))
        elif word == "sack":
            # To the end of the line.
            pattern.sack = [_span(block) for block in rest]
        elif ":" in word:
            pattern.span = _span(word)
        else:
            raise ScriptError(f"`{word}`; expected a field of a segment that kernel.py knows")
    cut = [pattern]
    if numbers["by"] and pattern.span:
        start, end = pattern.span
        edges = range(start, end, numbers["by"])
        spans = [(at, min(at + numbers["by"], end)) for at in edges]
        cut = [replace(pattern, span=span) for span in spans]
    return cut * numbers["times"]


def _span(word: str) -> tuple[int, int]:
    left, right = word.split(":")
    return int(left), int(right)


def statements(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number and the words of each line with a statement."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if words:
            yield number, words


def play(path: Path) -> Outcome:
    """Plays a script with the kernel of this namespace.

    Raises:
        ScriptError: If a statement is not one for a kernel.
    """
    player = _Player()
    for number, words in statements(path):
        try:
            player.line(number, words)
        except (IndexError, ValueError) as error:
            raise ScriptError(f"{path.name}: line {number}: {' '.join(words)}: {error}") from error
    player.end()
    return player.outcome


class _Player:
    def __init__(self) -> None:
        self.outcome = Outcome()
        self.control = "cubic"
        self.mss = 1000
        self.settings = dict(PRESET)
        self.tun = -1
        self.socket: socket.socket | None = None
        self.listener: socket.socket | None = None
        self.is_server = False
        self.start = 0.0
        self.origin = 0  # the kernel's first byte of data
        self.clock = 0  # the kernel's timestamp at the SYN, time 0 of its clock in scripts
        self.number = 0  # the peer's
        self.acknowledged = 0
        self.window = 65535
        self.highest = 0
        self.sent: deque[_Segment] = deque()
        self.last = 0
        self.ack_delay: float | None = None
        self.due: deque[tuple[float, int]] = deque()

    def line(self, number: int, words: list[str]) -> None:
        self.last = number
        match words:
            case ["preset", "linux-6"]:
                pass
            case ["server"]:
                self.is_server = True
            case ["algorithm", name] if name in SENDERS:
                self.control = SENDERS[name]
            case ["option", "mss", size]:
                self.mss = int(size)
            case ["option", "ecn", "classic"]:
                self.settings["tcp_ecn"] = 1
            case ["option", name, "on" | "off" as value] if name in SYSCTLS:
                self.settings[SYSCTLS[name]] = int(value == "on")
            case ["option" | "algorithm" | "preset", *_]:
                raise ScriptError("is not an option for a kernel")
            case [at, *action]:
                low, _, high = at.partition("..")
                self.step(number, float(low), float(high or low), action)

    def step(self, number: int, at: float, latest: float, words: list[str]) -> None:
        if self.tun < 0:
            self.open_device()
        self.until(at)
        match words:
            case ["out", "any"]:
                self.until(at + SETTLE_S)
                self.sent.clear()
            case ["out", *rest]:
                for pattern in _patterns(rest):
                    self.expect_segment(number, at, latest, pattern)
            case ["expect", *rest]:
                self.until(at + SETTLE_S)
                self.nothing_unexpected(number)
                for name, value in zip(rest[::2], rest[1::2], strict=True):
                    self.expect(number, name, value)
            case _:
                self.nothing_unexpected(number)
                self.act(words)

    def act(self, words: list[str]) -> None:
        """Does what the application or the peer does."""
        match words:
            case ["open"]:
                self.call_connect()
            case ["connect", *rtt]:
                self.connect(float(rtt[1]) if rtt else 0.0)
            case ["send", size]:
                self.tcp.send(bytes(int(size)))
            case ["close"]:
                self.tcp.shutdown(socket.SHUT_WR)
            case ["in", *rest]:
                for pattern in _patterns(rest):
                    self.deliver(pattern)
            case ["acks", delay]:
                self.ack_delay = None if delay == "off" else float(delay)
            case ["silence"]:
                pass
            case _:
                raise ScriptError("is not a statement for a kernel")

    @property
    def tcp(self) -> socket.socket:
        """The kernel's socket.

        Raises:
            ScriptError: Before it is open.
        """
        if self.socket is None and self.listener:
            self.socket = self.listener.accept()[0]
            self.socket.setblocking(False)
        if self.socket is None:
            raise ScriptError("comes before `open` or `connect`")
        return self.socket

    def end(self) -> None:
        self.until(self.now() + SETTLE_S)
        self.nothing_unexpected(self.last)
        if self.socket:
            # A reset at once, which nobody hears.
            self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.tcp.close()
        if self.tun >= 0:
            os.close(self.tun)

    def open_device(self) -> None:
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", b"script0", IFF_TUN | IFF_NO_PI))
        for command in (f"addr add {KERNEL}/24 dev script0", "link set script0 up", "link set lo up"):
            subprocess.run(["ip", *command.split()], check=True)
        for name, value in self.settings.items():
            Path(f"/proc/sys/net/ipv4/{name}").write_text(str(value), encoding="ascii")
        if self.is_server:
            self.listener = self.prepared()
            self.listener.bind((KERNEL, PORT))
            self.listener.listen()
        self.start = _first_jiffy_of_a_step()
        time.sleep(max(self.start - time.monotonic(), 0))

    def now(self) -> float:
        return time.monotonic() - self.start

    def until(self, at: float) -> None:
        """Records the kernel's segments up to a time."""
        while True:
            now = self.now()
            if self.due and self.due[0][0] <= min(at, now):
                self.deliver(_Pattern(ack=self.due.popleft()[1]))
                continue
            left = min(at, self.due[0][0] if self.due else at) - now
            ready, _, _ = select.select([self.tun], [], [], max(left, 0))
            if ready:
                self.record(os.read(self.tun, 65536))
            elif at <= now:
                return

    def wait_for(self, there: Callable[[], bool], limit: float) -> bool:
        while not there() and self.now() < limit:
            self.until(min(self.now() + 0.0005, limit))
        return there()

    def record(self, packet: bytes) -> None:
        if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
            return
        header = 4 * (packet[0] & 15)
        seq, ack = struct.unpack_from(">II", packet, header + 4)
        offset, flags = packet[header + 12] >> 4, packet[header + 13]
        length = struct.unpack_from(">H", packet, 2)[0] - header - 4 * offset
        if packet[1] & 3 == 2:
            flags |= ECT
        if flags & SYN:
            self.origin = seq + 1
            self.clock = _timestamp(packet[header + 20 : header + 4 * offset])
        start = (seq - self.origin) % 2**32
        retransmission = length > 0 and start < self.highest
        if length:
            self.highest = max(self.highest, start + length)
        segment = _Segment(self.now(), start, ack, flags, length, retransmission)
        if length or flags & (SYN | FIN | RST):
            self.note(f"out {segment.words()}")
            self.sent.append(segment)
        if length and self.ack_delay is not None:
            self.due.append((segment.at + self.ack_delay, start + length))

    def note(self, text: str) -> None:
        self.outcome.transcript.append(f"{self.now():.3f} {text}")

    def differs(self, number: int, why: str) -> None:
        self.outcome.differences.append(f"line {number}: {why}")
        self.note(f"    line {number}: {why}")

    def prepared(self) -> socket.socket:
        """A socket with the options of the script, which a listener passes on."""
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.setblocking(False)
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.control.encode())
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, self.mss)
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        return tcp

    def call_connect(self) -> None:
        self.socket = self.prepared()
        self.tcp.bind((KERNEL, PORT))
        self.tcp.connect_ex((PEER, PORT))

    def connect(self, rtt: float) -> None:
        begun = self.now()
        self.call_connect()
        if not self.wait_for(lambda: bool(self.sent), begun + TOLERANCE_S):
            raise ScriptError("the kernel sent no SYN")
        self.until(begun + rtt)
        agrees = ECE if self.settings["tcp_ecn"] else 0
        stamps = (0, 0) if self.settings["tcp_timestamps"] else None
        self.deliver(_Pattern(SYN | agrees, ack=0, mss=self.mss, scale=0, permits_sack=True, stamps=stamps))
        self.until(self.now() + SETTLE_S)
        self.sent.clear()
        self.note("connected")

    def deliver(self, pattern: _Pattern) -> None:
        if pattern.span:
            raise ScriptError("data of the peer; expected segments without data")
        self.acknowledged = self.acknowledged if pattern.ack is None else pattern.ack
        self.window = self.window if pattern.window is None else pattern.window
        options = b""
        if pattern.mss is not None:
            options += struct.pack(">BBH", 2, 4, pattern.mss)
        if pattern.permits_sack:
            options += b"\x01\x01\x04\x02"
        if pattern.scale is not None:
            options += struct.pack(">BBBB", 1, 3, 3, pattern.scale)
        if pattern.stamps is not None:
            value, echo = pattern.stamps
            options += struct.pack(">BBBBII", 1, 1, 8, 10, value, (self.clock + echo) % 2**32)
        if pattern.sack:
            options += struct.pack(">BBBB", 1, 1, 5, 2 + 8 * len(pattern.sack))
            for left, right in pattern.sack:
                options += struct.pack(">II", (self.origin + left) % 2**32, (self.origin + right) % 2**32)
        ack = (self.origin + self.acknowledged) % 2**32
        opens = self.is_server and pattern.flags & SYN
        flags = pattern.flags if opens else pattern.flags | ACK
        seq = 0 if opens else self.number
        self.number = 1 if opens else self.number + bool(flags & (SYN | FIN))
        length = 20 + len(options)
        fields = (PORT, PORT, seq, ack, (length // 4) << 4, flags, self.window)
        tcp = struct.pack(">HHIIBBHHH", *fields, 0, 0) + options
        ends = socket.inet_aton(PEER) + socket.inet_aton(KERNEL)
        checksum = _checksum(ends + struct.pack(">HH", socket.IPPROTO_TCP, length) + tcp)
        tcp = struct.pack(">HHIIBBHHH", *fields, checksum, 0) + options
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0x4000, 64, socket.IPPROTO_TCP, 0)
        checksum = _checksum(ip + ends)
        os.write(self.tun, ip[:10] + struct.pack(">H", checksum) + ends + tcp)
        self.note(f"in  ack {self.acknowledged}" + "".join(f" {left}:{right}" for left, right in pattern.sack))

    def expect_segment(self, number: int, at: float, latest: float, pattern: _Pattern) -> None:
        self.outcome.checks += 1
        if not self.wait_for(lambda: bool(self.sent), latest + TOLERANCE_S):
            self.differs(number, f"nothing was sent, expected {pattern.words}")
            return
        segment = self.sent.popleft()
        if segment.words() != pattern.words:
            self.differs(number, f"sent {segment.words()}, expected {pattern.words}")
        elif not at - EARLY_S <= segment.at <= latest + TOLERANCE_S:
            self.differs(number, f"sent at {segment.at:.3f}: {segment.words()}")

    def expect(self, number: int, name: str, value: str) -> None:
        self.outcome.checks += 1
        # linux/tcp.h: struct tcp_info.
        info = self.tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        (rto,) = struct.unpack_from("I", info, 8)
        ssthresh, cwnd = struct.unpack_from("II", info, 76)
        # The RTO is in whole jiffies; the samples are those of a clock.
        quantities = {"cwnd_segments": (cwnd, 0), "ssthresh_segments": (ssthresh, 0), "rto": (rto / 1e6, JIFFY_S)}
        if name not in quantities:
            raise ScriptError(f"{name}: expected one of {', '.join(quantities)}")
        found, tolerance = quantities[name]
        self.note(f"{name} {found}")
        low, _, high = value.partition("..")
        if not float(low) - tolerance <= round(found, 9) <= float(high or low) + tolerance:
            self.differs(number, f"expected {name} {value}, found {found}")

    def nothing_unexpected(self, number: int) -> None:
        while self.sent:
            segment = self.sent.popleft()
            self.differs(number, f"before this, unexpected at {segment.at:.3f}: {segment.words()}")


def _first_jiffy_of_a_step() -> float:
    """The next time at which all timer wheels of up to 131 s begin a step, as at time 0 of a script."""
    before, jiffies = -1.0, 0
    while True:
        coarse = time.clock_gettime(CLOCK_MONOTONIC_COARSE)
        if coarse == before:
            return coarse + (STEP_JIFFIES - jiffies % STEP_JIFFIES) * JIFFY_S
        before = coarse
        jiffies = int(Path("/proc/timer_list").read_text(encoding="ascii").partition("\njiffies: ")[2].split()[0])


def _timestamp(options: bytes) -> int:
    """The value of the timestamps option, or 0."""
    while len(options) > 1 and options[0] != 0:
        if options[0] == 8:
            return int(struct.unpack_from(">I", options, 2)[0])
        options = options[1 if options[0] == 1 else options[1] :]
    return 0


def _checksum(data: bytes) -> int:
    """RFC 1071."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
