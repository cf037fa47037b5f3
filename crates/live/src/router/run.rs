//! The main loop of an instance.

use super::arguments::RunArguments;
use super::clamp::{Clamp, Orders};
use super::metrics::{self, Board, Server};
use super::plan::{Plan, needs_programs, plan, tell_plan};
use super::qdisc;
use super::readings::{Reading, Readings};
use super::segment::{Sampling, Sighting};
use super::state::{Place, Restored, Saved, lock};
use super::watch::{self, SILENCE, confine};
use crate::clock::Clock;
use crate::error::{LiveError, Result, say, tell};
use crate::guard::{Guard, Heard};
use crate::lateness::LatenessCounts;
use crate::lock::Held;
use crate::netlink::Socket;
use crate::system::take_signals;
use netlull_power::{EnergyMeter, Residency, Traffic};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use serde_json::json;
use std::os::fd::AsFd;
use std::time::Duration as StdDuration;

/// The real-time priority: low among real-time processes, above ordinary ones.
const PRIORITY: i32 = 5;
/// The interval of heartbeats to the watch process.
const HEARTBEAT: Duration = Duration::from_millis(20);
/// The interval at which energy and the programs' counters are evaluated.
const SLOW: Duration = Duration::from_millis(250);
/// The maximum number of segments taken from the ring in a period.
const MOST_SEGMENTS: usize = 20_000;

/// The reason why the loop has ended.
enum Ended {
    Asked,
    Gone,
}

/// Runs `netlulld router run`.
///
/// # Errors
/// If a requested action is impossible; all changes have then been undone.
pub(super) fn run(arguments: &RunArguments) -> Result<()> {
    let mut socket = Socket::open()?;
    if arguments.dry_run {
        return tell_plan(arguments, &plan(arguments, &mut socket)?);
    }
    let place = Place::new(&arguments.state, &arguments.dev)?;
    // A refused instance changes nothing, not even the leftovers of an earlier instance.
    let mut plan = plan(arguments, &mut socket)?;
    let held = lock(plan.device.index, &arguments.dev)?.hold()?;
    let own = Some(plan.device.index);
    // An earlier instance was killed together with its watch process.
    if place.restore(&mut socket, own)? == Restored::Queue {
        say(format_args!("{}: an earlier instance had left its queue; the former queue is restored", arguments.dev));
    }
    plan.former = qdisc::former(&mut socket, &plan.device)?;
    let signals = take_signals(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
    let board = Board::default();
    let server = arguments.metrics.map(Server::listen).transpose()?;
    place.save(&Saved {
        pid: std::process::id(),
        device: plan.device.clone(),
        bucket: plan.bucket,
        former: plan.former.clone(),
        metrics: server.as_ref().map(|server| server.address),
        mechanism: plan.mechanism.mechanism.name().to_owned(),
    })?;
    let instance = Instance { arguments, plan: &plan, place: &place, held: &held, signals: &signals, board: &board };
    let outcome = instance.serve(&mut socket, server);
    let restored = place.restore(&mut socket, own);
    let (device, ended) = (&plan.device.name, outcome?);
    match (ended, restored?) {
        (Ended::Gone, _) | (_, Restored::Gone) => say(format_args!("{device} was removed; the instance ends")),
        (Ended::Asked, _) => {}
    }
    if arguments.json {
        tell(json!(board.look().summary()))?;
    }
    Ok(())
}

/// The state of the loop.
struct Loop<'a> {
    plan: &'a Plan,
    socket: &'a mut Socket,
    clock: Clock,
    readings: Readings,
    clamp: Option<Clamp>,
    sampling: Sampling,
    untold: u64,
    guard: Guard,
    meter: EnergyMeter,
    /// The current rate of the bucket.
    rate: BitRate,
    seen: Vec<Sighting>,
    timed: Vec<(Instant, Sighting)>,
    reading: Reading,
    told_watch: Instant,
    slow: Instant,
    lateness: LatenessCounts,
    missed: u64,
}

/// An instance: its options, its plan, and the resources it holds.
struct Instance<'a> {
    arguments: &'a RunArguments,
    plan: &'a Plan,
    place: &'a Place,
    held: &'a Held,
    signals: &'a SignalFd,
    board: &'a Board,
}

impl Instance<'_> {
    /// Sets everything up and runs until a signal arrives or the device is gone. The caller restores the former queue.
    fn serve(&self, socket: &mut Socket, server: Option<Server>) -> Result<Ended> {
        let Self { arguments, plan, place, held, signals, board } = *self;
        let name = &plan.device.name;
        let clamp = needs_programs(&plan.mechanism).then(|| Clamp::attach(&plan.device, &plan.back)).transpose()?;
        // The watch process starts before the bucket is installed: a rate is never lowered without it.
        let guard = watch::start(place, name, held)?;
        let refused = |error: Errno| LiveError::system(format!("putting a token bucket on {name}"), error.desc());
        qdisc::install(socket, plan.device.index, plan.bucket).map_err(refused)?;
        let reading = qdisc::read(socket, plan.device.index).map_err(refused)?;
        let clock = Clock::start();
        let start = clock.now();
        let readings = Readings::new(&plan.mechanism, start, reading, name, arguments.record.as_deref())?;
        let rate = readings.rate();
        if rate != plan.bucket.rate {
            qdisc::change(socket, plan.device.index, plan.bucket.at(rate)).map_err(refused)?;
        }
        board.write(|shown| {
            shown.device.clone_from(name);
            plan.mechanism.mechanism.name().clone_into(&mut shown.mechanism);
            shown.full_rate = plan.bucket.rate;
            shown.power_model.clone_from(&arguments.power);
        });
        if let Err(error) = crate::system::run_in_real_time(PRIORITY) {
            say(format_args!("{name}: no real-time scheduling ({error}); expected CAP_SYS_NICE"));
        }
        confine(place)?.into_iter().for_each(say);
        server.map_or(Ok(()), |server| server.serve(board))?;
        say(format_args!(
            "{name}: {} controls the device at {rate} of {}",
            plan.mechanism.mechanism.name(),
            plan.bucket.rate
        ));
        let mut running = Loop {
            plan,
            socket,
            clock,
            readings,
            clamp,
            sampling: Sampling::default(),
            untold: 0,
            guard,
            meter: EnergyMeter::new(start, rate),
            rate,
            seen: Vec::with_capacity(MOST_SEGMENTS),
            timed: Vec::with_capacity(MOST_SEGMENTS),
            reading,
            told_watch: start,
            slow: start,
            lateness: LatenessCounts::default(),
            missed: 0,
        };
        let ended = running.until_ended(arguments.period, signals, board);
        let end = clock.now();
        let account = running.account(end);
        board.write(|shown| {
            running.fill(end, shown);
            account(shown);
        });
        let recorded = running.readings.finish();
        // The watch process ends last, after the former queue is restored.
        let restored = place.restore(running.socket, Some(plan.device.index));
        if restored.is_ok() {
            running.guard.dismiss();
            held.guard_has_ended();
        }
        let ended = ended?;
        restored?;
        recorded?;
        Ok(ended)
    }
}

impl Loop<'_> {
    fn until_ended(&mut self, period: Duration, signals: &SignalFd, board: &Board) -> Result<Ended> {
        let cannot = |error: Errno| LiveError::system("the loop's timer", error);
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC).map_err(cannot)?;
        let first = self.clock.now() + period;
        let nanos = |nanos: u64| TimeSpec::from_duration(StdDuration::from_nanos(nanos));
        let schedule = Expiration::IntervalDelayed(nanos(self.clock.monotonic_at(first)), nanos(period.as_nanos()));
        timer.set(schedule, TimerSetTimeFlags::TFD_TIMER_ABSTIME).map_err(cannot)?;
        let mut due = first;
        loop {
            let periods = expirations(&timer).map_err(cannot)?;
            let now = self.clock.now();
            // The lateness refers to the first of the expired periods.
            let late = now.saturating_since(due);
            due += period * periods;
            if signals.read_signal().ok().flatten().is_some() {
                return Ok(Ended::Asked);
            }
            match self.period(now, period) {
                Err(Errno::ENODEV | Errno::ENXIO) => return Ok(Ended::Gone),
                Err(Errno::ENOENT) => {
                    let name = &self.plan.device.name;
                    return Err(LiveError::new(format!(
                        "another program has replaced the queue of {name}; it is left unchanged"
                    )));
                }
                Err(error) => return Err(LiveError::system(format!("the queue of {}", self.plan.device.name), error)),
                Ok(()) => {}
            }
            self.tell_watch(now, period)?;
            self.lateness.add(late);
            self.missed += periods - 1;
            board.show(|shown| self.fill(now, shown));
            if now >= self.slow {
                self.slow = now + SLOW;
                board.show(self.account(now));
            }
        }
    }

    /// Runs a period: passes the kernel's counters and segments to the machine, and its decision to the kernel.
    fn period(&mut self, now: Instant, period: Duration) -> std::result::Result<(), Errno> {
        self.reading = qdisc::read(self.socket, self.plan.device.index)?;
        self.seen.clear();
        if let Some(clamp) = &mut self.clamp {
            clamp.take(MOST_SEGMENTS, &mut self.seen);
            self.sampling.after(self.seen.len() as u64, 0);
        }
        self.timed.clear();
        let clock = self.clock;
        self.timed.extend(self.seen.iter().map(|&seen| (clock.at_monotonic(seen.nanos), seen)));
        let decision = self.readings.period(now, self.reading, &self.timed);
        if let Some((rate, pause)) = decision.rate
            && rate != self.rate
        {
            qdisc::change(self.socket, self.plan.device.index, self.plan.bucket.at(rate))?;
            self.meter.rate_changed(now, rate, pause);
            self.rate = rate;
        }
        if let Some(clamp) = &mut self.clamp {
            let silence = SILENCE.max(period * 2);
            let deadline = self.clock.monotonic_at(self.clock.now() + silence);
            let orders = Orders { deadline, window: decision.window, mask: self.sampling.mask() };
            clamp.order(orders).map_err(|_| Errno::EIO)?;
        }
        Ok(())
    }

    /// Sends heartbeats to the watch process. If it has raised the rate during a hang, sets the rate again.
    fn tell_watch(&mut self, now: Instant, period: Duration) -> Result<()> {
        if now < self.told_watch {
            return Ok(());
        }
        self.told_watch = now + HEARTBEAT.max(period).saturating_sub(period);
        if self.guard.beat()? == Heard::Eased {
            // If the device is gone, the next period detects it.
            let _ = qdisc::change(self.socket, self.plan.device.index, self.plan.bucket.at(self.rate));
        }
        Ok(())
    }

    fn fill(&self, now: Instant, shown: &mut metrics::Snapshot) {
        shown.uptime = now - Instant::ZERO;
        shown.rate = self.rate;
        shown.changes = self.readings.changes();
        shown.queue = self.reading;
        shown.raised = self.guard.eased();
        shown.missed = self.missed;
        shown.one_in = self.sampling.one_in();
        let estimates = self.readings.estimates();
        shown.round_trip = estimates.round_trip;
        shown.flows = estimates.windows.map(|windows| windows.flows);
        shown.window = self.readings.window();
    }

    /// Evaluates the costly figures and returns the update of the snapshot.
    fn account(&mut self, now: Instant) -> impl FnOnce(&mut metrics::Snapshot) + use<> {
        let counters = self.clamp.as_ref().and_then(|clamp| clamp.counters().ok());
        if let Some(counters) = &counters {
            let untold = counters.untold - self.untold.min(counters.untold);
            self.untold = counters.untold;
            if untold > 0 {
                self.sampling.after(0, untold);
            }
        }
        let (full_rate, residency) = (self.plan.bucket.rate, self.meter.finish(now));
        let full = Residency::constant(full_rate, residency.total());
        let traffic =
            Traffic { bits: Bytes::new(self.reading.sent_bytes).as_bits(), packets: self.reading.sent_packets };
        let energy = self.plan.power.energy(&residency, full_rate, traffic).total();
        let full_energy = self.plan.power.energy(&full, full_rate, traffic).total();
        let lateness = self.lateness.clone();
        move |shown| {
            shown.counters = counters;
            shown.lateness = lateness;
            (shown.energy, shown.full_energy) = (energy, full_energy);
        }
    }
}

/// Waits for the timer and returns the number of periods since the last call, at least one.
fn expirations(timer: &TimerFd) -> nix::Result<u64> {
    let mut count = [0; 8];
    loop {
        match nix::unistd::read(timer.as_fd(), &mut count) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(u64::from_ne_bytes(count).max(1)),
        }
    }
}
