//! Messages of the kernel's packet queues (linux/netfilter/nfnetlink_queue.h) as bytes.

use crate::station::Checksum;

/// NFNL_SUBSYS_QUEUE.
const SUBSYSTEM: u16 = 3;
const PACKET: u16 = SUBSYSTEM << 8;
const VERDICT: u16 = SUBSYSTEM << 8 | 1;
const CONFIG: u16 = SUBSYSTEM << 8 | 2;
const VERDICT_BATCH: u16 = SUBSYSTEM << 8 | 3;
const NLMSG_ERROR: u16 = 2;
/// NLM_F_REQUEST, and NLM_F_ACK to request an answer.
const REQUEST: u16 = 1;
const ANSWER: u16 = 4;
/// nlmsghdr and nfgenmsg.
const HEADER: usize = 16;
const FAMILY_HEADER: usize = 4;
/// NFQA_PACKET_HDR, NFQA_VERDICT_HDR, NFQA_PAYLOAD.
const PACKET_HEADER: u16 = 1;
const VERDICT_HEADER: u16 = 2;
const PAYLOAD: u16 = 10;
/// NFQA_CAP_LEN, NFQA_SKB_INFO and its NFQA_SKB_CSUM_NOTVERIFIED.
const WHOLE_LENGTH: u16 = 13;
const PACKET_INFO: u16 = 14;
const NOT_VERIFIED: u32 = 4;
/// NFQA_CFG_CMD, _PARAMS, _QUEUE_MAXLEN, _MASK, _FLAGS.
const CFG_COMMAND: u16 = 1;
const CFG_PARAMS: u16 = 2;
const CFG_MAXLEN: u16 = 3;
const CFG_MASK: u16 = 4;
const CFG_FLAGS: u16 = 5;
/// NFQNL_CFG_CMD_BIND.
const BIND: u8 = 1;
/// NFQNL_COPY_PACKET.
const COPY_PACKET: u8 = 2;
/// NFQA_CFG_F_FAIL_OPEN.
const FAIL_OPEN: u32 = 1;

/// The maximum length of a packet in bytes.
pub(super) const WHOLE: u32 = 0xffff;

/// The kernel's action on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Drop,
    Accept,
}

impl Fate {
    const fn code(self) -> u32 {
        match self {
            Self::Drop => 0,
            Self::Accept => 1,
        }
    }
}

/// A packet that awaits a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The packet's number in the queue.
    pub(super) id: u32,
    /// The offset of the packet's bytes in the message.
    pub(super) at: usize,
    /// The number of bytes in the message.
    pub(super) len: usize,
    /// The packet's full length; greater than `len` if the kernel was asked for headers only.
    pub(super) whole: usize,
    /// The state of the checksum.
    pub(super) checksum: Checksum,
}

/// A message from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A packet.
    Packet(Asked),
    /// The answer to a request: 0, or a negative error number.
    Answer(i32),
    /// Any other message, or a truncated one.
    Other,
}

/// Parses the single message in a datagram from the kernel.
pub(super) fn read(bytes: &[u8]) -> Incoming {
    let length = native32(bytes, 0).map_or(0, |length| length as usize).min(bytes.len());
    let message = bytes.get(..length).unwrap_or_default();
    match native16(message, 4) {
        Some(NLMSG_ERROR) => {
            native32(message, HEADER).map_or(Incoming::Other, |code| Incoming::Answer(code.cast_signed()))
        }
        Some(PACKET) => packet(message),
        _ => Incoming::Other,
    }
}

fn packet(message: &[u8]) -> Incoming {
    let (mut at, mut id, mut whole, mut checksum) = (HEADER + FAMILY_HEADER, None, 0, Checksum::Verified);
    while let (Some(length), Some(kind)) = (native16(message, at), native16(message, at + 2)) {
        let (start, length) = (at + 4, usize::from(length));
        let Some(data) = message.get(start..at + length.max(4)) else { return Incoming::Other };
        match kind & 0x3fff {
            PACKET_HEADER => id = network32(data),
            WHOLE_LENGTH => whole = network32(data).map_or(0, |length| length as usize),
            PACKET_INFO if network32(data).is_some_and(|info| info & NOT_VERIFIED != 0) => checksum = Checksum::Unknown,
            PAYLOAD => {
                let (len, whole) = (data.len(), data.len().max(whole));
                return id
                    .map_or(Incoming::Other, |id| Incoming::Packet(Asked { id, at: start, len, whole, checksum }));
            }
            _ => {}
        }
        at += length.max(4).next_multiple_of(4);
    }
    Incoming::Other
}

fn network32(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

fn native16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

fn native32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

/// Concatenated messages to the kernel.
#[derive(Debug, Default)]
pub(super) struct Requests(pub(super) Vec<u8>);

impl Requests {
    /// Binds a queue that delivers whole packets. At most `most` packets wait; further packets bypass the queue.
    pub(super) fn bind(&mut self, queue: u16, most: u32) {
        self.message(CONFIG, ANSWER, queue, |bytes| attribute(bytes, CFG_COMMAND, &[BIND, 0, 0, 0]));
        self.copy(queue, ANSWER, WHOLE);
        self.message(CONFIG, ANSWER, queue, |bytes| {
            attribute(bytes, CFG_MAXLEN, &most.to_be_bytes());
            attribute(bytes, CFG_MASK, &FAIL_OPEN.to_be_bytes());
            attribute(bytes, CFG_FLAGS, &FAIL_OPEN.to_be_bytes());
        });
    }

    /// Limits the number of bytes delivered per packet.
    pub(super) fn copy_only(&mut self, queue: u16, bytes: u32) {
        self.copy(queue, 0, bytes);
    }

    fn copy(&mut self, queue: u16, flags: u16, bytes: u32) {
        let [a, b, c, d] = bytes.to_be_bytes();
        self.message(CONFIG, flags, queue, |message| attribute(message, CFG_PARAMS, &[a, b, c, d, COPY_PACKET]));
    }

    /// The number of answers to [`bind`](Self::bind).
    pub(super) const BIND_ANSWERS: usize = 3;

    /// Decides the fate of a packet; `bytes` replace its content.
    pub(super) fn verdict(&mut self, queue: u16, id: u32, fate: Fate, bytes: Option<&[u8]>) {
        self.message(VERDICT, 0, queue, |message| {
            verdict_header(message, id, fate);
            if let Some(bytes) = bytes {
                attribute(message, PAYLOAD, bytes);
            }
        });
    }

    /// Accepts all packets up to a number.
    pub(super) fn accept_all_to(&mut self, queue: u16, id: u32) {
        self.message(VERDICT_BATCH, 0, queue, |message| verdict_header(message, id, Fate::Accept));
    }

    fn message(&mut self, kind: u16, flags: u16, queue: u16, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.0.len();
        self.0.extend_from_slice(&[0; 4]);
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(&(REQUEST | flags).to_ne_bytes());
        // Sequence number and port, which are unused.
        self.0.extend_from_slice(&[0; 8]);
        // AF_UNSPEC, version 0.
        self.0.extend_from_slice(&[0, 0]);
        self.0.extend_from_slice(&queue.to_be_bytes());
        body(&mut self.0);
        let length = u32::try_from(self.0.len() - start).unwrap_or(u32::MAX);
        if let Some(field) = self.0.get_mut(start..start + 4) {
            field.copy_from_slice(&length.to_ne_bytes());
        }
    }
}

fn verdict_header(message: &mut Vec<u8>, id: u32, fate: Fate) {
    let ([a, b, c, d], [e, f, g, h]) = (fate.code().to_be_bytes(), id.to_be_bytes());
    attribute(message, VERDICT_HEADER, &[a, b, c, d, e, f, g, h]);
}

fn attribute(message: &mut Vec<u8>, kind: u16, data: &[u8]) {
    let length = u16::try_from(4 + data.len()).unwrap_or(u16::MAX);
    message.extend_from_slice(&length.to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(data);
    message.resize(message.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A packet message of the kernel: a header, the packet's number, an ignored mark, the bytes.
    fn from_kernel(id: u32, payload: &[u8]) -> Vec<u8> {
        let mut requests = Requests::default();
        requests.message(PACKET, 0, 7, |message| {
            let [a, b, c, d] = id.to_be_bytes();
            attribute(message, PACKET_HEADER, &[a, b, c, d, 8, 0, 1]);
            attribute(message, 3, &[0, 0, 0, 5]);
            attribute(message, PAYLOAD, payload);
        });
        requests.0
    }

    #[test]
    fn a_packet_is_found_in_its_message() {
        let bytes = from_kernel(0x0102_0304, b"hello");
        let Incoming::Packet(asked) = read(&bytes) else { panic!("no packet") };
        assert_eq!((asked.id, &bytes[asked.at..asked.at + asked.len]), (0x0102_0304, &b"hello"[..]));
        assert_eq!((asked.whole, asked.checksum), (5, Checksum::Verified));
    }

    #[test]
    fn a_packet_that_is_cut_says_so() {
        let mut requests = Requests::default();
        requests.message(PACKET, 0, 7, |message| {
            attribute(message, PACKET_HEADER, &[0, 0, 0, 9, 8, 0, 1]);
            attribute(message, WHOLE_LENGTH, &1500_u32.to_be_bytes());
            attribute(message, PACKET_INFO, &5_u32.to_be_bytes());
            attribute(message, PAYLOAD, &[1; 20]);
        });
        let Incoming::Packet(asked) = read(&requests.0) else { panic!("no packet") };
        assert_eq!((asked.id, asked.len, asked.whole, asked.checksum), (9, 20, 1500, Checksum::Unknown));
    }

    #[test]
    fn a_verdict_is_as_the_kernel_reads_it() {
        let mut requests = Requests::default();
        requests.verdict(0x1234, 9, Fate::Accept, Some(b"abc"));
        let mut expected = Vec::new();
        expected.extend(40_u32.to_ne_bytes());
        expected.extend(0x0301_u16.to_ne_bytes());
        expected.extend(1_u16.to_ne_bytes());
        expected.extend([0; 8]);
        expected.extend([0, 0, 0x12, 0x34]);
        expected.extend(12_u16.to_ne_bytes());
        expected.extend(2_u16.to_ne_bytes());
        expected.extend([0, 0, 0, 1, 0, 0, 0, 9]);
        expected.extend(7_u16.to_ne_bytes());
        expected.extend(10_u16.to_ne_bytes());
        expected.extend(b"abc\0");
        assert_eq!(requests.0, expected);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), cut in 0usize..70, at in 0usize..60, byte: u8) {
            read(&bytes);
            let mut bytes = from_kernel(1, &[1; 20]);
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(cut);
            if let Incoming::Packet(Asked { at, len, .. }) = read(&bytes) {
                prop_assert!(at + len <= bytes.len());
            }
        }
    }
}
