//! Link controllers, station machines and congestion controls from WebAssembly modules.
//!
//! ```text
//!   document: kind = "wasm" ─► Module ──► Instance ──► link, station or control: a machine like netlull's own
//!             file, parameters  checked     memory,
//!                               translated  fuel
//! ```
//!
//! [`register`] lets documents, plans and tapes of this process name modules. A module has no imports: no clock, no
//! randomness, no files. Its floats have canonical NaNs, each call has a limited number of instructions, and its memory
//! is limited. The same events therefore give the same actions everywhere.
//!
//! A module that fails once never runs again. A simulation ends with the error. On real packets the link goes to its
//! full rate, and the radio stays awake.
//!
//! `crates/guest` has the binary interface.

#[cfg(feature = "tcp")]
mod control;
mod instance;
mod link;
mod module;
mod parameters;
mod station;

pub use instance::limit;
pub use module::{Module, digest_of};

/// The kind of tables that name a module.
pub const KIND: &str = "wasm";

/// Lets documents, plans and tapes of this process name modules.
pub fn register() {
    netlull_mechanism::link::PLUG_INS.add(KIND, link::load);
    netlull_mechanism::station::PLUG_INS.add(KIND, station::load);
    #[cfg(feature = "tcp")]
    netlull_tcp::cc::PLUG_INS.add(KIND, control::load);
}
