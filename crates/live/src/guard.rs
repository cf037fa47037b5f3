//! A process beside a daemon that puts back what the daemon has changed, when that dies or hangs.
//!
//! ```text
//!   daemon ── a byte each beat ──► guard: silent for too long, or the pipe is closed ──► runs the restoring command, and ends
//!          ── FAREWELL ──────────►        ends
//! ```
//!
//! It holds the daemon's lock, too, so that a second daemon begins only when the first one's changes are gone.

use crate::error::{LiveError, Result};
use netlull_units::Duration;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};

/// The byte that says that there is nothing to put back.
const FAREWELL: u8 = b'q';
/// The byte of a beat.
const BEAT: u8 = b'.';

/// A guard, as its daemon sees it.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    pipe: ChildStdin,
}

/// Whether a guard was there to hear a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It was.
    Yes,
    /// It has ended, since it heard nothing for too long: what the daemon had changed is put back.
    No,
}

impl Guard {
    /// Starts a guard that runs this program with the arguments `restore` once it has heard nothing for `silence`, or the daemon is gone. `lock` is
    /// held by both.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub fn start(silence: Duration, lock: &File, restore: &[String]) -> Result<Self> {
        let cannot = |error| LiveError::system("starting the guard", error);
        let mut child = Command::new("/proc/self/exe")
            .args(["guard", "--silence", &format!("{} ms", silence.as_nanos() / 1_000_000), "--"])
            .args(restore)
            .stdin(Stdio::piped())
            .stdout(lock.try_clone().map_err(cannot)?)
            .process_group(0)
            .spawn()
            .map_err(cannot)?;
        let pipe = child.stdin.take().ok_or_else(|| LiveError::new("starting the guard: it has no pipe"))?;
        Ok(Self { child, pipe })
    }

    /// The daemon is alive. To be called from the loop that must not hang, several times within the silence.
    pub fn beat(&mut self) -> Heard {
        match self.pipe.write(&[BEAT]) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Heard::No,
            _ => Heard::Yes,
        }
    }

    /// The daemon has put everything back itself.
    pub fn dismiss(mut self) {
        // A guard that has ended has nothing to do either.
        let _ = self.pipe.write(&[FAREWELL]);
        drop(self.pipe);
        let _ = self.child.wait();
    }

    /// The daemon knows that the guard has ended.
    pub fn bury(mut self) {
        drop(self.pipe);
        let _ = self.child.wait();
    }
}

/// `netlulld guard`: listens to beats on its standard input.
///
/// # Errors
/// If standard input cannot be read, or the restoring command cannot be run.
pub fn watch(silence: Duration, restore: &[String]) -> Result<ExitCode> {
    let mut beats = std::io::stdin();
    let millis = u16::try_from(silence.as_nanos() / 1_000_000).unwrap_or(u16::MAX);
    let mut bytes = [0; 4096];
    loop {
        let mut fds = [PollFd::new(beats.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(millis)) {
            Ok(0) => {
                eprintln!("netlulld guard: nothing heard for {silence}: restoring");
                break;
            }
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(LiveError::system("listening to the daemon", error)),
        }
        match beats.read(&mut bytes) {
            Ok(0) => {
                eprintln!("netlulld guard: the daemon is gone: restoring");
                break;
            }
            Ok(read) if bytes[..read].contains(&FAREWELL) => return Ok(ExitCode::SUCCESS),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(LiveError::system("listening to the daemon", error)),
        }
    }
    let restored = Command::new("/proc/self/exe").args(restore).stdout(Stdio::null()).stdin(Stdio::null()).status();
    let restored = restored.map_err(|error| LiveError::system("restoring", error))?;
    Ok(if restored.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
