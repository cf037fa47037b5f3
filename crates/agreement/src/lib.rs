//! Contains only tests: the simulator and the emulation must give the same results for a scenario. Neither crate
//! depends on the other, so the tests are in a crate that depends on both.
