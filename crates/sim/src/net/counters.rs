//! What links count.

pub use netlull_network::counters::LinkCounters;
