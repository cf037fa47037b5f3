//! Errors of real networking, and output that tolerates a closed terminal.

use std::fmt;
use std::io::{ErrorKind, Write};

/// The exit codes of all commands. `client run -- COMMAND` returns that of its command instead.
pub mod exit {
    /// The system refuses: a right, a device or a program is missing, or another daemon runs.
    pub const REFUSED: u8 = 1;
    /// Bad input: the command line, a value, or a file that an option names.
    pub const BAD_INPUT: u8 = 2;
    /// The command is done, and its answer is no: no daemon runs, a decision differs, packets were too late.
    pub const NO: u8 = 3;
}

/// An error message: the field or operation, the value and the expected value.
#[derive(Debug)]
pub struct LiveError {
    cause: Cause,
    text: String,
}

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// An option, or a file that an option names.
    Input,
    /// The system: a right, a device or a program is missing, or another daemon runs.
    System,
}

/// A result that may be a [`LiveError`].
pub type Result<T> = std::result::Result<T, LiveError>;

impl LiveError {
    /// Creates an error of the system with this message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { cause: Cause::System, text: message.into() }
    }

    /// Creates an error of the input with this message.
    #[must_use]
    pub fn input(message: impl fmt::Display) -> Self {
        Self { cause: Cause::Input, text: message.to_string() }
    }

    /// The exit code of a command that ends with this error.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.cause {
            Cause::Input => exit::BAD_INPUT,
            Cause::System => exit::REFUSED,
        }
    }

    /// Creates an error from an operation and the system's reason for refusing it.
    #[must_use]
    pub fn system(doing: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self::new(format!("{doing}: {error}"))
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for LiveError {}

/// Writes lines to standard output. A closed pipe is no error: the reader has read enough.
///
/// # Errors
/// If writing fails for another reason, such as a full disk.
pub fn tell(text: impl fmt::Display) -> Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(LiveError::system("standard output", error)),
        _ => Ok(()),
    }
}

/// Writes a message to standard error and ignores failures. A closed terminal must not end a process that still has
/// changes to undo.
pub fn say(text: impl fmt::Display) {
    let text = text.to_string();
    let lines: Vec<String> = text.lines().map(netlull_text::printable).collect();
    let _ = writeln!(std::io::stderr(), "netlulld: {}", lines.join("\n"));
}
