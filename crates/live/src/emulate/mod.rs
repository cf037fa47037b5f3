//! Emulation: a plan's links and mechanisms in real time, between hosts with the kernel's own TCP.
//!
//! ```text
//!   namespace of host A                 this process                          namespace of host B
//!   application ► TCP ► TUN ──► World: links, queues, mechanisms ──► TUN ► TCP ► application
//!                       TUN ◄── in virtual time                  ◄── TUN
//! ```
//!
//! Hosts are unnamed network namespaces, which end with this process. Without root, they belong to a user namespace of
//! the process. A single thread carries packets, with real-time scheduling if permitted. A packet sent in immediate
//! response to another, such as an acknowledgement, gets that packet's virtual time. Lateness of some microseconds
//! therefore does not accumulate.

mod apps;
mod connections;
mod controls;
mod frame;
mod hosts;
mod ids;
mod link;
mod net;
mod observers;
mod planned;
mod sockets;
mod stations;
#[cfg(test)]
mod tests;
mod timetable;
mod traced;
mod world;

use crate::clock::Clock;
use crate::error::{LiveError, Result, exit, say};
use crate::lateness::LatenessCounts;
use crate::system::{self, Awake};
use crate::tape::TapeWriter;
use apps::{Applications, Seen, WindowSample};
use hosts::{Host, hosts};
use ids::{ById, FlowId, Id, LinkId, NodeId};
use netlull_network::capture::{Capture, Form};
use netlull_network::outcome::{FlowOutcome, Lateness, Outcome, System};
use netlull_network::plan::{FORMAT, Head, Plan, Traffic};
use netlull_network::probe::{Column, Table};
use netlull_units::{Duration, Instant};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use sockets::Gauge;
pub use sockets::{GuardArguments, guard_command};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use world::{Happened, Remains, World};

/// The arguments of `netlulld emulate`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The plan, as written by `netlull emulate`.
    #[arg(long)]
    plan: PathBuf,
    /// The file for the outcome.
    #[arg(long)]
    outcome: PathBuf,
    /// The limit for the 99th percentile of packets' lateness; a run above it is not trustworthy.
    #[arg(long, default_value = "1 ms", value_parser = duration)]
    max_lateness: Duration,
    /// Records every machine in a file of this folder.
    #[arg(long)]
    tapes: Option<PathBuf>,
    /// Writes every packet that a host sends or receives to this file (pcapng, an interface per host).
    #[arg(long)]
    capture: Option<PathBuf>,
    /// NODE=NAME: uses the network namespace of `ip netns add NAME` for this node; may be repeated.
    #[arg(long, value_parser = attachment)]
    attach: Vec<(String, String)>,
    /// Reports the progress every second.
    #[arg(long)]
    progress: bool,
}

fn duration(text: &str) -> std::result::Result<Duration, String> {
    text.parse().map_err(|error: netlull_units::ParseQuantityError| error.to_string())
}

fn attachment(text: &str) -> std::result::Result<(String, String), String> {
    let (node, name) = text.split_once('=').ok_or_else(|| format!("\"{text}\": expected NODE=NAME"))?;
    Ok((node.to_owned(), name.to_owned()))
}

/// The exit code of an interrupted run.
const INTERRUPTED: u8 = 130;

/// Emulates a plan and writes its outcome.
///
/// # Errors
/// If the system cannot do a part of the plan.
pub fn command(arguments: &Arguments) -> Result<ExitCode> {
    let shown = arguments.plan.display();
    let unreadable = |error: &dyn Display| LiveError::input(format!("{shown}: {error}"));
    let text = std::fs::read_to_string(&arguments.plan).map_err(|error| unreadable(&error))?;
    let Head { format } = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    if format != FORMAT {
        let file = arguments.plan.display();
        let message =
            format!("{file}: has format {format}; expected {FORMAT}: use netlulld and netlull of one version");
        return Err(LiveError::input(message));
    }
    let document = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    let plan: Plan = netlull_document::read(&document).map_err(|error| unreadable(&error))?;
    // Neither stays in memory: a plan with arrivals and traces is long.
    drop((text, document));
    let Some(outcome) = emulate(plan, arguments)? else { return Ok(ExitCode::from(INTERRUPTED)) };
    let written = serde_json::to_string(&outcome).map_err(|error| LiveError::system("the outcome", error))?;
    std::fs::write(&arguments.outcome, written)
        .map_err(|error| LiveError::system(arguments.outcome.display(), error))?;
    let Lateness { p99, limit, max, .. } = outcome.lateness;
    if p99 > limit {
        let asleep = if outcome.system.kept_awake { "" } else { ", processors that could not be kept awake" };
        let ordinary =
            if outcome.system.scheduling == REAL_TIME { "" } else { ", no real-time priority (root has it)" };
        say(format_args!(
            "the 99th percentile of lateness is {p99} (maximum {max}); expected at most {limit}: the run is not trustworthy. \
             Usual reasons: other work on this machine, too many packets for one processor{ordinary}{asleep}"
        ));
        return Ok(ExitCode::from(exit::NO));
    }
    Ok(ExitCode::SUCCESS)
}

/// Emulates a plan; `None` if it was interrupted.
fn emulate(plan: Plan, arguments: &Arguments) -> Result<Option<Outcome>> {
    let plan = Arc::new(plan);
    // Before the start of any thread: all threads must block the signals.
    let signals = system::take_signals(&[Signal::SIGINT, Signal::SIGTERM])?;
    let attach: BTreeMap<String, String> = arguments.attach.iter().cloned().collect();
    let mut hosts = hosts(&plan, &attach, CARRIER)?;
    let nodes: Vec<&str> = hosts.iter().map(|host| plan.nodes[host.node.index()].as_str()).collect();
    let mut capture = arguments.capture.as_deref().map(|file| captured(file, &nodes)).transpose()?;
    let gauges: Arc<[Gauge]> = plan.flows.iter().map(|_| Gauge::default()).collect();
    if let Some(folder) = &arguments.tapes {
        std::fs::create_dir_all(folder).map_err(|error| LiveError::system(folder.display(), error))?;
    }
    let world = World::new(Arc::clone(&plan), Arc::clone(&gauges), arguments.tapes.as_deref())?;
    // Otherwise the first access to a page would delay a packet; after a refusal, the lateness shows the effect.
    let _ = system::lock_memory();
    let awake = Awake::keep();
    let over = AtomicBool::new(false);
    let clock = Clock::start();
    // The applications need the hosts' namespaces, the carrier their devices: both are files, which can be shared.
    let namespaces: Vec<Host> = hosts.iter().map(Host::view).collect::<Result<_>>()?;
    let applications = Applications::new(Arc::clone(&plan), &namespaces, clock, gauges)?;
    let (carried, seen) = std::thread::scope(|scope| {
        let applications = scope.spawn(|| {
            let _ = system::run_in_real_time(APPLICATIONS);
            let seen = applications.run(&over);
            over.store(true, Ordering::Relaxed);
            seen
        });
        // The applications must end, even if the carrier fails.
        let _ends = SetWhenDropped(&over);
        let mut places = ById::filled(None, plan.nodes.len());
        hosts.iter().enumerate().for_each(|(index, host)| places[host.node] = Some(index));
        let carrier = Carrier {
            world,
            hosts: &mut hosts,
            places,
            clock,
            lateness: LatenessCounts::default(),
            capture: capture.as_mut(),
            signals: &signals,
            over: &over,
        };
        let carried = carrier.run(&plan, arguments.progress);
        over.store(true, Ordering::Relaxed);
        (carried, applications.join().unwrap_or_else(|_| Err(LiveError::new("the applications' thread has failed"))))
    });
    capture.map_or(Ok(()), |capture| capture.into_inner().finish())?;
    let (seen, Some(done)) = (seen?, carried?) else { return Ok(None) };
    Ok(Some(outcome(&plan, done, &seen, awake.is_ok(), arguments.max_lateness)?))
}

/// A capture of the packets that each host sends and receives, with their virtual times.
fn captured(file: &Path, nodes: &[&str]) -> Result<Capture<TapeWriter>> {
    let refused = |error| LiveError::system(format!("capturing to {}", file.display()), error);
    Capture::new(TapeWriter::create(file)?, Form::of(file), nodes, 0).map_err(refused)
}

/// Writes a packet that a host sends or receives into memory; `finish` reports errors of the disk.
fn capture_packet(capture: &mut Capture<TapeWriter>, host: usize, at: Instant, bytes: &[u8]) {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let _ = capture.packet(number(host), at, number(bytes.len()), bytes);
}

/// Emulates a plan without hosts in virtual time, as fast as possible: its datagrams, links, mechanisms and routers.
/// The scheduling of its [`System`] is "virtual", and nothing is late.
///
/// # Errors
/// If a machine refuses its configuration.
pub fn without_hosts(plan: Plan) -> Result<Outcome> {
    let plan = Arc::new(plan);
    let gauges: Arc<[Gauge]> = plan.flows.iter().map(|_| Gauge::default()).collect();
    let mut world = World::new(Arc::clone(&plan), gauges, None)?;
    while !matches!(world.step(), Happened::Over) {}
    world.failure().map_or(Ok(()), Err)?;
    let done = Done { remains: world.remains(), lateness: LatenessCounts::default(), scheduling: "virtual" };
    let seen = Seen { most_open: ById::filled(0, plan.flows.len()), ..Seen::default() };
    outcome(&plan, done, &seen, false, Duration::ZERO)
}

/// Sets a flag when dropped: on return, error or panic.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The priorities under SCHED_FIFO: packets come before applications.
const CARRIER: i32 = 50;
const APPLICATIONS: i32 = 40;
/// The scheduling that an outcome reports for real time.
const REAL_TIME: &str = "fifo";

/// The carrier of packets between hosts and the world.
struct Carrier<'a> {
    world: World,
    hosts: &'a mut [Host],
    /// The index of each node's host.
    places: ById<NodeId, Option<usize>>,
    clock: Clock,
    lateness: LatenessCounts,
    capture: Option<&'a mut Capture<TapeWriter>>,
    signals: &'a SignalFd,
    /// Set by the applications on failure.
    over: &'a AtomicBool,
}

/// The result of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    /// All due events have been processed.
    All,
    /// The run is over.
    Over,
    /// The user has interrupted the run.
    Stopped,
}

/// The maximum number of steps between two checks for signals.
const STEPS: u32 = 4096;
/// The longest time for the events due at one instant. A pass above it can never catch up: each takes longer than the
/// time that it serves, so the next one has more to do.
const LONGEST_PASS: Duration = Duration::from_secs(2);
/// The maximum number of packets from a host before the next host's turn.
const TURN: u32 = 1024;

/// The results after all packets have been carried.
struct Done {
    remains: Remains,
    lateness: LatenessCounts,
    scheduling: &'static str,
}

/// The largest possible packet, in bytes.
const LARGEST: usize = 65_536;
const TIMER: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;

impl Carrier<'_> {
    /// Carries packets until the end of the plan; `None` if interrupted.
    fn run(mut self, plan: &Plan, progress: bool) -> Result<Option<Done>> {
        let refused = |error: nix::errno::Errno| LiveError::system("waiting for packets", error);
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(refused)?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)
            .map_err(refused)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER)).map_err(refused)?;
        epoll.add(self.signals, EpollEvent::new(EpollFlags::EPOLLIN, SIGNALS)).map_err(refused)?;
        for (index, host) in (0..).zip(self.hosts.iter()) {
            epoll.add(host.device(), EpollEvent::new(EpollFlags::EPOLLIN, index)).map_err(refused)?;
        }
        let scheduling = if system::run_in_real_time(CARRIER).is_ok() { REAL_TIME } else { "other" };
        let mut events = [EpollEvent::empty(); 64];
        let mut buffer = vec![0; LARGEST];
        let mut told = Instant::ZERO;
        loop {
            let passed = self.pass(self.clock.now(), &mut buffer)?;
            if let Some(error) = self.world.failure() {
                self.world.finish()?;
                return Err(error);
            }
            if passed != Passed::All {
                return self.ended(passed, scheduling);
            }
            let (now, next) = (self.clock.now(), self.world.wakes());
            if now.saturating_since(told) >= Duration::from_secs(1) {
                told = now;
                // The caller was killed: nobody is left to read the outcome or to end the run.
                if system::is_abandoned(&std::io::stdout()) {
                    return self.ended(Passed::Stopped, scheduling);
                }
            }
            if progress && told == now {
                let share = now.as_secs_f64() / plan.duration.as_secs_f64();
                let mut out = std::io::stdout();
                if writeln!(out, "progress {:.3}", share.min(1.0)).and_then(|()| out.flush()).is_err() {
                    // The reader of the progress is gone.
                    return self.ended(Passed::Stopped, scheduling);
                }
            }
            // Wakes periodically, so that the end of the applications is noticed.
            let wait = next.saturating_since(now).min(Duration::from_millis(200)).max(Duration::from_nanos(1));
            let wait = TimeSpec::new(0, wait.as_nanos().cast_signed());
            timer.set(Expiration::OneShot(wait), TimerSetTimeFlags::empty()).map_err(refused)?;
            let ready = match epoll.wait(&mut events, EpollTimeout::NONE) {
                Ok(ready) => ready,
                Err(nix::errno::Errno::EINTR) => 0,
                Err(error) => return Err(refused(error)),
            };
            for event in &events[..ready] {
                let passed = match event.data() {
                    // The timer is set again before the next wait.
                    TIMER => Passed::All,
                    SIGNALS => Passed::Stopped,
                    index => self.reads(usize::try_from(index).unwrap_or(0), &mut buffer)?,
                };
                if passed != Passed::All {
                    return self.ended(passed, scheduling);
                }
            }
        }
    }

    /// Ends the run, possibly early: recordings are complete up to now.
    fn ended(mut self, how: Passed, scheduling: &'static str) -> Result<Option<Done>> {
        if how == Passed::Over {
            return Ok(Some(Done { remains: self.world.remains(), lateness: self.lateness, scheduling }));
        }
        self.world.finish()?;
        Ok(None)
    }

    /// Processes all events due by `until`.
    fn pass(&mut self, until: Instant, buffer: &mut [u8]) -> Result<Passed> {
        let mut steps: u32 = 0;
        while self.world.next() <= until {
            steps += 1;
            if steps.is_multiple_of(STEPS) {
                if matches!(self.signals.read_signal(), Ok(Some(_))) {
                    return Ok(Passed::Stopped);
                }
                let late = self.clock.now().saturating_since(until);
                if late > LONGEST_PASS {
                    self.world.finish()?;
                    return Err(self.world.too_busy(late));
                }
            }
            match self.world.step() {
                Happened::Inside => {}
                Happened::Over => return Ok(Passed::Over),
                Happened::Delivered { host, at, frame } => {
                    self.lateness.add(self.clock.now().saturating_since(at));
                    let Some(index) = self.places[host] else { continue };
                    if let Some(capture) = &mut self.capture {
                        capture_packet(capture, index, at, &frame.bytes);
                    }
                    self.hosts[index].receives(&frame.bytes)?;
                    // A packet in response gets the virtual time of this arrival, so both are equally late.
                    for _ in 0..TURN {
                        let Some(len) = self.hosts[index].sends(buffer)? else { break };
                        self.send(index, at, &buffer[..len]);
                    }
                }
            }
        }
        // The applications have failed.
        Ok(if self.over.load(Ordering::Relaxed) { Passed::Stopped } else { Passed::All })
    }

    /// Takes a packet that a host has sent on its own: it is sent now, after all events due before.
    fn reads(&mut self, index: usize, buffer: &mut [u8]) -> Result<Passed> {
        for _ in 0..TURN {
            let now = self.clock.now();
            let passed = self.pass(now, buffer)?;
            if passed != Passed::All {
                return Ok(passed);
            }
            let Some(len) = self.hosts[index].sends(buffer)? else { break };
            self.send(index, now, &buffer[..len]);
        }
        Ok(Passed::All)
    }

    fn send(&mut self, index: usize, at: Instant, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture_packet(capture, index, at, bytes);
        }
        self.world.send(at, self.hosts[index].node, bytes);
    }
}

fn outcome(plan: &Plan, done: Done, seen: &Seen, kept_awake: bool, limit: Duration) -> Result<Outcome> {
    let Done { mut remains, lateness, scheduling } = done;
    remains.controls.finish()?;
    let mut differences = plan.differences.clone();
    if remains.foreign > 0 {
        differences.push(format!("{} packets belonged to no flow and were discarded", remains.foreign));
    }
    let rates = remains.links.iter().zip(&plan.links);
    let rates = rates.map(|(link, plan)| if plan.varies() { link.rates().to_vec() } else { Vec::new() });
    let gateway = |link: LinkId| remains.controls.summary(remains.at, link);
    let mut tables = remains.tables;
    if plan.probe.window {
        tables.push(window_table(plan, &seen.windows));
    }
    let flows = plan.flows.iter().enumerate().map(|(index, flow)| {
        let id = FlowId::new(index);
        let own: Vec<_> = remains.connections.of_flow(id).collect();
        let largest = own.iter().map(|known| known.largest).max().filter(|&largest| largest > 0);
        let requests = match &flow.traffic {
            Traffic::Requests { requests, .. } => remains.connections.requests(id, requests, &seen.timeouts),
            Traffic::Tcp { .. } | Traffic::Datagrams { .. } => Vec::new(),
        };
        let single = own.first().filter(|_| matches!(flow.traffic, Traffic::Tcp { .. }));
        let ends = single.and_then(|known| known.completed).unwrap_or(remains.at);
        FlowOutcome {
            opened: single.map(|known| known.opened),
            completed: single.and_then(|known| known.completed),
            segment_bytes: largest,
            mean_cwnd_bytes: single.and_then(|_| mean_window(&seen.windows, id, plan.marks[0]..ends)),
            requests,
            most_open: seen.most_open[id],
        }
    });
    let flows = flows.collect();
    let (links, at) = (&remains.links, remains.at);
    let stations = remains.stations.members_mut().map(|member| member.outcome(at, links[member.down].head()));
    let stations = stations.collect::<Result<_>>()?;
    let hops = remains.links.iter().map(|link| link.counters.delivered_packets).sum();
    Ok(Outcome {
        format: FORMAT,
        packet_hops: hops,
        events: remains.events,
        gateways: links.ids().map(gateway).collect(),
        rates: rates.collect(),
        marks: remains.marks,
        flows,
        stations,
        tables,
        lateness: lateness.summarise(limit),
        system: System {
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            scheduling: scheduling.to_owned(),
            processors: std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(1)),
            kept_awake,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        differences,
    })
}

/// The table `window` of the recorded flows.
fn window_table(plan: &Plan, windows: &[WindowSample]) -> Table {
    let mut chosen: Vec<&WindowSample> =
        windows.iter().filter(|sample| plan.probe.flows.contains(&sample.flow.number())).collect();
    chosen.sort_by_key(|sample| (sample.at, sample.flow));
    let threshold = |sample: &&WindowSample| netlull_network::probe::ssthresh(sample.ssthresh);
    Table::new(
        "window",
        vec![
            ("time_s", Column::Float(chosen.iter().map(|sample| sample.at.as_secs_f64()).collect())),
            ("flow", Column::Index(chosen.iter().map(|sample| sample.flow.number()).collect())),
            ("cwnd_bytes", Column::Count(chosen.iter().map(|sample| sample.cwnd).collect())),
            ("ssthresh_bytes", Column::Float(chosen.iter().map(threshold).collect())),
        ],
    )
}

/// The time average of a flow's congestion window within `span`, from its first sample on.
fn mean_window(windows: &[WindowSample], flow: FlowId, span: Range<Instant>) -> Option<f64> {
    let Range { start: from, end: to } = span;
    let own: Vec<&WindowSample> = windows.iter().filter(|sample| sample.flow == flow).collect();
    let first = own.first()?.at.max(from);
    let ends = own.iter().skip(1).map(|sample| sample.at).chain([to]);
    let area: f64 = own
        .iter()
        .zip(ends)
        .map(|(sample, end)| {
            let (start, end) = (sample.at.max(from), end.clamp(from, to.max(from)));
            sample.cwnd as f64 * end.saturating_since(start).as_secs_f64()
        })
        .sum();
    let lasted = to.saturating_since(first).as_secs_f64();
    (lasted > 0.0).then(|| area / lasted)
}
