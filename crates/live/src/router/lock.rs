//! The lock of a device: one instance at a time in a network namespace, regardless of its state directory.
//!
//! The lock is an abstract Unix socket with the device's index in its name. Such sockets belong to the network
//! namespace, as devices do. They disappear with their process in any case, so nothing needs cleaning up (unix(7)).

use crate::error::{LiveError, Result};
use nix::errno::Errno;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket};
use std::fmt;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// The lock of a device, held while the value exists.
#[derive(Debug)]
pub struct Held {
    index: u32,
    listener: UnixListener,
}

/// The holder of a device's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The pid; `None` if the system does not report it, as for a process in another pid namespace.
    pub pid: Option<i32>,
}

impl Holder {
    /// Whether the holder may be the instance with a pid.
    #[must_use]
    pub fn may_be(self, pid: u32) -> bool {
        self.pid.is_none_or(|own| u32::try_from(own) == Ok(pid))
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "the instance with pid {pid}"),
            None => f.write_str("another instance"),
        }
    }
}

fn name(index: u32) -> String {
    format!("netlull-router-{index}")
}

/// Locks the device with an index in the calling thread's network namespace. `device` is its name for messages.
///
/// # Errors
/// If another instance holds the lock; the message names it.
pub fn hold(device: &str, index: u32) -> Result<Held> {
    let cannot = |error: std::io::Error| LiveError::system(format!("the lock of device \"{device}\""), error);
    let address = SocketAddr::from_abstract_name(name(index)).map_err(cannot)?;
    match UnixListener::bind_addr(&address) {
        Ok(listener) => {
            listener.set_nonblocking(true).map_err(cannot)?;
            Ok(Held { index, listener })
        }
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            // A holder that has just ended or just started does not answer.
            let holder = holder(index)?.unwrap_or(Holder { pid: None });
            Err(LiveError::new(format!("device \"{device}\" is controlled by {holder}; expected no instance")))
        }
        Err(error) => Err(cannot(error)),
    }
}

/// Finds the holder of a device's lock without changing anything.
///
/// # Errors
/// If the system provides no socket.
pub fn holder(index: u32) -> Result<Option<Holder>> {
    let cannot = |error: Errno| LiveError::system(format!("the lock of device {index}"), error);
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let asking = socket(AddressFamily::Unix, SockType::Stream, flags, None).map_err(cannot)?;
    let address = UnixAddr::new_abstract(name(index).as_bytes()).map_err(cannot)?;
    match connect(asking.as_raw_fd(), &address) {
        Ok(()) => {
            // The credentials are those of the listening process.
            let pid = getsockopt(&asking, PeerCredentials).map_err(cannot)?.pid();
            Ok(Some(Holder { pid: Some(pid).filter(|&pid| pid > 0) }))
        }
        Err(Errno::ECONNREFUSED) => Ok(None),
        // The backlog is full: the holder has not accepted connections for a while.
        Err(Errno::EAGAIN) => Ok(Some(Holder { pid: None })),
        Err(error) => Err(cannot(error)),
    }
}

impl Held {
    /// The index of the device.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Accepts and closes the connections of processes that asked for the holder; until then each occupies a slot.
    pub fn dismiss_callers(&self) {
        while self.listener.accept().is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index that no device has.
    fn number(offset: u32) -> u32 {
        u32::MAX - 2 * std::process::id() - offset
    }

    #[test]
    fn one_instance_at_a_time_has_a_device() {
        let index = number(0);
        assert_eq!(holder(index).unwrap(), None);
        let held = hold("eth0", index).unwrap();
        assert_eq!(held.index(), index);
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(holder(index).unwrap(), Some(Holder { pid: Some(own) }));
        let why = hold("eth0", index).unwrap_err().to_string();
        assert_eq!(why, format!("device \"eth0\" is controlled by the instance with pid {own}; expected no instance"));
        assert!(hold("eth1", number(1)).is_ok(), "another device is another matter");
        drop(held);
        assert_eq!(holder(index).unwrap(), None);
        assert!(hold("eth0", index).is_ok());
    }
}
