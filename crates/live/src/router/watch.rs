//! The watch: a process beside the daemon that raises a lowered rate when the daemon hangs, and undoes everything when it dies.
//!
//! ```text
//!   daemon ── a byte every 20 ms ──► watch      silent for 200 ms: the rate is raised, once     ── a byte ──► daemon: set yours again
//!          ── the end of the stream ──►         the daemon is gone: what stood before is put back, the watch ends
//! ```
//!
//! It has a session of its own, so that what kills a terminal's processes does not kill it.

use super::qdisc;
use super::state::{Held, Place, Restored};
use crate::error::{LiveError, Result};
use crate::netlink::Socket;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv, send};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// A daemon that has been silent for so long hangs, in milliseconds.
pub const SILENCE: u16 = 200;

/// What the daemon sends.
const ALIVE: u8 = b'.';
/// What the daemon sends last: there is nothing left to undo.
const DONE: u8 = b'd';

/// The daemon's end.
#[derive(Debug)]
pub struct Watched {
    stream: UnixStream,
    child: Child,
    raised: u64,
}

impl Watched {
    /// Starts the watch of a device; it reads what to undo from the place's file.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(place: &Place, device: &str) -> Result<Self> {
        let cannot = |error: std::io::Error| LiveError::system("starting the watch", error);
        let (stream, other) = UnixStream::pair().map_err(cannot)?;
        stream.set_nonblocking(true).map_err(cannot)?;
        let child = Command::new("/proc/self/exe")
            .args(["router", "watch", "--dev", device, "--state"])
            .arg(place.directory())
            .stdin(Stdio::from(OwnedFd::from(other)))
            .stdout(Stdio::null())
            .spawn()
            .map_err(cannot)?;
        Ok(Self { stream, child, raised: 0 })
    }

    /// Says that all is well, and listens: whether the watch has raised the rate since, so that it is to be set again.
    ///
    /// # Errors
    /// If the watch is gone.
    pub fn alive(&mut self) -> Result<bool> {
        let gone = |error| LiveError::system("the watch is gone", error);
        let descriptor = self.stream.as_raw_fd();
        match send(descriptor, &[ALIVE], MsgFlags::MSG_NOSIGNAL) {
            // It has not read the last hundreds: it hangs, but its end is still to be seen.
            Ok(_) | Err(Errno::EAGAIN) => {}
            Err(error) => return Err(gone(error)),
        }
        let mut said = [0; 64];
        match recv(descriptor, &mut said, MsgFlags::empty()) {
            Ok(0) => Err(gone(Errno::EPIPE)),
            Ok(count) => {
                self.raised += count as u64;
                Ok(true)
            }
            Err(Errno::EAGAIN) => Ok(false),
            Err(error) => Err(gone(error)),
        }
    }

    /// How often it has raised the rate.
    #[must_use]
    pub fn raised(&self) -> u64 {
        self.raised
    }

    /// The watch may go: everything is as it was.
    pub fn dismiss(mut self) {
        let _ = send(self.stream.as_raw_fd(), &[DONE], MsgFlags::MSG_NOSIGNAL);
        drop(self.stream);
        let _ = self.child.wait();
    }
}

/// `netlulld router watch`, which the daemon starts: standard input is the stream.
///
/// # Errors
/// If there is nothing to watch over, or what stood before cannot be put back.
pub fn watch(place: &Place) -> Result<()> {
    // It fails for the leader of a group only, which a child just started is not.
    let _ = nix::unistd::setsid();
    let saved = place.load()?.ok_or_else(|| {
        LiveError::new(format!("{} does not exist; expected the state of a running instance", place.saved().display()))
    })?;
    let mut socket = Socket::open()?;
    let input = std::io::stdin();
    let mut hangs = false;
    loop {
        let timeout = if hangs { PollTimeout::NONE } else { PollTimeout::from(SILENCE) };
        let mut wait = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
        match poll(&mut wait, timeout) {
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(LiveError::system("watching", error)),
            Ok(0) => {
                hangs = true;
                match qdisc::change(&mut socket, saved.device.index, saved.bucket) {
                    Ok(()) => eprintln!("netlulld: {} hangs: full rate", saved.device.name),
                    // Somebody else's queue, or no device: nothing is lowered.
                    Err(error) => eprintln!("netlulld: {} hangs, its queue is gone: {error}", saved.device.name),
                }
                let _ = send(input.as_raw_fd(), b"r", MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT);
                continue;
            }
            Ok(_) => {}
        }
        let mut said = [0; 256];
        match nix::unistd::read(input.as_fd(), &mut said) {
            Ok(0) | Err(Errno::ECONNRESET) => break,
            Ok(count) if said[..count].contains(&DONE) => return Ok(()),
            Ok(_) => hangs = false,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(LiveError::system("watching", error)),
        }
    }
    let Some(_held) = inherit(place) else { return Ok(()) };
    if place.restore(&mut socket)? == Restored::Queue {
        eprintln!("netlulld: the instance of {} has died: its queue is as it was before", saved.device.name);
    }
    Ok(())
}

/// Takes the device of a daemon that is dying: its lock may outlive its end of the stream by a moment. Not if a new instance has it, which
/// has undone everything already, or will.
fn inherit(place: &Place) -> Option<Held> {
    (0..100).find_map(|_| {
        let held = place.hold().ok();
        if held.is_none() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        held
    })
}
