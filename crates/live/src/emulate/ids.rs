//! Identifiers of the parts of an emulated network: the index in the plan, with a separate type for each kind.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An identifier that counts from zero.
pub trait Id: Copy {
    /// Creates the identifier of an index, counted from zero.
    ///
    /// # Panics
    /// If the index needs more than 32 bits.
    #[must_use]
    fn new(place: usize) -> Self;

    /// Creates the identifier of a number in the plan.
    #[must_use]
    fn numbered(number: u32) -> Self;

    /// The index, counted from zero.
    #[must_use]
    fn index(self) -> usize;
}

/// Defines 32-bit identifiers, each with a single checked constructor.
macro_rules! ids {
    ($($(#[$about:meta])* $name:ident;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub(super) u32);

        impl Id for $name {
            fn new(place: usize) -> Self {
                Self(u32::try_from(place).expect("at most 2^32 components of a kind"))
            }

            fn numbered(number: u32) -> Self {
                Self(number)
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $name {
            /// The number in the plan and the outcome.
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }
        }
    )*};
}

ids! {
    /// The identifier of a node.
    NodeId;
    /// The identifier of a link: one direction of a cable.
    LinkId;
    /// The identifier of a flow.
    FlowId;
    /// The identifier of a wireless station.
    StationId;
    /// The identifier of a TCP connection, in the order of the first SYNs.
    ConnectionId;
}

/// The identifier of a request of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId {
    /// The flow.
    pub flow: FlowId,
    /// The index among the flow's requests, counted from zero.
    pub number: usize,
}

/// A value for each identifier of a kind.
#[derive(Clone, Debug)]
pub struct ById<I, T> {
    values: Vec<T>,
    ids: PhantomData<I>,
}

impl<I: Id, T> ById<I, T> {
    /// Adds a value and returns its identifier.
    pub fn push(&mut self, value: T) -> I {
        self.values.push(value);
        I::new(self.values.len() - 1)
    }

    /// The value of an identifier, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.values.get(id.index())
    }

    /// All identifiers, ascending.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.values.len()).map(I::new)
    }

    /// All values in the order of their identifiers.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// All values in the order of their identifiers, for updating.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.values.iter_mut()
    }
}

impl<I, T: Clone> ById<I, T> {
    /// Copies a value for each of `count` identifiers.
    pub fn filled(value: T, count: usize) -> Self {
        vec![value; count].into()
    }
}

impl<I, T> Default for ById<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T> From<Vec<T>> for ById<I, T> {
    fn from(values: Vec<T>) -> Self {
        Self { values, ids: PhantomData }
    }
}

impl<I, T> FromIterator<T> for ById<I, T> {
    fn from_iter<V: IntoIterator<Item = T>>(values: V) -> Self {
        values.into_iter().collect::<Vec<T>>().into()
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.values[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.values[id.index()]
    }
}
