//! TCP from outside. All tests of this folder form one program, to link everything only once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod bbr_next_to_noq;
mod bottleneck;
mod closed_windows;
mod linux_golden;
mod lossy_path;
mod ns2_golden;
mod packet_script;
mod packet_scripts;
mod plug_ins;
mod support;
mod trace;
