//! Messages of rtnetlink as bytes: only those for devices, queues and routes (linux/rtnetlink.h, linux/pkt_sched.h).
//!
//! They are written by hand, because the crates for rtnetlink lack TBF, and the requests are few and fixed.

use crate::error::{LiveError, Result};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::os::fd::{AsRawFd, OwnedFd};

/// Message types.
pub mod kind {
    /// RTM_GETLINK.
    pub const GET_LINK: u16 = 18;
    /// RTM_SETLINK.
    pub const SET_LINK: u16 = 19;
    /// RTM_NEWROUTE.
    pub const NEW_ROUTE: u16 = 24;
    /// RTM_NEWQDISC.
    pub const NEW_QDISC: u16 = 36;
    /// RTM_DELQDISC.
    pub const DELETE_QDISC: u16 = 37;
    /// RTM_GETQDISC.
    pub const GET_QDISC: u16 = 38;
    /// RTM_GETTFILTER.
    pub const GET_FILTER: u16 = 46;
}

/// Message flags.
pub mod flag {
    /// NLM_F_REQUEST.
    pub const REQUEST: u16 = 1;
    /// NLM_F_ACK.
    pub const ACK: u16 = 4;
    /// NLM_F_ECHO: the answer goes to the requester; without it, only a multicast group receives the answer to
    /// RTM_GETQDISC.
    pub const ECHO: u16 = 8;
    /// NLM_F_REPLACE.
    pub const REPLACE: u16 = 0x100;
    /// NLM_F_EXCL: refused if the object exists.
    pub const EXCLUSIVE: u16 = 0x200;
    /// NLM_F_DUMP: requests all objects.
    pub const DUMP: u16 = 0x300;
    /// NLM_F_CREATE.
    pub const CREATE: u16 = 0x400;
}

const ERROR: u16 = 2;
const DONE: u16 = 3;
const HEADER: usize = 16;
/// Excludes NLA_F_NESTED and NLA_F_NET_BYTEORDER, which are not part of an attribute's type.
const TYPE_MASK: u16 = 0x3fff;

/// A message under construction.
#[derive(Clone, Debug)]
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Creates a message with its fixed part.
    #[must_use]
    pub fn new(kind: u16, flags: u16, fixed: &[u8]) -> Self {
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend((flags | flag::REQUEST).to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(fixed);
        Self { bytes }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, kind: u16, value: &[u8]) -> Self {
        put(&mut self.bytes, kind, value);
        self
    }

    /// Returns the message's bytes, with its sequence number.
    #[must_use]
    pub fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = u32::try_from(self.bytes.len()).expect("a message has hundreds of bytes");
        self.bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

/// Appends an attribute, padded to four bytes.
pub fn put(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(value.len() + 4).expect("an attribute has hundreds of bytes");
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// The value of the first attribute with a type; `None` also if an earlier attribute is malformed.
#[must_use]
pub fn find(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(*bytes.first_chunk()?));
        let kind = u16::from_ne_bytes(*bytes.get(2..)?.first_chunk()?) & TYPE_MASK;
        let value = bytes.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

/// The 32-bit number at offset `at`; 0 beyond the end.
#[must_use]
pub fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_ne_bytes(*word))
}

/// The 64-bit number at offset `at`; 0 beyond the end.
#[must_use]
pub fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |long| u64::from_ne_bytes(*long))
}

/// An answer of the kernel.
#[derive(Debug, PartialEq, Eq)]
enum Answer<'a> {
    /// The requested data, without its header.
    Data(&'a [u8]),
    /// The end of the answers.
    Done,
    /// A refusal.
    Refused(Errno),
}

/// The answers to the message with a sequence number; others belong to earlier messages.
fn answers(mut bytes: &[u8], sequence: u32) -> impl Iterator<Item = Answer<'_>> {
    std::iter::from_fn(move || {
        while let Some(body) = bytes.get(HEADER..(word(bytes, 0) as usize)) {
            let (kind, number) = (u16::from_ne_bytes(*bytes[4..].first_chunk()?), word(bytes, 8));
            bytes = bytes.get((word(bytes, 0) as usize).next_multiple_of(4)..).unwrap_or_default();
            if number == sequence {
                return Some(match kind {
                    ERROR | DONE => match i32::from_ne_bytes(*body.first_chunk()?) {
                        0 => Answer::Done,
                        error => Answer::Refused(Errno::from_raw(-error)),
                    },
                    _ => Answer::Data(body),
                });
            }
        }
        None
    })
}

/// A socket to the kernel's rtnetlink.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Socket {
    /// Opens a socket.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open() -> Result<Self> {
        let fd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)
            .map_err(|error| LiveError::system("opening an rtnetlink socket", error))?;
        Ok(Self { fd, sequence: 0, buffer: vec![0; 32 * 1024] })
    }

    /// Sends a message and waits for its answer. Returns the answer without its header; empty for a mere confirmation.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn ask(&mut self, message: Message) -> std::result::Result<&[u8], Errno> {
        self.send(message)?;
        loop {
            let length = recv(self.fd.as_raw_fd(), &mut self.buffer, MsgFlags::empty())?;
            match answers(&self.buffer[..length], self.sequence).next() {
                None => {}
                Some(Answer::Done) => return Ok(&[]),
                Some(Answer::Refused(error)) => return Err(error),
                // Searched again, because the borrow ends with the loop's iteration.
                Some(Answer::Data(_)) => {
                    return Ok(match answers(&self.buffer[..length], self.sequence).next() {
                        Some(Answer::Data(body)) => body,
                        _ => &[],
                    });
                }
            }
        }
    }

    /// Requests all objects of a kind, with [`flag::DUMP`]. Returns the answers without their headers.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn ask_all(&mut self, message: Message) -> std::result::Result<Vec<Vec<u8>>, Errno> {
        self.send(message)?;
        let mut all = Vec::new();
        loop {
            let length = recv(self.fd.as_raw_fd(), &mut self.buffer, MsgFlags::empty())?;
            for answer in answers(&self.buffer[..length], self.sequence) {
                match answer {
                    Answer::Data(body) => all.push(body.to_vec()),
                    Answer::Done => return Ok(all),
                    Answer::Refused(error) => return Err(error),
                }
            }
        }
    }

    fn send(&mut self, message: Message) -> nix::Result<usize> {
        self.sequence = self.sequence.wrapping_add(1);
        send(self.fd.as_raw_fd(), &message.finish(self.sequence), MsgFlags::empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_found() {
        let message = Message::new(kind::NEW_QDISC, flag::ACK, &[7; 20]).with(1, b"tbf\0").with(2, &[9]).finish(5);
        // 16 header, 20 fixed, 8 and 8 of attributes.
        assert_eq!((message.len(), word(&message, 0), word(&message, 8)), (52, 52, 5));
        assert_eq!(find(&message[36..], 1), Some(&b"tbf\0"[..]));
        assert_eq!(find(&message[36..], 2), Some(&[9][..]));
        assert_eq!(find(&message[36..], 3), None);
        assert_eq!(find(&[0, 0, 0, 0], 3), None, "a length of nothing ends the search");
        assert_eq!(find(&[200, 0, 1, 0, 5], 1), None, "longer than there is");
    }

    #[test]
    fn answers_to_others_are_passed_over() {
        let mut received = Message::new(kind::NEW_QDISC, 0, &[1; 20]).finish(4);
        let mut error = (-19_i32).to_ne_bytes().to_vec();
        error.extend([0; 16]);
        received.extend(Message::new(ERROR, 0, &error).finish(5));
        let first = |bytes, number| answers(bytes, number).next();
        assert_eq!(first(&received, 5), Some(Answer::Refused(Errno::ENODEV)));
        assert_eq!(first(&received, 4), Some(Answer::Data(&[1; 20])));
        assert_eq!(first(&received, 6), None);
        assert_eq!(first(&received[..10], 4), None);
    }

    #[test]
    fn a_dump_has_several_answers_and_an_end() {
        let mut received = Message::new(44, 0, &[1; 20]).finish(7);
        received.extend(Message::new(44, 0, &[2; 20]).finish(7));
        received.extend(Message::new(DONE, 0, &[0; 4]).finish(7));
        let all: Vec<_> = answers(&received, 7).collect();
        assert_eq!(all, [Answer::Data(&[1; 20]), Answer::Data(&[2; 20]), Answer::Done]);
    }
}
