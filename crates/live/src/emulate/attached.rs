//! The TCP settings of an attached namespace. The emulation restores them at its end, or its [guard] if it was killed.

use crate::error::{LiveError, Result, say};
use crate::guard::{self, Guard, Guarded};
use crate::namespace::{Namespace, set_sysctl, sysctl};
use netlull_units::Duration;
use std::process::Stdio;

/// A value below `/proc/sys/net/`.
pub(super) type Setting = (&'static str, String);

pub(super) fn set(values: &[Setting]) -> Result<()> {
    values.iter().try_for_each(|(name, value)| set_sysctl(name, value))
}

/// An attached namespace with its original settings, restored when dropped.
#[derive(Debug)]
pub(super) struct Attached {
    namespace: Namespace,
    before: Vec<Setting>,
    guard: Option<Guard>,
}

impl Attached {
    /// Reads the settings that `asked` is about to change, and starts their guard. `name` is that of `ip netns`.
    ///
    /// # Errors
    /// If the kernel lacks a setting, or the guard cannot be started.
    pub(super) fn keep(name: &str, namespace: &Namespace, asked: &[Setting]) -> Result<Self> {
        let read = || asked.iter().map(|&(name, _)| Ok((name, sysctl(name)?))).collect::<Result<Vec<_>>>();
        let before = namespace.inside(read)?;
        let mut words = vec!["emulate-guard".to_owned(), name.to_owned()];
        words.extend(before.iter().map(|(name, value)| format!("{name}={value}")));
        let guard = if before.is_empty() { None } else { Some(Guard::start(&words, Stdio::null())?) };
        Ok(Self { namespace: namespace.try_clone()?, before, guard })
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Errors have no recipient here; a namespace that is gone needs no restoring.
        let _ = self.namespace.inside(|| set(&self.before));
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
    }
}

/// The arguments of the guard, which the emulation starts.
#[derive(clap::Args, Debug)]
pub struct GuardArguments {
    /// The namespace of `ip netns`.
    namespace: String,
    /// NAME=VALUE: a setting to restore.
    #[arg(value_parser = setting)]
    settings: Vec<(String, String)>,
}

fn setting(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("\"{text}\": expected NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Waits for the end of the emulation, and restores the settings if it was killed.
///
/// # Errors
/// If the namespace does not exist, or a setting cannot be restored.
pub fn guard_command(arguments: GuardArguments) -> Result<()> {
    let namespace = Namespace::named(&arguments.namespace)?;
    guard::watch(Duration::from_secs(60), &mut Changed { namespace, arguments })
}

struct Changed {
    namespace: Namespace,
    arguments: GuardArguments,
}

impl Guarded for Changed {
    /// Does nothing: an emulation that hangs harms nobody, and sends no heartbeats.
    fn ease(&mut self) {}

    fn undo(&mut self) -> Result<()> {
        let restore = |(name, value): &(String, String)| set_sysctl(name, value);
        self.namespace.inside(|| self.arguments.settings.iter().try_for_each(restore)).map_err(|error| {
            LiveError::new(format!(
                "the TCP settings of namespace {} are not restored: {error}",
                self.arguments.namespace
            ))
        })?;
        say(format_args!(
            "the emulation has died: the TCP settings of namespace {} are restored",
            self.arguments.namespace
        ));
        Ok(())
    }
}
