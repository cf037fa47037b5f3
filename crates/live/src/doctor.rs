//! Checks of the machine: each required feature is tried, and nothing is left behind.

use crate::error::{LiveError, Result, tell};
use crate::namespace::{Namespace, Rights};
use crate::system::{Awake, open_tun, run_in_real_time};
use serde::Serialize;
use std::process::{Command, ExitCode};

/// The arguments of `netlulld doctor`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// The result of a check.
#[derive(Debug, Serialize)]
pub struct Check {
    /// The name of the feature.
    pub name: &'static str,
    /// True if the feature is available.
    pub ok: bool,
    /// The commands that need the feature.
    pub needed_for: &'static [&'static str],
    /// The commands that work without the feature, but less exactly.
    pub optional_for: &'static [&'static str],
    /// The details found, or the missing part and how to get it.
    pub message: String,
}

#[derive(Serialize)]
struct Report {
    checks: Vec<Check>,
}

const EMULATE: &str = "emulate";
const CLIENT: &str = "client";
const ROUTER: &str = "router";

/// The real-time priority of the trials.
const PRIORITY: i32 = 1;

/// Runs all checks. A process without root's rights enters a user namespace, so it must not have started a thread yet.
#[must_use]
pub fn checks() -> Vec<Check> {
    let check = |name, needed_for, optional_for, result: Result<String>| match result {
        Ok(message) => Check { name, ok: true, needed_for, optional_for, message },
        Err(error) => Check { name, ok: false, needed_for, optional_for, message: error.to_string() },
    };
    // A user namespace cannot show what root could do.
    let given = Rights::given();
    let as_root = |tried: fn() -> Result<String>| given.map_or_else(|| Err(LiveError::new(NOT_ROOT)), |_| tried());
    let rights = Rights::take(PRIORITY);
    let may = rights.as_ref().map(|rights| match rights {
        Rights::System => "can be created".to_owned(),
        Rights::UserNamespace => "can be created without root, in a user namespace".to_owned(),
    });
    let made = |made: Result<()>| match (&may, made) {
        (Ok(message), Ok(())) => Ok(message.clone()),
        (Err(error), _) => Err(LiveError::new(error.to_string())),
        (_, Err(error)) => Err(error),
    };
    vec![
        check("root", &[CLIENT, ROUTER], &[], as_root(|| Ok("the process is root".to_owned()))),
        check("network namespaces", &[EMULATE], &[], made(Namespace::make(|| Ok(())).map(drop))),
        check("TUN devices", &[EMULATE], &[], made(Namespace::make(|| open_tun("probe").map(drop)).map(drop))),
        check("real-time priority", &[], &[EMULATE, ROUTER], real_time()),
        check("congestion controls", &[EMULATE], &[], congestion_controls()),
        check("iptables", &[CLIENT], &[], program("iptables", "iptables")),
        check("NFQUEUE", &[CLIENT], &[], as_root(nfqueue)),
        check("token-bucket filter", &[ROUTER], &[], as_root(token_bucket)),
        check("eBPF", &[ROUTER], &[], bpf()),
    ]
}

/// Reports the features of this machine.
///
/// # Errors
/// If the report cannot be written.
pub fn command(arguments: &Arguments) -> Result<ExitCode> {
    let checks = checks();
    if arguments.json {
        let report =
            serde_json::to_string_pretty(&Report { checks }).map_err(|error| LiveError::system("doctor", error))?;
        tell(report)?;
        return Ok(ExitCode::SUCCESS);
    }
    for Check { name, ok, needed_for, optional_for, message } in &checks {
        let sign = if *ok { "yes" } else { "NO " };
        let uses = [("needed for", needed_for), ("optional for", optional_for)];
        let uses = uses.iter().filter(|(_, commands)| !commands.is_empty());
        let uses: Vec<String> = uses.map(|(how, commands)| format!("{how} {}", commands.join(", "))).collect();
        tell(format_args!("{sign}  {name}: {message} ({})", uses.join("; ")))?;
    }
    Ok(ExitCode::SUCCESS)
}

const NOT_ROOT: &str =
    "the process is not root; expected root, or the capabilities NET_ADMIN, SYS_ADMIN, NET_RAW, BPF and SYS_NICE";

fn real_time() -> Result<String> {
    // A separate thread takes its priority with it when it ends.
    let tried = std::thread::spawn(|| run_in_real_time(PRIORITY)).join();
    tried.unwrap_or_else(|_| Err(LiveError::new("the test thread has failed"))).map_err(|error| {
        LiveError::new(format!(
            "{error}; expected root, CAP_SYS_NICE or an rtprio limit (limits.conf). Without it other work delays \
             emulated packets, and a run that is too late is refused"
        ))
    })?;
    Ok(match Awake::keep() {
        Ok(_) => "SCHED_FIFO is granted, and processors can be kept awake".to_owned(),
        Err(error) => {
            format!("SCHED_FIFO is granted; processors cannot be kept awake, which delays emulated packets ({error})")
        }
    })
}

fn congestion_controls() -> Result<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = std::fs::read_to_string(path).map_err(|error| LiveError::system(path, error))?;
    Ok(names.trim().replace(' ', ", "))
}

fn program(name: &str, package: &str) -> Result<String> {
    let output = Command::new(name).arg("--version").output();
    let missing = |why: String| LiveError::new(format!("{why} (Debian: apt-get install {package})"));
    let output = output.map_err(|error| missing(format!("{name}: {error}")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(missing(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

/// Runs a program in a new namespace.
fn inside(program: &'static str, arguments: &'static [&'static str]) -> Result<()> {
    let run = move || {
        let output =
            Command::new(program).args(arguments).output().map_err(|error| LiveError::system(program, error))?;
        if output.status.success() {
            return Ok(());
        }
        Err(LiveError::new(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    };
    Namespace::make(run).map(|_| ())
}

fn nfqueue() -> Result<String> {
    inside("iptables", &["-w", "-A", "OUTPUT", "-p", "tcp", "-j", "NFQUEUE", "--queue-num", "7", "--queue-bypass"])?;
    Ok("works".to_owned())
}

fn token_bucket() -> Result<String> {
    inside("tc", &["qdisc", "add", "dev", "lo", "root", "tbf", "rate", "10mbit", "burst", "5kb", "limit", "100kb"])?;
    Ok("works".to_owned())
}

fn bpf() -> Result<String> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let number = |text: Option<&str>| text.and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    let mut parts = kernel.trim().split(['.', '-']);
    let version = (number(parts.next()), number(parts.next()));
    let message = format!("Linux {}", kernel.trim());
    // tcx needs Linux 6.6: BPF programs at a device's ingress that are detached when their loader ends.
    if version >= (6, 6) { Ok(message) } else { Err(LiveError::new(format!("{message}; expected 6.6 or later"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_says_what_it_found_and_who_needs_it() {
        for check in checks() {
            let uses = check.needed_for.len() + check.optional_for.len();
            assert!(!check.message.is_empty() && uses > 0, "{check:?}");
        }
    }
}
