//! `netlulld client`: a host that dozes. Its TCP connections pass through a [`LiveStation`], which shapes them and
//! models the radio.
//!
//! ```text
//!   device ──► INPUT ──► queue ──► station ──► verdicts ──► host's TCP
//!   device ◄── OUTPUT ◄── queue ◄── station ◄── host's TCP
//!          ◄── raw socket ◄── acknowledgements on behalf of the host
//! ```
//!
//! The daemon adds two chains to the table mangle. Packets bypass a dead process (`--queue-bypass`) and a full queue
//! (fail-open). If the process dies or hangs, its [`Guard`] removes the chains. The next start removes any leftovers.

mod access;
mod arguments;
mod compare;
mod daemon;
mod message;
mod outgoing;
mod queue;
mod rules;
mod table;

pub use arguments::Arguments;

use crate::clock::Clock;
use crate::confine::{Confinement, Programs};
use crate::error::{LiveError, Result, exit, say, tell};
use crate::guard::{self, Guard, Guarded, Heard};
use crate::lock::{DIRECTORY, DeviceLock, Held, write_private};
use crate::station::{LiveStation, StationReport};
use crate::system::{run_in_real_time, take_signals, unblock_signals};
use access::Access;
use arguments::{Command, Device, Run};
use caps::Capability;
use daemon::{BEAT, Datapath, Woken};
use netlull_mechanism::radio::AccessPointConfig;
use netlull_units::{Duration, Instant};
use nix::net::if_::if_nametoindex;
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use outgoing::RawSender;
use queue::{Copied, Queue};
use rules::Rules;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode};

/// The silence after which the guard removes the chains.
const SILENCE: Duration = Duration::from_millis(1000);
/// The priority under SCHED_FIFO, if permitted: a late timer delays a burst.
const PRIORITY: i32 = 40;
/// The maximum timer slack in nanoseconds; the default is 50 us (prctl(2), PR_SET_TIMERSLACK).
const TIMER_SLACK: u64 = 1000;

/// Runs `netlulld client`.
///
/// # Errors
/// If the device does not exist or has another daemon, a right is missing, or a file cannot be written.
pub fn command(arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Command::Run(run) => self::run(&run),
        Command::Compare(options) => compare::compare(&options),
        Command::Restore(device) => {
            // Held until the end of the restoration.
            let _held = lock_of(&device)?.hold_to_restore()?;
            let index = if_nametoindex(device.dev.as_str()).unwrap_or(0);
            tell(format_args!("{}: {} chains removed", device.dev, rules_of(&device, index).remove()?))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Status(device) => status(&device),
        Command::Watch(device) => {
            let lock = lock_of(&device)?;
            // The daemon reports what this kernel lacks.
            let _missing = confine(&[], None)?;
            guard::watch(SILENCE, &mut Changed { rules: rules_of(&device, 0), lock })?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn rules_of(device: &Device, index: u32) -> Rules {
    Rules::new(&device.dev, first_queue(index))
}

/// The first of a device's two queues. A queue belongs to a network namespace.
fn first_queue(index: u32) -> u16 {
    20_000 + u16::try_from(index % 20_000).unwrap_or(0) * 2
}

fn lock_of(device: &Device) -> Result<DeviceLock> {
    DeviceLock::new("client", &device.dev, &device.dev)
}

fn status(device: &Device) -> Result<ExitCode> {
    let index = if_nametoindex(device.dev.as_str()).unwrap_or(0);
    let lock = lock_of(device)?;
    let holder = lock.holder()?;
    let chains = if rules_of(device, index).are_installed()? { "installed" } else { "not installed" };
    let Some(holder) = holder else {
        tell(format_args!("{}: no daemon; chains are {chains}", device.dev))?;
        return Ok(ExitCode::from(exit::NO));
    };
    tell(format_args!("{}: {holder}; chains are {chains}", device.dev))?;
    if let Ok(state) = std::fs::read_to_string(lock.state()) {
        tell(state)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The lock of iptables, which creates it before the daemon is confined.
const LOCK_OF_IPTABLES: &str = "/run/xtables.lock";
/// The input and output of a program without any.
const NOTHING: &str = "/dev/null";

/// Gives up all rights but those of a running daemon and its guard: to give verdicts, to start iptables and to remove
/// the state. `more` are further capabilities, `record` is the file of the recordings.
fn confine(more: &[Capability], record: Option<&Path>) -> Result<Vec<&'static str>> {
    let mut capabilities = vec![Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];
    capabilities.extend(more);
    let mut writable: Vec<_> = [DIRECTORY, LOCK_OF_IPTABLES, NOTHING].map(Path::new).into();
    let here = Path::new(".");
    let folder = |file: &'_ Path| file.parent().filter(|folder| *folder != Path::new("")).map(Path::to_owned);
    let folder = record.map(|file| folder(file).unwrap_or_else(|| here.to_owned()));
    writable.extend(folder.as_deref());
    let confinement =
        Confinement { capabilities: &capabilities, programs: Programs::OfSystem, readable: Vec::new(), writable };
    confinement.enter()
}

/// The daemon and its changes.
struct Running<'a> {
    run: &'a Run,
    index: u32,
    lock: DeviceLock,
    held: Held,
    /// The open file of the report.
    report: Option<File>,
    rules: Rules,
    guard: Option<Guard>,
    path: Datapath,
    signals: SignalFd,
    child: Option<Child>,
}

/// The reason why a daemon ends.
enum End {
    Asked,
    Time,
    Command(ExitCode),
    DeviceGone,
}

fn run(run: &Run) -> Result<ExitCode> {
    let device = &run.device;
    let index = if_nametoindex(device.dev.as_str())
        .map_err(|error| LiveError::system(format!("--dev {}: no such device", device.dev), error))?;
    let config = run.station()?;
    // Unwritable files are reported before any shaping.
    let open = |file: &PathBuf| {
        let opened = OpenOptions::new().create(true).write(true).truncate(false).open(file);
        opened.map_err(|error| LiveError::system(format!("writing {}", file.display()), error))
    };
    run.record.as_ref().map(open).transpose()?;
    let report = run.report.as_ref().map(open).transpose()?;
    let lock = lock_of(device)?;
    let held = lock.hold()?;
    let rules = rules_of(device, index);
    rules.remove()?;
    // Before the start of the threads that write recordings: a signal goes to any thread that does not block it.
    let signals = take_signals(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGCHLD])?;
    let clock = Clock::start();
    let start = clock.now();
    let access = config.access_point().map(|access| access_point(access, run, start)).transpose()?;
    let station = LiveStation::new(config, start, run.record.as_deref())?;
    let queue = first_queue(index);
    let queues = [
        Queue::bind(queue, run.queue, Copied::AsNeeded { verified: 0 })?,
        Queue::bind(queue + 1, run.queue, Copied::Whole)?,
    ];
    let path = Datapath::new(clock, station, queues, RawSender::open(&device.dev)?, access);
    // A failure is harmless: the kernel keeps its slack of 50 us.
    let _ = nix::sys::prctl::set_timerslack(TIMER_SLACK);
    let guard = Some(start_guard(device, &held)?);
    let mut running = Running { run, index, lock, held, report, rules, guard, path, signals, child: None };
    let served = running.rules.install().and_then(|()| running.serve());
    let finished = running.finish();
    let end = served?;
    running.tell(finished?, end)
}

fn start_guard(device: &Device, held: &Held) -> Result<Guard> {
    // The guard holds the lock, too, so a second daemon starts only after the first one's changes are undone.
    Guard::start(&["client", "watch", "--dev", &device.dev], held.for_guard()?)
}

/// The rules and files that a guard removes.
struct Changed {
    rules: Rules,
    lock: DeviceLock,
}

impl Guarded for Changed {
    fn ease(&mut self) {
        match self.rules.remove() {
            Ok(_) => say(format_args!("no heartbeat for {SILENCE}: packets bypass the daemon")),
            Err(error) => say(format_args!("no heartbeat for {SILENCE}, and the chains cannot be removed: {error}")),
        }
    }

    fn undo(&mut self) -> Result<()> {
        self.rules.remove()?;
        let _ = std::fs::remove_file(self.lock.state());
        self.lock.remove();
        Ok(())
    }
}

/// The access point of a radio that needs one.
fn access_point(config: &AccessPointConfig, run: &Run, start: Instant) -> Result<Access> {
    let tape = run.record.as_ref().map(|file| {
        let mut name = file.as_os_str().to_owned();
        name.push(".access-point");
        PathBuf::from(name)
    });
    Access::new(config, run.air_rate, start, tape.as_deref())
}

impl Running<'_> {
    /// Runs the loop until it must end.
    fn serve(&mut self) -> Result<End> {
        if let Some((program, arguments)) = self.run.run.split_first() {
            let mut command = std::process::Command::new(program);
            let child = unblock_signals(command.args(arguments)).spawn();
            self.child = Some(child.map_err(|error| LiveError::system(program, error))?);
        }
        // After the start of the command, which inherits the scheduling. Without the right, ordinary scheduling
        // remains.
        let _ = run_in_real_time(PRIORITY);
        self.confine()?;
        let over = self.run.lasting.map_or(Instant::NEVER, |lasting| self.path.now() + lasting);
        let mut beat = self.path.now();
        let mut written = beat;
        loop {
            if self.path.wait((beat + BEAT).min(over), &self.signals)? == Woken::Signal
                && let Some(end) = self.signalled()?
            {
                return Ok(end);
            }
            self.path.turn();
            let now = self.path.now();
            if now >= over {
                return Ok(End::Time);
            }
            if now >= beat + BEAT {
                beat = now;
                if if_nametoindex(self.run.device.dev.as_str()) != Ok(self.index) {
                    return Ok(End::DeviceGone);
                }
                self.beat()?;
            }
            if now >= written + Duration::from_secs(1) {
                written = now;
                self.write_state(now);
            }
        }
    }

    /// Gives up all rights that neither the loop nor the end needs.
    fn confine(&self) -> Result<()> {
        let mut more = Vec::new();
        // Recordings are files of their own, possibly in a folder of another user.
        more.extend(self.run.record.as_ref().map(|_| Capability::CAP_DAC_OVERRIDE));
        // The command ends with the daemon, as whatever user it runs.
        more.extend(self.child.as_ref().map(|_| Capability::CAP_KILL));
        confine(&more, self.run.record.as_deref())?.into_iter().for_each(say);
        Ok(())
    }

    fn signalled(&mut self) -> Result<Option<End>> {
        while let Some(signal) = self.signals.read_signal().map_err(|error| LiveError::system("signals", error))? {
            if signal.ssi_signo == Signal::SIGCHLD as u32 {
                let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
                if let Some(status) = ended {
                    self.child = None;
                    let code = status
                        .code()
                        .and_then(|code| u8::try_from(code).ok())
                        .map_or(ExitCode::FAILURE, ExitCode::from);
                    return Ok(Some(End::Command(code)));
                }
            } else {
                return Ok(Some(End::Asked));
            }
        }
        Ok(None)
    }

    /// Sends a heartbeat to the guard. If the guard has removed the rules or died, installs them again.
    fn beat(&mut self) -> Result<()> {
        match self.guard.as_mut().map(Guard::beat) {
            Some(Ok(Heard::Nothing)) => Ok(()),
            Some(Ok(Heard::Eased)) => {
                self.rules.install()?;
                say(format_args!(
                    "was suspended for more than {SILENCE}; the chains were removed and are installed again"
                ));
                Ok(())
            }
            Some(Err(error)) => {
                self.guard.take().into_iter().for_each(Guard::dismiss);
                self.guard = Some(start_guard(&self.run.device, &self.held)?);
                self.rules.install()?;
                say(format_args!("{error}; a new guard was started"));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Writes the state for `netlulld client status`, without the host's peers; ignores failures.
    fn write_state(&mut self, now: Instant) {
        let report = StationReport { downloads: Vec::new(), ..self.path.report(now) };
        if let Ok(text) = serde_json::to_string_pretty(&report) {
            let _ = write_private(&self.lock.state(), &text);
        }
    }

    /// Undoes all changes and returns the report.
    fn finish(&mut self) -> Result<StationReport> {
        let removed = self.rules.remove();
        let finished = self.path.finish();
        let _ = std::fs::remove_file(self.lock.state());
        // A guard that is not dismissed tries again to remove the chains.
        if removed.is_ok()
            && let Some(guard) = self.guard.take()
        {
            guard.dismiss();
            self.held.guard_has_ended();
        }
        if let Some(mut child) = self.child.take() {
            // The command ends with the daemon.
            let _ = child.kill();
            let _ = child.wait();
        }
        finished?;
        removed?;
        let now = self.path.now();
        Ok(self.path.report(now))
    }

    fn tell(&self, report: StationReport, end: End) -> Result<ExitCode> {
        let _ = write!(std::io::stderr(), "{}", table::table(&report));
        if let (Some(file), Some(mut written)) = (&self.run.report, self.report.as_ref()) {
            let cannot = |error: String| LiveError::system(file.display(), error);
            let text = serde_json::to_string_pretty(&report).map_err(|error| cannot(error.to_string()))?;
            // A pipe has no length.
            let is_file = written.metadata().is_ok_and(|found| found.is_file());
            let emptied = if is_file { written.set_len(0) } else { Ok(()) };
            let write = emptied.and_then(|()| written.write_all((text + "\n").as_bytes()));
            write.map_err(|error| cannot(error.to_string()))?;
        }
        Ok(match end {
            End::Asked | End::Time => ExitCode::SUCCESS,
            End::Command(code) => code,
            End::DeviceGone => {
                say(format_args!("--dev {}: the device is gone; the daemon ends", self.run.device.dev));
                ExitCode::SUCCESS
            }
        })
    }
}
