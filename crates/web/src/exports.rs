//! The binary interface: exports and imports of the WebAssembly module.
//!
//! The page writes a text to the address that [`allocate`] returns, makes a call with it, and reads the parts of the
//! answer. The answer stays until the next call. A worker has one module, so there is one answer.

#![allow(unsafe_code)]

use crate::session::{self, Answer};
use netlull_sim::run::{Monitor, Stop};
use std::cell::RefCell;
use std::ops::ControlFlow;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Reports the simulated share of the run.
    safe fn progress(share: f64);
}

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Answer> = RefCell::default();
}

/// Bytes of a page of WebAssembly memory.
const PAGE: u64 = 65_536;

/// Reports progress, and ends the run at its memory limit. The page cancels a run by ending its worker.
struct Watcher {
    /// The limit of the module's memory, in bytes.
    limit: u64,
}

impl Monitor for Watcher {
    fn progress(&mut self, share: f64) -> ControlFlow<Stop> {
        progress(share);
        if core::arch::wasm32::memory_size(0) as u64 * PAGE > self.limit {
            return ControlFlow::Break(Stop::Memory(self.limit));
        }
        ControlFlow::Continue(())
    }
}

/// Room for the next call's text, `length` bytes in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_mut_ptr()
    })
}

/// The text of the call.
fn request() -> String {
    REQUEST.with_borrow_mut(|request| String::from_utf8_lossy(&std::mem::take(request)).into_owned())
}

/// Runs the scenario in the request ([`session::simulate`]). `limit` is the memory limit in bytes.
/// Returns 1 if the call has failed, else 0.
#[unsafe(no_mangle)]
pub extern "C" fn run(limit: u32) -> u32 {
    // The memory of the last answer is free for this run.
    ANSWER.take();
    let answer = session::simulate(&request(), &mut Watcher { limit: limit.into() });
    let failed = u32::from(answer.failed);
    ANSWER.set(answer);
    failed
}

/// The address of a part of the answer; 0 if there is no such part.
#[unsafe(no_mangle)]
pub extern "C" fn part_address(number: usize) -> *const u8 {
    ANSWER.with_borrow(|answer| answer.part(number).map_or(std::ptr::null(), |(address, _)| address))
}

/// The length of a part of the answer, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn part_length(number: usize) -> usize {
    ANSWER.with_borrow(|answer| answer.part(number).map_or(0, |(_, length)| length))
}
