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
    /// Emulate a plan: its links and mechanisms between network namespaces, with the kernel's own TCP.
    Emulate(netlull_live::emulate::Arguments),
    /// Say what this machine can do.
    Doctor(netlull_live::doctor::Arguments),
    /// A gateway: windows clamped, the rate of a link driven.
    Router(Box<netlull_live::router::Arguments>),
    /// Put a recording through its machine again and compare the decisions.
    Replay {
        /// The recording.
        tape: PathBuf,
    },
    /// Shape the downloads of this host so that its radio could sleep, and say what that would save.
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
                say("this is no root; netlulld doctor says what is needed and what there is");
            }
            ExitCode::FAILURE
        }
    }
}
