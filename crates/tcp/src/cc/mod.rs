//! Congestion control: how much may be in flight.
//!
//! Congestion control and loss recovery are separate and compose: recovery decides what to retransmit, when a loss is
//! declared and when it is repaired; a [`CongestionControl`] hears of that and of every acknowledgement, and decides
//! cwnd and ssthresh.

/// The congestion controls of this crate: passes a line for each to the macro `$declare`, in the order of the names in
/// scenarios.
///
/// A line is `Name(Type) = FILE::INFO;`. A line without a type shares the type of another; `others` are types that no line
/// names. The attribute in front is for [`Controller`]: enum_dispatch works only if it comes from the same place as the
/// names (macro hygiene).
macro_rules! congestion_controls {
    ($declare:ident) => {
        $declare! {
            [#[enum_dispatch(CongestionControl)]]
            others {
                // Of `cubic` and of Reno's family with `CwndUnit::Segments`.
                Cubic6(Box<Cubic6>);
                Reno6(Box<Reno6>);
                Foreign(Box<dyn ForeignControl>);
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
mod linux;
mod linux_6;
mod parameters;
mod registry;
mod reno;
mod reno_2_6_22;
mod vegas;

pub use algorithm::{Algorithm, ControllerFactory, Foreign, ForeignControl};
pub use bbr::Bbr;
pub use bic::Bic;
pub use compound::Compound;
pub use control::{Ack, CongestionControl, Delivery, Loss, Recovered, Start, TimeoutKind, Transmission};
pub use cubic::Cubic;
pub use cubic_2_6_22::Cubic2622;
pub use dctcp::Dctcp;
pub use linux_6::{Cubic6, Reno6};
pub use parameters::ParameterInfo;
pub use reno::Reno;
pub use reno_2_6_22::Reno2622;
pub use vegas::Vegas;

use crate::catalogue::AlgorithmInfo;
use crate::config::Config;
use crate::delivery::{DeliveryRate, LostSegment};
use crate::recovery::RecoveryPhase;
use enum_dispatch::enum_dispatch;
use netlull_units::{BitRate, Instant};
use registry::controllers;

congestion_controls!(controllers);

impl Controller {
    /// `seed` is for algorithms that decide at random.
    pub fn new(config: &Config, seed: u32) -> Self {
        match &config.congestion_control {
            Algorithm::Foreign(factory) => Self::Foreign(factory.build(config, seed)),
            algorithm => match algorithm.info() {
                Some(info) => (info.build)(config, seed),
                None => Self::Reno(Reno::new(config)),
            },
        }
    }

    /// [`CongestionControl::cwnd`], with the window of RFC 5681 in line and the others out of it.
    #[inline(always)]
    pub fn cwnd(&self) -> u64 {
        if let Self::Reno(reno) = self { reno.cwnd() } else { self.cwnd_elsewhere() }
    }

    #[inline(never)]
    fn cwnd_elsewhere(&self) -> u64 {
        CongestionControl::cwnd(self)
    }

    /// As [`CongestionControl::on_ack`] with no loss being repaired and no echo, for the algorithm that needs nothing else
    /// of the acknowledgement; false for the others.
    #[inline(always)]
    pub fn opens_by(&mut self, acked: u64, flight_before: u64) -> bool {
        let Self::Reno(reno) = self else { return false };
        reno.open(acked, flight_before, RecoveryPhase::Open);
        true
    }
}
