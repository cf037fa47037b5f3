//! The mechanisms on real packets, under Linux TCP. They are the same machines as in the simulator.
//!
//! ```text
//!   emulate   links and mechanisms between network namespaces, in real time         a plan ─► packets ─► an outcome
//!   client    a host that dozes: shaped acknowledgements, a modelled radio
//!   router    a gateway: clamped windows, a link with a controlled rate
//!   replay    a recording through the same machine again: the same decisions
//!   doctor    the features of this machine
//! ```
//!
//! All decisions are made by a machine of `netlull-mechanism` or a struct without I/O. A thin layer around them calls
//! the system.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))] // They panic on a closed pipe; `error::tell` and `say` do not.

pub mod client;
pub mod clock;
pub mod confine;
pub mod doctor;
pub mod emulate;
pub mod error;
pub mod guard;
pub mod input;
pub mod lateness;
pub mod lock;
pub mod namespace;
pub mod netlink;
pub mod program;
pub mod route;
pub mod router;
pub mod station;
pub mod system;
pub mod tape;
