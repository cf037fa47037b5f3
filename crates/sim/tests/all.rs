//! Tests of the simulator's interface. All tests of this folder share a program, because each program would be linked
//! with every library again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod access;
mod ahead;
mod air;
mod applications;
mod arrivals;
mod bbr;
mod capacity;
mod common;
mod eee;
mod emulation;
mod estimate;
mod gateways;
mod links;
mod losses;
mod lull;
mod noise;
mod observe;
mod phases;
mod plug_ins;
mod power;
mod probes;
mod queues;
mod replay;
mod requests;
mod sleep;
mod stations;
mod steps;
mod transfers;
