//! The expectation of the next segment, by which the fast path is taken.

use crate::segment::Flags;

/// The expectation that the general code has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prediction {
    /// The flags of the segment expected, without those that may come and go ([`OPTIONAL`]); [`Flags::NONE`], which no
    /// segment of an open connection has, if nothing is predicted.
    pub header: Flags,
    /// The flags of new data.
    pub data: Flags,
    pub sends: Sends,
    /// Data may come: no recovery remembers anything that it could touch.
    pub receives: bool,
}

/// Who else hears of new data and its acknowledgements than congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sends {
    /// The general code is to say.
    Unknown,
    /// Nobody.
    Alone,
    /// The scoreboard, on which nothing is marked.
    WithBoard,
    /// It, and the pacer.
    WithPacer,
}

/// Flags that mean nothing to the receiver of unmarked data.
pub(super) const OPTIONAL: Flags = Flags::PSH.with(Flags::ECT);

impl Prediction {
    pub const NOTHING: Self = Self { header: Flags::NONE, data: Flags::NONE, sends: Sends::Unknown, receives: false };

    /// True if recovery adds nothing to the congestion window and takes nothing from it.
    #[inline]
    pub fn sends(self) -> bool {
        self.sends != Sends::Unknown
    }
}

#[cfg(test)]
impl Prediction {
    /// True if this is right with `now` being what would be predicted now: it may say less, of data that comes or at all.
    pub fn holds(self, now: Self) -> bool {
        self == Self::NOTHING || self == now || (!self.receives && Self { receives: true, ..self } == now)
    }
}
