//! The applications of the emulation's hosts: they open connections, write, read and close, and sample TCP_INFO.

use super::frame::{FIRST_PORT, address};
use super::hosts::Host;
use super::ids::{ById, FlowId, Id, NodeId, RequestId};
use super::sockets::{
    Buffer, EXACT, Gauge, LEAST_BUFFER, RECEIVES, SENDS, SO_BUF_LOCK, congestion_control, largest_window, options,
    receive_buffer, receive_window, send_buffer, window_clamp,
};
use crate::clock::Clock;
use crate::error::{LiveError, Result};
use crate::namespace::{set_sysctl, sysctl};
use crate::system::{self, TcpInfo, set_option, tcp_info};
use netlull_network::plan::{Plan, TcpPlan, Traffic};
use netlull_units::{Duration, Instant};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::sockopt::{Linger, ReuseAddr};
use nix::sys::socket::{
    AddressFamily, Backlog, Shutdown, SockFlag, SockType, SockaddrIn, accept4, bind, connect, listen, setsockopt,
    shutdown, socket,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The sampling interval of TCP_INFO.
const SAMPLES: Duration = Duration::from_millis(5);
/// The maximum number of bytes written or discarded per call.
const CHUNK: usize = 1 << 18;
/// The number of reads after which the kernel has measured its packets' memory use.
const CLAMPS: u32 = 64;
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// An observed change of a congestion window.
#[derive(Clone, Copy, Debug)]
pub struct WindowSample {
    /// The instant.
    pub at: Instant,
    /// The flow.
    pub flow: FlowId,
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// The slow-start threshold in bytes; `u64::MAX` before the first loss.
    pub ssthresh: u64,
}

/// The observations of the applications.
#[derive(Debug, Default)]
pub struct Seen {
    /// The congestion windows, after each change.
    pub windows: Vec<WindowSample>,
    /// The maximum number of simultaneously open connections, by flow.
    pub most_open: ById<FlowId, u32>,
    /// The retransmission timeouts of requests, if any.
    pub timeouts: BTreeMap<RequestId, u64>,
}

/// A scheduled action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Open(FlowId),
    Request(RequestId),
    Write(RawFd),
    Stop(FlowId),
    Sample,
}

/// A connection of an application.
#[derive(Debug)]
struct Conversation {
    flow: FlowId,
    role: Role,
    stream: TcpStream,
}

#[derive(Debug)]
enum Role {
    Receives {
        /// The remaining number of window clamps.
        clamps: u32,
    },
    Sends(Sends),
}

#[derive(Debug)]
struct Sends {
    /// The bytes still to write; `None`: no end.
    left: Option<u64>,
    /// The bytes that may be written now, for writing at a rate.
    allowed: Option<u64>,
    spacing: Option<(Duration, u32)>,
    closed: bool,
    last: TcpInfo,
    timeouts: u16,
    /// The request, if the connection belongs to one.
    request: Option<RequestId>,
}

/// The state of all applications.
pub struct Applications<'a> {
    plan: Arc<Plan>,
    hosts: &'a [Host],
    clock: Clock,
    gauges: Arc<[Gauge]>,
    epoll: Epoll,
    acts: BinaryHeap<Reverse<(Instant, Act)>>,
    listeners: BTreeMap<RawFd, (FlowId, OwnedFd)>,
    conversations: BTreeMap<RawFd, Conversation>,
    /// The open connections, by flow.
    open: ById<FlowId, u32>,
    seen: Seen,
}

fn tcp_of(traffic: &Traffic) -> Option<&TcpPlan> {
    match traffic {
        Traffic::Tcp { tcp, .. } | Traffic::Requests { tcp, .. } => Some(tcp),
        Traffic::Datagrams { .. } => None,
    }
}

fn port(flow: FlowId) -> u16 {
    FIRST_PORT + u16::try_from(flow.number()).unwrap_or(0)
}

impl<'a> Applications<'a> {
    /// Creates the plan's applications; receivers start to listen.
    ///
    /// # Errors
    /// If the system refuses a socket or an option, such as an unknown congestion control.
    pub fn new(plan: Arc<Plan>, hosts: &'a [Host], clock: Clock, gauges: Arc<[Gauge]>) -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(|error| LiveError::system("epoll", error))?;
        let flows = plan.flows.len();
        if flows > usize::from(u16::MAX - FIRST_PORT) {
            return Err(LiveError::new(format!("flows: {flows} flows; expected at most {}", u16::MAX - FIRST_PORT)));
        }
        let mut applications = Self {
            hosts,
            clock,
            gauges,
            epoll,
            acts: BinaryHeap::new(),
            listeners: BTreeMap::new(),
            conversations: BTreeMap::new(),
            open: ById::filled(0, flows),
            seen: Seen { windows: Vec::new(), most_open: ById::filled(0, flows), timeouts: BTreeMap::new() },
            plan,
        };
        let plan = Arc::clone(&applications.plan);
        for (index, flow) in plan.flows.iter().enumerate() {
            let id = FlowId::new(index);
            let Some(tcp) = tcp_of(&flow.traffic) else { continue };
            applications.listens(id, NodeId::numbered(flow.to), tcp)?;
            // A trial socket detects a missing algorithm early.
            let probe = applications.socket(NodeId::numbered(flow.from))?;
            congestion_control(&probe, tcp)?;
            match &flow.traffic {
                Traffic::Tcp { start, stop, .. } => {
                    applications.at(*start, Act::Open(id));
                    stop.iter().for_each(|&stop| applications.at(stop, Act::Stop(id)));
                }
                Traffic::Requests { requests, .. } => {
                    if let Some(&(first, _)) = requests.first() {
                        applications.at(first, Act::Request(RequestId { flow: id, number: 0 }));
                    }
                }
                Traffic::Datagrams { .. } => {}
            }
        }
        applications.at(Instant::ZERO, Act::Sample);
        Ok(applications)
    }

    fn at(&mut self, at: Instant, act: Act) {
        self.acts.push(Reverse((at, act)));
    }

    fn host(&self, node: NodeId) -> Result<&'a Host> {
        let found = self.hosts.iter().find(|host| host.node == node);
        found.ok_or_else(|| LiveError::new(format!("node {}: has no host", self.plan.nodes[node.index()])))
    }

    /// Opens a socket in the namespace of a node.
    fn socket(&self, node: NodeId) -> Result<OwnedFd> {
        self.host(node)?.namespace.enter()?;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        socket(AddressFamily::Inet, SockType::Stream, flags, None)
            .map_err(|error| LiveError::system("a TCP socket", error))
    }

    /// Opens a socket with a buffer of this size in the namespace of a node.
    fn socket_with(&self, node: NodeId, buffer: &Buffer, size: libc::c_int) -> Result<OwnedFd> {
        let socket = self.socket(node)?;
        match set_option(socket.as_raw_fd(), libc::SOL_SOCKET, buffer.force, size) {
            Ok(()) => Ok(socket),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => self.socket_of_namespace(node, buffer, size),
            Err(error) => Err(LiveError::system("a socket's buffer", error)),
        }
    }

    /// Opens a socket with a buffer of this size without a right of the system. A new socket takes over the default of
    /// its namespace, and then keeps it.
    fn socket_of_namespace(&self, node: NodeId, buffer: &Buffer, size: libc::c_int) -> Result<OwnedFd> {
        let before = sysctl(buffer.default)?;
        // The kernel doubles the size of an option, but not a default.
        set_sysctl(buffer.default, &format!("4096 {} 1073741823", size.saturating_mul(2).max(LEAST_BUFFER)))?;
        let socket = self.socket(node);
        set_sysctl(buffer.default, &before)?;
        let socket = socket?;
        set_option(socket.as_raw_fd(), libc::SOL_SOCKET, SO_BUF_LOCK, buffer.lock)
            .map_err(|error| LiveError::system("keeping a socket's buffer (Linux 5.14 and later)", error))?;
        Ok(socket)
    }

    fn listens(&mut self, flow: FlowId, node: NodeId, tcp: &TcpPlan) -> Result<()> {
        // The buffer must be set before the handshake, which negotiates the window scale.
        let listener = self.socket_with(node, &RECEIVES, receive_buffer(tcp))?;
        let doing = |what: &str| format!("flow {}: {what}", self.plan.flows[flow.index()].name);
        receive_window(&listener, tcp).map_err(|error| LiveError::system(doing("its receive window"), error))?;
        let max_segment = libc::c_int::from(tcp.mss);
        set_option(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_MAXSEG, max_segment)
            .map_err(|error| LiveError::system(doing("its segment size"), error))?;
        setsockopt(&listener, ReuseAddr, &true).map_err(|error| LiveError::system(doing("its listener"), error))?;
        let own = SockaddrIn::from(SocketAddrV4::new(address(node), port(flow)));
        bind(listener.as_raw_fd(), &own).map_err(|error| LiveError::system(doing("binding"), error))?;
        let most = Backlog::new(4096).unwrap_or(Backlog::MAXCONN);
        listen(&listener, most).map_err(|error| LiveError::system(doing("listening"), error))?;
        self.wait_for(&listener, EpollFlags::EPOLLIN)?;
        self.listeners.insert(listener.as_raw_fd(), (flow, listener));
        Ok(())
    }

    fn wait_for(&self, socket: &impl AsFd, flags: EpollFlags) -> Result<()> {
        let data = u64::try_from(socket.as_fd().as_raw_fd()).unwrap_or(u64::MAX);
        self.epoll.add(socket, EpollEvent::new(flags, data)).map_err(|error| LiveError::system("epoll", error))
    }

    /// Runs the applications until `over` is set.
    ///
    /// # Errors
    /// If a connection cannot be opened, or a flow exceeds its limit of open connections.
    pub fn run(mut self, over: &AtomicBool) -> Result<Seen> {
        let mut events = [EpollEvent::empty(); 256];
        while !over.load(Ordering::Relaxed) {
            let now = self.clock.now();
            if let Some(&Reverse((at, act))) = self.acts.peek()
                && at <= now
            {
                self.acts.pop();
                self.act(at, act)?;
                continue;
            }
            // The next sample bounds the wait; whole milliseconds suffice for everything but starts.
            let wait = self.acts.peek().map_or(SAMPLES, |Reverse((at, _))| at.saturating_since(now));
            let ready = self.wait(wait, &mut events)?;
            for event in &events[..ready] {
                self.ready(RawFd::try_from(event.data()).unwrap_or(-1))?;
            }
        }
        self.resets();
        Ok(self.seen)
    }

    /// Resets the remaining connections, so they leave no state in the kernel.
    fn resets(&self) {
        for conversation in self.conversations.values() {
            let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
            let _ = setsockopt(&conversation.stream, Linger, &at_once);
        }
    }

    /// Waits for sockets with nanosecond resolution.
    fn wait(&self, most: Duration, events: &mut [EpollEvent]) -> Result<usize> {
        let nanos = most.as_nanos();
        if nanos < 1_000_000 {
            // epoll counts milliseconds, so shorter waits sleep instead.
            let ready = self.epoll.wait(events, EpollTimeout::ZERO).or_else(interrupted)?;
            if ready == 0 && nanos > 0 {
                std::thread::sleep(std::time::Duration::from_nanos(nanos));
            }
            return Ok(ready);
        }
        let millis = u16::try_from(nanos / 1_000_000).unwrap_or(u16::MAX);
        self.epoll.wait(events, EpollTimeout::from(millis)).or_else(interrupted)
    }

    fn act(&mut self, at: Instant, act: Act) -> Result<()> {
        match act {
            Act::Open(flow) => {
                let plan = Arc::clone(&self.plan);
                if let Traffic::Tcp { size, writes, .. } = &plan.flows[flow.index()].traffic {
                    let socket = self.opens(flow, *size, *writes)?;
                    writes.iter().for_each(|_| self.at(at, Act::Write(socket)));
                }
            }
            Act::Request(id) => {
                let plan = Arc::clone(&self.plan);
                if let Traffic::Requests { requests, most_open, .. } = &plan.flows[id.flow.index()].traffic {
                    self.request(id, requests[id.number].1, *most_open)?;
                    let number = id.number + 1;
                    if let Some(&(next, _)) = requests.get(number) {
                        self.at(next, Act::Request(RequestId { number, ..id }));
                    }
                }
            }
            Act::Write(socket) => {
                if let Some(Conversation { role: Role::Sends(sends), .. }) = self.conversations.get_mut(&socket)
                    && let Some((gap, size)) = sends.spacing
                    && !sends.closed
                {
                    sends.allowed = sends.allowed.map(|allowed| allowed + u64::from(size));
                    self.at(at + gap, Act::Write(socket));
                    self.writes(socket)?;
                }
            }
            Act::Stop(flow) => self.stops(flow),
            Act::Sample => {
                self.sample();
                self.at(at.max(self.clock.now()) + SAMPLES, Act::Sample);
            }
        }
        Ok(())
    }

    fn request(&mut self, id: RequestId, size: u64, most_open: u32) -> Result<()> {
        let flow = id.flow;
        if self.open[flow] >= most_open {
            let (name, at) = (&self.plan.flows[flow.index()].name, self.clock.now());
            let message = format!(
                "flow.{name}.most_open: {most_open} connections are open at {at}, and another request has arrived"
            );
            return Err(LiveError::new(format!(
                "{message}; expected a larger limit, or less load (flow.{name}.offered)"
            )));
        }
        self.open[flow] += 1;
        let most = &mut self.seen.most_open[flow];
        *most = (*most).max(self.open[flow]);
        let socket = self.opens(flow, Some(size), None)?;
        if let Some(Conversation { role: Role::Sends(sends), .. }) = self.conversations.get_mut(&socket) {
            sends.request = Some(id);
        }
        Ok(())
    }

    /// Opens the connection of a sender.
    fn opens(&mut self, flow: FlowId, size: Option<u64>, spacing: Option<(Duration, u32)>) -> Result<RawFd> {
        let plan = Arc::clone(&self.plan);
        let spec = &plan.flows[flow.index()];
        let Some(tcp) = tcp_of(&spec.traffic) else { return Err(LiveError::new("datagrams open no connection")) };
        let sender = self.socket_with(NodeId::numbered(spec.from), &SENDS, send_buffer(tcp))?;
        let refused =
            |what: &str, error: std::io::Error| LiveError::system(format!("flow {}: {what}", spec.name), error);
        congestion_control(&sender, tcp)?;
        options(&sender, tcp).map_err(|error| refused("its options", error))?;
        let peer = SockaddrIn::from(SocketAddrV4::new(address(NodeId::numbered(spec.to)), port(flow)));
        match connect(sender.as_raw_fd(), &peer) {
            Ok(()) | Err(nix::errno::Errno::EINPROGRESS) => {}
            Err(error) => return Err(refused("opening", error.into())),
        }
        self.wait_for(&sender, EpollFlags::EPOLLOUT | EpollFlags::EPOLLIN | EpollFlags::EPOLLET)?;
        let number = sender.as_raw_fd();
        let allowed = spacing.map(|_| 0);
        let sends =
            Sends { left: size, allowed, spacing, closed: false, last: TcpInfo::default(), timeouts: 0, request: None };
        let conversation = Conversation { flow, role: Role::Sends(sends), stream: TcpStream::from(sender) };
        self.conversations.insert(number, conversation);
        Ok(number)
    }

    /// Processes a ready socket.
    fn ready(&mut self, number: RawFd) -> Result<()> {
        if let Some((flow, listener)) = self.listeners.get(&number) {
            let (flow, listener) = (*flow, listener.as_raw_fd());
            return self.accepts(flow, listener);
        }
        match self.conversations.get(&number).map(|conversation| &conversation.role) {
            Some(Role::Receives { .. }) => self.reads(number),
            Some(Role::Sends(_)) => {
                self.writes(number)?;
                self.looks_for_the_end(number);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn accepts(&mut self, flow: FlowId, listener: RawFd) -> Result<()> {
        while let Ok(number) = accept4(listener, SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC) {
            let stream = own(number);
            self.wait_for(&stream, EpollFlags::EPOLLIN)?;
            self.conversations.insert(number, Conversation { flow, role: Role::Receives { clamps: CLAMPS }, stream });
        }
        Ok(())
    }

    /// Discards the received data of a receiver, and closes it at the end of the stream.
    fn reads(&mut self, number: RawFd) -> Result<()> {
        loop {
            match system::discard(number, CHUNK) {
                Ok(0) => {
                    self.conversations.remove(&number);
                    return Ok(());
                }
                Ok(_) => self.clamps(number),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    // After a reset, no more data arrives.
                    self.conversations.remove(&number);
                    return Ok(());
                }
            }
        }
    }

    /// Clamps a receiver's window to the plan's. The kernel widens it after the first packets, when it knows how they
    /// fill its memory.
    fn clamps(&mut self, number: RawFd) {
        if let Some(Conversation { flow, role: Role::Receives { clamps }, stream }) =
            self.conversations.get_mut(&number)
            && *clamps > 0
            && let Some(tcp) = tcp_of(&self.plan.flows[flow.index()].traffic)
            && largest_window(tcp) < EXACT
        {
            *clamps -= 1;
            let _ = window_clamp(stream, tcp);
        }
    }

    /// Writes as much as TCP accepts, and closes the sender's side after the last byte.
    fn writes(&mut self, number: RawFd) -> Result<()> {
        let Some(Conversation { role: Role::Sends(sends), stream, flow, .. }) = self.conversations.get_mut(&number)
        else {
            return Ok(());
        };
        while !sends.closed {
            let most = sends.left.unwrap_or(u64::MAX).min(sends.allowed.unwrap_or(u64::MAX));
            if most == 0 {
                if sends.left == Some(0) {
                    sends.closed = true;
                    let _ = shutdown(number, Shutdown::Write);
                }
                return Ok(());
            }
            match stream.write(&ZEROS[..usize::try_from(most).unwrap_or(CHUNK).min(CHUNK)]) {
                Ok(written) => {
                    sends.left = sends.left.map(|left| left - written as u64);
                    sends.allowed = sends.allowed.map(|allowed| allowed - written as u64);
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let name = &self.plan.flows[flow.index()].name;
                    return Err(LiveError::system(format!("flow {name}: writing"), error));
                }
            }
        }
        Ok(())
    }

    /// Stops a flow's senders: closes their sides without further writing.
    fn stops(&mut self, flow: FlowId) {
        for (&number, conversation) in &mut self.conversations {
            if let Role::Sends(sends) = &mut conversation.role
                && conversation.flow == flow
                && !sends.closed
            {
                sends.closed = true;
                let _ = shutdown(number, Shutdown::Write);
            }
        }
    }

    /// Removes a finished sender, whose receiver has closed, too.
    fn looks_for_the_end(&mut self, number: RawFd) {
        let Some(conversation) = self.conversations.get_mut(&number) else { return };
        let Role::Sends(sends) = &conversation.role else { return };
        if !sends.closed || !matches!(system::discard(number, 1), Ok(0)) {
            return;
        }
        sample_one(conversation, &self.gauges, self.clock.now(), &mut self.seen.windows);
        if let Role::Sends(Sends { request: Some(id), timeouts, .. }) = conversation.role
            && timeouts > 0
        {
            self.seen.timeouts.insert(id, u64::from(timeouts));
        }
        let open = &mut self.open[conversation.flow];
        *open = open.saturating_sub(1);
        self.conversations.remove(&number);
    }

    fn sample(&mut self) {
        let now = self.clock.now();
        for conversation in self.conversations.values_mut() {
            sample_one(conversation, &self.gauges, now, &mut self.seen.windows);
        }
    }
}

fn sample_one(conversation: &mut Conversation, gauges: &[Gauge], now: Instant, windows: &mut Vec<WindowSample>) {
    let Role::Sends(sends) = &mut conversation.role else { return };
    let Ok(info) = tcp_info(conversation.stream.as_raw_fd()) else { return };
    let gauge = &gauges[conversation.flow.index()];
    const RECOVERY: u8 = 3;
    let recovers = info.state == RECOVERY && sends.last.state != RECOVERY;
    let timeouts = info.timeouts.unwrap_or(0);
    gauge.add(u64::from(timeouts.saturating_sub(sends.timeouts)), u64::from(recovers));
    // Before the first loss, the threshold is 2^31 - 1 segments.
    const UNSET: u32 = 0x7fff_ffff;
    let bytes = |segments: u32| u64::from(segments) * u64::from(info.mss);
    let ssthresh = if info.ssthresh >= UNSET { u64::MAX } else { bytes(info.ssthresh) };
    let (cwnd, changed) = (bytes(info.cwnd), (info.cwnd, info.ssthresh) != (sends.last.cwnd, sends.last.ssthresh));
    gauge.set(cwnd, ssthresh);
    if changed {
        windows.push(WindowSample { at: now, flow: conversation.flow, cwnd, ssthresh });
    }
    (sends.last, sends.timeouts) = (info, timeouts.max(sends.timeouts));
}

/// The stream of a newly accepted connection.
#[allow(unsafe_code)]
fn own(number: RawFd) -> TcpStream {
    // SAFETY: `accept4` has returned this descriptor, and nothing else owns it.
    unsafe { TcpStream::from_raw_fd(number) }
}

fn interrupted(error: nix::errno::Errno) -> Result<usize> {
    if error == nix::errno::Errno::EINTR { Ok(0) } else { Err(LiveError::system("epoll", error)) }
}
