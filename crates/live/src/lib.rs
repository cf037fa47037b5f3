//! The mechanisms on real packets, under real Linux TCP: the same machines that the simulator drives.
//!
//! ```text
//!   emulate   links and mechanisms between network namespaces, in real time         a plan ─► packets ─► an outcome
//!   client    a host that dozes: its acknowledgements shaped, its radio modelled
//!   router    a gateway: windows clamped, the rate of a link driven
//!   replay    a recording through the same machine again: the same decisions
//!   doctor    what this machine can do
//! ```
//!
//! What decides is a machine of `netlull-mechanism` or a struct that takes times and bytes; what touches the system is kept thin, around it.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))] // They panic when nobody reads: `error::tell` and `say` do not.

pub mod client;
pub mod clock;
pub mod doctor;
pub mod emulate;
pub mod error;
pub mod guard;
pub mod lateness;
pub mod namespace;
pub mod netlink;
pub mod program;
pub mod route;
pub mod router;
pub mod station;
pub mod system;
pub mod tape;
