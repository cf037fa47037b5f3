//! Congestion control: the limit of data in flight.
//!
//! Congestion control and loss recovery are separate parts. Recovery selects the data to retransmit, and declares the
//! beginning and end of a loss. A [`CongestionControl`] gets these events and every acknowledgement, and decides cwnd
//! and ssthresh.

/// The congestion controls of this crate. It passes a line for each to the macro `$declare`, in the order of the
/// names in scenarios.
///
/// A line is `Name(Type) = FILE::INFO;`. A line without a type shares the type of another. `others` are types that no
/// line names. The attribute in front is for [`Controller`]: enum_dispatch works only if it comes from the same place
/// as the names (macro hygiene).
macro_rules! congestion_controls {
    ($declare:ident) => {
        $declare! {
            [#[enum_dispatch(CongestionControl)]]
            others {
                // `cubic` and Reno's family with `CwndUnit::Segments`.
                Cubic6(Box<Cubic6>);
                Reno6(Box<Reno6>);
                Foreign(Box<Watched>);
            }
            Bbr(Box<Bbr>) = bbr::INFO;
            Bic(Box<Bic>) = bic::INFO;
            Compound(Box<Compound>) = compound::INFO;
            Cubic(Box<Cubic>) = cubic::INFO;
            Cubic2622(Box<Cubic2622>) = cubic_2_6_22::INFO;
            Dctcp(Box<Dctcp>) = dctcp::INFO;
            NewReno = reno::NEW_RENO;
            Reno(Reno) = reno::RENO;
            Reno2622(Box<Reno2622>) = reno_2_6_22::INFO;
            Sack = reno::SACK;
            Tahoe = reno::TAHOE;
            Vegas(Box<Vegas>) = vegas::INFO;
        }
    };
}

mod algorithm;
mod bbr;
mod bic;
mod compound;
mod control;
mod cube_root;
mod cubic;
mod cubic_2_6_22;
mod dctcp;
mod delay;
mod hystart;
mod info;
mod linux;
mod linux_6;
mod listener;
mod parameters;
mod registry;
mod reno;
mod reno_2_6_22;
mod vegas;
mod watched;

pub use algorithm::{Algorithm, Choice, CongestionControlFactory, FOREIGN, Foreign, ForeignControl};
pub use bbr::Bbr;
pub use bic::Bic;
pub use compound::Compound;
pub use control::{Ack, CongestionControl, Delivery, Idle, Loss, Recovered, Start, TimeoutKind, Transmission};
pub use cubic::Cubic;
pub use cubic_2_6_22::Cubic2622;
pub use dctcp::Dctcp;
pub use info::{AlgorithmInfo, KnownWith};
pub use linux_6::{Cubic6, Reno6};
pub use listener::{Answer, ControlEvent, Heard, Listener, json_schema};
pub use parameters::ParameterInfo;
pub use reno::Reno;
pub use reno_2_6_22::Reno2622;
pub use vegas::Vegas;
pub use watched::{Fault, Watched};

use crate::config::Config;
use crate::delivery::{DeliveryRate, LostSegment};
use crate::recovery::RecoveryPhase;
use enum_dispatch::enum_dispatch;
use netlull_document::ConfigError;
use netlull_units::{BitRate, Instant};
use registry::controllers;

congestion_controls!(controllers);

impl Algorithm {
    /// A congestion control that works apart from an endpoint, with the options of `config`.
    #[must_use]
    pub fn control(&self, config: &Config, seed: u32) -> Box<dyn ForeignControl> {
        let config = Config { congestion_control: self.clone(), ..config.clone() };
        Box::new(Controller::new(&config, seed))
    }
}

impl Controller {
    /// The congestion control of one endpoint; `seed` is for random decisions.
    pub fn new(config: &Config, seed: u32) -> Self {
        match &config.congestion_control {
            Algorithm::Foreign(factory) => Self::Foreign(Box::new(Watched::new(&**factory, config, seed))),
            algorithm => match algorithm.info() {
                Some(info) => (info.build)(config, seed),
                None => Self::Reno(Reno::new(config)),
            },
        }
    }

    /// Returns [`CongestionControl::cwnd`]; only the window of RFC 5681 is inlined.
    #[inline(always)]
    pub fn cwnd(&self) -> u64 {
        if let Self::Reno(reno) = self { reno.cwnd() } else { self.cwnd_elsewhere() }
    }

    #[inline(never)]
    fn cwnd_elsewhere(&self) -> u64 {
        CongestionControl::cwnd(self)
    }

    /// The first fault of a custom congestion control.
    pub fn fault(&self) -> Option<&Fault> {
        if let Self::Foreign(watched) = self { watched.fault() } else { None }
    }

    /// Does the work of [`CongestionControl::on_ack`] outside recovery and without an echo, for the algorithm that
    /// needs no more of the acknowledgement. Returns false for all others.
    #[inline(always)]
    pub fn opens_by(&mut self, acked: u64, flight_before: u64) -> bool {
        let Self::Reno(reno) = self else { return false };
        reno.open(acked, flight_before, RecoveryPhase::Open);
        true
    }
}
