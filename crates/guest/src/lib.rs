//! The binary interface of netlull's WebAssembly modules, and the exports of modules in Rust.
//!
//! ```text
//!   host: simulator, netlulld                    guest: a WebAssembly module
//!   event ─► words in the mailbox ─► netlull_event() ─► machine
//!   actions, timeout ◄─ words in the mailbox ◄──────────┘
//! ```
//!
//! - [`record`] turns netlull's own types into words and back.
//! - [`abi`] has the exports, the places in the mailbox and the records of link controllers and station machines.
//! - `control` has those of congestion controls (feature `tcp`).
//! - [`bindings`] writes all of it for C and Rust.
//! - [`description`] is the text by which a module names itself and its parameters.
//! - [`guest`] runs machines of Rust. [`link_controller!`], [`station_machine!`] and `congestion_control!` export them.
//!
//! `docs/how-to/wasm-interface.md` has the tables of the interface.

pub mod abi;
pub mod bindings;
#[cfg(feature = "tcp")]
pub mod control;
pub mod description;
pub mod guest;
pub mod record;

pub use netlull_document as describe;
pub use netlull_mechanism as mechanism;
#[cfg(feature = "tcp")]
pub use netlull_tcp as tcp;
pub use netlull_units as units;
