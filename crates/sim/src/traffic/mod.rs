//! Sources that no feedback slows down. TCP's transfers are in `netlull_tcp`; the run connects them.

mod datagrams;

pub use datagrams::DatagramSource;
