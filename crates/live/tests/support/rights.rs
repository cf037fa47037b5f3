//! The rights of a running process, as the kernel reports them.
#![allow(dead_code, clippy::unwrap_used)] // Each test uses a part of it.

/// A field of `/proc/PID/status`.
pub fn field(pid: u32, name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.unwrap().trim().to_owned()
}

/// The numbers of capabilities in capabilities(7).
pub const KILL: u32 = 5;
pub const NET_ADMIN: u32 = 12;
pub const NET_RAW: u32 = 13;

/// Returns true if a process is confined: capabilities in all of its sets, no new privileges, a filter of system calls.
pub fn is_confined(pid: u32, capabilities: &[u32]) -> bool {
    let own: u64 = capabilities.iter().map(|number| 1 << number).sum();
    let set = |name: &str| u64::from_str_radix(&field(pid, name), 16).unwrap();
    let sets = ["CapEff", "CapPrm", "CapBnd"].map(set) == [own; 3];
    sets && field(pid, "NoNewPrivs") == "1" && field(pid, "Seccomp") == "2"
}

/// The pid of a process's only child.
pub fn child(pid: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.trim().parse().ok()
}
