//! Loss recovery: the detection, retransmission and repair of losses.
//!
//! Recovery counts duplicate acknowledgements, keeps the data to retransmit, and temporarily changes the congestion
//! window while data is missing. [`cc`](crate::cc) decides cwnd and ssthresh.

mod board;
#[cfg(test)]
mod board_model;
mod duplicates;
mod early;
mod holes;
mod journal;
mod rack;
mod selective;
mod sent;

pub(crate) use duplicates::{Acked, Duplicate, DuplicateRecovery, ExitWindow, PartialAck};
pub(crate) use rack::{Probe, ProbeVerdict};
pub(crate) use selective::{Selective, Situation, Step};
pub(crate) use sent::{Delivery, Resent, Span};

use schemars::JsonSchema;
use serde::Serialize;

/// The phase of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryPhase {
    /// No repair.
    #[default]
    Open,
    /// Duplicate acknowledgements reported a loss, and some data sent by then is unacknowledged.
    FastRecovery,
    /// The retransmission timer expired, and some data sent by then is unacknowledged.
    Loss,
}
