//! Ids of a run's components. Each kind has its own type, and an id is the component's index in the scenario.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The id of a component among those of its kind.
pub trait Id: Copy {
    /// The index, starting from zero.
    fn place(self) -> usize;
}

/// Defines ids of 32 bits, each with a checked constructor.
macro_rules! ids {
    ($($(#[$about:meta])* $name:ident;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of an index, starting from zero.
            ///
            /// # Panics
            /// If the index needs more than 32 bits. The schedule holds fewer components.
            #[inline]
            #[must_use]
            pub fn new(place: usize) -> Self {
                Self(u32::try_from(place).expect("at most 2^32 components of a kind"))
            }

            /// The index, starting from zero.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The index as stored in tables and plans.
            #[inline]
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// The id of a number stored in a table.
            #[inline]
            #[must_use]
            pub const fn numbered(number: u32) -> Self {
                Self(number)
            }

            /// The first `count` ids, in order.
            pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
                (0..count).map(Self::new)
            }
        }

        impl Id for $name {
            fn place(self) -> usize {
                self.index()
            }
        }
    )*};
}

ids! {
    /// Identifies a node.
    NodeId;
    /// Identifies a link: a direction of a cable.
    LinkId;
    /// Identifies a pair of agents: a flow of the scenario (TCP first, then datagrams, then requests), or a slot for
    /// request connections after them.
    FlowId;
    /// Identifies a rate controller.
    ControllerId;
    /// Identifies a link's varying capacity.
    CapacityId;
    /// Identifies a wireless station.
    StationId;
    /// Identifies a source of datagrams, in the order of their flows.
    SourceId;
}

/// Identifies an end of a flow or of a request connection. Flow f has the agents 2f (sender) and 2f + 1 (receiver).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(u32);

impl FlowId {
    /// The flow of a number from outside; `None` if its agents would need more than 32 bits.
    #[must_use]
    pub const fn checked(number: u32) -> Option<Self> {
        if number < u32::MAX / 2 { Some(Self(number)) } else { None }
    }
}

impl AgentId {
    /// The agent of an index, starting from zero.
    ///
    /// # Panics
    /// If the index needs more than 32 bits.
    #[inline]
    #[must_use]
    pub fn new(place: usize) -> Self {
        Self(u32::try_from(place).expect("at most 2^32 agents"))
    }

    /// The first `count` agents, in order.
    pub fn all(count: usize) -> impl Iterator<Item = Self> + Clone {
        (0..count).map(Self::new)
    }

    /// The agent of a number stored in a table.
    #[inline]
    #[must_use]
    pub const fn numbered(number: u32) -> Self {
        Self(number)
    }

    /// The sender of a flow.
    #[inline]
    #[must_use]
    pub const fn sender(flow: FlowId) -> Self {
        Self(2 * flow.0)
    }

    /// The receiver of a flow.
    #[inline]
    #[must_use]
    pub const fn receiver(flow: FlowId) -> Self {
        Self(2 * flow.0 + 1)
    }

    /// The agent at the other end.
    #[inline]
    #[must_use]
    pub const fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// The same end of another flow.
    #[inline]
    #[must_use]
    pub const fn of(self, flow: FlowId) -> Self {
        Self(2 * flow.0 + self.0 % 2)
    }

    /// The flow of this end.
    #[inline]
    #[must_use]
    pub const fn flow(self) -> FlowId {
        FlowId(self.0 / 2)
    }

    /// Returns true for the sender.
    #[inline]
    #[must_use]
    pub const fn is_sender(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The index, starting from zero.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The index in the schedule's numbering of timers.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl Id for AgentId {
    fn place(self) -> usize {
        self.index()
    }
}

/// A list with an entry for each component of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ById<I, T> {
    entries: Vec<T>,
    kind: PhantomData<fn(I)>,
}

impl<I, T> ById<I, T> {
    /// The entries in the order of their components.
    #[must_use]
    pub fn new(entries: Vec<T>) -> Self {
        Self { entries, kind: PhantomData }
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, in the order of their components.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// Converts each entry to an entry of a new list.
    #[must_use]
    pub fn map<U>(&self, entry: impl Fn(&T) -> U) -> ById<I, U> {
        self.entries.iter().map(entry).collect()
    }
}

impl<I: Id, T> ById<I, T> {
    /// The entry of a component, if there is one.
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.place())
    }
}

impl<I, T> Default for ById<I, T> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<I, T> FromIterator<T> for ById<I, T> {
    fn from_iter<Entries: IntoIterator<Item = T>>(entries: Entries) -> Self {
        Self::new(entries.into_iter().collect())
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.entries[id.place()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.place()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_two_agents_that_are_each_others_peers() {
        let flow = FlowId::new(3);
        let (sender, receiver) = (AgentId::sender(flow), AgentId::receiver(flow));
        assert_eq!((sender.index(), receiver.index()), (6, 7));
        assert_eq!((sender.peer(), receiver.peer()), (receiver, sender));
        assert_eq!((sender.flow(), receiver.flow()), (flow, flow));
        assert_eq!([sender, receiver].map(|end| end.of(FlowId::new(5)).index()), [10, 11]);
        assert!(sender.is_sender() && !receiver.is_sender());
    }
}
