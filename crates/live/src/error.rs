//! What can go wrong where packets are real.

use std::fmt;
use std::io::{ErrorKind, Write};

/// Something that was asked for cannot be done: a sentence that says what, with which value, and what was expected.
#[derive(Debug)]
pub struct LiveError(String);

/// A result that may be a [`LiveError`].
pub type Result<T> = std::result::Result<T, LiveError>;

impl LiveError {
    /// An error with this message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// What was being done when the system refused.
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

/// Writes lines to standard output. A reader that has gone has seen what it wanted: that is no error.
///
/// # Errors
/// If they cannot be written for another reason, such as a full disk.
pub fn tell(text: impl fmt::Display) -> Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(LiveError::system("standard output", error)),
        _ => Ok(()),
    }
}

/// Says something on standard error, if anybody listens: a terminal that is gone must not end a process that has something to put back.
pub fn say(text: impl fmt::Display) {
    let _ = writeln!(std::io::stderr(), "netlulld: {text}");
}
