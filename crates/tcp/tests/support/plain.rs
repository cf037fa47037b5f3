//! The configuration of packet scripts, in Rust and in files. Unit tests include this file too.

use super::{Config, DelayedAck, HandshakeRtt, InitialWindow};

/// The defaults, which follow the RFCs, with segments of 1000 bytes without options. Each segment is acknowledged at
/// once. The handshake takes no time and is no round-trip sample.
pub fn plain() -> Config {
    Config::default().with(|c| {
        c.mss = 1000;
        c.timestamps = false;
        c.flow_control.window_scaling = false;
        c.acks.delayed_ack = DelayedAck::Off;
        c.timer.handshake_rtt = HandshakeRtt::Ignored;
        c.cwnd.initial_window = InitialWindow::Segments(10);
    })
}
