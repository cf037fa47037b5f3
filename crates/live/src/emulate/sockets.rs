//! The TCP of hosts: the options of the applications' sockets, the settings of an attached namespace, and the state of
//! flows in the kernel (TCP_INFO).
//!
//! The emulation restores the settings of an attached namespace at its end, or its [guard] if it was
//! killed.

use crate::error::{LiveError, Result, say};
use crate::guard::{self, Guard, Guarded};
use crate::namespace::{Namespace, set_sysctl, sysctl};
use crate::system::set_option;
use netlull_network::plan::TcpPlan;
use netlull_units::Duration;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpCongestion;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sets the plan's congestion control.
pub(super) fn congestion_control(socket: &OwnedFd, tcp: &TcpPlan) -> Result<()> {
    setsockopt(socket, TcpCongestion, &(&tcp.congestion_control).into()).map_err(|error| {
        let has = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
        let asked = &tcp.congestion_control;
        LiveError::new(format!(
            "congestion control {asked}: {error}; this kernel has {}; root may load others: modprobe tcp_{asked}",
            has.trim().replace(' ', ", ")
        ))
    })
}

/// The largest window that the plan lets a receiver offer, in bytes.
pub(super) fn largest_window(tcp: &TcpPlan) -> libc::c_int {
    i32::try_from(tcp.receive_buffer.as_u64()).unwrap_or(i32::MAX / 4).min(i32::MAX / 4)
}

/// The limit for exact windows in bytes. A larger window rarely limits a flow, and with a clamped window the kernel no
/// longer acknowledges every segment during growth. Larger windows may therefore exceed the plan's value.
pub(super) const EXACT: libc::c_int = 1 << 20;

/// The minimum number of bytes that wakes a receiver without an exact window. If the application reads each packet, the
/// kernel delays acknowledgements to the time of its reads. With this limit it acknowledges packets on arrival, as if
/// everything were read at once.
const READ_AT_ONCE: libc::c_int = 1 << 15;

/// A buffer of a socket, and the ways to set its size.
pub(super) struct Buffer {
    /// The option that sets the size beyond the system's limit. Only root of the system may use it.
    pub force: libc::c_int,
    /// The namespace's least, default and largest size, below `/proc/sys/net/`.
    pub default: &'static str,
    /// The value of SO_BUF_LOCK that keeps the size.
    pub lock: libc::c_int,
}

pub(super) const SENDS: Buffer = Buffer { force: libc::SO_SNDBUFFORCE, default: "ipv4/tcp_wmem", lock: 1 };
pub(super) const RECEIVES: Buffer = Buffer { force: libc::SO_RCVBUFFORCE, default: "ipv4/tcp_rmem", lock: 2 };
/// The option of asm-generic/socket.h that keeps the sizes of a socket's buffers.
pub(super) const SO_BUF_LOCK: libc::c_int = 72;
/// The kernel's least size of a send buffer (SOCK_MIN_SNDBUF).
pub(super) const LEAST_BUFFER: libc::c_int = 4608;

/// A buffer that allows the window: the kernel doubles the value and offers at least half of it.
pub(super) fn receive_buffer(tcp: &TcpPlan) -> libc::c_int {
    let window = largest_window(tcp);
    if window < EXACT { window } else { window.saturating_mul(2) }
}

/// A buffer of the plan's size, or one that is large enough that a late application leaves no gap, and small enough
/// that many senders do not exhaust TCP's memory.
pub(super) fn send_buffer(tcp: &TcpPlan) -> libc::c_int {
    const AHEAD: u64 = 1 << 22;
    i32::try_from(tcp.send_buffer.map_or(AHEAD, |size| size.as_u64())).unwrap_or(i32::MAX / 2)
}

/// Sets the plan's receive window.
pub(super) fn receive_window(socket: &impl AsRawFd, tcp: &TcpPlan) -> std::io::Result<()> {
    if largest_window(tcp) >= EXACT {
        set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, READ_AT_ONCE)?;
    }
    window_clamp(socket, tcp)
}

/// Clamps the window to the plan's receive buffer.
pub(super) fn window_clamp(socket: &impl AsRawFd, tcp: &TcpPlan) -> std::io::Result<()> {
    set_option(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, largest_window(tcp))
}

/// Sets a sender's options.
pub(super) fn options(socket: &OwnedFd, tcp: &TcpPlan) -> std::io::Result<()> {
    let number = socket.as_raw_fd();
    set_option(number, libc::IPPROTO_TCP, libc::TCP_NODELAY, libc::c_int::from(!tcp.nagle))?;
    // The first data complete the handshake, as in the simulator. An additional packet would shift random losses, which
    // are drawn per packet. Without data the kernel acknowledges after at most 0.2 s.
    set_option(number, libc::IPPROTO_TCP, libc::TCP_QUICKACK, 0)?;
    set_option(number, libc::IPPROTO_TCP, libc::TCP_MAXSEG, libc::c_int::from(tcp.mss))
}

/// A value below `/proc/sys/net/`.
pub(super) type Setting = (&'static str, String);

pub(super) fn set(values: &[Setting]) -> Result<()> {
    values.iter().try_for_each(|(name, value)| set_sysctl(name, value))
}

/// An attached namespace with its original settings, restored when dropped.
#[derive(Debug)]
pub(super) struct Attached {
    namespace: Namespace,
    before: Vec<Setting>,
    guard: Option<Guard>,
}

impl Attached {
    /// Reads the settings that `asked` is about to change, and starts their guard. `name` is that of `ip netns`.
    ///
    /// # Errors
    /// If the kernel lacks a setting, or the guard cannot be started.
    pub(super) fn keep(name: &str, namespace: &Namespace, asked: &[Setting]) -> Result<Self> {
        let read = || asked.iter().map(|&(name, _)| Ok((name, sysctl(name)?))).collect::<Result<Vec<_>>>();
        let before = namespace.inside(read)?;
        let mut words = vec!["emulate-guard".to_owned(), name.to_owned()];
        words.extend(before.iter().map(|(name, value)| format!("{name}={value}")));
        let guard = if before.is_empty() { None } else { Some(Guard::start(&words, Stdio::null())?) };
        Ok(Self { namespace: namespace.try_clone()?, before, guard })
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Errors have no recipient here; a namespace that is gone needs no restoring.
        let _ = self.namespace.inside(|| set(&self.before));
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
    }
}

/// The arguments of the guard, which the emulation starts.
#[derive(clap::Args, Debug)]
pub struct GuardArguments {
    /// The namespace of `ip netns`.
    namespace: String,
    /// NAME=VALUE: a setting to restore.
    #[arg(value_parser = setting)]
    settings: Vec<(String, String)>,
}

fn setting(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("\"{text}\": expected NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Waits for the end of the emulation, and restores the settings if it was killed.
///
/// # Errors
/// If the namespace does not exist, or a setting cannot be restored.
pub fn guard_command(arguments: GuardArguments) -> Result<()> {
    let namespace = Namespace::named(&arguments.namespace)?;
    guard::watch(Duration::from_secs(60), &mut Changed { namespace, arguments })
}

struct Changed {
    namespace: Namespace,
    arguments: GuardArguments,
}

impl Guarded for Changed {
    /// Does nothing: an emulation that hangs harms nobody, and sends no heartbeats.
    fn ease(&mut self) {}

    fn undo(&mut self) -> Result<()> {
        let restore = |(name, value): &(String, String)| set_sysctl(name, value);
        self.namespace.inside(|| self.arguments.settings.iter().try_for_each(restore)).map_err(|error| {
            LiveError::new(format!(
                "the TCP settings of namespace {} are not restored: {error}",
                self.arguments.namespace
            ))
        })?;
        say(format_args!(
            "the emulation has died: the TCP settings of namespace {} are restored",
            self.arguments.namespace
        ));
        Ok(())
    }
}

/// The state of a flow in its host's TCP (TCP_INFO), written by one thread and read by another.
///
/// It is the latest sample; values of one read may stem from neighbouring samples.
#[derive(Debug, Default)]
pub struct Gauge {
    cwnd_bytes: AtomicU64,
    ssthresh_bytes: AtomicU64,
    timeouts: AtomicU64,
    fast_retransmits: AtomicU64,
}

impl Gauge {
    /// Stores a sample: windows in bytes, an unset threshold as `u64::MAX`.
    pub fn set(&self, cwnd: u64, ssthresh: u64) {
        self.cwnd_bytes.store(cwnd, Ordering::Relaxed);
        self.ssthresh_bytes.store(ssthresh, Ordering::Relaxed);
    }

    /// Adds timeouts and fast retransmits.
    pub fn add(&self, timeouts: u64, fast_retransmits: u64) {
        self.timeouts.fetch_add(timeouts, Ordering::Relaxed);
        self.fast_retransmits.fetch_add(fast_retransmits, Ordering::Relaxed);
    }

    /// The congestion window and the threshold in bytes; `None` before the first sample.
    #[must_use]
    pub fn windows(&self) -> Option<(u64, u64)> {
        let cwnd = self.cwnd_bytes.load(Ordering::Relaxed);
        (cwnd > 0).then(|| (cwnd, self.ssthresh_bytes.load(Ordering::Relaxed)))
    }

    /// The numbers of timeouts and observed fast retransmits.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.timeouts.load(Ordering::Relaxed), self.fast_retransmits.load(Ordering::Relaxed))
    }
}
