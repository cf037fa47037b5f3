//! What links count.

pub use netlull_network::counters::LinkCounters;

/// What became of a packet, as its counters tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The link has it.
    Taken,
    /// The link's loss model took it.
    Lost,
    /// Its queue has no room for it, or its management dropped it.
    Dropped,
}

/// How many packets a link has taken and lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fates {
    /// Taken.
    pub taken: u64,
    /// Lost by its loss model.
    pub lost: u64,
}

impl Fates {
    /// What became of the one packet that was offered since `before`.
    pub fn since(self, before: Self) -> Fate {
        if self.taken > before.taken {
            Fate::Taken
        } else if self.lost > before.lost {
            Fate::Lost
        } else {
            Fate::Dropped
        }
    }
}
