//! The states of the shaper, and its phases between two open ACKs.

use super::burst::Arriving;
use netlull_units::Instant;
use serde::{Deserialize, Serialize};

/// The state of the shaper (the paper's Fig. 2).
///
/// ```text
///              a round grows too little (C1)
///   Initial ─────────────────────────────────► Saving ◄──────────────┐
///      │                                        │  │                │ a burst intact (C3)
///      │                 a packet missing (C2)  │  │                │
///      │                                        ▼  │                │
///      │                                    Recovery ───────────────┘
///      │ no timestamps, or spread rounds        │  │
///      ▼                                        │  │ bad bursts in a row (C4)
///   Standard(why) ◄─────────────────────────────┴──┘ saturated bursts in a row (C5), or spread ones, or too slow
///
///   Standard(Saturated) ── small rounds in a row, with `resume` ──► Saving
///
///   any ── FIN ──► Ended
/// ```
///
/// The radio sleeps in `Saving` alone. Windows are closed in `Saving` and `Recovery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShaperState {
    /// Slow start: windows are unchanged.
    Initial,
    /// The shaper forms bursts, and the radio sleeps between them.
    Saving,
    /// The shaper forms bursts, and the radio stays awake.
    Recovery,
    /// Windows are unchanged for good, or until a saturated shaper resumes.
    Standard(Fallback),
    /// The FIN has arrived: the radio is awake, and windows are unchanged.
    Ended,
}

impl ShaperState {
    /// The state's name: initial, saving, recovery, standard or ended.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Saving => "saving",
            Self::Recovery => "recovery",
            Self::Standard(_) => "standard",
            Self::Ended => "ended",
        }
    }

    /// The reason for unchanged windows, if the state is `Standard`.
    pub(super) fn fallback(self) -> Option<Fallback> {
        match self {
            Self::Standard(why) => Some(why),
            Self::Initial | Self::Saving | Self::Recovery | Self::Ended => None,
        }
    }
}

/// The reason for unchanged windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// The sender's data has no timestamps (section III-A.2). Without use of timestamps: no handshake was seen.
    NoTimestamps,
    /// Too many consecutive bursts had a packet missing (section III-B.1).
    BadBursts,
    /// The wireless link is saturated (section III-B.2).
    Saturated,
    /// The sender spreads bursts or rounds of slow start (beyond the paper).
    Paced,
    /// The predicted slowdown reached the user's bound (section V-f).
    Slowdown,
}

impl Fallback {
    /// The reason's name: no_timestamps, bad_bursts, saturated, paced or slowdown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoTimestamps => "no_timestamps",
            Self::BadBursts => "bad_bursts",
            Self::Saturated => "saturated",
            Self::Paced => "paced",
            Self::Slowdown => "slowdown",
        }
    }
}

/// The phase of the download between two open ACKs.
///
/// ```text
///           slow start is over          silence of T_d(P)
///   Free ───────────────────────► Burst ─────────────────► Open ──┐ no data: repeated after 2 RTT, then every RTT
///    ▲                              ▲                      │  ▲───┘
///    │                              └──────────────────────┤
///    └─────────────────────────────────────────────────────┘ data that answers the open ACK: in Standard Free, else Burst
/// ```
///
/// In `Burst` and `Open` a timeout is always pending, so a window never stays closed for lack of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// The host's windows are unchanged. `owed` is the time of the data that awaits an acknowledgement.
    Free { owed: Option<Instant> },
    /// Packets of a burst arrive; acknowledgements are closed.
    Burst(Arriving),
    /// The window is open and no answer has arrived yet. Other data (a straggler, a retransmission, a probe) gets
    /// a closed acknowledgement too. An open one would release packets after the burst of the open ACK, while the
    /// radio sleeps. A lost open ACK is repeated.
    Open(Opening),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// The time at which the first open ACK was sent or requested.
    pub(super) first: Instant,
    /// The time at which the last open ACK was sent or requested.
    pub(super) at: Instant,
    pub(super) reply: Reply,
    pub(super) radio: Radio,
    pub(super) resend_at: Instant,
}

/// The host's answer, the open ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Awaited,
    Sent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radio {
    Awake,
    /// Asleep until the wake-up before the least round-trip time has passed.
    Asleep,
}
