//! A file written by a separate thread, so the main loop never waits for the disk.

use crate::error::{LiveError, Result};
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The number of bytes per write to the disk.
const BLOCK: usize = 256 * 1024;

/// Writes JSON lines or bytes in a separate thread.
#[derive(Debug)]
pub struct TapeWriter {
    path: PathBuf,
    block: Vec<u8>,
    writing: Writing,
}

/// The state of the thread. It starts with the first block: a daemon confines itself before, and its threads with it.
#[derive(Debug)]
enum Writing {
    NotYet(Option<File>),
    Since { blocks: Sender<Vec<u8>>, thread: JoinHandle<std::io::Result<()>> },
    Failed(std::io::Error),
}

impl TapeWriter {
    /// Creates an empty file; an existing one is overwritten.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let cannot = |error| LiveError::system(format!("recording {}", path.display()), error);
        let file = File::create(path).map_err(cannot)?;
        let block = Vec::with_capacity(BLOCK + 1024);
        Ok(Self { path: path.to_owned(), block, writing: Writing::NotYet(Some(file)) })
    }

    /// Adds a line.
    pub fn line(&mut self, value: &impl Serialize) {
        // The recorded values have no maps with non-text keys, the only values that JSON refuses.
        let _ = serde_json::to_writer(&mut self.block, value);
        self.block.push(b'\n');
        if self.block.len() >= BLOCK {
            self.hand_over();
        }
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        if self.block.len() >= BLOCK {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK + 1024));
        if let Writing::NotYet(file) = &mut self.writing
            && let Some(file) = file.take()
        {
            self.writing = Writing::start(file);
        }
        if let Writing::Since { blocks, .. } = &self.writing {
            // A stopped thread has an error, which `finish` reports.
            let _ = blocks.send(block);
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(mut self) -> Result<()> {
        self.hand_over();
        let written = match self.writing {
            Writing::NotYet(_) => Ok(()),
            Writing::Failed(error) => Err(error),
            Writing::Since { blocks, thread } => {
                drop(blocks);
                thread.join().unwrap_or_else(|_| Err(std::io::Error::other("the writing thread has failed")))
            }
        };
        written.map_err(|error| LiveError::system(format!("recording {}", self.path.display()), error))
    }
}

impl Writing {
    fn start(file: File) -> Self {
        let (blocks, waiting) = channel();
        let thread = std::thread::Builder::new().name("netlull-tape".to_owned()).spawn(move || write(file, &waiting));
        thread.map_or_else(Self::Failed, |thread| Self::Since { blocks, thread })
    }
}

impl Write for TapeWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: the thread writes each block on arrival.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write(mut file: File, blocks: &Receiver<Vec<u8>>) -> std::io::Result<()> {
    for block in blocks {
        file.write_all(&block)?;
    }
    file.flush()
}
