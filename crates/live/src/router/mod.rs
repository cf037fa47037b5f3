//! A gateway on a real device: an eBPF program lowers windows for AWM, and the device's token bucket sets the rate.
//!
//! ```text
//!             tcx egress            TBF, 6e6c:
//!   senders ──► [ forward ] ──► [ queue ─► rate ] ──► receivers
//!           ◄── [ backward: awnd <- min(awnd, swnd) ] ◄──
//!
//!      every 5 ms:  counters and backlog of the queue, segments seen  ──► readings ──► machine
//!                   swnd, rate  ◄─────────────────────────────────────
//! ```
//!
//! `segment`, `readings` and `arguments` decide or translate without I/O. `clamp`, `netlink`, `qdisc`, `state`, `watch`
//! and `metrics` use the system. `plan` checks the options, and `run` connects all parts.

mod arguments;
pub mod clamp;
mod file_access;
mod install;
pub mod metrics;
mod plan;
pub mod qdisc;
pub mod readings;
mod run;
pub mod segment;
pub mod state;
mod status;
pub mod watch;

pub use arguments::Arguments;

use crate::error::{Result, tell};
use arguments::Task;
use state::{Place, Restored};
use std::process::ExitCode;

/// Runs `netlulld router`.
///
/// # Errors
/// The errors of the subcommand.
pub fn command(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.task {
        Task::Run(arguments) => run::run(arguments)?,
        Task::Status(arguments) => return status::status(arguments),
        Task::Install(arguments) => install::install(arguments)?,
        Task::Uninstall(arguments) => install::uninstall(arguments)?,
        Task::Watch(arguments) => watch::watch(Place::new(&arguments.state, &arguments.dev)?)?,
        Task::Restore(arguments) => {
            let place = Place::new(&arguments.state, &arguments.dev)?;
            let (device, mut socket) = (&arguments.dev, crate::netlink::Socket::open()?);
            let index = place.index(&mut socket);
            // Held until the end of the restoration.
            let _held = index.map(|index| state::lock(index, device)?.hold_to_restore()).transpose()?;
            let done = match place.restore(&mut socket, index)? {
                Restored::Nothing => "nothing to restore",
                Restored::Queue => "the former queue is restored",
                Restored::Gone => "the device is gone, and its queue with it",
            };
            tell(format_args!("{device}: {done}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
