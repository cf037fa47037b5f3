//! Parts that other crates define, in documents, plans and tapes.
//!
//! A crate with a reader of a kind adds it to [`LINKS`], [`STATIONS`] or [`PLANS`]. `kind = "wasm"` is such a kind
//! (`crates/plugin`), and so is `kind = "python"` (`crates/py`). This crate has no runtime for them.

use crate::link::LinkFactory;
use crate::station::StationFactory;
use crate::topology::SleepPlanner;
use netlull_document::Loaders;
use std::sync::Arc;

/// The kinds of link controllers that other crates read.
pub static LINKS: Loaders<Arc<dyn LinkFactory>> = Loaders::new();

/// The kinds of station machines that other crates read.
pub static STATIONS: Loaders<Arc<dyn StationFactory>> = Loaders::new();

/// The kinds of sleep plans that other crates read.
pub static PLANS: Loaders<Arc<dyn SleepPlanner>> = Loaders::new();
