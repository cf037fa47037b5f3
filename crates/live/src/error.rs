//! Errors of real networking, and output that tolerates a closed terminal.

use std::fmt;
use std::io::{ErrorKind, Write};

/// An error message: the field or operation, the value and the expected value.
#[derive(Debug)]
pub struct LiveError(String);

/// A result that may be a [`LiveError`].
pub type Result<T> = std::result::Result<T, LiveError>;

impl LiveError {
    /// Creates an error with this message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Creates an error from an operation and the system's reason for refusing it.
    #[must_use]
    pub fn system(doing: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self(format!("{doing}: {error}"))
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
    let _ = writeln!(std::io::stderr(), "netlulld: {text}");
}
