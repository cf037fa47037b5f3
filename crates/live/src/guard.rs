//! A guard process next to a daemon. It limits the harm of the daemon's changes when the daemon hangs, and undoes them
//! when it dies.
//!
//! ```text
//!   daemon ── a byte each beat ──────► guard     silent for too long: eases once    ── a byte ──► daemon: apply changes again
//!          ── FAREWELL ──────────────►           ends
//!          ── end of the stream ─────►           the daemon is gone: undoes everything and ends
//! ```
//!
//! The guard has its own session, so signals to the terminal's processes do not kill it.

use crate::error::{LiveError, Result};
use netlull_units::Duration;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv, send};
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// The byte of a heartbeat.
const BEAT: u8 = b'.';
/// The daemon's last byte: nothing is left to undo.
const FAREWELL: u8 = b'q';
/// The guard's message that it has eased the changes.
const EASED: u8 = b'e';

/// The changes of a daemon, as its guard limits and undoes them.
pub trait Guarded {
    /// Suspends harmful changes because the daemon hangs. The daemon may recover, and then applies them again.
    fn ease(&mut self);

    /// Undoes all changes because the daemon is gone.
    ///
    /// # Errors
    /// If a change cannot be undone.
    fn undo(&mut self) -> Result<()>;
}

/// The daemon's handle of its guard.
#[derive(Debug)]
pub struct Guard {
    stream: UnixStream,
    child: Child,
    eased: u64,
}

/// A message from the guard to its daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// No new message.
    Nothing,
    /// The daemon was silent for too long and the guard has eased its changes: the daemon must apply them again.
    Eased,
}

impl Guard {
    /// Starts this program with arguments that lead it to [`watch`]. `holds` becomes its standard output: a lock that
    /// the guard keeps for its lifetime, or nothing.
    ///
    /// # Errors
    /// If the guard cannot be started.
    pub fn start<A: AsRef<OsStr>>(arguments: &[A], holds: Stdio) -> Result<Self> {
        let cannot = |error: std::io::Error| LiveError::system("starting the guard", error);
        let (stream, other) = UnixStream::pair().map_err(cannot)?;
        stream.set_nonblocking(true).map_err(cannot)?;
        let child = Command::new("/proc/self/exe")
            .args(arguments)
            .stdin(Stdio::from(OwnedFd::from(other)))
            .stdout(holds)
            .spawn()
            .map_err(cannot)?;
        Ok(Self { stream, child, eased: 0 })
    }

    /// Sends a heartbeat and reads the guard's messages. Call it from the loop that must not hang, several times within
    /// the allowed silence.
    ///
    /// # Errors
    /// If the guard is gone.
    pub fn beat(&mut self) -> Result<Heard> {
        let gone = |error| LiveError::system("the guard is gone", error);
        let descriptor = self.stream.as_raw_fd();
        match send(descriptor, &[BEAT], MsgFlags::MSG_NOSIGNAL) {
            // The guard has not read the last hundreds of bytes: it hangs, but its end remains detectable.
            Ok(_) | Err(Errno::EAGAIN) => {}
            Err(error) => return Err(gone(error)),
        }
        let mut said = [0; 64];
        match recv(descriptor, &mut said, MsgFlags::empty()) {
            Ok(0) => Err(gone(Errno::EPIPE)),
            Ok(count) => {
                self.eased += count as u64;
                Ok(Heard::Eased)
            }
            Err(Errno::EAGAIN) => Ok(Heard::Nothing),
            Err(error) => Err(gone(error)),
        }
    }

    /// The number of times that the guard has eased the changes.
    #[must_use]
    pub fn eased(&self) -> u64 {
        self.eased
    }

    /// Ends the guard after the daemon has undone all of its changes.
    pub fn dismiss(mut self) {
        // A guard that has already ended needs no farewell.
        let _ = send(self.stream.as_raw_fd(), &[FAREWELL], MsgFlags::MSG_NOSIGNAL);
        drop(self.stream);
        let _ = self.child.wait();
    }
}

/// Runs the guard on the stream at its standard input. It returns after the daemon's farewell, or when the daemon is
/// gone and all changes are undone.
///
/// # Errors
/// If the guard cannot listen, or a change cannot be undone.
pub fn watch(silence: Duration, guarded: &mut impl Guarded) -> Result<()> {
    // Fails only for the leader of a process group, and a new child is not one.
    let _ = nix::unistd::setsid();
    listen(&std::io::stdin(), silence, guarded)
}

fn listen(stream: &(impl AsFd + AsRawFd), silence: Duration, guarded: &mut impl Guarded) -> Result<()> {
    let cannot = |error: Errno| LiveError::system("listening to the daemon", error);
    let patience = PollTimeout::from(u16::try_from(silence.as_nanos() / 1_000_000).unwrap_or(u16::MAX));
    let mut timeout = patience;
    loop {
        let mut fds = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, timeout) {
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(cannot(error)),
            Ok(0) => {
                timeout = PollTimeout::NONE;
                guarded.ease();
                let _ = send(stream.as_raw_fd(), &[EASED], MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT);
                continue;
            }
            Ok(_) => {}
        }
        let mut said = [0; 256];
        match nix::unistd::read(stream.as_fd(), &mut said) {
            Ok(0) | Err(Errno::ECONNRESET) => return guarded.undo(),
            Ok(count) if said[..count].contains(&FAREWELL) => return Ok(()),
            Ok(_) => timeout = patience,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(cannot(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[derive(Debug, Default, PartialEq, Eq)]
    struct Done {
        eased: u32,
        undone: u32,
    }

    impl Guarded for Done {
        fn ease(&mut self) {
            self.eased += 1;
        }

        fn undo(&mut self) -> Result<()> {
            self.undone += 1;
            Ok(())
        }
    }

    /// Counts the guard's actions while a daemon uses its end of the stream.
    fn guarded(silence: Duration, daemon: impl FnOnce(UnixStream)) -> Done {
        let (stream, other) = UnixStream::pair().unwrap();
        let guard = std::thread::spawn(move || {
            let mut done = Done::default();
            listen(&other, silence, &mut done).unwrap();
            done
        });
        daemon(stream);
        guard.join().unwrap()
    }

    #[test]
    fn a_daemon_that_takes_its_leave_has_undone_everything_itself() {
        let done = guarded(Duration::from_secs(60), |mut stream| stream.write_all(&[BEAT, BEAT, FAREWELL]).unwrap());
        assert_eq!(done, Done::default());
    }

    #[test]
    fn a_daemon_that_dies_is_undone() {
        let done = guarded(Duration::from_secs(60), |mut stream| stream.write_all(&[BEAT]).unwrap());
        assert_eq!(done, Done { eased: 0, undone: 1 });
    }

    #[test]
    fn a_daemon_that_hangs_is_eased_once_each_time_and_told() {
        let done = guarded(Duration::from_millis(20), |mut stream| {
            let mut said = [0];
            for _ in 0..2 {
                stream.read_exact(&mut said).unwrap();
                assert_eq!(said, [EASED]);
                stream.write_all(&[BEAT]).unwrap();
            }
            stream.read_exact(&mut said).unwrap();
        });
        assert_eq!(done, Done { eased: 3, undone: 1 });
    }
}
