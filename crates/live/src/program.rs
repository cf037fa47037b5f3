//! The command line of `netlulld`.

use crate::error::Result;
use crate::{client, doctor, emulate, router, tape};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// netlull's mechanisms on real packets.
#[derive(Parser)]
#[command(name = "netlulld", version, about)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Emulate a plan: its links and mechanisms between network namespaces, with the kernel's own TCP.
    Emulate(emulate::Arguments),
    /// Say what this machine can do.
    Doctor(doctor::Arguments),
    /// A gateway: windows clamped, the rate of a link driven.
    Router(Box<router::Arguments>),
    /// Put a recording through its machine again and compare the decisions.
    Replay {
        /// The recording.
        tape: PathBuf,
    },
    /// Shape the downloads of this host so that its radio could sleep, and say what that would save.
    Client(client::Arguments),
}

impl Arguments {
    /// Runs the command that was given.
    ///
    /// # Errors
    /// The command's error, in words for its user.
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Emulate(arguments) => emulate::command(&arguments),
            Command::Doctor(arguments) => doctor::command(&arguments),
            Command::Router(arguments) => router::command(&arguments),
            Command::Replay { tape } => tape::replay_command(&tape),
            Command::Client(arguments) => client::command(arguments),
        }
    }
}
