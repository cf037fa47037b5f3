//! The shaped download: its connection and its sequence numbers.

use super::sequence::{Arrival, Sequence};
use crate::station::TcpView;

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

    /// Whether the connection is that of the download; before its data, the connection of the last handshake.
    pub(super) fn is_of(&self, number: u32) -> bool {
        match self {
            Self::Awaited { connection, .. } => *connection == Some(number),
            Self::Of { connection, .. } => *connection == number,
        }
    }

    /// Whether the segment belongs to the download whose data has begun.
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
