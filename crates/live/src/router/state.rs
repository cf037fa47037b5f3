//! The saved state of an instance: the former queue of a device, for other processes to restore.

use super::qdisc::{self, Bucket, Device, Former};
use crate::error::{LiveError, Result, say};
use crate::lock::{DeviceLock, private_directory, write_private};
use crate::namespace;
use crate::netlink::Socket;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The lock of the device with an index. `name` is its name in messages.
///
/// # Errors
/// If the network namespace is unknown.
pub fn lock(index: u32, name: &str) -> Result<DeviceLock> {
    DeviceLock::new("router", index, name)
}

/// The changes of an instance to a device, sufficient to undo them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The pid of the instance.
    pub pid: u32,
    /// The device.
    pub device: Device,
    /// The bucket at its full rate.
    pub bucket: Bucket,
    /// The former queue at the device's root.
    pub former: Former,
    /// The address of the metrics.
    pub metrics: Option<SocketAddr>,
    /// The name of the mechanism.
    pub mechanism: String,
}

/// The paths of a device's state files. Devices in different network namespaces may share a name.
#[derive(Clone, Debug)]
pub struct Place {
    directory: PathBuf,
    device: String,
    /// The inode of the device's network namespace.
    namespace: u64,
}

/// The result of a restoration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// There was nothing to undo.
    Nothing,
    /// The former queue is at the root again.
    Queue,
    /// The device is gone, and its queue with it.
    Gone,
}

impl Place {
    /// Creates the paths for a device in the calling thread's network namespace.
    ///
    /// # Errors
    /// If the namespace is unknown, because /proc is not mounted.
    pub fn new(directory: &Path, device: &str) -> Result<Self> {
        let namespace = std::fs::metadata(namespace::OWN).map_err(|error| LiveError::system(namespace::OWN, error))?;
        Ok(Self { directory: directory.to_owned(), device: device.to_owned(), namespace: namespace.ino() })
    }

    fn file(&self, what: &str) -> PathBuf {
        self.directory.join(format!("router-{}-{}.{what}", self.namespace, self.device))
    }

    /// The path of the saved state.
    #[must_use]
    pub fn saved(&self) -> PathBuf {
        self.file("json")
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The index of the device whose queue is to be restored, else of the device with the name; `None` if neither
    /// exists.
    pub fn index(&self, socket: &mut Socket) -> Option<u32> {
        // The index survives a renaming. If another device has the index, its root is not the daemon's queue.
        let saved = self.load().ok().flatten().map(|saved| saved.device.index);
        saved.or_else(|| Device::find(socket, &self.device).ok().map(|device| device.index))
    }

    /// Saves the planned changes atomically: the file is complete or absent.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, saved: &Saved) -> Result<()> {
        let (path, draft) = (self.saved(), self.saved().with_extension("json.new"));
        let cannot = |error: std::io::Error| LiveError::system(path.display(), error);
        private_directory(&self.directory)?;
        let text = serde_json::to_string_pretty(saved).map_err(|error| LiveError::system(path.display(), error))?;
        write_private(&draft, &text).map_err(cannot)?;
        std::fs::rename(&draft, &path).map_err(cannot)
    }

    /// Loads the saved state; `None` if there is none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn load(&self) -> Result<Option<Saved>> {
        let path = self.saved();
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| LiveError::system(path.display(), error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LiveError::system(path.display(), error)),
        }
    }

    /// Undoes the changes of a dead instance. Repeated calls have no further effect.
    ///
    /// `own` is the index of the device that the caller may change: it holds the lock, or no daemon runs. Another device
    /// is locked in the meantime. If another instance holds its lock, the device is left unchanged, because that
    /// instance has already undone everything.
    ///
    /// # Errors
    /// If the former queue cannot be restored.
    pub fn restore(&self, socket: &mut Socket, own: Option<u32>) -> Result<Restored> {
        // An unreadable file must not keep a lowered rate in place: the kernel's default queue is better.
        let saved = self.load().unwrap_or_else(|error| {
            say(format_args!("{error}; the kernel's default queue replaces the former queue"));
            None
        });
        let index = match &saved {
            Some(saved) => Some(saved.device.index),
            None => self.index(socket),
        };
        let other = index.filter(|_| index != own).map(|index| lock(index, &self.device)?.try_hold()).transpose()?;
        let restored = match (index, &other) {
            (None, _) | (_, Some(None)) => Ok(Restored::Nothing),
            (Some(index), _) => self.restore_root(socket, index, saved.map(|saved| saved.former))?,
        };
        match std::fs::remove_file(self.saved()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(LiveError::system(self.saved().display(), error))
            }
            _ => restored,
        }
    }

    /// Restores the root queue. After the outer error, the daemon's queue may still be installed. After the inner error
    /// it is removed, but the former queue was refused.
    fn restore_root(&self, socket: &mut Socket, index: u32, former: Option<Former>) -> Result<Result<Restored>> {
        let failed = |error: Errno| LiveError::system(format!("restoring the queue of {}", self.device), error);
        match qdisc::root(socket, index) {
            Err(Errno::ENODEV) => return Ok(Ok(Restored::Gone)),
            Err(error) => return Err(failed(error)),
            Ok(root) if !root.is_ours() => return Ok(Ok(Restored::Nothing)),
            Ok(_) => {}
        }
        let refused = match qdisc::restore(socket, index, former.as_ref()) {
            Ok(()) => return Ok(Ok(Restored::Queue)),
            Err(Errno::ENODEV) => return Ok(Ok(Restored::Gone)),
            Err(error) => error,
        };
        // A lowered rate must not remain, even if the former queue is lost.
        qdisc::restore(socket, index, None).map_err(failed)?;
        let kind = former.map_or_else(String::new, |former| former.kind);
        Ok(Err(LiveError::system(
            format!("restoring the queue {kind} of {}; the kernel's default queue is installed instead", self.device),
            refused,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("netlull-state-{name}-{}", std::process::id()))
    }

    #[test]
    fn what_is_saved_is_found_again() {
        let directory = directory("saved");
        let place = Place::new(&directory, "eth0").unwrap();
        assert_eq!(place.load().unwrap(), None);
        let saved = Saved {
            pid: 7,
            device: Device { name: "eth0".to_owned(), index: 3, mtu: 1500, link_header: 14 },
            bucket: Bucket { rate: netlull_units::BitRate::from_mbps(20), burst: 3028, limit: 150_000 },
            former: Former { kind: "fq".to_owned(), handle: 0x8001_0000, options: vec![1, 2] },
            metrics: Some("127.0.0.1:9100".parse().unwrap()),
            mechanism: "awm".to_owned(),
        };
        place.save(&saved).unwrap();
        assert_eq!(place.load().unwrap(), Some(saved));
        std::fs::write(place.saved(), "{").unwrap();
        assert!(place.load().is_err());
        std::fs::remove_dir_all(directory).unwrap();
    }
}
