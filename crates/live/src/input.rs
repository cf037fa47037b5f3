//! Files that options name. Endless ones are refused.

use crate::error::{LiveError, Result};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The largest configuration in bytes.
const LARGEST: u64 = 1 << 20;
/// The path of standard input, which may be a terminal.
const STANDARD_INPUT: &str = "/dev/stdin";

/// Opens a file, a pipe or standard input.
///
/// # Errors
/// If it cannot be opened, or is a directory or a device.
pub fn open(path: &Path) -> Result<File> {
    let shown = path.display();
    let cannot = |error: std::io::Error| LiveError::input(format!("{shown}: {error}"));
    let file = File::open(path).map_err(cannot)?;
    let kind = file.metadata().map_err(cannot)?.file_type();
    if kind.is_file() || kind.is_fifo() || path == Path::new(STANDARD_INPUT) {
        return Ok(file);
    }
    let kind = if kind.is_dir() { "a directory" } else { "a device" };
    Err(LiveError::input(format!("{shown}: {kind}; expected a file, a pipe or {STANDARD_INPUT}")))
}

/// Reads a configuration.
///
/// # Errors
/// If it cannot be opened, is longer than 1 MiB, or is not text.
pub fn read(path: &Path) -> Result<String> {
    let shown = path.display();
    let mut text = String::new();
    let read = open(path)?.take(LARGEST + 1).read_to_string(&mut text);
    let length = read.map_err(|error| LiveError::input(format!("{shown}: {error}")))?;
    if length as u64 > LARGEST {
        return Err(LiveError::input(format!("{shown}: more than {LARGEST} B; expected at most {LARGEST} B")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_files_are_refused() {
        let why = |path: &str| read(Path::new(path)).unwrap_err().to_string();
        assert_eq!(why("/dev/zero"), "/dev/zero: a device; expected a file, a pipe or /dev/stdin");
        assert!(why("/").starts_with("/: a directory; expected a file"));
        let file = std::env::temp_dir().join(format!("netlull-input-{}", std::process::id()));
        let long = File::create(&file).unwrap();
        long.set_len(LARGEST + 1).unwrap();
        assert!(why(file.to_str().unwrap()).ends_with("more than 1048576 B; expected at most 1048576 B"));
        long.set_len(LARGEST).unwrap();
        assert_eq!(read(&file).unwrap().len() as u64, LARGEST);
        std::fs::remove_file(file).unwrap();
    }
}
