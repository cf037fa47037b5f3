"""The two ends of a download, run inside network namespaces: `hosts.py serve ALGORITHM` and `hosts.py fetch ...`.

The server answers a request line `BYTES` with so many bytes, under the congestion control ALGORITHM.
`fetch ADDRESS BYTES WINDOW TIMEOUT` downloads with a receive window of at most WINDOW bytes (0: the kernel's own
windows). It prints a JSON object: the received bytes, the seconds from the call of connect to the end of the stream,
and the waits of its parent process for a processor.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path

PORT = 80
TCP_WINDOW_CLAMP, SO_SNDBUFFORCE = 10, 32
"""Options of linux/tcp.h and asm-generic/socket.h that Python does not name."""
CHUNK = 1 << 16


def serve(algorithm: str) -> None:
    """Serves one download after the other, until it is ended. Prints a line when it listens."""
    with socket.create_server(("", PORT)) as listener:
        # The accepted sockets begin with the listener's algorithm.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        print("listens", flush=True)
        while True:
            stream, _ = listener.accept()
            with stream:
                if used(stream) != algorithm:
                    raise SystemExit(f"the sender is {used(stream)}; expected {algorithm}")
                size = int(stream.makefile("rb").readline())
                # The kernel takes the whole file, so a late server delays nothing.
                stream.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 * size)
                stream.sendall(bytes(size))
                stream.shutdown(socket.SHUT_WR)
                stream.recv(1)


def used(stream: socket.socket) -> str:
    """The congestion control of a socket."""
    return stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()


def fetch(address: str, size: int, window: int, timeout_s: float) -> dict[str, float]:
    """Downloads `size` bytes."""
    waits = _waits()
    begun = time.monotonic()
    received = 0
    with socket.socket() as stream:
        stream.settimeout(timeout_s)
        if window:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
            stream.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, window)
        try:
            stream.connect((address, PORT))
            stream.sendall(f"{size}\n".encode())
            while chunk := stream.recv(CHUNK):
                received += len(chunk)
                if window:
                    # The kernel widens the window when it knows how packets fill its memory.
                    stream.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, window)
        except OSError as error:
            print(f"after {received} bytes: {error}", file=sys.stderr)
    waited, turns = (after - before for before, after in zip(waits, _waits(), strict=True))
    return {"received": received, "seconds": time.monotonic() - begun, "waited_s": waited, "turns": turns}


def _waits() -> tuple[float, float]:
    """The time for which the parent process was ready and had no processor, and the number of its turns."""
    found = Path(f"/proc/{os.getppid()}/schedstat").read_text(encoding="ascii").split()
    return int(found[1]) / 1e9, int(found[2])


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        print(json.dumps(fetch(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))))
