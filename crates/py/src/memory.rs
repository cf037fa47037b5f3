//! The memory of a run: an allocator that counts the bytes of each thread, and the limit of a run.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Bytes that this thread has allocated minus bytes that it has freed. A run stays on one thread.
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, with a count of bytes per thread.
struct Counting;

/// Adds to this thread's count. A thread that is ending has no count any more.
#[inline]
fn count(bytes: usize, sign: i64) {
    // Allocations are smaller than isize::MAX.
    let _ = LIVE.try_with(|live| live.set(live.get().wrapping_add(sign.wrapping_mul(bytes.cast_signed() as i64))));
}

// SAFETY: every call goes to the system's allocator with the same arguments. The count allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(layout.size(), -1);
        count(new_size, 1);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

/// The memory limit of a run on this thread.
pub(crate) struct Limit {
    /// The limit, in bytes.
    pub bytes: u64,
    /// The thread's count at the start of the run.
    start: i64,
}

impl Limit {
    /// A limit of `bytes` from now on.
    pub fn new(bytes: u64) -> Self {
        Self { bytes, start: LIVE.get() }
    }

    /// Returns true if this thread has allocated more than the limit since the start.
    pub fn is_exceeded(&self) -> bool {
        u64::try_from(LIVE.get().wrapping_sub(self.start)).is_ok_and(|bytes| bytes > self.bytes)
    }
}
