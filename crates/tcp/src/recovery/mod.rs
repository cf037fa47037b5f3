//! Loss recovery: when a loss is declared, what is retransmitted, when it is repaired.
//!
//! Recovery counts duplicate acknowledgements, holds what is to be retransmitted, and adds to the congestion window
//! (or takes from it) while data is missing. It does not decide cwnd or ssthresh: [`cc`](crate::cc) does.

mod board;
#[cfg(test)]
mod board_model;
mod duplicates;
mod early;
mod holes;
mod journal;
mod rack;
mod selective;

pub(crate) use board::{Delivery, Resent, Span};
pub(crate) use duplicates::{Acked, Duplicate, DuplicateRecovery, ExitWindow, PartialAck};
pub(crate) use rack::{Probe, ProbeVerdict, Rack};
pub(crate) use selective::{Selective, Situation, Step};

/// Where loss recovery stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecoveryPhase {
    /// No loss is being repaired.
    #[default]
    Open,
    /// Duplicate acknowledgements told of a loss, and not everything sent by then is acknowledged.
    FastRecovery,
    /// The retransmission timer expired, and not everything sent by then is acknowledged.
    Loss,
}
