//! A queue of packets that wait for a verdict (NFQUEUE).

use super::message::{Fate, Incoming, Requests, read};
use crate::error::{LiveError, Result};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, setsockopt, socket,
    sockopt,
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// How many bytes of packets the socket holds: more than a burst of any window that Linux opens by itself.
const RECEIVE_BUFFER: usize = 8 << 20;
/// How many packets wait for a verdict at most; what comes beyond that goes on unseen.
const MOST: u32 = 8192;
/// So many bytes of verdicts go to the kernel at once, at the latest.
const BLOCK: usize = 16 * 1024;

/// A queue. Verdicts reach the kernel in their order, at [`flush`](Self::flush) or when many have come together.
#[derive(Debug)]
pub(super) struct Queue {
    socket: OwnedFd,
    number: u16,
    requests: Requests,
    /// All up to this one go on: not yet in `requests`.
    accepted: Option<u32>,
    /// How many packets are kept back.
    held: usize,
}

impl Queue {
    /// # Errors
    /// If the kernel knows no such queues, or another process has this one.
    pub(super) fn bind(number: u16) -> Result<Self> {
        let cannot = |error| LiveError::system(format!("packet queue {number} (NFQUEUE)"), error);
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket =
            socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkNetFilter).map_err(cannot)?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(cannot)?;
        setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).map_err(cannot)?;
        let mut queue = Self { socket, number, requests: Requests::default(), accepted: None, held: 0 };
        queue.requests.bind(number, MOST);
        queue.write();
        let mut buffer = [0; 4096];
        for _ in 0..Requests::BIND_ANSWERS {
            let length = recv(queue.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).map_err(cannot)?;
            match read(&buffer[..length]) {
                Incoming::Answer(0) => {}
                Incoming::Answer(code) => return Err(cannot(Errno::from_raw(-code))),
                Incoming::Packet { .. } | Incoming::Other => {}
            }
        }
        Ok(queue)
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The next packet that waits, if one does: its number and its bytes.
    pub(super) fn receive<'a>(&self, buffer: &'a mut [u8]) -> Option<(u32, &'a mut [u8])> {
        loop {
            match recv(self.socket.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
                Ok(length) => {
                    let message = buffer.get(..length)?;
                    // Answers and what cannot be read are passed over.
                    if let Incoming::Packet { id, at, len } = read(message) {
                        return Some((id, buffer.get_mut(at..at + len)?));
                    }
                }
                // Some did not fit into the socket; the kernel has let them pass.
                Err(Errno::ENOBUFS | Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
    }

    /// It goes on as it is.
    pub(super) fn accept(&mut self, id: u32) {
        if self.held == 0 {
            self.accepted = Some(id);
        } else {
            // All up to this one would take those along that are kept back.
            self.verdict(id, Fate::Accept, None);
        }
    }

    /// It goes on with these bytes.
    pub(super) fn accept_as(&mut self, id: u32, bytes: &[u8]) {
        self.verdict(id, Fate::Accept, Some(bytes));
    }

    pub(super) fn drop_packet(&mut self, id: u32) {
        self.verdict(id, Fate::Drop, None);
    }

    /// It waits until [`let_go`](Self::let_go).
    pub(super) fn hold(&mut self) {
        self.settle();
        self.held += 1;
    }

    /// One that was kept back goes on, with these bytes.
    pub(super) fn let_go(&mut self, id: u32, bytes: &[u8]) {
        self.held = self.held.saturating_sub(1);
        self.requests.verdict(self.number, id, Fate::Accept, Some(bytes));
    }

    fn verdict(&mut self, id: u32, fate: Fate, bytes: Option<&[u8]>) {
        self.settle();
        self.requests.verdict(self.number, id, fate, bytes);
        if self.requests.0.len() >= BLOCK {
            self.write();
        }
    }

    fn settle(&mut self) {
        if let Some(id) = self.accepted.take() {
            self.requests.accept_all_to(self.number, id);
        }
    }

    /// Verdicts reach the kernel.
    pub(super) fn flush(&mut self) {
        self.settle();
        self.write();
    }

    fn write(&mut self) {
        if !self.requests.0.is_empty() {
            // The kernel has no reason to refuse; a packet that is gone with its device needs no verdict.
            let _ = send(self.socket.as_raw_fd(), &self.requests.0, MsgFlags::empty());
            self.requests.0.clear();
        }
    }
}
