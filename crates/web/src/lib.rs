//! The simulator as a WebAssembly module. `web/lab/src/engine/module.ts` calls it from a Web Worker.
//!
//! ```text
//!   page: request as JSON ──► memory of the module ─► run() ─► Answer: parts of bytes ─► page
//!                                                      │
//!                                                      └► progress(share), imported from the page
//! ```
//!
//! [`session`] has the call, on any target. `exports` is their binary interface, for WebAssembly alone.

#[cfg(target_arch = "wasm32")]
mod exports;
pub mod session;
