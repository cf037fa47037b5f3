//! A running process, as the kernel reports it.
#![allow(dead_code, clippy::unwrap_used)] // Each test uses a part of it.

use super::again::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A field of `/proc/PID/status`; `None` if the process has ended.
pub fn field(pid: u32, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

/// The numbers of capabilities in capabilities(7).
pub const KILL: u32 = 5;
pub const NET_ADMIN: u32 = 12;
pub const NET_RAW: u32 = 13;

/// Returns true if a process is confined: capabilities in all of its sets, no new privileges, a filter of system calls.
pub fn is_confined(pid: u32, capabilities: &[u32]) -> bool {
    let own: u64 = capabilities.iter().map(|number| 1 << number).sum();
    let set = |name: &str| field(pid, name).map(|value| u64::from_str_radix(&value, 16).unwrap());
    let sets = ["CapEff", "CapPrm", "CapBnd"].map(set) == [Some(own); 3];
    sets && ["NoNewPrivs", "Seccomp"].map(|name| field(pid, name)) == ["1", "2"].map(|value| Some(value.to_owned()))
}

/// The pids of a process's children.
pub fn children(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// The pid of a daemon's guard; `None` if it has none that runs. A daemon may have other children.
pub fn guard(pid: u32) -> Option<u32> {
    let is_guard = |child: &u32| {
        let words = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"watch")
    };
    children(pid).into_iter().find(is_guard)
}

/// Sends a signal to processes.
pub fn signal(pids: &[u32], signal: Signal) {
    pids.iter().for_each(|pid| kill(Pid::from_raw(pid.cast_signed()), signal).unwrap());
}

/// Returns true if processes are stopped.
fn are_stopped(pids: &[u32]) -> bool {
    pids.iter().all(|pid| field(*pid, "State").is_some_and(|state| state.starts_with('T')))
}

/// Stops processes if a condition holds when they are stopped; otherwise they continue.
pub fn stop_if(pids: &[u32], holds: impl FnOnce() -> bool) -> bool {
    signal(pids, Signal::SIGSTOP);
    wait_until("they stop", || are_stopped(pids));
    let holds = holds();
    if !holds {
        signal(pids, Signal::SIGCONT);
    }
    holds
}
