//! Open-loop sources: datagrams, and the arrivals of requests. TCP's transfers are in `netlull_tcp`, and the run
//! connects both.

mod datagrams;
mod flows;
mod record;
mod requests;
pub(crate) mod sizes;

pub use datagrams::DatagramSource;
pub use flows::{ArrivalPattern, DatagramFlow, FlowPath, RequestFlow};
pub use record::Record;
pub use requests::RequestSource;
pub use sizes::{Component, Empirical, Lognormal, Pareto, SizeLaw};
