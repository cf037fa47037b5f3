//! Congestion control: how much may be in flight.
//!
//! Congestion control and loss recovery are separate and compose: recovery decides what to retransmit, when a loss is
//! declared and when it is repaired; a [`CongestionControl`] hears of that and of every acknowledgement, and decides
//! cwnd and ssthresh.

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
mod reno;
mod reno_2_6_22;
mod vegas;

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

use crate::config::{Algorithm, Config, CwndUnit};
use crate::delivery::{DeliveryRate, LostSegment};
use crate::recovery::RecoveryPhase;
use enum_dispatch::enum_dispatch;
use netlull_units::{BitRate, Instant};

/// The algorithm of one endpoint: a closed set, so that the compiler sees through each call.
#[enum_dispatch(CongestionControl)]
#[derive(Clone, Debug)]
pub(crate) enum Controller {
    Reno(Reno),
    Reno2622(Box<Reno2622>),
    Reno6(Box<Reno6>),
    Bbr(Box<Bbr>),
    Bic(Box<Bic>),
    Compound(Box<Compound>),
    Cubic(Box<Cubic>),
    Cubic2622(Box<Cubic2622>),
    Cubic6(Box<Cubic6>),
    Dctcp(Box<Dctcp>),
    Vegas(Box<Vegas>),
}

impl Controller {
    /// `seed` is for algorithms that decide at random.
    pub fn new(config: &Config, seed: u32) -> Self {
        match config.congestion_control {
            // They differ in loss recovery only.
            Algorithm::Tahoe | Algorithm::Reno | Algorithm::NewReno | Algorithm::Sack => match config.cwnd_unit {
                CwndUnit::Bytes => Self::Reno(Reno::new(config)),
                CwndUnit::Segments => Self::Reno6(Box::new(Reno6::new(config))),
            },
            Algorithm::Bbr => Self::Bbr(Box::new(Bbr::new(config, seed))),
            Algorithm::Bic => Self::Bic(Box::new(Bic::new(config))),
            Algorithm::Compound => Self::Compound(Box::new(Compound::new(config))),
            Algorithm::Cubic => match config.cwnd_unit {
                CwndUnit::Bytes => Self::Cubic(Box::new(Cubic::new(config))),
                CwndUnit::Segments => Self::Cubic6(Box::new(Cubic6::new(config))),
            },
            Algorithm::Cubic2622 => Self::Cubic2622(Box::new(Cubic2622::new(config))),
            Algorithm::Dctcp => Self::Dctcp(Box::new(Dctcp::new(config))),
            Algorithm::Reno2622 => Self::Reno2622(Box::new(Reno2622::new(config))),
            Algorithm::Vegas => Self::Vegas(Box::new(Vegas::new(config))),
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
