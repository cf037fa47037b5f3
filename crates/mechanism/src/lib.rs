//! Energy-saving mechanisms as pure state machines.
//!
//! Time and events go in, actions come out. The same object is driven by the simulator, by emulation and by real
//! packets, so nothing here reads a clock, a socket or a random generator, and this crate depends on units alone.
//!
//! - [`Machine`] is the contract that every mechanism and every driver keeps.
//! - [`link`] has the events and actions of link controllers, [`rate`] and [`gateway`] the controllers.
//! - [`station`] has the events and actions of a station's machine, [`radio`] the machines.
//! - [`machines`] has the lists of both.
//! - [`topology`] chooses the links that may sleep.

pub mod gateway;
pub mod link;
pub mod machines;
pub mod radio;
pub mod rate;
pub mod station;
pub mod topology;
mod view;

pub use netlull_describe::ConfigError;

use netlull_units::Instant;

/// A mechanism as a state machine: no clock, no I/O, no randomness; nothing allocated once it is built.
///
/// ```text
///             handle(now, event)
///   driver  ---------------------->  machine
///           <----------------------
///            poll_action() until None
///            next_timeout()
/// ```
///
/// # Contract
///
/// What the driver promises:
/// - `now` is never earlier than in a call before. Several events may carry the same `now`.
/// - After every `handle` it calls `poll_action` until that returns `None`, before the next `handle`, and carries the
///   actions out in that order at `now`.
/// - After that it reads `next_timeout`. When time reaches it with no other event before, it delivers the machine's
///   timeout event. The value replaces the one before: there is one timer. A timeout delivered late, or one that was
///   not asked for, is allowed and does no harm.
///
/// What the machine promises:
/// - `next_timeout` is never earlier than the last `now`; if it equals `now`, the timeout is due at once. It does not
///   ask for the same instant again once that instant's timeout was delivered, unless a later event made it due anew.
/// - `None` means that only an event can change anything: an idle link's controller falls quiet.
/// - The same events give the same actions, to the bit; reading an observer changes nothing.
pub trait Machine {
    /// What happens to the machine.
    type Event;
    /// What the machine asks its driver to do.
    type Action;

    /// Takes one event.
    fn handle(&mut self, now: Instant, event: Self::Event);

    /// The next action due, `None` when there is no more.
    fn poll_action(&mut self) -> Option<Self::Action>;

    /// When to deliver a timeout if nothing happens before; an idle link has no packets to wake its controller.
    fn next_timeout(&self) -> Option<Instant>;
}

impl<M: Machine + ?Sized> Machine for Box<M> {
    type Event = M::Event;
    type Action = M::Action;

    #[inline]
    fn handle(&mut self, now: Instant, event: Self::Event) {
        (**self).handle(now, event);
    }

    #[inline]
    fn poll_action(&mut self) -> Option<Self::Action> {
        (**self).poll_action()
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        (**self).next_timeout()
    }
}
