//! `netlulld`: netlull's mechanisms on real packets.

use clap::Parser;
use netlull_live::error::{exit, say};
use netlull_live::program::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    netlull_plugin::register();
    let arguments = Arguments::parse();
    let lacks_root = arguments.needs_root() && !nix::unistd::geteuid().is_root();
    match arguments.run() {
        Ok(code) => code,
        Err(error) => {
            let code = error.exit_code();
            say(error);
            if code == exit::REFUSED && lacks_root {
                say("the process is not root; see `netlulld doctor` for the requirements");
            }
            ExitCode::from(code)
        }
    }
}
