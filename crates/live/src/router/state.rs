//! What one instance leaves for others to find: what stood at a device's root before.

use super::lock::{self, Held};
use super::qdisc::{self, Bucket, Device, Former};
use crate::error::{LiveError, Result, say};
use crate::namespace;
use crate::netlink::Socket;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where instances leave it.
pub const DIRECTORY: &str = "/run/netlull";

/// What an instance has done to a device, enough to undo it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Whose it is.
    pub pid: u32,
    /// The device.
    pub device: Device,
    /// The bucket at its full rate.
    pub bucket: Bucket,
    /// What stood at its root.
    pub former: Former,
    /// Where the metrics are.
    pub metrics: Option<SocketAddr>,
    /// What runs.
    pub mechanism: String,
}

/// The places of a device's files. Devices of several network namespaces may have the same name.
#[derive(Clone, Debug)]
pub struct Place {
    directory: PathBuf,
    device: String,
    /// The inode of the device's network namespace.
    namespace: u64,
}

/// What was found and undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// There was nothing to undo.
    Nothing,
    /// What stood at the root before stands there again.
    Queue,
    /// The device is gone, and its queue with it.
    Gone,
}

impl Place {
    /// The places for that device of this thread's network namespace.
    ///
    /// # Errors
    /// If the system does not tell the namespace: /proc is not mounted.
    pub fn new(directory: &Path, device: &str) -> Result<Self> {
        let namespace = std::fs::metadata(namespace::OWN).map_err(|error| LiveError::system(namespace::OWN, error))?;
        Ok(Self { directory: directory.to_owned(), device: device.to_owned(), namespace: namespace.ino() })
    }

    fn file(&self, what: &str) -> PathBuf {
        self.directory.join(format!("router-{}-{}.{what}", self.namespace, self.device))
    }

    /// The file that tells what stood there.
    #[must_use]
    pub fn saved(&self) -> PathBuf {
        self.file("json")
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The number of the device whose queue is to be put back, or else of the one that has the name; `None` if there is neither.
    pub fn index(&self, socket: &mut Socket) -> Option<u32> {
        // By its number: it may have another name by now. Should another device have the number, its root is not the daemon's.
        let saved = self.load().ok().flatten().map(|saved| saved.device.index);
        saved.or_else(|| Device::find(socket, &self.device).ok().map(|device| device.index))
    }

    /// Writes down what is about to be done; it is there whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, saved: &Saved) -> Result<()> {
        let (path, draft) = (self.saved(), self.saved().with_extension("json.new"));
        let cannot = |error: std::io::Error| LiveError::system(path.display(), error);
        std::fs::create_dir_all(&self.directory).map_err(cannot)?;
        let text = serde_json::to_string_pretty(saved).map_err(|error| LiveError::system(path.display(), error))?;
        std::fs::write(&draft, text).map_err(cannot)?;
        std::fs::rename(&draft, &path).map_err(cannot)
    }

    /// What was written down; `None` if nothing was.
    ///
    /// # Errors
    /// If what is there cannot be read.
    pub fn load(&self) -> Result<Option<Saved>> {
        let path = self.saved();
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| LiveError::system(path.display(), error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LiveError::system(path.display(), error)),
        }
    }

    /// Undoes what an instance has left that is no more. Doing it twice does no more than doing it once. `held` is what the caller
    /// holds; a device that it does not hold is held meanwhile, and left alone if another instance has it, which has undone everything already.
    ///
    /// # Errors
    /// If the former queue cannot be put back.
    pub fn restore(&self, socket: &mut Socket, held: Option<&Held>) -> Result<Restored> {
        // A file that cannot be read must not keep a lowered rate in place: the kernel's own queue is better.
        let saved = self.load().unwrap_or_else(|error| {
            say(format_args!("{error}; the kernel's own queue takes the place of what was there"));
            None
        });
        let index = match &saved {
            Some(saved) => Some(saved.device.index),
            None => self.index(socket),
        };
        let own = held.map(Held::index);
        let meanwhile = index.filter(|_| index != own).map(|index| lock::hold(&self.device, index));
        let restored = match (index, &meanwhile) {
            (None, _) | (_, Some(Err(_))) => Ok(Restored::Nothing),
            (Some(index), _) => self.restore_root(socket, index, saved.map(|saved| saved.former))?,
        };
        match std::fs::remove_file(self.saved()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(LiveError::system(self.saved().display(), error))
            }
            _ => restored,
        }
    }

    /// The outer error: the daemon's queue may still stand there; the inner one: it does not, but the former was refused.
    fn restore_root(&self, socket: &mut Socket, index: u32, former: Option<Former>) -> Result<Result<Restored>> {
        let failed = |error: Errno| LiveError::system(format!("putting the queue of {} back", self.device), error);
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
        // A lowered rate must not stay, whatever else is lost.
        qdisc::restore(socket, index, None).map_err(failed)?;
        let kind = former.map_or_else(String::new, |former| former.kind);
        Ok(Err(LiveError::system(
            format!("putting the queue {kind} of {} back; the kernel's own stands there now", self.device),
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
