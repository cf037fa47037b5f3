//! The [guard] of an instance: it raises a lowered rate when the instance hangs, and restores the former queue when it
//! dies.

use super::qdisc::{self, Device};
use super::state::{Place, Restored, Saved, lock};
use crate::confine::{Confinement, Programs};
use crate::error::{LiveError, Result, say};
use crate::guard::{self, Guard, Guarded};
use crate::lock::{DIRECTORY, DeviceLock, Held};
use crate::netlink::Socket;
use caps::Capability;
use netlull_units::Duration;
use std::ffi::OsStr;
use std::path::Path;

/// The silence after which an instance counts as hung.
pub const SILENCE: Duration = Duration::from_millis(200);

/// Starts the guard of a device; it inherits the lock, and reads the changes to undo from the state file.
///
/// # Errors
/// If the guard cannot be started.
pub fn start(place: &Place, device: &str, held: &Held) -> Result<Guard> {
    let words = ["router", "watch", "--dev", device, "--state"].map(OsStr::new);
    let mut arguments = words.to_vec();
    arguments.push(place.directory().as_os_str());
    Guard::start(&arguments, held.for_guard()?)
}

/// Runs `netlulld router watch`, which the instance starts.
///
/// # Errors
/// If there is no instance to watch, or the former queue cannot be restored.
pub fn watch(place: Place) -> Result<()> {
    let saved = place.load()?.ok_or_else(|| {
        LiveError::new(format!("{} does not exist; expected the state of a running instance", place.saved().display()))
    })?;
    let lock = lock(saved.device.index, &saved.device.name)?;
    // The instance has reported what this kernel lacks.
    let _missing = confine(&place)?;
    guard::watch(SILENCE, &mut Changed { place, saved, lock, socket: Socket::open()? })
}

/// The directory from which the eBPF library reads the number of processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Gives up all rights but those of an instance that runs, and of its guard: to change and restore the queue and to
/// remove the state. Orders to the eBPF programs need none.
///
/// # Errors
/// The errors of [`Confinement::enter`], whose result this is.
pub(super) fn confine(place: &Place) -> Result<Vec<&'static str>> {
    let confinement = Confinement {
        capabilities: &[Capability::CAP_NET_ADMIN],
        programs: Programs::None,
        readable: vec![Path::new(PROCESSORS)],
        writable: vec![place.directory(), Path::new(DIRECTORY)],
    };
    confinement.enter()
}

/// A device with an instance's queue.
struct Changed {
    place: Place,
    saved: Saved,
    lock: DeviceLock,
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
        let Device { name, index, .. } = &self.saved.device;
        if self.place.restore(&mut self.socket, Some(*index))? == Restored::Queue {
            say(format_args!("the instance of {name} has died: the former queue is restored"));
        }
        self.lock.remove();
        Ok(())
    }
}
