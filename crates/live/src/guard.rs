//! A process beside a daemon that keeps what the daemon has changed from doing harm when the daemon hangs, and undoes it when the daemon dies.
//!
//! ```text
//!   daemon ── a byte each beat ──────► guard     silent for too long: eased, once   ── a byte ──► daemon: do yours again
//!          ── FAREWELL ──────────────►           ends
//!          ── the end of the stream ─►           the daemon is gone: everything is undone, the guard ends
//! ```
//!
//! It has a session of its own, so that what kills a terminal's processes does not kill it.

use crate::error::{LiveError, Result};
use netlull_units::Duration;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv, send};
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// The byte of a beat.
const BEAT: u8 = b'.';
/// What the daemon sends last: there is nothing left to undo.
const FAREWELL: u8 = b'q';
/// What the guard says when it has eased.
const EASED: u8 = b'e';

/// What a guard can do about the changes of its daemon.
pub trait Guarded {
    /// The daemon hangs: what does harm while nobody attends to it ends. The daemon may go on, and will then do it again.
    fn ease(&mut self);

    /// The daemon is gone: everything is undone.
    ///
    /// # Errors
    /// If something cannot be undone.
    fn undo(&mut self) -> Result<()>;
}

/// A guard, as its daemon sees it.
#[derive(Debug)]
pub struct Guard {
    stream: UnixStream,
    child: Child,
    eased: u64,
}

/// What a daemon hears from its guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing new.
    Nothing,
    /// The daemon was silent for too long, and the guard has eased what it does: it is to be done again.
    Eased,
}

impl Guard {
    /// Starts this program with these arguments, by which it comes to [`watch`]. `holds` is its standard output: a lock that it keeps for as
    /// long as it lives, or nothing.
    ///
    /// # Errors
    /// If it cannot be started.
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

    /// The daemon is alive, and listens. To be called from the loop that must not hang, several times within the silence.
    ///
    /// # Errors
    /// If the guard is gone.
    pub fn beat(&mut self) -> Result<Heard> {
        let gone = |error| LiveError::system("the guard is gone", error);
        let descriptor = self.stream.as_raw_fd();
        match send(descriptor, &[BEAT], MsgFlags::MSG_NOSIGNAL) {
            // It has not read the last hundreds: it hangs, but its end is still to be seen.
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

    /// How often it has eased.
    #[must_use]
    pub fn eased(&self) -> u64 {
        self.eased
    }

    /// The guard may go: everything is as it was.
    pub fn dismiss(mut self) {
        // A guard that has ended has nothing to do either.
        let _ = send(self.stream.as_raw_fd(), &[FAREWELL], MsgFlags::MSG_NOSIGNAL);
        drop(self.stream);
        let _ = self.child.wait();
    }
}

/// The guard's part, whose standard input is the stream: until the daemon has taken its leave, or is gone and everything is undone.
///
/// # Errors
/// If it cannot listen, or something cannot be undone.
pub fn watch(silence: Duration, guarded: &mut impl Guarded) -> Result<()> {
    // It fails for the leader of a group only, which a child just started is not.
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

    /// What a guard does while the daemon does this, with the daemon's end of the stream.
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
