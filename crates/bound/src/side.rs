//! The two sides of a bracket.

/// The direction of every rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// In favour of the schedule: the result is a lower bound.
    Below,
    /// Against the schedule: the result is the energy of a schedule, or more.
    Above,
}
