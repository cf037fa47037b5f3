//! Files that a document names.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The content of a regular file of at most `most` bytes. A pipe would keep its reader waiting, and a device may never
/// end: a document does not name them.
///
/// # Errors
/// Says why it cannot be read, and the expectation.
pub fn read_regular(path: &Path, most: usize) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file; expected one that exists".to_owned(),
        kind => format!("cannot be read: {kind}"),
    };
    // Opening a pipe waits for its writer.
    let found = path.metadata().map_err(cannot)?;
    if found.is_dir() {
        return Err("is a folder; expected a file".to_owned());
    }
    if !found.is_file() {
        return Err("is no regular file; expected a file".to_owned());
    }
    let too_large = || {
        let (size, unit) = if most < 1 << 20 { (most >> 10, "KiB") } else { (most >> 20, "MiB") };
        format!("is too large; expected at most {size} {unit}")
    };
    if found.len() > most as u64 {
        return Err(too_large());
    }
    let mut content = Vec::new();
    // Files that the kernel makes (/proc) have no size, and some keep their reader waiting: they count as empty.
    File::open(path).and_then(|file| file.take(found.len()).read_to_end(&mut content)).map_err(cannot)?;
    Ok(content)
}
