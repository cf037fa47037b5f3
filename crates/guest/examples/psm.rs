//! IEEE 802.11's power-saving mode as a WebAssembly module: the same source as the built-in machine.
#![allow(missing_docs)]

netlull_guest::station_machine!("psm", netlull_guest::mechanism::radio::PsmConfig);
