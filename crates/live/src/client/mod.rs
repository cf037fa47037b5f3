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
mod daemon;
mod message;
mod outgoing;
mod queue;
mod raw;
mod rules;
mod table;

pub use arguments::Arguments;

use crate::clock::Clock;
use crate::error::{LiveError, Result, say, tell};
use crate::guard::{self, Guard, Guarded, Heard};
use crate::station::{LiveStation, StationReport};
use crate::system::{run_in_real_time, take_signals, unblock_signals};
use access::Access;
use arguments::{Command, Device, Run};
use daemon::{BEAT, Datapath, Woken};
use netlull_mechanism::radio::AccessPointConfig;
use netlull_units::{Duration, Instant};
use nix::net::if_::if_nametoindex;
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use queue::{Copied, Queue};
use raw::RawSender;
use rules::Rules;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode};

/// The directory of locks and states.
const RUN: &str = "/run/netlull";
/// The silence after which the guard removes the chains.
const SILENCE: Duration = Duration::from_millis(1000);
/// The time that a start waits for another daemon's guard to restore.
const PATIENCE: Duration = Duration::from_secs(3);
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
        Command::Restore(device) => {
            if let Some(pid) = held_by(&device)? {
                let what = format!("--dev {}: process {pid} shapes it", device.dev);
                return Err(LiveError::new(format!("{what}; end the process to remove its chains")));
            }
            let index = if_nametoindex(device.dev.as_str()).unwrap_or(0);
            tell(format_args!("{}: {} chains removed", device.dev, rules_of(&device, index).remove()))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Status(device) => status(&device),
        Command::Watch(device) => {
            guard::watch(SILENCE, &mut Changed(rules_of(&device, 0)))?;
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

/// The path of a device's file in this network namespace.
fn file_of(device: &Device, what: &str) -> Result<PathBuf> {
    let namespace =
        std::fs::metadata("/proc/self/ns/net").map_err(|error| LiveError::system("/proc/self/ns/net", error))?;
    Ok(Path::new(RUN).join(format!("client-{}-{}.{what}", namespace.ino(), device.dev)))
}

/// Locks a device: one daemon at a time. A restoring guard holds the lock slightly longer than its daemon.
fn lock(device: &Device) -> Result<File> {
    let path = file_of(device, "lock")?;
    let cannot = |error| LiveError::system(path.display(), error);
    std::fs::create_dir_all(RUN).map_err(cannot)?;
    let mut file =
        OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&path).map_err(cannot)?;
    let clock = Clock::start();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let mut pid = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut pid)).map_err(cannot)?;
        let pid = pid.trim();
        if Path::new("/proc").join(pid).exists() && !pid.is_empty() || clock.now() > Instant::ZERO + PATIENCE {
            return Err(LiveError::new(format!(
                "--dev {}: process {pid} shapes it already; expected a device without a daemon",
                device.dev
            )));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    file.set_len(0).and_then(|()| file.rewind()).map_err(cannot)?;
    writeln!(file, "{}", std::process::id()).map_err(cannot)?;
    Ok(file)
}

/// The pid of a device's daemon, if it is alive.
fn held_by(device: &Device) -> Result<Option<String>> {
    let path = file_of(device, "lock")?;
    let held = File::open(&path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
    let pid = std::fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
    Ok((held && !pid.is_empty() && Path::new("/proc").join(&pid).exists()).then_some(pid))
}

fn status(device: &Device) -> Result<ExitCode> {
    let index = if_nametoindex(device.dev.as_str()).unwrap_or(0);
    let chains = if rules_of(device, index).are_installed() { "installed" } else { "not installed" };
    let lock = file_of(device, "lock")?;
    let held = File::open(&lock).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
    if !held {
        tell(format_args!("{}: no daemon; chains are {chains}", device.dev))?;
        return Ok(ExitCode::from(3));
    }
    let pid = std::fs::read_to_string(&lock).unwrap_or_default();
    tell(format_args!("{}: process {}; chains are {chains}", device.dev, pid.trim()))?;
    if let Ok(state) = std::fs::read_to_string(file_of(device, "state")?) {
        tell(state)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The daemon and its changes.
struct Running<'a> {
    run: &'a Run,
    index: u32,
    lock: File,
    rules: Rules,
    guard: Option<Guard>,
    path: Datapath,
    signals: SignalFd,
    child: Option<Child>,
    state: PathBuf,
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
    for file in [&run.record, &run.report].into_iter().flatten() {
        let opened = OpenOptions::new().create(true).append(true).open(file);
        opened.map_err(|error| LiveError::system(format!("writing {}", file.display()), error))?;
    }
    let lock = lock(device)?;
    let rules = rules_of(device, index);
    rules.remove();
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
    let guard = Some(start_guard(device, &lock)?);
    let state = file_of(device, "state")?;
    let mut running = Running { run, index, lock, rules, guard, path, signals, child: None, state };
    let served = running.rules.install().and_then(|()| running.serve());
    let finished = running.finish();
    let end = served?;
    running.tell(finished?, end)
}

fn start_guard(device: &Device, lock: &File) -> Result<Guard> {
    // The guard holds the lock, too, so a second daemon starts only after the first one's changes are undone.
    let lock = lock.try_clone().map_err(|error| LiveError::system("starting the guard", error))?;
    Guard::start(&["client", "watch", "--dev", &device.dev], lock.into())
}

/// The rules that a guard removes.
struct Changed(Rules);

impl Guarded for Changed {
    fn ease(&mut self) {
        self.0.remove();
        say(format_args!("no heartbeat for {SILENCE}: packets bypass the daemon"));
    }

    fn undo(&mut self) -> Result<()> {
        self.0.remove();
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
                self.guard = Some(start_guard(&self.run.device, &self.lock)?);
                self.rules.install()?;
                say(format_args!("{error}; a new guard was started"));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Writes the state for `netlulld client status`; ignores failures.
    fn write_state(&mut self, now: Instant) {
        let report = self.path.report(now);
        if let Ok(text) = serde_json::to_string_pretty(&report) {
            let _ = std::fs::write(&self.state, text);
        }
    }

    /// Undoes all changes and returns the report.
    fn finish(&mut self) -> Result<StationReport> {
        self.rules.remove();
        let finished = self.path.finish();
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
        let _ = std::fs::remove_file(&self.state);
        if let Some(mut child) = self.child.take() {
            // The command ends with the daemon.
            let _ = child.kill();
            let _ = child.wait();
        }
        finished?;
        let now = self.path.now();
        Ok(self.path.report(now))
    }

    fn tell(&self, report: StationReport, end: End) -> Result<ExitCode> {
        let _ = write!(std::io::stderr(), "{}", table::table(&report));
        if let Some(file) = &self.run.report {
            let cannot = |error: String| LiveError::system(file.display(), error);
            let text = serde_json::to_string_pretty(&report).map_err(|error| cannot(error.to_string()))?;
            std::fs::write(file, text + "\n").map_err(|error| cannot(error.to_string()))?;
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
