//! Nothing but tests, of what neither the simulator nor the emulation can be held to alone: both mean the same by a scenario. They do not
//! know each other, so the tests are in a crate that knows both.
