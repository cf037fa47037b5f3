//! Machines that let a wireless station's radio sleep, and the access point of a dozing station.
//!
//! ```text
//!   server ◄──── network ────► access point ◄──── air ────► radio ◄──► machine ◄──► host's TCP
//!                              [AccessPoint]               sleeps,     [Shaper], [Eager],
//!                              beacons, buffers            idles       [Psm], [Bsd]
//! ```
//!
//! [`crate::station`] has the events and actions of a station's machine.

mod access_config;
mod access_point;
mod bsd;
mod doze;
mod eager;
mod psm;
mod shaper;

pub use access_config::{AccessPointConfig, Polling};
pub use access_point::{AccessAction, AccessEvent, AccessPoint, answer};
pub use bsd::{Bsd, BsdConfig, Requests};
pub use eager::{Eager, EagerConfig};
pub use psm::{Psm, PsmConfig};
pub use shaper::{Burst, BurstAcks, Fallback, PacedFrom, RepairAcks, RttFrom, Shaper, ShaperConfig, ShaperState};
