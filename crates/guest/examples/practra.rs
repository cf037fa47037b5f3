//! practRA as a WebAssembly module: the same source as the built-in controller.
#![allow(missing_docs)]

netlull_guest::link_controller!("practra", netlull_guest::mechanism::rate::PractRaConfig);
