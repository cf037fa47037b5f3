//! The simulator: packets, links, routes, traffic, controllers, probes, and an independent verifier.
//!
//! ```text
//! JSON ─► scenario::read_document ─► scenario::Scenario ─► run::run ─► run::RunOutcome { summary, tables }
//!                                        (checked)            │
//!                                          network, net, traffic, tcp, mechanism ─► verify
//! ```

pub mod catalogue;
pub mod emulation;
pub mod net;
pub mod probe;
pub mod run;
pub mod scenario;
pub mod tape;
pub mod traffic;
pub mod verify;
