//! Networks of namespaces for tests: sender ─ router ─ receiver, with an optional delay.

use super::again::skip;
use netlull_live::system::open_tun;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CloneFlags, setns};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Returns true if this machine supports these tests; otherwise prints the missing feature.
pub fn can_run() -> bool {
    let missing = if !nix::unistd::geteuid().is_root() {
        "root"
    } else if Command::new("ip").arg("-V").output().is_err() || Command::new("tc").arg("-V").output().is_err() {
        "ip and tc (apt-get install iproute2)"
    } else if !std::path::Path::new("/dev/net/tun").exists() {
        "/dev/net/tun"
    } else if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        "a kernel with eBPF and BTF"
    } else {
        return true;
    };
    skip(format_args!("it needs {missing}"));
    false
}

/// Runs a command; its words are separated by spaces.
pub fn try_command(line: &str) -> Output {
    let mut words = line.split_whitespace();
    Command::new(words.next().unwrap()).args(words).output().unwrap()
}

/// Runs a command that must succeed, and returns its output.
pub fn command(line: &str) -> String {
    let done = try_command(line);
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Returns true if the output of tc shows the queue of [`Network::put_bfifo`].
pub fn is_bfifo(shown: &str) -> bool {
    shown.contains("qdisc bfifo 9:") && shown.contains("limit 77777b")
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// The namespaces of a test, removed when dropped.
pub struct Network {
    pub sender: String,
    pub router: String,
    pub receiver: String,
    /// The state directory of this network's instances.
    pub state: PathBuf,
    delay: Option<Delay>,
}

/// Addresses: the sender has 10.77.1.1 and fd77:1::1, the receiver 10.77.2.1 and fd77:2::1; the router .2 and ::2 on
/// both sides. Its device to the sender is `near`, that to the receiver `far`.
impl Network {
    /// A network without delay; `None`, with the reason printed, if unsupported.
    pub fn for_test() -> Option<Self> {
        can_run().then(|| Self::new(None))
    }

    /// A network; packets take `delay` between sender and router in each direction.
    pub fn new(delay: Option<Duration>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |role: &str| format!("nl-rt-{}-{number}{role}", std::process::id());
        let (sender, router, receiver) = (name("s"), name("r"), name("d"));
        let state = std::env::temp_dir().join(name("state"));
        for namespace in [&sender, &router, &receiver] {
            command(&format!("ip netns add {namespace}"));
            command(&format!("ip -n {namespace} link set lo up"));
            let set = "net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.accept_dad=0 net.ipv4.ip_forward=1";
            command(&format!("ip netns exec {namespace} sysctl -qw {set} net.ipv6.conf.all.forwarding=1"));
            command(&format!("ip netns exec {namespace} sysctl -qw net.ipv4.tcp_no_metrics_save=1"));
        }
        let delay = delay.map(|delay| Delay::new(delay, (&sender, "near"), (&router, "near")));
        if delay.is_none() {
            command(&format!("ip link add near netns {sender} type veth peer name near netns {router}"));
        }
        command(&format!("ip link add far netns {router} type veth peer name far netns {receiver}"));
        let ends = [
            (&sender, "near", "1", "1"),
            (&router, "near", "1", "2"),
            (&router, "far", "2", "2"),
            (&receiver, "far", "2", "1"),
        ];
        for (namespace, device, net, host) in ends {
            let _ = try_command(&format!("ip netns exec {namespace} ethtool -K {device} tso off gso off gro off"));
            command(&format!("ip -n {namespace} link set {device} up gso_max_segs 1"));
            command(&format!("ip -n {namespace} addr add 10.77.{net}.{host}/24 dev {device}"));
            command(&format!("ip -n {namespace} addr add fd77:{net}::{host}/64 dev {device} nodad"));
        }
        for (namespace, net, device) in [(&sender, "1", "near"), (&receiver, "2", "far")] {
            command(&format!("ip -n {namespace} route add default via 10.77.{net}.2 dev {device}"));
            command(&format!("ip -n {namespace} -6 route add default via fd77:{net}::2 dev {device}"));
        }
        Self { sender, router, receiver, state, delay }
    }

    /// Runs a function in a namespace, in a separate thread.
    pub fn inside<T: Send + 'static>(namespace: &str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let path = format!("/run/netns/{namespace}");
        std::thread::spawn(move || {
            setns(File::open(path).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
            work()
        })
    }

    /// The state file of an instance.
    pub fn saved(&self) -> Option<PathBuf> {
        self.all_saved().next()
    }

    fn all_saved(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let files = std::fs::read_dir(&self.state).into_iter().flatten();
        files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|kind| kind == "json"))
    }

    /// Returns true if the instance with a pid has saved its state.
    pub fn is_driven_by(&self, pid: u32) -> bool {
        self.all_saved()
            .filter_map(|file| std::fs::read(file).ok())
            .any(|text| serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|saved| saved["pid"] == pid))
    }

    /// Installs a distinctive queue before the receiver.
    pub fn put_bfifo(&self) {
        command(&format!("tc -n {} qdisc add dev far root handle 9: bfifo limit 77777", self.router));
    }

    /// The output of tc for the queue before the receiver, without counters, because the kernel itself sends there.
    pub fn queue(&self) -> String {
        command(&format!("tc -n {} qdisc show dev far", self.router))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        drop(self.delay.take());
        for namespace in [&self.sender, &self.router, &self.receiver] {
            let _ = try_command(&format!("ip netns del {namespace}"));
        }
        let _ = std::fs::remove_dir_all(&self.state);
    }
}

/// Two TUN devices: packets that enter one leave the other later.
struct Delay {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Delay {
    fn new(delay: Duration, one: (&str, &str), other: (&str, &str)) -> Self {
        let open = |(namespace, device): (&str, &str)| {
            let device = device.to_owned();
            Arc::new(Network::inside(namespace, move || open_tun(&device).unwrap()).join().unwrap())
        };
        let (one, other) = (open(one), open(other));
        let stop = Arc::new(AtomicBool::new(false));
        let threads = [(one.clone(), other.clone()), (other, one)]
            .into_iter()
            .map(|(from, to)| {
                let stop = stop.clone();
                std::thread::spawn(move || line(&from, &to, delay, &stop))
            })
            .collect();
        Self { stop, threads }
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Runs a direction of a delay line, until it is stopped.
#[allow(clippy::disallowed_methods)] // A test is as real as its packets.
fn line(mut from: &File, mut to: &File, delay: Duration, stop: &AtomicBool) {
    // Without the right, the line is occasionally late.
    let _ = netlull_live::system::run_in_real_time(6);
    let mut waiting: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut buffer = vec![0; 65_536];
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        while waiting.front().is_some_and(|(due, _)| *due <= now) {
            let (_, packet) = waiting.pop_front().unwrap();
            // A device that is down loses packets, as a wire does.
            let _ = to.write(&packet);
        }
        let patience = Duration::from_millis(50);
        let wait = waiting.front().map_or(patience, |(due, _)| due.saturating_duration_since(now).min(patience));
        let mut ready = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
        if ppoll(&mut ready, Some(wait.into()), None).unwrap_or(0) == 0 {
            continue;
        }
        let due = Instant::now() + delay;
        while let Ok(length) = from.read(&mut buffer) {
            waiting.push_back((due, buffer[..length].to_vec()));
        }
    }
}
