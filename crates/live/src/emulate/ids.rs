//! Names of the parts of an emulated network: each is a number, its place in the plan, and a type of its own.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number of a kind that counts its things from zero.
pub trait Id: Copy {
    /// The id at a place, counted from zero.
    ///
    /// # Panics
    /// If the place needs more than 32 bits.
    #[must_use]
    fn new(place: usize) -> Self;

    /// The id with the number that the plan has.
    #[must_use]
    fn numbered(number: u32) -> Self;

    /// The place, counted from zero.
    #[must_use]
    fn index(self) -> usize;
}

/// Defines ids of 32 bits with one checked constructor each.
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
            /// The number that plan and outcome have.
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }
        }
    )*};
}

ids! {
    /// Names a node.
    NodeId;
    /// Names a link: one direction of a cable.
    LinkId;
    /// Names a flow.
    FlowId;
    /// Names a wireless station.
    StationId;
    /// Names a TCP connection, in the order of the first SYNs.
    ConnectionId;
}

/// Names a request of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId {
    /// Its flow.
    pub flow: FlowId,
    /// Its place among the flow's, counted from zero.
    pub number: usize,
}

/// A value for each id of a kind.
#[derive(Clone, Debug)]
pub struct ById<I, T> {
    values: Vec<T>,
    ids: PhantomData<I>,
}

impl<I: Id, T> ById<I, T> {
    /// Adds a value; its id.
    pub fn push(&mut self, value: T) -> I {
        self.values.push(value);
        I::new(self.values.len() - 1)
    }

    /// The value of an id, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.values.get(id.index())
    }

    /// All ids, ascending.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.values.len()).map(I::new)
    }

    /// All values in the order of their ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// All values in the order of their ids, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.values.iter_mut()
    }
}

impl<I, T: Clone> ById<I, T> {
    /// A copy of a value for each of `count` ids.
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
