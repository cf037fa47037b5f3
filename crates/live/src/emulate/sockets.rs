//! The options of the applications' sockets: congestion control, buffers, windows.

use crate::error::{LiveError, Result};
use crate::system::set_option;
use netlull_network::plan::TcpPlan;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpCongestion;
use std::os::fd::{AsRawFd, OwnedFd};

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
