//! Two hosts in network namespaces, and this process as the path between them: a rate, a buffer, a delay.
#![allow(dead_code)] // Each test uses a part of it.
#![allow(clippy::unwrap_used)] // All of it is test code.

pub mod again;

use netlull_live::system::{ETHTOOL_SGRO, ETHTOOL_SGSO, ETHTOOL_STSO, open_tun, run_in_real_time, switch_off};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{setsockopt, sockopt};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// The client's device, its address and the server's.
pub const DEVICE: &str = "air0";
pub const SERVER: &str = "10.9.0.2";
pub const SERVER_V6: &str = "fd09::2";

/// A path with the same rate in both directions.
#[derive(Clone, Copy)]
pub struct Path {
    pub bits_per_second: u64,
    pub one_way: Duration,
    pub buffer: usize,
}

impl Path {
    /// 20 Mb/s, 60 ms, a buffer that never overflows.
    pub const WIRELESS: Self =
        Self { bits_per_second: 20_000_000, one_way: Duration::from_millis(30), buffer: 4_000_000 };
}

/// Returns true if tests with real packets can run here; reports the calling test as skipped if not.
pub fn can_run() -> bool {
    static MISSING: OnceLock<Option<&'static str>> = OnceLock::new();
    let missing = *MISSING.get_or_init(missing);
    if let Some(missing) = missing {
        again::skip(format_args!("it needs {missing}"));
    }
    missing.is_none()
}

fn missing() -> Option<&'static str> {
    if !nix::unistd::geteuid().is_root() {
        Some("root")
    } else if File::open("/dev/net/tun").is_err() {
        Some("/dev/net/tun")
    } else if ["ip", "iptables", "ip6tables", "curl"].iter().any(|program| !is_there(program)) {
        Some("ip, iptables, ip6tables and curl")
    } else {
        queues_missing()
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

fn queues_missing() -> Option<&'static str> {
    let name = format!("nl-cl-{}-q", std::process::id());
    ip(&["netns", "add", &name]);
    let rule = [
        "netns",
        "exec",
        &name,
        "iptables",
        "-t",
        "mangle",
        "-A",
        "INPUT",
        "-p",
        "tcp",
        "-j",
        "NFQUEUE",
        "--queue-bypass",
    ];
    let works = Command::new("ip").args(rule).output().is_ok_and(|output| output.status.success());
    ip(&["netns", "del", &name]);
    (!works).then_some("NFQUEUE in the kernel")
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().unwrap();
    assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The clock of the path.
#[allow(clippy::disallowed_methods)]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Two hosts and their path, removed when dropped.
pub struct Network {
    names: [String; 2],
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// The packets dropped by the path's buffer.
    pub drops: Arc<AtomicU64>,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Network {
    pub fn new(path: Path) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let names = ["c", "s"].map(|end| format!("nl-cl-{}-{number}{end}", std::process::id()));
        let devices = [DEVICE, "net0"];
        let mut ends = Vec::new();
        for (name, device) in names.iter().zip(devices) {
            ip(&["netns", "add", name]);
            ends.push(inside(name, move || {
                let file = open_tun(device).unwrap();
                nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).unwrap();
                file
            }));
        }
        for (name, device, v4, v6) in
            [(&names[0], devices[0], "10.9.0.1/24", "fd09::1/64"), (&names[1], devices[1], "10.9.0.2/24", "fd09::2/64")]
        {
            ip(&["-n", name, "addr", "add", v4, "dev", device]);
            ip(&["-n", name, "addr", "add", v6, "dev", device, "nodad"]);
            ip(&["-n", name, "link", "set", "lo", "up"]);
            ip(&["-n", name, "link", "set", device, "txqueuelen", "2000", "up"]);
            sysctl(name, "net.ipv4.tcp_no_metrics_save", "1");
        }
        // Windows of some 80 kB: less than the path holds.
        sysctl(&names[0], "net.ipv4.tcp_rmem", "4096 114688 114688");
        let stop = Arc::new(AtomicBool::new(false));
        let drops = Arc::new(AtomicU64::new(0));
        let (ended, counted) = (Arc::clone(&stop), Arc::clone(&drops));
        let carries = std::thread::spawn(move || carry(&ends, path, &ended, &counted));
        let mut network = Self { names, stop, threads: vec![carries], drops };
        network.serve();
        network
    }

    pub fn client(&self) -> &str {
        &self.names[0]
    }

    pub fn set(&self, key: &str, value: &str) {
        self.names.iter().for_each(|name| sysctl(name, key, value));
    }

    /// A command in the client's namespace.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[0], program]).stdin(Stdio::null());
        command
    }

    /// `netlulld` in the client's namespace.
    pub fn netlulld(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_netlulld"));
        command.args(arguments);
        command
    }

    /// A download by curl, without a daemon: its size and time.
    pub fn download(&self, bytes: u64, congestion_control: &str) -> (u64, f64) {
        parse(&self.command("curl").args(curl(SERVER, bytes, congestion_control)).output().unwrap())
    }

    /// The number of installed chains, of IPv4 and IPv6.
    pub fn chains(&self) -> usize {
        let count = |program: &str| {
            let output = self.command(program).args(["--wait", "-t", "mangle", "-S"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).matches("-N NETLULL").count()
        };
        count("iptables") + count("ip6tables")
    }

    fn serve(&mut self) {
        for address in [format!("{SERVER}:80"), format!("[{SERVER_V6}]:80")] {
            self.threads.push(serve(&self.names[1], address, &self.stop));
        }
    }
}

/// A server: answers a request line `GET /BYTES/ALGORITHM` with so many bytes, under that congestion control.
fn serve(name: &str, address: String, stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let listener = inside(name, move || TcpListener::bind(address).unwrap());
    listener.set_nonblocking(true).unwrap();
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((stream, _)) => {
                    // A client that disconnects ends its own thread.
                    std::thread::spawn(move || answer(stream));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    })
}

/// Two hosts on the ends of a pair of devices without offloads: every packet has its size on the wire.
pub struct Link {
    names: [String; 2],
    stop: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Link {
    pub fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let names = ["c", "s"].map(|end| format!("nl-cl-{}-{number}{end}", std::process::id()));
        names.iter().for_each(|name| ip(&["netns", "add", name]));
        ip(&["-n", &names[0], "link", "add", "veth0", "type", "veth", "peer", "name", "veth1", "netns", &names[1]]);
        for (name, device, address) in [(&names[0], "veth0", "10.9.0.1/24"), (&names[1], "veth1", "10.9.0.2/24")] {
            ip(&["-n", name, "addr", "add", address, "dev", device]);
            ip(&["-n", name, "link", "set", "lo", "up"]);
            ip(&["-n", name, "link", "set", device, "txqueuelen", "2000", "up"]);
            inside(name, move || {
                for (what, command) in [("TSO", ETHTOOL_STSO), ("GSO", ETHTOOL_SGSO), ("GRO", ETHTOOL_SGRO)] {
                    switch_off(device, what, command).unwrap();
                }
            });
        }
        let stop = Arc::new(AtomicBool::new(false));
        let server = Some(serve(&names[1], format!("{SERVER}:80"), &stop));
        Self { names, stop, server }
    }

    pub fn client(&self) -> &str {
        &self.names[0]
    }

    /// A command in the client's namespace.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[0], program]).stdin(Stdio::null());
        command
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.server.take().map(JoinHandle::join);
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        for name in &self.names {
            if let Ok(namespace) = std::fs::metadata(format!("/run/netns/{name}")) {
                let _ = std::fs::remove_file(format!("/run/netlull/client-{}-{DEVICE}.lock", namespace.ino()));
            }
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

/// A download to the client that does not end by itself.
pub struct Download {
    stream: TcpStream,
    received: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Download {
    pub fn start(network: &Network, congestion_control: &str) -> Self {
        let mut stream = inside(network.client(), || TcpStream::connect(format!("{SERVER}:80")).unwrap());
        write!(stream, "GET /{}/{congestion_control} HTTP/1.0\r\n\r\n", u32::MAX).unwrap();
        let received = Arc::new(AtomicU64::new(0));
        let (mut from, counted) = (stream.try_clone().unwrap(), Arc::clone(&received));
        let thread = std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                counted.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Self { stream, received, thread: Some(thread) }
    }

    /// Waits until it has brought so many more bytes.
    pub fn brings(&self, bytes: u64) {
        let received = || self.received.load(Ordering::Relaxed);
        let wanted = received() + bytes;
        again::wait_until("the download goes on", || received() >= wanted);
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The arguments of curl.
pub fn curl(server: &str, bytes: u64, congestion_control: &str) -> Vec<String> {
    let url = format!("http://{server}/{bytes}/{congestion_control}");
    ["-s", "-g", "-o", "/dev/null", "--max-time", "300", "-w", "%{size_download} %{time_total}\\n", &url]
        .map(str::to_owned)
        .into()
}

/// The size and the time from curl's output.
pub fn parse(output: &Output) -> (u64, f64) {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace();
    let size = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    (size, words.next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN))
}

fn answer(stream: TcpStream) -> Option<()> {
    stream.set_nonblocking(false).ok()?;
    let mut line = String::new();
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split_whitespace().nth(1)?.trim_start_matches('/').split('/');
    let bytes: usize = parts.next()?.parse().ok()?;
    let algorithm = OsString::from(parts.next().unwrap_or("reno"));
    setsockopt(&stream, sockopt::TcpCongestion, &algorithm).ok()?;
    let mut stream = stream;
    write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {bytes}\r\n\r\n").ok()?;
    let block = [7; 65_536];
    let mut left = bytes;
    while left > 0 {
        let len = left.min(block.len());
        stream.write_all(&block[..len]).ok()?;
        left -= len;
    }
    stream.shutdown(std::net::Shutdown::Write).ok()?;
    let _ = reader.read(&mut [0; 16]);
    Some(())
}

fn sysctl(name: &str, key: &str, value: &str) {
    let set = format!("{key}={value}");
    ip(&["netns", "exec", name, "sysctl", "-q", "-w", &set]);
}

/// Runs a function in a namespace.
fn inside<T: Send + 'static>(name: &str, what: impl FnOnce() -> T + Send + 'static) -> T {
    let file = File::open(format!("/run/netns/{name}")).unwrap();
    std::thread::spawn(move || {
        setns(file, CloneFlags::CLONE_NEWNET).unwrap();
        what()
    })
    .join()
    .unwrap()
}

/// A direction of the path.
struct Way {
    free_at: std::time::Instant,
    flying: VecDeque<(std::time::Instant, Vec<u8>)>,
}

fn carry(ends: &[File], path: Path, stop: &AtomicBool, drops: &AtomicU64) {
    // Timers that are 50 us late would bundle separate packets into bursts.
    let _ = nix::sys::prctl::set_timerslack(1000);
    let _ = run_in_real_time(60);
    let begin = now();
    let mut ways = [0, 1].map(|_| Way { free_at: begin, flying: VecDeque::new() });
    let mut buffer = vec![0; 65_536];
    while !stop.load(Ordering::Relaxed) {
        let due = ways.iter().filter_map(|way| way.flying.front()).map(|(at, _)| *at).min();
        let left = due
            .map_or(Duration::from_millis(20), |due| due.saturating_duration_since(now()))
            .min(Duration::from_millis(20));
        let mut fds = [0, 1].map(|end| PollFd::new(ends[end].as_fd(), PollFlags::POLLIN));
        // Whole milliseconds are too coarse: the last one is waited for in nanoseconds.
        if left > Duration::from_millis(1) {
            let millis = u16::try_from(left.as_millis() - 1).unwrap_or(0).min(20);
            let _ = poll(&mut fds, PollTimeout::from(millis.max(1)));
        } else {
            let nanos = nix::sys::time::TimeSpec::from_duration(left);
            let _ = nix::poll::ppoll(&mut fds, Some(nanos), None);
        }
        for (from, way) in ways.iter_mut().enumerate() {
            while let Ok(length) = (&ends[from]).read(&mut buffer) {
                let time = now();
                let waiting =
                    way.free_at.saturating_duration_since(time).as_secs_f64() * path.bits_per_second as f64 / 8.0;
                if waiting as usize + length > path.buffer {
                    drops.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                let takes = Duration::from_nanos(length as u64 * 8 * 1_000_000_000 / path.bits_per_second);
                way.free_at = way.free_at.max(time) + takes;
                way.flying.push_back((way.free_at + path.one_way, buffer[..length].to_vec()));
            }
        }
        for (from, way) in ways.iter_mut().enumerate() {
            while way.flying.front().is_some_and(|(at, _)| *at <= now())
                && let Some((_, bytes)) = way.flying.pop_front()
            {
                // A host whose device is gone receives nothing.
                let _ = (&ends[1 - from]).write(&bytes);
            }
        }
    }
}
