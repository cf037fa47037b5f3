//! The command line of `netlulld`.

use crate::error::Result;
use crate::{client, doctor, emulate, router, tape};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// The end of the help.
const EXIT_CODES: &str = "Exit codes: 0 done; 1 refused by the system; 2 bad input; 3 the answer is no (no daemon runs, \
                          a decision differs, packets were too late); 130 interrupted";

/// netlull's mechanisms on real packets.
#[derive(Parser)]
#[command(name = "netlulld", version, about, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Emulates a plan: its links and mechanisms between network namespaces, with the kernel's TCP.
    Emulate(emulate::Arguments),
    /// The guard of an attached namespace, started by the emulation.
    #[command(hide = true)]
    EmulateGuard(emulate::GuardArguments),
    /// Reports which features this machine supports.
    Doctor(doctor::Arguments),
    /// Runs a gateway: it clamps windows and controls the rate of a link.
    Router(Box<router::Arguments>),
    /// Replays a recording through its machine and compares the decisions.
    Replay {
        /// The recording.
        tape: PathBuf,
    },
    /// Shapes the downloads of this host for a sleeping radio and reports the possible savings.
    Client(client::Arguments),
}

impl Arguments {
    /// Returns true if the command usually needs root.
    #[must_use]
    pub fn needs_root(&self) -> bool {
        matches!(self.command, Command::Router(_) | Command::Client(_))
    }

    /// Runs the command that was given.
    ///
    /// # Errors
    /// The command's error, in words for its user.
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Emulate(arguments) => emulate::command(&arguments),
            Command::EmulateGuard(arguments) => emulate::guard_command(arguments).map(|()| ExitCode::SUCCESS),
            Command::Doctor(arguments) => doctor::command(&arguments),
            Command::Router(arguments) => router::command(&arguments),
            Command::Replay { tape } => tape::replay_command(&tape),
            Command::Client(arguments) => client::command(arguments),
        }
    }
}
