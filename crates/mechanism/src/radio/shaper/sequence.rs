//! The shaped download: its connection, and the host's received bytes and holes without a list of segments.

use crate::station::TcpView;

/// True if a number lies after another on a circle of 2^32: sequence numbers (RFC 9293 section 3.4) and
/// timestamps (RFC 7323 section 5.2).
pub(super) fn is_after(one: u32, other: u32) -> bool {
    one != other && one.wrapping_sub(other) < 1 << 31
}

/// The later of two numbers on that circle.
fn later(one: u32, other: u32) -> u32 {
    if is_after(one, other) { one } else { other }
}

/// The effect of a segment on the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// No new bytes.
    Old,
    /// The next expected byte or, with a hole, bytes that follow or lie among those seen.
    New,
    /// Bytes beyond those seen: the bytes between are missing or out of order.
    Jump,
}

/// The host's position in the stream.
///
/// The shaper does not know the end of a hole, but the host reveals it. The host acknowledges at once any segment
/// that fills a hole (RFC 5681 section 4.2), and the acknowledgement names the first missing byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    /// The first byte that the host lacks, as far as known.
    next: u32,
    /// The sequence number after the last byte seen.
    highest: u32,
}

impl Sequence {
    pub(super) fn new(next: u32) -> Self {
        Self { next, highest: next }
    }

    /// True if bytes are missing before the last byte seen.
    pub(super) fn has_hole(&self) -> bool {
        is_after(self.highest, self.next)
    }

    pub(super) fn receive(&mut self, seq: u32, len: u32) -> Arrival {
        let end = seq.wrapping_add(len);
        if !is_after(end, self.next) {
            return Arrival::Old;
        }
        let arrival = if is_after(seq, self.highest) { Arrival::Jump } else { Arrival::New };
        self.highest = later(end, self.highest);
        if !is_after(seq, self.next) {
            self.next = end;
        }
        arrival
    }

    /// Handles the host's acknowledgement of all bytes before `number`. A FIN counts as one, and may lie after
    /// all data.
    pub(super) fn acknowledge(&mut self, number: u32) {
        self.next = later(number, self.next);
        self.highest = later(self.highest, self.next);
    }
}

/// The connection whose data is shaped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    /// No data yet. The host's last acknowledgement and its connection.
    Awaited {
        connection: Option<u32>,
        acknowledged: Option<u32>,
    },
    Of {
        connection: u32,
        sequence: Sequence,
    },
}

impl Stream {
    pub(super) fn receive(&mut self, segment: &TcpView) -> Arrival {
        match self {
            Self::Of { sequence, .. } if segment.len > 0 => sequence.receive(segment.seq, segment.len),
            Self::Of { .. } | Self::Awaited { .. } => Arrival::Old,
        }
    }

    pub(super) fn has_hole(&self) -> bool {
        matches!(self, Self::Of { sequence, .. } if sequence.has_hole())
    }

    /// True if the connection is that of the download; before its data, the connection of the last handshake.
    pub(super) fn is_of(&self, number: u32) -> bool {
        match self {
            Self::Awaited { connection, .. } => *connection == Some(number),
            Self::Of { connection, .. } => *connection == number,
        }
    }

    /// True if the segment belongs to the download whose data has begun.
    pub(super) fn is_shaped(&self, segment: &TcpView) -> bool {
        matches!(self, Self::Of { connection, .. } if *connection == segment.connection)
    }

    /// Learns from an acknowledgement of the host.
    pub(super) fn note_acknowledged(&mut self, segment: &TcpView) {
        if let (Self::Of { sequence, .. }, Some(number)) = (self, segment.acknowledged) {
            sequence.acknowledge(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_open_until_the_host_says_that_it_is_filled() {
        let mut sequence = Sequence::new(1000);
        assert_eq!(sequence.receive(1000, 100), Arrival::New);
        assert_eq!(sequence.receive(1200, 100), Arrival::Jump);
        assert_eq!(sequence.receive(1300, 100), Arrival::New);
        sequence.acknowledge(1100);
        assert!(sequence.has_hole());
        // The retransmission: the host has 1100..1200 and the 200 after it.
        assert_eq!(sequence.receive(1100, 100), Arrival::New);
        assert!(sequence.has_hole(), "the host has not said so yet");
        sequence.acknowledge(1400);
        assert!(!sequence.has_hole());
        assert_eq!(sequence.receive(1300, 100), Arrival::Old);
    }

    #[test]
    fn numbers_wrap() {
        let mut sequence = Sequence::new(u32::MAX - 49);
        assert_eq!(sequence.receive(u32::MAX - 49, 100), Arrival::New);
        assert_eq!(sequence.receive(50, 100), Arrival::New);
        assert_eq!(sequence.receive(u32::MAX - 49, 100), Arrival::Old);
        assert_eq!(sequence.receive(250, 100), Arrival::Jump);
        assert!(sequence.has_hole());
        assert!(is_after(3, u32::MAX - 5) && !is_after(u32::MAX - 5, 3) && !is_after(3, 3));
    }
}
