//! Writes the man pages and the shell completions of `netlulld`: `pages FOLDER`; `make dist` runs it.

use clap::CommandFactory;
use clap_complete::Shell;
use netlull_live::program::Arguments;
use std::io::Result;
use std::path::PathBuf;

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let (pages, completions) = (folder.join("man"), folder.join("completions"));
    std::fs::create_dir_all(&pages)?;
    std::fs::create_dir_all(&completions)?;
    // The pages list the mechanisms that the program reads.
    netlull_plugin::register();
    clap_mangen::generate_to(Arguments::command(), pages)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut Arguments::command(), "netlulld", &completions)?;
    }
    Ok(())
}
