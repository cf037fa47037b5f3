"""Checks licences, advisories and yanked versions of all dependencies, with the tools of each ecosystem.

    tools/audit.py

needs cargo-deny, uv and npm. A check whose database cannot be reached is named with the reason. The exit code is 1 if a
check finds something. `make audit` installs cargo-deny and calls it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = Path(__file__).with_name("dev.lock")
DENY = Path(__file__).resolve().with_name("deny.toml")
UV = Path(sys.executable).parent / "uv"

PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|MPL|Mozilla Public License 2|PSF|Python Software Foundation|Unlicense|Public Domain|CC0|Zlib",
    re.IGNORECASE,
)
"""Licences of packages that users may install next to netlull. MPL covers only its own files."""


@dataclass(frozen=True)
class Found:
    """The result of a check: its problems, or the reason why it could not be made."""

    problems: tuple[str, ...] = ()
    reason: str = ""


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """The completed command, in the root folder."""
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603


def last_line(text: str) -> str:
    """The last line that is not empty."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


def cargo_deny(*checks: str) -> Found:
    """Licences, sources and bans of Rust packages, or their advisories and yanked versions."""
    done = run("cargo", "deny", "--format", "json", "check", "--config", DENY, *checks)
    records = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    errors = [
        record["fields"]
        for record in records
        if record["fields"].get("severity", record["fields"].get("level")) in {"error", "ERROR"}
    ]
    unreachable = [
        error["message"] for error in errors if "fetch" in error["message"] or "failed to load" in error["message"]
    ]
    if unreachable:
        return Found(reason=unreachable[0].splitlines()[0])
    if done.returncode and not errors:
        return Found(reason=last_line(done.stderr))
    return Found(tuple(str(error["message"]) for error in errors))


def pip_audit() -> Found:
    """Advisories about Python packages, by PyPI's database."""
    tool = (UV, "tool", "run", "--quiet", "pip-audit")
    done = run(
        *tool,
        "--requirement",
        LOCK,
        "--require-hashes",
        "--disable-pip",
        "--format",
        "json",
        "--progress-spinner",
        "off",
    )
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return Found(reason=last_line(done.stderr))
    skipped = [package["skip_reason"] for package in packages if "skip_reason" in package]
    if len(skipped) == len(packages):
        return Found(reason=f"the database knows none of {len(packages)} packages; the first: {skipped[0]}")
    found = [
        f"{package['name']} {package['version']}: {vuln['id']}"
        for package in packages
        for vuln in package.get("vulns", ())
    ]
    return Found(tuple(found))


def python_licences() -> Found:
    """Licences of the installed Python packages."""
    tool = (UV, "tool", "run", "--quiet", "pip-licenses", "--python", sys.executable)
    done = run(*tool, "--from", "mixed", "--format", "json")
    try:
        packages: list[dict[str, str]] = json.loads(done.stdout)
    except ValueError:
        return Found(reason=last_line(done.stderr))
    others = (
        f"{package['Name']}: {package['License'][:60]!r}"
        for package in packages
        if not PERMISSIVE.search(package["License"])
    )
    return Found(tuple(others))


def python_yanked() -> Found:
    """Yanked versions of Python packages, by a dry installation of the lock file."""
    done = run(
        UV, "pip", "install", "--dry-run", "--reinstall", "--require-hashes", "--python", sys.executable, "-r", LOCK
    )
    if done.returncode:
        return Found(reason=last_line(done.stderr))
    return Found(tuple(line for line in done.stderr.splitlines() if "yanked" in line))


def npm_audit() -> Found:
    """Advisories about the chart library of report pages."""
    done = run("npm", "audit", "--prefix", "web", "--json")
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return Found(reason=last_line(done.stderr))
    if "vulnerabilities" not in report:
        return Found(reason=str(report.get("message") or report.get("error") or last_line(done.stderr)))
    return Found(tuple(f"{name}: {entry['severity']}" for name, entry in report["vulnerabilities"].items()))


CHECKS: dict[str, Callable[[], Found]] = {
    "Rust: licences, sources, wildcard versions": lambda: cargo_deny("licenses", "bans", "sources"),
    "Rust: advisories and yanked versions": lambda: cargo_deny("advisories"),
    "Python: licences": python_licences,
    "Python: advisories": pip_audit,
    "Python: yanked versions": python_yanked,
    "npm: advisories": npm_audit,
}


def lines() -> Iterator[tuple[str, bool]]:
    """A line for each check, and True if it found something."""
    for name, check in CHECKS.items():
        found = check()
        verdict = f"not checked: {found.reason}" if found.reason else "; ".join(found.problems) or "nothing found"
        yield f"{name}: {verdict}", bool(found.problems)


def main() -> int:
    """Makes all checks."""
    wrong = False
    for line, is_problem in lines():
        print(line, flush=True)
        wrong |= is_problem
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
