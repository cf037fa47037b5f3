//! The state of a document that is read, or of a run, on this thread: its tape, and the exception that ended it.

use super::Class;
use netlull_sim::tape::{PartHead, Played, Recorded, SharedTape, Tape};
use pyo3::prelude::*;
use serde_json::Value;
use std::cell::RefCell;
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

/// The tape of a run, if it is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    On,
    Off,
}

/// Reads a document with the plug-ins of a tape, or with their classes.
pub(crate) fn load<T>(play: Option<Arc<Tape>>, read: impl FnOnce() -> T) -> (T, Loaded) {
    SESSION.set(Session { play: play.clone(), ..Session::default() });
    let value = read();
    let session = SESSION.take();
    (value, Loaded { play, plans: session.plans, calls_python: session.has_classes })
}

/// Runs a scenario with a seed; returns its tape as text, if it is recorded.
pub(crate) fn run<T>(loaded: &Loaded, seed: u64, recording: Recording, run: impl FnOnce() -> T) -> (T, Option<String>) {
    let record = (recording == Recording::On).then(|| Arc::new(Mutex::new(Tape::new(seed))));
    SESSION.set(Session { seed, record: record.clone(), play: loaded.play.clone(), ..Session::default() });
    let value = run();
    SESSION.take();
    let text = record.map(|tape| {
        let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.plans.iter().for_each(|plan| {
            tape.add(plan.clone());
        });
        tape.text()
    });
    (value, text)
}

/// The seed of the run, for the random numbers of the next object of a class: another one for each object.
pub(super) fn seed() -> String {
    SESSION.with_borrow(|session| format!("{}.{}", session.seed, session.built))
}

/// Notes an exception of a plug-in. The first of a run is its cause.
pub(super) fn raised(error: PyErr) {
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

/// The next plug-in of a run that plays a tape: its head and its answers.
pub(super) fn play_next() -> Option<(PartHead, Played)> {
    SESSION.with_borrow_mut(|session| {
        let (tape, number) = (session.play.as_ref()?, session.built);
        session.built += 1;
        Some((tape.part(number)?.clone(), tape.play(number)))
    })
}

/// The first plug-in of a tape with the table of a document.
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
        let next = plans.nth(session.built).cloned();
        session.built += 1;
        next
    })
}
