//! A kernel queue of packets that wait for a verdict (NFQUEUE).

use super::message::{Asked, Fate, Incoming, Requests, WHOLE, read};
use crate::error::{LiveError, Result};
use crate::station::Checksum;
use crate::system::{AT_ONCE, receive_many};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, setsockopt, socket,
    sockopt,
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The socket's receive buffer in bytes: more than a burst of any window that Linux opens by default.
const RECEIVE_BUFFER: usize = 8 << 20;
/// The amount of verdicts in bytes that triggers a write to the kernel.
const BLOCK: usize = 16 * 1024;
/// A message with the largest packet and the kernel's attributes.
const MESSAGE: usize = 66_000;
/// The bytes that contain the headers of any segment of IPv4, and of IPv6 without extension headers.
const HEADERS: u32 = 128;
/// The number of successive packets with verified checksums after which headers suffice.
const TRUSTED_AFTER: u32 = 64;

/// The part of each packet that the kernel copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copied {
    /// The whole packet, because it may be rewritten.
    Whole,
    /// The whole packet, until enough successive packets had verified checksums.
    AsNeeded { verified: u32 },
    /// The headers.
    Headers,
}

impl Copied {
    /// Processes a packet whose `bytes` were delivered. Returns the number of bytes to request from now on, if it
    /// changes.
    fn sees(&mut self, asked: &Asked, bytes: &[u8]) -> Option<u32> {
        let suffices = asked.checksum == Checksum::Verified && headers_are_in_front(bytes);
        match (&mut *self, suffices) {
            (Self::Whole, _) | (Self::Headers, true) => None,
            (Self::AsNeeded { verified }, true) => {
                *verified += 1;
                (*verified >= TRUSTED_AFTER).then(|| {
                    *self = Self::Headers;
                    HEADERS
                })
            }
            (Self::AsNeeded { verified }, false) => {
                *verified = 0;
                None
            }
            (Self::Headers, false) => {
                *self = Self::AsNeeded { verified: 0 };
                Some(WHOLE)
            }
        }
    }
}

/// True if the first [`HEADERS`] bytes contain all headers of a segment: IPv4, or IPv6 whose next header is TCP.
fn headers_are_in_front(bytes: &[u8]) -> bool {
    match bytes.first().map(|byte| byte >> 4) {
        Some(4) => true,
        Some(6) => bytes.get(6) == Some(&6),
        _ => false,
    }
}

/// Packets that were read together.
#[derive(Debug)]
pub(super) struct Batch {
    buffers: Vec<u8>,
    lengths: [usize; AT_ONCE],
    count: usize,
    next: usize,
}

/// A packet that waits for its verdict.
#[derive(Debug)]
pub(super) struct Waiting<'a> {
    /// The number in its queue.
    pub(super) id: u32,
    /// The packet in its full length. If it was cut, the bytes after its headers are meaningless and its checksum is
    /// known to be correct.
    pub(super) bytes: &'a mut [u8],
    /// The state of the checksum.
    pub(super) checksum: Checksum,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { buffers: vec![0; MESSAGE * AT_ONCE], lengths: [0; AT_ONCE], count: 0, next: 0 }
    }

    /// Returns true if there was room for more packets.
    pub(super) fn has_all(&self) -> bool {
        self.count < AT_ONCE
    }

    /// Takes the next packet; skips answers and malformed messages.
    pub(super) fn next<'a>(&'a mut self, queue: &mut Queue) -> Option<Waiting<'a>> {
        while self.next < self.count {
            let (start, length) = (self.next * MESSAGE, self.lengths[self.next].min(MESSAGE));
            self.next += 1;
            let Some(message) = self.buffers.get(start..start + length) else { continue };
            let Incoming::Packet(asked) = read(message) else { continue };
            let Asked { id, at, len, whole, checksum } = asked;
            let Some(bytes) = message.get(at..at + len) else { continue };
            queue.sees(&asked, bytes);
            let is_enough = checksum == Checksum::Verified && headers_are_in_front(bytes) && at + whole <= MESSAGE;
            // A truncated packet that cannot be trusted counts as malformed and passes.
            let (from, size) = (start + at, if is_enough { whole } else { len });
            return Some(Waiting { id, bytes: self.buffers.get_mut(from..from + size)?, checksum });
        }
        None
    }
}

/// A queue. Verdicts reach the kernel in their order, at [`flush`](Self::flush) or when many have accumulated.
#[derive(Debug)]
pub(super) struct Queue {
    socket: OwnedFd,
    number: u16,
    requests: Requests,
    copied: Copied,
    /// The last packet of those accepted but not yet in `requests`.
    accepted: Option<u32>,
    /// The number of packets held.
    held: usize,
    /// The number of the latest packet.
    last: u32,
}

impl Queue {
    /// Binds a queue in which at most `most` packets wait for a verdict; further packets bypass it.
    ///
    /// # Errors
    /// If the kernel does not support such queues, or another process owns this queue.
    pub(super) fn bind(number: u16, most: u32, copied: Copied) -> Result<Self> {
        let cannot = |error| LiveError::system(format!("packet queue {number} (NFQUEUE)"), error);
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket =
            socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkNetFilter).map_err(cannot)?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(cannot)?;
        setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).map_err(cannot)?;
        let mut queue =
            Self { socket, number, requests: Requests::default(), copied, accepted: None, held: 0, last: 0 };
        queue.requests.bind(number, most);
        queue.write();
        let mut buffer = [0; 4096];
        for _ in 0..Requests::BIND_ANSWERS {
            let length = recv(queue.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).map_err(cannot)?;
            match read(&buffer[..length]) {
                Incoming::Answer(0) => {}
                Incoming::Answer(code) => return Err(cannot(Errno::from_raw(-code))),
                Incoming::Packet(_) | Incoming::Other => {}
            }
        }
        Ok(queue)
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Reads waiting packets and returns the number of datagrams.
    pub(super) fn receive(&self, batch: &mut Batch) -> usize {
        (batch.next, batch.count) = (0, 0);
        batch.count = loop {
            match receive_many(self.socket.as_raw_fd(), &mut batch.buffers, MESSAGE, &mut batch.lengths) {
                Ok(count) => break count,
                Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                    // Some packets did not fit into the socket; the kernel has let them pass.
                    Errno::ENOBUFS | Errno::EINTR => {}
                    _ => break 0,
                },
            }
        };
        batch.count
    }

    fn sees(&mut self, asked: &Asked, bytes: &[u8]) {
        self.last = asked.id;
        if let Some(range) = self.copied.sees(asked, bytes) {
            self.settle();
            self.requests.copy_only(self.number, range);
        }
    }

    /// Accepts a packet unchanged.
    pub(super) fn accept(&mut self, id: u32) {
        if self.held == 0 {
            self.accepted = Some(id);
        } else {
            // A batch verdict would also release the held packets.
            self.verdict(id, Fate::Accept, None);
        }
    }

    /// Accepts a packet with these bytes.
    pub(super) fn accept_as(&mut self, id: u32, bytes: &[u8]) {
        self.verdict(id, Fate::Accept, Some(bytes));
    }

    pub(super) fn drop_packet(&mut self, id: u32) {
        self.verdict(id, Fate::Drop, None);
    }

    /// Holds a packet until [`let_go`](Self::let_go) or [`give_up`](Self::give_up).
    pub(super) fn hold(&mut self) {
        self.settle();
        self.held += 1;
    }

    /// Releases a held packet, with these bytes if given.
    pub(super) fn let_go(&mut self, id: u32, bytes: Option<&[u8]>) {
        self.verdict(id, Fate::Accept, bytes);
        self.held = self.held.saturating_sub(1);
    }

    /// Drops a held packet.
    pub(super) fn give_up(&mut self, id: u32) {
        self.verdict(id, Fate::Drop, None);
        self.held = self.held.saturating_sub(1);
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

    /// Accepts all waiting packets unchanged, including held ones.
    pub(super) fn accept_all(&mut self) {
        self.settle();
        // Numbers ascend (modulo 2^32), so none is beyond the last.
        self.requests.accept_all_to(self.number, self.last);
        self.held = 0;
        self.write();
    }

    /// Passes the verdicts to the kernel.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_enough_while_checksums_are_verified() {
        let v4 = [0x45; 20];
        let asked = |checksum| Asked { id: 1, at: 0, len: 20, whole: 1500, checksum };
        let (good, unknown) = (asked(Checksum::Verified), asked(Checksum::Unknown));
        let mut copied = Copied::AsNeeded { verified: 0 };
        for _ in 1..TRUSTED_AFTER {
            assert_eq!(copied.sees(&good, &v4), None);
        }
        assert_eq!(copied.sees(&unknown, &v4), None, "it begins again");
        for _ in 1..TRUSTED_AFTER {
            assert_eq!(copied.sees(&good, &v4), None);
        }
        assert_eq!(copied.sees(&good, &v4), Some(HEADERS));
        assert_eq!(copied.sees(&good, &v4), None);
        assert_eq!(copied.sees(&unknown, &v4), Some(WHOLE));
        assert_eq!(copied, Copied::AsNeeded { verified: 0 });
        // IPv6 with a routing header next: the segment may begin anywhere.
        let mut v6 = [0x60; 40];
        v6[6] = 43;
        let mut copied = Copied::Headers;
        assert_eq!(copied.sees(&good, &v6), Some(WHOLE));
        assert_eq!(Copied::Whole.sees(&good, &v4), None);
    }
}
