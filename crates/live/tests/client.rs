//! `netlulld client` between hosts with Linux TCP.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

#[path = "support/process.rs"]
mod process;
mod support;

use nix::sys::signal::Signal;
use process::{KILL, NET_ADMIN, NET_RAW, children, field, guard, is_confined, stop_if};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path as FilePath, PathBuf};
use std::process::{Child, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::again::{self, check, in_one_of_five, wait_for, wait_until};
use support::{DEVICE, Download, Network, Path, SERVER, can_run, curl, parse};

const RUN: [&str; 9] = ["client", "run", "--dev", DEVICE, "--air-rate", "20 Mb/s", "--wake", "2 ms", "--drop-asleep"];

/// A download by curl, run by a daemon: its size and time, and the daemon's report.
fn shaped(
    network: &Network,
    options: &[&str],
    server: &str,
    bytes: u64,
    congestion_control: &str,
) -> (u64, f64, Value) {
    let file = std::env::temp_dir().join(format!("{}.json", network.client()));
    let report = file.to_str().unwrap();
    let mut command = network.netlulld(&RUN);
    command.args(options).args(["--report", report, "--", "curl"]).args(curl(server, bytes, congestion_control));
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if std::env::var_os("NETLULL_SHOW").is_some() {
        eprintln!("{congestion_control}: {}{errors}", String::from_utf8_lossy(&output.stdout));
    }
    assert!(output.status.success(), "{errors}");
    let (size, seconds) = parse(&output);
    let report = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::remove_file(file).unwrap();
    (size, seconds, report)
}

/// The lock for one network at a time: two paths on few processors would delay each other.
static ALONE: Mutex<()> = Mutex::new(());

fn network() -> Option<(MutexGuard<'static, ()>, Network)> {
    if !can_run() {
        return None;
    }
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((alone, Network::new(Path::WIRELESS)))
}

/// A daemon process, ended when dropped.
struct Daemon(Child);

impl Daemon {
    fn start(network: &Network) -> Self {
        Self::start_with(network, &[])
    }

    fn start_with(network: &Network, options: &[&str]) -> Self {
        let mut command = network.netlulld(&RUN);
        let mut daemon = Self(command.args(options).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        wait_until("the chains are there", || {
            assert_eq!(daemon.0.try_wait().unwrap(), None, "the daemon has ended");
            network.chains() == 4
        });
        daemon
    }

    fn signal(&self, signal: Signal) {
        // `ip netns exec` becomes the program.
        process::signal(&[self.0.id()], signal);
    }

    /// Asks it to end, and waits for its end. Until then the next daemon is refused.
    fn end(&mut self) -> ExitStatus {
        self.signal(Signal::SIGTERM);
        self.0.wait().unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn senders_that_do_not_pace_are_slept_through() {
    let Some((_alone, network)) = network() else { return };
    for congestion_control in ["reno", "cubic"] {
        // A delayed machine misses packets.
        in_one_of_five(|| {
            let (size, seconds, report) = shaped(&network, &[], SERVER, 1_500_000, congestion_control);
            assert_eq!(size, 1_500_000, "{seconds} s");
            // The daemon also runs before and after the download.
            let download = &report["downloads"][0];
            let asleep = download["asleep_s"].as_f64().unwrap() / download["seconds"].as_f64().unwrap();
            let shapes = report["fallback"].is_null() && asleep > 0.3;
            check(report["missed_packets"] == 0 && shapes, (congestion_control, asleep, &report))
        });
    }
    assert_eq!(network.chains(), 0);
}

#[test]
fn downloads_are_compared_in_turn() {
    let Some((_alone, network)) = network() else { return };
    let url = format!("http://{SERVER}/1500000/reno");
    let gone = format!("http://{SERVER}:81/1500000/reno");
    in_one_of_five(|| {
        let mut command = network.netlulld(&["client", "compare", "--dev", DEVICE, "--air-rate", "20 Mb/s"]);
        let output = command.args(["--times", "1", &url, &gone]).output().unwrap();
        let table = String::from_utf8_lossy(&output.stdout);
        // A much delayed machine misses so many packets that curl gives up.
        let row = table.lines().find(|line| line.starts_with(&format!("{url} ")));
        let Some(row) = row else { return check(false, &output) };
        assert!(output.status.success(), "{table}{}", String::from_utf8_lossy(&output.stderr));
        assert!(table.contains(&format!("{gone}: no download")), "{table}");
        let row: Vec<_> = row.split_whitespace().collect();
        let [eager, shaped, energy, product] = [2, 3, 4, 5].map(|place| row[place].parse::<f64>().unwrap());
        assert_eq!(table.lines().last().unwrap().split_whitespace().collect::<Vec<_>>(), ["mean", row[5]]);
        assert!((product - energy * shaped / eager).abs() < 0.05, "{table}");
        // The shaper sleeps between bursts, and takes longer. A delayed machine misses packets.
        check(energy < 0.9 && shaped > eager, &table)
    });
    assert_eq!(network.chains(), 0);
}

#[test]
fn a_sender_that_paces_is_left_alone() {
    let Some((_alone, network)) = network() else { return };
    let bytes = 8_000_000;
    in_one_of_five(|| {
        let (_, plain) = network.download(bytes, "bbr");
        let (size, seconds, report) = shaped(&network, &[], SERVER, bytes, "bbr");
        assert_eq!(size, bytes);
        check(report["fallback"] == "paced", &report)?;
        // The shaper gives up after two bursts, which costs 0.25 s for any length; a shaped pacing sender takes several
        // times as long.
        check(seconds < 1.5 * plain, (seconds, "s, without the daemon", plain))
    });
}

#[test]
fn ipv6_and_no_timestamps() {
    let Some((_alone, network)) = network() else { return };
    in_one_of_five(|| {
        let (size, _, report) = shaped(&network, &[], "[fd09::2]", 600_000, "reno");
        assert_eq!(size, 600_000);
        check(report["bursts"].as_u64().unwrap() > 0, &report)
    });
    network.set("net.ipv4.tcp_timestamps", "0");
    let (size, _, report) = shaped(&network, &[], SERVER, 500_000, "reno");
    assert_eq!((size, report["fallback"].as_str()), (500_000, Some("no_timestamps")));
    assert_eq!((&report["closed_acks"], &report["missed_packets"]), (&0.into(), &0.into()));
}

#[test]
fn a_download_that_began_before_the_daemon_is_left_alone() {
    let Some((_alone, network)) = network() else { return };
    let download = Download::start(&network, "reno");
    download.brings(100_000);
    let file = std::env::temp_dir().join(format!("{}-unknown.json", network.client()));
    let options = ["--for", "1 s", "--report", file.to_str().unwrap()];
    assert!(network.netlulld(&RUN).args(options).status().unwrap().success());
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::remove_file(file).unwrap();
    assert!(report["unknown_packets"].as_u64().unwrap() > 0 && report["closed_acks"] == 0, "{report:#}");
    download.brings(1_000_000);
}

#[test]
fn a_daemon_that_is_killed_or_hangs_leaves_nothing_and_stops_nothing() {
    let Some((_alone, network)) = network() else { return };
    for signal in [Signal::SIGKILL, Signal::SIGSTOP] {
        let mut daemon = Daemon::start(&network);
        let download = Download::start(&network, "reno");
        download.brings(500_000);
        daemon.signal(signal);
        wait_until("the chains are gone", || network.chains() == 0);
        download.brings(1_000_000);
        if signal == Signal::SIGSTOP {
            // It continues, and shapes again.
            daemon.signal(Signal::SIGCONT);
            wait_until("the chains are back", || network.chains() == 4);
            daemon.end();
            assert_eq!(network.chains(), 0);
        }
        wait_until("its guard has ended", || pids(&network).is_empty());
    }
}

#[test]
fn one_daemon_at_a_time_and_leftovers_are_removed() {
    let Some((_alone, network)) = network() else { return };
    let mut daemon = Daemon::start(&network);
    let second = network.netlulld(&RUN).output().unwrap();
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && message.contains("is controlled by the instance with pid"), "{message}");
    // The guard of a daemon that starts slowly removes its chains for a moment.
    wait_until("the second has touched nothing", || network.chains() == 4);
    wait_until("the status says so", || {
        let status = network.netlulld(&["client", "status", "--dev", DEVICE]).output().unwrap();
        String::from_utf8_lossy(&status.stdout).contains("chains are installed")
    });
    daemon.end();
    assert_eq!(network.chains(), 0);
    // The state after a crash of the machine's services: chains without a listener.
    for program in ["iptables", "ip6tables"] {
        let rules = "*mangle\n:NETLULL-I-air0 - [0:0]\n-A NETLULL-I-air0 -j DROP\n-A INPUT -i air0 -p tcp -j NETLULL-I-air0\n\
                     -A INPUT -i air0 -p tcp -j NETLULL-I-air0\nCOMMIT\n";
        let mut restore = network.command(&format!("{program}-restore"));
        let mut child = restore.arg("--noflush").stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(rules.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(network.chains(), 2);
    let (size, _, _) = shaped(&network, &[], SERVER, 100_000, "reno");
    assert_eq!((size, network.chains()), (100_000, 0));
    for _ in 0..2 {
        assert!(network.netlulld(&["client", "restore", "--dev", DEVICE]).status().unwrap().success());
    }
}

#[test]
fn it_ends_with_its_device_and_with_its_command() {
    let Some((_alone, network)) = network() else { return };
    let status = network.netlulld(&RUN).args(["--", "sh", "-c", "exit 7"]).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(7));
    let mut daemon = Daemon::start(&network);
    let gone = network.command("ip").args(["link", "del", DEVICE]).status().unwrap();
    assert!(gone.success());
    assert!(wait_for("the daemon has ended", || daemon.0.try_wait().unwrap()).success());
    assert_eq!(network.chains(), 0);
}

#[test]
fn a_terminal_that_goes_takes_nothing_along() {
    let Some((_alone, network)) = network() else { return };
    let status =
        network.netlulld(&RUN).args(["--", "grep", "-q", "^SigBlk:\\s0*$", "/proc/self/status"]).status().unwrap();
    assert!(status.success(), "the command has inherited blocked signals");
    for signal in [Signal::SIGHUP, Signal::SIGKILL] {
        // Standard error whose reader is gone.
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = network.netlulld(&RUN);
        let mut daemon = Daemon(command.stdout(Stdio::null()).stderr(writer).spawn().unwrap());
        drop((command, reader));
        wait_until("the chains are there", || network.chains() == 4);
        daemon.signal(signal);
        wait_until("the chains are gone", || network.chains() == 0);
        assert_eq!(daemon.0.wait().unwrap().success(), signal == Signal::SIGHUP);
    }
}

#[test]
fn what_is_no_segment_passes() {
    let Some((_alone, network)) = network() else { return };
    let _daemon = Daemon::start(&network);
    // A segment with IP options, in two fragments, and a truncated one, sent by a raw socket of the client: nothing
    // stops.
    let script = "import socket,struct\n\
        s=socket.socket(socket.AF_INET,socket.SOCK_RAW,socket.IPPROTO_RAW)\n\
        a=socket.inet_aton\n\
        def ip(body,flags=0,options=b''):\n\
        \x20h=struct.pack('!BBHHHBBH4s4s',0x45+len(options)//4,0,20+len(options)+len(body),7,flags,64,6,0,a('10.9.0.1'),a('10.9.0.2'))\n\
        \x20s.sendto(h+options+body,('10.9.0.2',0))\n\
        t=struct.pack('!HHIIBBHHH',999,80,1,1,0x50,0x10,100,0,0)\n\
        ip(t,options=b'\\x01\\x01\\x01\\x00')\n\
        ip(t+bytes(4),0x2000); ip(bytes(8),3)\n\
        ip(t[:12]); ip(struct.pack('!HHIIBBHHH',999,80,1,1,0xf0,0x10,100,0,0))\n";
    assert!(network.command("python3").args(["-c", script]).status().unwrap().success());
    assert_eq!(network.download(200_000, "reno").0, 200_000);
}

/// The files of a network's daemons.
fn files(network: &Network) -> Vec<PathBuf> {
    let namespace = FilePath::new("/run/netns").join(network.client()).metadata().unwrap().ino().to_string();
    let files = std::fs::read_dir("/run/netlull").into_iter().flatten().flatten().map(|file| file.path());
    files.filter(|path| path.to_string_lossy().contains(&namespace)).collect()
}

/// `netlulld client` as nobody, in the client's namespace, with other variables of the environment.
fn as_nobody(network: &Network, words: &[&str]) -> Output {
    let mut command = network.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_netlulld"), "client"]);
    command.args(words).args(["--dev", DEVICE]).output().unwrap()
}

#[test]
fn other_users_neither_keep_it_from_starting_nor_read_its_state() {
    let Some((_alone, network)) = network() else { return };
    let daemon = Daemon::start(&network);
    wait_until("the state is written", || files(&network).len() == 2);
    assert_eq!(network.download(200_000, "reno").0, 200_000);
    let state = files(&network).into_iter().find(|path| path.extension().is_some_and(|kind| kind == "state")).unwrap();
    let modified = || state.metadata().unwrap().modified().unwrap();
    let before = modified();
    let written = wait_for("the state counts the download", || {
        let text = std::fs::read_to_string(&state).unwrap();
        let counts: Value = serde_json::from_str(&text).ok()?;
        (modified() != before && counts["received_packets"].as_u64()? > 0).then_some(text)
    });
    assert!(!written.contains(SERVER), "the state lists no peer: {written}");
    for file in files(&network) {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
    assert_eq!(FilePath::new("/run/netlull").metadata().unwrap().mode() & 0o777, 0o700);
    // As nobody, every lock that can be opened is held.
    let taker = "import fcntl, glob, time\n\
                 for path in glob.glob('/run/netlull/*') + ['/run/netlull']:\n\
                 \x20try: file = open(path); fcntl.flock(file, fcntl.LOCK_EX); print('held', path)\n\
                 \x20except OSError: pass\n\
                 print('done')\n";
    let mut other = network.command("setpriv");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "env", "PATH=/usr/bin:/bin"]);
    let other = other.args(["python3", "-c", taker]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&other.stdout), "done\n", "{other:?}");
    for task in ["status", "restore"] {
        let done = as_nobody(&network, &[task]);
        assert_eq!(done.status.code(), Some(1), "{task}");
        assert!(String::from_utf8_lossy(&done.stderr).contains("/run/netlull"), "{done:?}");
    }
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let daemon = if signal == Signal::SIGTERM { &daemon } else { &Daemon::start(&network) };
        daemon.signal(signal);
        wait_until("all files are gone", || files(&network).is_empty());
        wait_until("the chains are gone", || network.chains() == 0);
    }
}

#[test]
fn status_and_restore_say_what_they_cannot_know() {
    let Some((_alone, network)) = network() else { return };
    let _ = std::fs::remove_dir("/run/netlull");
    for task in ["status", "restore"] {
        let done = as_nobody(&network, &[task]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{task}: {done:?}");
        assert!(said.contains("ermission") || said.contains("/run/netlull"), "{said}");
        let mut command = network.command("env");
        command.args(["PATH=/none", env!("CARGO_BIN_EXE_netlulld"), "client", task, "--dev", DEVICE]);
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{task}");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("iptables: not found; expected the package iptables"), "{said}");
    }
    assert_eq!(network.netlulld(&["client", "status", "--dev", DEVICE]).status().unwrap().code(), Some(3));
}

#[test]
fn the_daemon_and_its_guard_keep_the_capabilities_of_iptables() {
    let Some((_alone, network)) = network() else { return };
    let mut daemon = Daemon::start(&network);
    let pid = daemon.0.id();
    wait_until("the daemon is confined", || is_confined(pid, &[NET_ADMIN, NET_RAW]));
    let first = wait_for("there is a guard", || guard(pid));
    wait_until("the guard is confined", || is_confined(first, &[NET_ADMIN, NET_RAW]));
    // A confined daemon starts a guard, which is confined, too, and removes the chains.
    process::signal(&[first], Signal::SIGKILL);
    let second = wait_for("there is another guard", || guard(pid).filter(|second| *second != first));
    wait_until("the new guard is confined", || is_confined(second, &[NET_ADMIN, NET_RAW]));
    // An iptables of the daemon would install the chains that the guard removes.
    wait_until("the daemon hangs without an iptables", || {
        stop_if(&[pid], || children(pid) == [second] && network.chains() == 4)
    });
    wait_until("the chains are gone", || network.chains() == 0);
    daemon.signal(Signal::SIGCONT);
    wait_until("the chains are back", || network.chains() == 4);
    daemon.end();
    assert_eq!(network.chains(), 0);
    // The command keeps its rights, and ends with the daemon even as another user.
    let words = ["--", "setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", "echo; exec sleep 600"];
    let mut command = network.netlulld(&RUN);
    let mut daemon = Daemon(command.args(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    daemon.0.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    wait_until("the daemon is confined", || is_confined(daemon.0.id(), &[KILL, NET_ADMIN, NET_RAW]));
    let sleep = wait_for("the shell has become sleep", || {
        pids(&network).into_iter().find(|pid| field(*pid, "Name").as_deref() == Some("sleep"))
    });
    assert_eq!(
        ["NoNewPrivs", "Seccomp"].map(|name| field(sleep, name)),
        ["0", "0"].map(|value| Some(value.to_owned()))
    );
    daemon.signal(Signal::SIGTERM);
    wait_until("the command has ended", || !FilePath::new(&format!("/proc/{sleep}")).exists());
}

/// The processes in the client's namespace.
fn pids(network: &Network) -> Vec<u32> {
    let output = std::process::Command::new("ip").args(["netns", "pids", network.client()]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn packets_that_a_full_queue_has_no_room_for_pass_by() {
    let Some((_alone, network)) = network() else { return };
    // At most two packets wait: most of a burst bypasses and overtakes the waiting ones.
    let (size, _, report) = shaped(&network, &["--queue", "2"], SERVER, 1_000_000, "cubic");
    assert_eq!(size, 1_000_000, "{report:#}");
    // Nobody reads the queue, which a single packet fills in each direction. The guard, which would remove the chains,
    // hangs as well.
    let mut daemon = Daemon::start_with(&network, &["--queue", "1"]);
    let download = Download::start(&network, "cubic");
    download.brings(100_000);
    let guard = wait_for("there is a guard", || guard(daemon.0.id()));
    let daemons = [guard, daemon.0.id()];
    wait_until("both hang", || stop_if(&daemons, || network.chains() == 4));
    download.brings(3_000_000);
    drop(download);
    // A full queue does not affect a download: all of its packets bypass the queue.
    let (size, seconds) = network.download(1_500_000, "cubic");
    assert_eq!((size, network.chains()), (1_500_000, 4));
    println!("1.5 MB past a full queue in {seconds} s");
    process::signal(&daemons, Signal::SIGCONT);
    daemon.end();
    assert_eq!(network.chains(), 0);
}

#[test]
fn power_saving_mode_with_its_access_point_sleeps_completes_and_replays() {
    let Some((_alone, network)) = network() else { return };
    for mechanism in ["psm", "bsd"] {
        let tape = std::env::temp_dir().join(format!("{}-{mechanism}.tape", network.client()));
        let options = ["--mechanism", mechanism, "--record", tape.to_str().unwrap()];
        in_one_of_five(|| {
            let (size, seconds, report) = shaped(&network, &options, SERVER, 600_000, "reno");
            let download = &report["downloads"][0];
            let number = |value: &Value| value.as_f64().unwrap();
            assert_eq!((size, &report["mechanism"]), (600_000, &mechanism.into()));
            let asleep = number(&download["asleep_s"]) / number(&download["seconds"]);
            let product = number(&download["energy_delay_js"]["wavelan-dsss"]);
            println!("{mechanism}: {seconds} s, asleep for {asleep:.2} of it, {product:.3} J s, {report:#}");
            for file in [tape.clone(), tape.with_extension("tape.access-point")] {
                let replayed = network.netlulld(&["replay", file.to_str().unwrap()]).output().unwrap();
                assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
                std::fs::remove_file(file).unwrap();
            }
            check(product > 0.0 && report["missed_packets"] == 0 && report["refused_packets"] == 0, &report)?;
            // A round of at most 80 kB takes 32 ms of air time, every 100 ms. Bounded slowdown stays awake while
            // requests follow each other.
            let (held, polls) = (report["held_packets"].as_u64(), report["polls"].as_u64());
            check(mechanism == "bsd" || (asleep > 0.3 && held > Some(20) && polls > Some(2)), &report)
        });
    }
    assert_eq!(network.chains(), 0);
}

/// Measures packets per second through the shaper and past it, between namespaces without a path. `NETLULLD` names
/// another program to measure. `cargo test --test client -- --ignored --nocapture packets_a_second`.
#[test]
#[ignore = "measures for a minute"]
fn packets_a_second() {
    if !can_run() {
        return;
    }
    let program = std::env::var("NETLULLD").unwrap_or_else(|_| env!("CARGO_BIN_EXE_netlulld").to_owned());
    let link = support::Link::new();
    let bytes = 1_000_000_000_u64;
    for mechanism in [None, Some("always-on"), Some("client-shaper"), None, Some("always-on"), Some("client-shaper")] {
        let file = std::env::temp_dir().join(format!("{}-speed.json", link.client()));
        let mut command = link.command(if mechanism.is_some() { &program } else { "curl" });
        if let Some(mechanism) = mechanism {
            let report = file.to_str().unwrap();
            command.args([
                "client",
                "run",
                "--dev",
                "veth0",
                "--air-rate",
                "10 Gb/s",
                "--wake",
                "1 ms",
                "--margin",
                "0 ms",
            ]);
            command.args(["--mechanism", mechanism, "--report", report, "--", "curl"]);
        }
        let output = command.args(curl(SERVER, bytes, "cubic")).output().unwrap();
        let (size, seconds) = parse(&output);
        assert_eq!(size, bytes, "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = std::fs::read(&file).map_or(Value::Null, |text| serde_json::from_slice(&text).unwrap());
        let _ = std::fs::remove_file(file);
        // 1448 B of data in each packet.
        println!(
            "{}: {:.1} kpkt/s in {seconds:.1} s; {} packets received, {} missed, asleep {:.2} s, {} bursts, {} {}",
            mechanism.unwrap_or("no daemon"),
            size as f64 / 1448.0 / seconds / 1000.0,
            report["received_packets"],
            report["missed_packets"],
            report["asleep_s"].as_f64().unwrap_or(0.0),
            report["bursts"],
            report["state"],
            report["fallback"],
        );
    }
}

/// Measures the figures of docs/how-to/client.md and docs/models/client-shaper.md. `cargo test --test client --
/// --ignored --nocapture figures`.
#[test]
#[ignore = "measures for a minute"]
fn figures() {
    if !can_run() {
        return;
    }
    let bytes = 5_000_000;
    for congestion_control in ["reno", "cubic", "bbr"] {
        for mechanism in ["eager", "client-shaper"] {
            for _ in 0..if mechanism == "eager" { 1 } else { 4 } {
                // A new network for each download, so that route metrics and slow-start thresholds do not carry over.
                let network = Network::new(Path::WIRELESS);
                let (_, seconds, report) =
                    shaped(&network, &["--mechanism", mechanism], SERVER, bytes, congestion_control);
                let download = &report["downloads"][0];
                println!(
                    "{congestion_control} {mechanism}: {seconds:.3} s, {:.3} J, {:.3} J s, missed {}, asleep {:.3} s, rtt {}, {} {}",
                    download["energy_j"]["wavelan-dsss"].as_f64().unwrap(),
                    download["energy_delay_js"]["wavelan-dsss"].as_f64().unwrap(),
                    report["missed_packets"],
                    download["asleep_s"].as_f64().unwrap(),
                    report["round_trip_s"],
                    report["state"],
                    report["fallback"],
                );
            }
        }
    }
}
