//! `netlulld`: netlull's mechanisms on real packets.

use clap::{Parser, Subcommand};
use netlull_live::error::{Result, say};
use std::path::PathBuf;
use std::process::ExitCode;

/// netlull's mechanisms on real packets.
#[derive(Parser)]
#[command(name = "netlulld", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Emulates a plan: its links and mechanisms between network namespaces, with the kernel's TCP.
    Emulate(netlull_live::emulate::Arguments),
    /// Reports which features this machine supports.
    Doctor(netlull_live::doctor::Arguments),
    /// Runs a gateway: it clamps windows and controls the rate of a link.
    Router(Box<netlull_live::router::Arguments>),
    /// Replays a recording through its machine and compares the decisions.
    Replay {
        /// The recording.
        tape: PathBuf,
    },
    /// Shapes the downloads of this host for a sleeping radio and reports the possible savings.
    Client(netlull_live::client::Arguments),
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Emulate(arguments) => netlull_live::emulate::command(&arguments),
        Command::Doctor(arguments) => netlull_live::doctor::command(&arguments),
        Command::Router(arguments) => netlull_live::router::command(&arguments),
        Command::Replay { tape } => netlull_live::tape::replay_command(&tape),
        Command::Client(arguments) => netlull_live::client::command(arguments),
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            say(error);
            if !nix::unistd::geteuid().is_root() {
                say("the process is not root; see `netlulld doctor` for the requirements");
            }
            ExitCode::FAILURE
        }
    }
}
