//! The default route of a host with one device, its TCP metrics, and the device's queue.

use crate::error::{LiveError, Result};
use crate::netlink::{Message, Socket, flag, kind, put};
use netlull_units::Duration;

/// The TCP metrics of a route (linux/rtnetlink.h, RTAX_*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The initial congestion window, in segments.
    pub initial_window: Option<u32>,
    /// The minimum retransmission timeout; the kernel counts whole milliseconds.
    pub least_rto: Option<Duration>,
}

const RTA_OIF: u16 = 4;
const RTA_METRICS: u16 = 8;
const RTAX_LOCK: u16 = 1;
const RTAX_INITCWND: u16 = 11;
const RTAX_RTO_MIN: u16 = 13;

const AF_INET: u8 = 2;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;

impl Metrics {
    /// The attributes within RTA_METRICS. The kernel obeys a minimum timeout only if it is locked.
    fn attributes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(segments) = self.initial_window {
            put(&mut bytes, RTAX_INITCWND, &segments.to_ne_bytes());
        }
        if let Some(least) = self.least_rto {
            let millis = u32::try_from(least.as_nanos() / 1_000_000).unwrap_or(u32::MAX).max(1);
            put(&mut bytes, RTAX_LOCK, &(1_u32 << RTAX_RTO_MIN).to_ne_bytes());
            put(&mut bytes, RTAX_RTO_MIN, &millis.to_ne_bytes());
        }
        bytes
    }
}

/// The treatment of an existing default route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Replaces the route.
    Replace,
    /// Keeps the route; a new one is then an error.
    Keep,
}

/// Sends all packets of the calling thread's namespace through `device`.
///
/// # Errors
/// If the device is missing, a default route exists and must be kept, or the kernel refuses.
pub fn go_through(device: &str, metrics: Metrics, existing: Existing) -> Result<()> {
    let refused = |error| LiveError::system(format!("sending everything through {device}"), error);
    let index = nix::net::if_::if_nametoindex(device).map_err(refused)?;
    // struct rtmsg: family, lengths of destination and source, TOS, table, protocol, scope, type, flags.
    let fixed = [AF_INET, 0, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST, 0, 0, 0, 0];
    let existing = match existing {
        Existing::Replace => flag::REPLACE,
        Existing::Keep => flag::EXCLUSIVE,
    };
    let message = Message::new(kind::NEW_ROUTE, flag::ACK | flag::CREATE | existing, &fixed)
        .with(RTA_OIF, &index.to_ne_bytes())
        .with(RTA_METRICS, &metrics.attributes());
    Socket::open()?.ask(message).map(|_| ()).map_err(refused)
}

/// Gives a device a queue of `room` packets. An ioctl does so too, but only for root of the system.
///
/// # Errors
/// If the device is missing, or the kernel refuses.
pub fn set_queue_length(device: &str, room: u32) -> Result<()> {
    const IFLA_TXQLEN: u16 = 13;
    let refused = |error| LiveError::system(format!("giving {device} a queue of {room} packets"), error);
    let index = nix::net::if_::if_nametoindex(device).map_err(refused)?;
    // struct ifinfomsg: family, type, index, flags, changed flags.
    let mut fixed = [0; 16];
    fixed[4..8].copy_from_slice(&index.to_ne_bytes());
    let message = Message::new(kind::SET_LINK, flag::ACK, &fixed).with(IFLA_TXQLEN, &room.to_ne_bytes());
    Socket::open()?.ask(message).map(|_| ()).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{find, word};

    #[test]
    fn metrics_are_attributes_of_their_own_and_a_timeout_is_locked() {
        let metrics = Metrics { initial_window: Some(4), least_rto: Some(Duration::from_millis(200)) };
        let bytes = metrics.attributes();
        let number = |kind| find(&bytes, kind).map(|value| word(value, 0));
        assert_eq!(
            (number(RTAX_INITCWND), number(RTAX_RTO_MIN), number(RTAX_LOCK)),
            (Some(4), Some(200), Some(1 << 13))
        );
        assert!(Metrics::default().attributes().is_empty());
    }
}
