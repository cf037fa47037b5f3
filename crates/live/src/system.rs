//! The few system calls without a safe wrapper, each with the reason why it is sound.

#![allow(unsafe_code)]

use crate::error::{LiveError, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

fn check(doing: &str, result: libc::c_int) -> Result<()> {
    if result < 0 { Err(LiveError::system(doing, io::Error::last_os_error())) } else { Ok(()) }
}

fn interface(name: &str) -> Result<libc::ifreq> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.bytes().any(|byte| byte == 0 || byte == b'/') {
        return Err(LiveError::new(format!("\"{name}\" is not a device name; expected 1 to 15 letters")));
    }
    // SAFETY: an `ifreq` is plain data for which all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Opens the TUN device `name` in the network namespace of the calling thread: whole IP packets, no extra header, no
/// offloads. The device exists until the file is closed.
///
/// # Errors
/// If TUN is not available, or the device cannot be created.
pub fn open_tun(name: &str) -> Result<File> {
    const DEVICE: &str = "/dev/net/tun";
    let file = File::options().read(true).write(true).open(DEVICE).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            LiveError::system(DEVICE, "does not exist; expected the module tun, as root: modprobe tun")
        }
        io::ErrorKind::PermissionDenied => LiveError::system(
            DEVICE,
            format_args!("{error}; expected the mode 0666, as udev sets it, as root: chmod 0666 {DEVICE}"),
        ),
        _ => LiveError::system(DEVICE, error),
    })?;
    let mut request = interface(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives through the call.
    check(&format!("creating the TUN device {name}"), unsafe {
        libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request)
    })?;
    // SAFETY: F_GETFL and F_SETFL take and return integers.
    unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        check(
            "making the TUN device non-blocking",
            libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK),
        )?;
    }
    Ok(file)
}

fn control_socket() -> Result<OwnedFd> {
    socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
        .map_err(|error| LiveError::system("a socket for configuring devices", error))
}

fn configure(doing: &str, request: libc::c_ulong, with: &mut libc::ifreq) -> Result<()> {
    let socket = control_socket()?;
    // SAFETY: SIOCSIF* read one `ifreq`, which lives through the call.
    check(doing, unsafe { libc::ioctl(socket.as_raw_fd(), request as _, std::ptr::from_mut(with)) })
}

fn internet(address: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: a `sockaddr` is plain data for which all zeros is a valid value.
    let mut generic: libc::sockaddr = unsafe { std::mem::zeroed() };
    generic.sa_family = libc::AF_INET as libc::sa_family_t;
    // A `sockaddr_in` has its port in the first two bytes of the data, its address in the next four.
    for (to, from) in generic.sa_data[2..6].iter_mut().zip(address.octets()) {
        *to = from as libc::c_char;
    }
    generic
}

/// Brings a device up.
///
/// # Errors
/// If the system refuses.
pub fn bring_up(name: &str) -> Result<()> {
    let mut request = interface(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    configure(&format!("bringing {name} up"), libc::SIOCSIFFLAGS, &mut request)
}

/// Gives a device its only address and its MTU, switches its offloads off, and brings it up.
///
/// # Errors
/// If the system refuses.
pub fn set_up_point_to_point(name: &str, address: Ipv4Addr, mtu: u32) -> Result<()> {
    let mut request = interface(name)?;
    request.ifr_ifru.ifru_addr = internet(address);
    configure(&format!("giving {name} the address {address}"), libc::SIOCSIFADDR, &mut request)?;
    request.ifr_ifru.ifru_netmask = internet(Ipv4Addr::BROADCAST);
    configure(&format!("giving {name} its mask"), libc::SIOCSIFNETMASK, &mut request)?;
    request.ifr_ifru.ifru_mtu = mtu.try_into().unwrap_or(libc::c_int::MAX);
    configure(&format!("giving {name} the MTU {mtu}"), libc::SIOCSIFMTU, &mut request)?;
    for (what, command) in [("TSO", ETHTOOL_STSO), ("GSO", ETHTOOL_SGSO), ("GRO", ETHTOOL_SGRO)] {
        switch_off(name, what, command)?;
    }
    bring_up(name)
}

/// The command of linux/ethtool.h that switches TCP segmentation on or off.
pub const ETHTOOL_STSO: u32 = 0x1f;
/// The command of linux/ethtool.h that switches generic segmentation on or off.
pub const ETHTOOL_SGSO: u32 = 0x24;
/// The command of linux/ethtool.h that switches generic merging on or off.
pub const ETHTOOL_SGRO: u32 = 0x2c;

#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Switches an offload of a device off, by its command of linux/ethtool.h.
///
/// # Errors
/// If the device does not support the command.
pub fn switch_off(name: &str, what: &str, command: u32) -> Result<()> {
    let mut value = EthtoolValue { command, data: 0 };
    let mut request = interface(name)?;
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    configure(&format!("switching {what} off on {name}"), libc::SIOCETHTOOL as _, &mut request)
}

/// Schedules the calling thread in real time (SCHED_FIFO) at a priority of 1 to 99. Its children start with ordinary
/// scheduling.
///
/// # Errors
/// If the system refuses: real-time priorities need CAP_SYS_NICE, or an `rtprio` limit (limits.conf(5)).
pub fn run_in_real_time(priority: i32) -> Result<()> {
    schedule(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, priority)
}

/// Schedules the calling thread, and the threads and processes that it starts, in real time (SCHED_FIFO). Each of them
/// can [choose](run_in_real_time) a lower priority later, without any right.
///
/// # Errors
/// As [`run_in_real_time`].
pub fn run_in_real_time_with_threads(priority: i32) -> Result<()> {
    schedule(libc::SCHED_FIFO, priority)
}

fn schedule(policy: libc::c_int, priority: i32) -> Result<()> {
    // By number: musl's `sched_setscheduler` always refuses.
    // SAFETY: reads the kernel's `sched_param`, one int, which lives through the call; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    check("asking for SCHED_FIFO", if result < 0 { -1 } else { 0 })
}

/// Delivers signals to a descriptor, in the calling thread and the threads that it starts. They no longer end the
/// process. Child processes inherit the blocked signals unless they are [unblocked](unblock_signals).
///
/// # Errors
/// If the system refuses.
pub fn take_signals(signals: &[Signal]) -> Result<SignalFd> {
    let set: SigSet = signals.iter().copied().collect();
    let refused = |error| LiveError::system("taking signals", error);
    set.thread_block().map_err(refused)?;
    SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(refused)
}

/// Returns true if a pipe has lost its reader.
pub fn is_abandoned(pipe: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::empty())];
    let polled = poll(&mut fds, PollTimeout::ZERO);
    polled.is_ok_and(|_| fds[0].revents().is_some_and(|events| events.contains(PollFlags::POLLERR)))
}

/// Makes a program start with no signal blocked, regardless of the thread that starts it.
pub fn unblock_signals(command: &mut Command) -> &mut Command {
    // SAFETY: pthread_sigmask may be called between fork and exec (signal-safety(7)), and nothing else is called.
    unsafe { command.pre_exec(|| Ok(SigSet::empty().thread_set_mask()?)) }
}

/// Keeps the machine's processors awake while the value exists, and until its process ends in any way. A sleeping
/// processor, above all a virtual one, takes up to milliseconds to wake, which delays packets.
#[derive(Debug)]
pub struct Awake {
    _request: File,
}

impl Awake {
    /// Requests a wake-up latency of zero from the kernel (its PM quality of service).
    ///
    /// # Errors
    /// If the device is missing, the process is not root, or the kernel has no cpuidle driver, which would make the
    /// request void.
    pub fn keep() -> Result<Self> {
        const DEVICE: &str = "/dev/cpu_dma_latency";
        let driver = std::fs::read_to_string("/sys/devices/system/cpu/cpuidle/current_driver").unwrap_or_default();
        if matches!(driver.trim(), "" | "none") {
            return Err(LiveError::new(
                "this kernel has no cpuidle driver; expected one, such as intel_idle or haltpoll",
            ));
        }
        let refused = |error| LiveError::system(DEVICE, error);
        let mut request = File::options().write(true).open(DEVICE).map_err(refused)?;
        // In microseconds; the request is valid while the file is open.
        request.write_all(&0_i32.to_ne_bytes()).map_err(refused)?;
        Ok(Self { _request: request })
    }
}

/// The effective capabilities of the calling thread in its user namespace, as bits (linux/capability.h).
#[must_use]
pub fn capabilities() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Returns true if a process can lock any amount of memory, from its capabilities, `/proc/self/uid_map` and its limit
/// in bytes. CAP_IPC_LOCK counts in the system's own user namespace, which has all users.
fn can_lock_any_amount(capabilities: u64, users: &str, limit: u64) -> bool {
    const IPC_LOCK: u64 = 1 << 14;
    let is_root = capabilities & IPC_LOCK != 0 && users.split_whitespace().eq(["0", "0", "4294967295"]);
    is_root || limit == RLIM_INFINITY
}

/// Locks the process's memory, so no page fault delays a packet.
///
/// # Errors
/// If the system refuses, or limits the locked memory: beyond the limit it would refuse all further memory.
pub fn lock_memory() -> Result<()> {
    let refused = |error: io::Error| LiveError::system("locking memory", error);
    let users = std::fs::read_to_string("/proc/self/uid_map").map_err(refused)?;
    let (limit, _) = getrlimit(Resource::RLIMIT_MEMLOCK).map_err(|error| refused(error.into()))?;
    if !can_lock_any_amount(capabilities(), &users, limit) {
        return Err(refused(io::ErrorKind::PermissionDenied.into()));
    }
    // SAFETY: takes flags.
    check("locking memory", unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })
}

/// The fields of TCP_INFO that the emulation records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// tcpi_ca_state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// The slow-start threshold, in segments; above any window before the first loss.
    pub ssthresh: u32,
    /// The data in a full segment, in bytes.
    pub mss: u32,
    /// The smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// The timeouts so far; `None` on kernels that do not count them (before Linux 6.7).
    pub timeouts: Option<u16>,
}

/// Offsets in `struct tcp_info` (linux/tcp.h), which grows only at its end.
const STATE: usize = 1;
const SND_MSS: usize = 16;
const RTT: usize = 68;
const SND_SSTHRESH: usize = 76;
const SND_CWND: usize = 80;
const TOTAL_RTO: usize = 240;

/// Reads the TCP_INFO of a connection.
///
/// # Errors
/// If the socket is not a TCP connection.
pub fn tcp_info(socket: RawFd) -> io::Result<TcpInfo> {
    let mut bytes = [0_u8; 512];
    let mut len = bytes.len() as libc::socklen_t;
    // SAFETY: writes at most `len` bytes into `bytes`, and their number into `len`.
    let result =
        unsafe { libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, bytes.as_mut_ptr().cast(), &raw mut len) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let number = |at: usize| {
        let mut value = [0; 4];
        value.copy_from_slice(&bytes[at..at + 4]);
        u32::from_ne_bytes(value)
    };
    Ok(TcpInfo {
        state: bytes[STATE],
        cwnd: number(SND_CWND),
        ssthresh: number(SND_SSTHRESH),
        mss: number(SND_MSS),
        rtt_us: number(RTT),
        timeouts: (len as usize >= TOTAL_RTO + 2).then(|| u16::from_ne_bytes([bytes[TOTAL_RTO], bytes[TOTAL_RTO + 1]])),
    })
}

/// Sets an integer option of a socket.
///
/// # Errors
/// If the system refuses.
pub fn set_option(socket: RawFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: reads one integer, which lives through the call.
    let result = unsafe {
        libc::setsockopt(socket, level, option, (&raw const value).cast(), size_of::<libc::c_int>() as libc::socklen_t)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The maximum number of datagrams per call.
pub const AT_ONCE: usize = 32;

/// Receives the waiting datagrams, each into `part` bytes of `buffers`. Returns their number and stores the lengths in
/// `lengths`.
///
/// # Errors
/// The errors of `recvmmsg`: `WouldBlock` if no datagram waits.
pub fn receive_many(socket: RawFd, buffers: &mut [u8], part: usize, lengths: &mut [usize]) -> io::Result<usize> {
    let many = lengths.len().min(AT_ONCE);
    let mut places = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; AT_ONCE];
    // SAFETY: an `mmsghdr` is plain data for which all zeros is a valid value.
    let mut messages: [libc::mmsghdr; AT_ONCE] = unsafe { std::mem::zeroed() };
    let mut count = 0;
    for (buffer, (place, message)) in
        buffers.chunks_exact_mut(part).take(many).zip(places.iter_mut().zip(&mut messages))
    {
        (place.iov_base, place.iov_len) = (buffer.as_mut_ptr().cast(), buffer.len());
        (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (place, 1);
        count += 1;
    }
    // SAFETY: writes into `count` headers. Each has one exclusive part of `buffers`, which lives through the call.
    let result =
        unsafe { libc::recvmmsg(socket, messages.as_mut_ptr(), count, libc::MSG_DONTWAIT as _, std::ptr::null_mut()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    for (length, message) in lengths.iter_mut().zip(&messages) {
        *length = message.msg_len as usize;
    }
    Ok(result as usize)
}

/// Receives up to `most` bytes and discards them; returns 0 at the end of the stream.
///
/// # Errors
/// The errors of `recv`: `WouldBlock` if no data waits.
pub fn discard(socket: RawFd, most: usize) -> io::Result<usize> {
    // SAFETY: TCP writes nothing if MSG_TRUNC is set (tcp(7)), so no buffer is needed.
    let result = unsafe { libc::recv(socket, std::ptr::null_mut(), most, libc::MSG_TRUNC | libc::MSG_DONTWAIT) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as usize) }
}

#[cfg(test)]
#[path = "../tests/support/again.rs"]
mod again;

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::Signal;

    #[test]
    fn memory_is_locked_only_where_nothing_limits_it() {
        let (all, own) = ("         0          0 4294967295\n", "         0       1001          1\n");
        // Root of the system, root of a user namespace, a user, a user without a limit.
        let cases = [(u64::MAX, all, 1 << 23), (u64::MAX, own, 1 << 23), (0, all, 1 << 23), (0, own, RLIM_INFINITY)];
        assert_eq!(cases.map(|(has, users, limit)| can_lock_any_amount(has, users, limit)), [true, false, false, true]);
    }

    #[test]
    fn processors_are_asked_to_stay_awake_while_it_is_held() {
        use std::io::Read;
        // The kernel obeys the least of all requests.
        let asked = || {
            let mut least = [0; 4];
            File::open("/dev/cpu_dma_latency").unwrap().read_exact(&mut least).unwrap();
            i32::from_ne_bytes(least)
        };
        match Awake::keep() {
            Ok(awake) => {
                assert_eq!(asked(), 0);
                drop(awake);
            }
            Err(error) => again::skip(error),
        }
    }

    #[test]
    fn a_program_inherits_no_blocked_signals() {
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTERM);
        let before = blocked.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK).unwrap();
        let mask = |command: &mut Command| {
            let output = command.args(["^SigBlk", "/proc/self/status"]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().split_whitespace().last().map(str::to_owned).unwrap()
        };
        let inherited = mask(&mut Command::new("grep"));
        let unblocked = mask(unblock_signals(&mut Command::new("grep")));
        before.thread_set_mask().unwrap();
        assert_ne!(inherited, "0000000000000000");
        assert_eq!(unblocked, "0000000000000000");
    }
}
