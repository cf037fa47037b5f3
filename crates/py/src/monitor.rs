//! Progress and cancellation of a run from other threads.

use crate::memory::Limit;
use netlull_sim::run::{self, Stop};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The state that a run shares with its watchers.
#[derive(Default)]
pub(crate) struct Shared {
    cancelled: AtomicBool,
    fraction_bits: AtomicU64,
}

/// Progress and cancellation of a run, from any thread.
#[pyclass(frozen)]
#[derive(Default)]
pub(crate) struct Monitor {
    shared: Arc<Shared>,
}

#[pymethods]
impl Monitor {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends the run soon. The run then raises `Cancelled`.
    fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// The simulated share of the run, 0 to 1.
    #[getter]
    fn fraction(&self) -> f64 {
        f64::from_bits(self.shared.fraction_bits.load(Ordering::Relaxed))
    }
}

impl Monitor {
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }
}

/// Checks the monitor, the memory and Python's signals during a run.
pub(crate) struct Watcher {
    shared: Option<Arc<Shared>>,
    memory: Option<Limit>,
    /// True if Python handles signals in this thread.
    handles_signals: bool,
    /// True if the run keeps the GIL, and lets other threads take it here.
    pub yields: bool,
    /// The exception of a signal handler, such as `KeyboardInterrupt` after Ctrl-C.
    pub interrupt: Option<PyErr>,
}

impl Watcher {
    /// A watcher of a run on this thread. `memory` is the run's limit in bytes.
    pub(crate) fn new(py: Python<'_>, shared: Option<Arc<Shared>>, memory: Option<u64>) -> PyResult<Self> {
        let threading = py.import("threading")?;
        let this: u64 = threading.call_method0("get_ident")?.extract()?;
        let main: u64 = threading.call_method0("main_thread")?.getattr("ident")?.extract()?;
        Ok(Self {
            shared,
            memory: memory.map(Limit::new),
            handles_signals: this == main,
            yields: false,
            interrupt: None,
        })
    }
}

impl run::Monitor for Watcher {
    fn progress(&mut self, share: f64) -> ControlFlow<Stop> {
        if self.yields {
            Python::attach(|py| py.detach(|| ()));
        }
        if let Some(shared) = &self.shared {
            shared.fraction_bits.store(share.to_bits(), Ordering::Relaxed);
            if shared.cancelled.load(Ordering::Relaxed) {
                return ControlFlow::Break(Stop::Cancelled);
            }
        }
        if let Some(limit) = &self.memory
            && limit.is_exceeded()
        {
            return ControlFlow::Break(Stop::Memory(limit.bytes));
        }
        if self.handles_signals
            && let Err(raised) = Python::attach(|py| py.check_signals())
        {
            self.interrupt = Some(raised);
            return ControlFlow::Break(Stop::Cancelled);
        }
        ControlFlow::Continue(())
    }
}
