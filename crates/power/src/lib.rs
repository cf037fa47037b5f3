//! Power and energy of links whose rate changes.
//!
//! An [`EnergyMeter`] records, at rate changes only, the time of a link at each rate and in each transition.
//! After the run, any [`PowerModel`] turns the resulting [`Residency`] into energy. One run therefore gives the
//! energy under frequency scaling, voltage scaling and every measured device. `docs/models/power.md` has the
//! equations, the sources and the limits.

mod catalogue;
mod device;
mod document;
mod fleet;
mod ideal;
mod meter;
mod model;
mod radio;
mod transceivers;

pub use catalogue::PowerModelInfo;
pub use device::{Device, DeviceModel, LineCard, PortSpeed, Supply, Transceiver};
pub use document::{EfficiencyDocument, LineCardDocument, PortDocument, PowerDocument, SupplyDocument};
pub use fleet::{CAUSES, Loads, Plugged, PortState, PortUse, Watched};
pub use ideal::{BelowFloor, IdealModel, Scaling};
pub use meter::{EnergyLedger, EnergyMeter, RateTime, Residency, Traffic, TransitionPower, TransitionTime, saving};
pub use model::PowerModel;
pub use netlull_document::ConfigError;
pub use radio::{RadioEnergy, RadioMeter, RadioPower, RadioTime};
