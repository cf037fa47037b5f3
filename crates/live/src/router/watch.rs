//! The [guard] of an instance: it raises a lowered rate when the instance hangs, and restores the former queue when it
//! dies.

use super::lock::{self, Held};
use super::qdisc;
use super::state::{Place, Restored, Saved};
use crate::error::{LiveError, Result, say};
use crate::guard::{self, Guard, Guarded};
use crate::netlink::Socket;
use netlull_units::Duration;
use std::ffi::OsStr;
use std::process::Stdio;

/// The silence after which an instance counts as hung.
pub const SILENCE: Duration = Duration::from_millis(200);

/// Starts the guard of a device; it reads the changes to undo from the state file.
///
/// # Errors
/// If the guard cannot be started.
pub fn start(place: &Place, device: &str) -> Result<Guard> {
    let words = ["router", "watch", "--dev", device, "--state"].map(OsStr::new);
    let mut arguments = words.to_vec();
    arguments.push(place.directory().as_os_str());
    Guard::start(&arguments, Stdio::null())
}

/// Runs `netlulld router watch`, which the instance starts.
///
/// # Errors
/// If there is no instance to watch, or the former queue cannot be restored.
pub fn watch(place: Place) -> Result<()> {
    let saved = place.load()?.ok_or_else(|| {
        LiveError::new(format!("{} does not exist; expected the state of a running instance", place.saved().display()))
    })?;
    guard::watch(SILENCE, &mut Changed { place, saved, socket: Socket::open()? })
}

/// A device with an instance's queue.
struct Changed {
    place: Place,
    saved: Saved,
    socket: Socket,
}

impl Guarded for Changed {
    fn ease(&mut self) {
        let Saved { device, bucket, .. } = &self.saved;
        match qdisc::change(&mut self.socket, device.index, *bucket) {
            Ok(()) => say(format_args!("the instance of {} hangs: full rate is set", device.name)),
            // The queue is somebody else's or the device is gone: no rate is lowered.
            Err(error) => say(format_args!("the instance of {} hangs, and its queue is gone: {error}", device.name)),
        }
    }

    fn undo(&mut self) -> Result<()> {
        let Some(held) = inherit(&self.saved) else { return Ok(()) };
        if self.place.restore(&mut self.socket, Some(&held))? == Restored::Queue {
            say(format_args!("the instance of {} has died: the former queue is restored", self.saved.device.name));
        }
        Ok(())
    }
}

/// Takes over the lock of a dying instance, which may outlive its end of the stream briefly. Returns `None` if a new
/// instance holds the lock: it has undone everything or will.
fn inherit(Saved { device, .. }: &Saved) -> Option<Held> {
    (0..100).find_map(|_| {
        let held = lock::hold(&device.name, device.index).ok();
        if held.is_none() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        held
    })
}
