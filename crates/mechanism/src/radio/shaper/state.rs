//! The states of the shaper, and where it is between one open ACK and the next.

use super::burst::Arriving;
use netlull_units::Instant;
use serde::{Deserialize, Serialize};

/// What the shaper is doing (the paper's Fig. 2).
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
///   Standard(why) ◄─────────────────────────────┴──┘ saturated bursts in a row (C5), or spread ones
///
///   any ── FIN ──► Ended
/// ```
///
/// The radio sleeps in `Saving` alone. Windows are closed in `Saving` and `Recovery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShaperState {
    /// Slow start: windows pass as they are.
    Initial,
    /// Bursts are made, and slept between.
    Saving,
    /// Bursts are made, and nothing is slept.
    Recovery,
    /// Windows pass as they are, for good.
    Standard(Fallback),
    /// The FIN has come: the radio is awake, windows pass as they are.
    Ended,
}

impl ShaperState {
    /// Its name: initial, saving, recovery, standard or ended.
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

    /// Why windows are left alone, if they are.
    pub(super) fn fallback(self) -> Option<Fallback> {
        match self {
            Self::Standard(why) => Some(why),
            Self::Initial | Self::Saving | Self::Recovery | Self::Ended => None,
        }
    }
}

/// Why windows are left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// The sender's data has no timestamps (section III-A.2).
    NoTimestamps,
    /// Too many bursts in a row with a packet missing (section III-B.1).
    BadBursts,
    /// The wireless link is saturated (section III-B.2).
    Saturated,
    /// Bursts, or rounds of slow start, are spread out by their sender (beyond the paper).
    Paced,
}

impl Fallback {
    /// Its name: no_timestamps, bad_bursts, saturated or paced.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoTimestamps => "no_timestamps",
            Self::BadBursts => "bad_bursts",
            Self::Saturated => "saturated",
            Self::Paced => "paced",
        }
    }
}

/// Where the download is between one open ACK and the next.
///
/// ```text
///           slow start is over          silence of T_d(P)
///   Free ───────────────────────► Burst ─────────────────► Open ──┐ nothing heard: once more after 2 RTT, then every RTT
///    ▲                              ▲                      │  ▲───┘
///    │                              └──────────────────────┤
///    └─────────────────────────────────────────────────────┘ data that answers the open ACK: in Standard Free, else Burst
/// ```
///
/// In `Burst` and `Open` a timeout is always pending, so a window never stays closed for want of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// The host's windows pass; since when it owes an acknowledgement, if it does.
    Free { owed: Option<Instant> },
    /// Packets of a burst arrive; acknowledgements are closed.
    Burst(Arriving),
    /// The window is open and nothing has come of it yet. What comes nevertheless (a straggler, something sent again, a probe) is
    /// acknowledged closed too: with its window the acknowledgement would release packets of its own, which come after the burst that the
    /// open ACK releases, when the radio sleeps. If the open ACK is lost, it is sent again.
    Open(Opening),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// When the first open ACK was sent, or asked for.
    pub(super) first: Instant,
    /// When the last open ACK was sent, or asked for.
    pub(super) at: Instant,
    pub(super) reply: Reply,
    pub(super) radio: Radio,
    pub(super) resend_at: Instant,
}

/// Whether the host has been seen to send the open ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Awaited,
    Sent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radio {
    Awake,
    /// Until the wake time before the least round-trip time is over.
    Asleep,
}
