//! A process that is not to wait for others: the real-time class of the scheduler.
#![allow(unsafe_code)] // sched_setscheduler, which nix does not have.

use nix::errno::Errno;

/// Asks for SCHED_FIFO at this priority, 1 to 99. Children begin as ordinary processes.
///
/// # Errors
/// EPERM without CAP_SYS_NICE; EINVAL for another priority.
pub fn fifo(priority: i32) -> Result<(), Errno> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the pointer is of a structure that lives through the call, which only reads it; 0 is the calling thread.
    let done =
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) };
    Errno::result(done).map(drop)
}
