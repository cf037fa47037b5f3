//! The state of a document that is read, or of a run, on this thread: its tape, and the exception that ended it.

use super::Class;
use netlull_mechanism::ConfigError;
use netlull_sim::tape::{PartHead, Played, Recorded, SharedTape, Stamp, Tape};
use pyo3::prelude::*;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The state of a document or of a run on this thread.
#[derive(Default)]
struct Session {
    seed: u64,
    /// The plug-ins that the run has built.
    built: usize,
    /// The tape to record.
    record: Option<SharedTape>,
    /// The tape to play.
    play: Option<Arc<Tape>>,
    /// The sleep plans that a document has made.
    plans: Vec<PartHead>,
    /// The sleep plans that a document has read from its tape.
    plans_read: usize,
    /// For each plug-in of the tape, the number of answers that wait for their call.
    left: Vec<Arc<AtomicUsize>>,
    /// True if a document has a class.
    has_classes: bool,
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
    /// The exception of a plug-in, until the error that it leads to takes it as its cause.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The tapes of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loaded {
    /// The tape in place of the plug-ins.
    pub play: Option<Arc<Tape>>,
    /// The sleep plans made for the document.
    plans: Vec<PartHead>,
    /// True if runs call Python, so that they share its lock.
    pub calls_python: bool,
}

/// Reads a document with the plug-ins of a tape, or with their classes.
pub(crate) fn load<T>(play: Option<Arc<Tape>>, read: impl FnOnce() -> T) -> (T, Loaded) {
    // A method of a class may read another document.
    let outer = SESSION.replace(Session { play: play.clone(), ..Session::default() });
    let value = read();
    let session = SESSION.replace(outer);
    (value, Loaded { play, plans: session.plans, calls_python: session.has_classes })
}

/// The tapes of a run.
pub(crate) struct Tapes {
    /// The tape of the run as text, if it is recorded.
    pub recorded: Option<String>,
    /// The error of a tape that is not played to its end.
    pub unplayed: Option<ConfigError>,
}

/// Runs a scenario with a seed. It is recorded if it has a stamp.
pub(crate) fn run<T>(loaded: &Loaded, seed: u64, stamp: Option<Stamp>, run: impl FnOnce() -> T) -> (T, Tapes) {
    let record = stamp.map(|stamp| Arc::new(Mutex::new(Tape::new(seed, stamp))));
    // A method of a class may run another scenario.
    let session = Session { seed, record: record.clone(), play: loaded.play.clone(), ..Session::default() };
    let outer = SESSION.replace(session);
    let value = run();
    let session = SESSION.replace(outer);
    let unplayed = loaded.play.as_ref().and_then(|tape| unplayed(tape, &session));
    let text = record.map(|tape| {
        let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.plans.iter().for_each(|plan| {
            tape.add(plan.clone());
        });
        tape.text()
    });
    (value, Tapes { recorded: text, unplayed })
}

/// The error of a run that has not played all answers.
fn unplayed(tape: &Tape, session: &Session) -> Option<ConfigError> {
    let parts = tape.heads().filter(|head| head.off.is_none()).count();
    let left: usize = session.left.iter().map(|left| left.load(Ordering::Relaxed)).sum();
    if (session.built, left) == (parts, 0) {
        return None;
    }
    let value = format!("played for {} of {parts} plug-ins, with {left} answers left", session.built);
    Some(ConfigError::new("tape", value, "a scenario that plays every answer in its order"))
}

/// The seed of the run, for the random numbers of the next object of a class: another one for each object.
pub(super) fn seed() -> String {
    SESSION.with_borrow(|session| format!("{}.{}", session.seed, session.built))
}

/// Notes an exception of a plug-in. The first of a run is its cause.
pub(crate) fn raised(error: PyErr) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Takes the exception that led to the present error.
pub(crate) fn cause() -> Option<PyErr> {
    RAISED.take()
}

/// A plug-in of a run: the object of a class, or its answers on a tape.
pub(super) enum Part<T> {
    /// An object, whose answers are recorded if the run is.
    Live(T),
    /// An object whose answers are recorded.
    Recorded(Recorded<T>),
}

/// Takes part in a run: numbers the object, and records its answers if the run is recorded.
pub(super) fn join<T>(class: &Class, plugin: T, head: impl FnOnce(PartHead) -> PartHead) -> Part<T> {
    SESSION.with_borrow_mut(|session| {
        session.built += 1;
        let Some(tape) = &session.record else { return Part::Live(plugin) };
        let head = head(PartHead { name: class.name.clone(), table: class.table.clone(), ..PartHead::default() });
        let part = tape.lock().unwrap_or_else(PoisonError::into_inner).add(head);
        Part::Recorded(Recorded::new(plugin, Arc::clone(tape), part))
    })
}

/// The next plug-in of a run that plays a tape: its head and its answers. Its table must be that of the document.
pub(super) fn play_next(table: &Value) -> Option<(PartHead, Played)> {
    SESSION.with_borrow_mut(|session| {
        let (tape, number) = (session.play.as_ref()?, session.built);
        session.built += 1;
        let head = tape.part(number).filter(|head| head.off.is_none() && head.table == *table)?.clone();
        let played = tape.play(number);
        session.left.push(played.left());
        Some((head, played))
    })
}

/// The first plug-in of a tape with the table of a document. All with the same table have the same class.
pub(super) fn on_tape(table: &Value) -> Option<PartHead> {
    SESSION.with_borrow(|session| session.play.as_ref()?.heads().find(|head| head.table == *table).cloned())
}

/// True if the document or the run plays a tape.
pub(super) fn plays() -> bool {
    SESSION.with_borrow(|session| session.play.is_some())
}

/// Notes that the document has a class whose objects runs call.
pub(super) fn has_class() {
    SESSION.with_borrow_mut(|session| session.has_classes = true);
}

/// Notes a sleep plan of the document.
pub(super) fn planned(head: PartHead) {
    SESSION.with_borrow_mut(|session| session.plans.push(head));
}

/// The next sleep plan of a document that plays a tape.
pub(super) fn next_plan() -> Option<PartHead> {
    SESSION.with_borrow_mut(|session| {
        let mut plans = session.play.as_ref()?.heads().filter(|head| head.off.is_some());
        let next = plans.nth(session.plans_read).cloned();
        session.plans_read += 1;
        next
    })
}
