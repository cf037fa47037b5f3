//! The tests of this crate are one program.

mod brute_force;
mod by_hand;
mod link;
