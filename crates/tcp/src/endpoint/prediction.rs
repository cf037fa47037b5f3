//! The prediction of the next segment, which selects the fast path.

use crate::segment::Flags;

/// The prediction by the general code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prediction {
    /// The flags of the expected segment, without the optional ones ([`OPTIONAL`]). [`Flags::NONE`], which no segment
    /// of an open connection has, if nothing is predicted.
    pub header: Flags,
    /// True if new data is ECN-capable.
    pub ect: bool,
    pub sends: Sends,
    /// True if data may arrive: it changes no state of recovery.
    pub receives: bool,
    /// True if the receiver has gaps to report.
    pub gaps: bool,
}

/// The parts, other than congestion control, that need new data and its acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sends {
    /// The general code must decide.
    Unknown,
    /// None.
    Alone,
    /// The scoreboard, at rest.
    WithBoard,
    /// The scoreboard and the pacer.
    WithPacer,
}

/// Flags without a meaning for the receiver of unmarked data.
pub(super) const OPTIONAL: Flags = Flags::PSH.with(Flags::ECT);

impl Prediction {
    pub const NOTHING: Self =
        Self { header: Flags::NONE, ect: false, sends: Sends::Unknown, receives: false, gaps: false };

    /// The flags of new data.
    #[inline(always)]
    pub fn data(self) -> Flags {
        if self.ect { self.header | Flags::ECT } else { self.header }
    }

    /// True if a poll that sends no data changes nothing. A pacer must know of the end of the data; with data that
    /// waits, `more` is true.
    #[inline(always)]
    pub fn is_quiet(self, more: bool) -> bool {
        self.receives || self.sends == Sends::WithBoard || (self.sends == Sends::WithPacer && more)
    }

    /// True if recovery leaves the congestion window unchanged.
    #[inline]
    pub fn sends(self) -> bool {
        self.sends != Sends::Unknown
    }
}

#[cfg(test)]
impl Prediction {
    /// True if this prediction is valid next to `now`, the current one. It may predict less: data only, or nothing.
    pub fn holds(self, now: Self) -> bool {
        self == Self::NOTHING || self == now || (!self.receives && Self { receives: true, ..self } == now)
    }
}
