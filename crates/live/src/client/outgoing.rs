//! Packets waiting to leave the host, its own and those on its behalf, in a single order; and the socket that sends
//! those on behalf of the host's TCP.

use super::rules::MARK;
use crate::error::{LiveError, Result};
use crate::station::{Output, Sent};
use netlull_units::Instant;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6, sendto, setsockopt, socket,
    sockopt,
};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

/// The packets that wait for the radio, or for earlier packets.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The host's packets: the departure time, the number in the queue and the bytes.
    held: VecDeque<(Instant, u32, Vec<u8>)>,
    /// The station's packets.
    pub(super) outputs: VecDeque<Output>,
}

/// A departing packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// A packet of the host: its number and its final bytes.
    Held(u32, Vec<u8>),
    /// A packet of the station.
    Own(Sent),
}

impl Outgoing {
    /// The departure of a host packet that could leave now but must follow earlier ones.
    pub(super) fn behind(&self, now: Instant) -> Option<Instant> {
        self.held.back().map(|(last, ..)| now.max(*last))
    }

    /// Adds a packet of the host.
    pub(super) fn hold(&mut self, at: Instant, id: u32, bytes: Vec<u8>) {
        self.held.push_back((at, id, bytes));
    }

    /// The instant of the next departure.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let held = self.held.front().map(|(at, ..)| *at);
        [held, self.outputs.front().map(|output| output.at)].into_iter().flatten().min()
    }

    /// Takes the next packet that departs by `now`, ordered by departure.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Leaving> {
        let at = self.next_timeout().filter(|at| *at <= now)?;
        let due = self.held.front().is_some_and(|(due, ..)| *due == at);
        let held = due.then(|| self.held.pop_front()).flatten();
        held.map(|(_, id, bytes)| Leaving::Held(id, bytes))
            .or_else(|| self.outputs.pop_front().map(|output| Leaving::Own(output.what)))
    }
}

/// Sockets for whole IP packets (IPPROTO_RAW, raw(7)), with the mark of this daemon.
#[derive(Debug)]
pub(super) struct RawSender {
    v4: OwnedFd,
    v6: Option<OwnedFd>,
}

impl RawSender {
    /// Opens sockets that send through a device.
    ///
    /// # Errors
    /// If such a socket is not permitted.
    pub(super) fn open(device: &str) -> Result<Self> {
        let v6 = Self::socket(AddressFamily::Inet6, device).ok();
        Ok(Self { v4: Self::socket(AddressFamily::Inet, device)?, v6 })
    }

    fn socket(family: AddressFamily, device: &str) -> Result<OwnedFd> {
        let cannot = |error| LiveError::system(format!("raw socket on {device}"), error);
        let socket = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, SockProtocol::Raw);
        let socket = socket.map_err(cannot)?;
        setsockopt(&socket, sockopt::Mark, &MARK).map_err(cannot)?;
        setsockopt(&socket, sockopt::BindToDevice, &OsString::from(device)).map_err(cannot)?;
        Ok(socket)
    }

    /// Sends a whole packet. A packet that cannot be sent is lost, as on any link.
    pub(super) fn send(&self, bytes: &[u8]) {
        let flags = MsgFlags::MSG_DONTWAIT;
        if let Some(destination) = v4_destination(bytes) {
            let to = SockaddrIn::from(SocketAddrV4::new(destination, 0));
            let _ = sendto(self.v4.as_raw_fd(), bytes, &to, flags);
        } else if let (Some(socket), Some(destination)) = (&self.v6, v6_destination(bytes)) {
            let to = SockaddrIn6::from(SocketAddrV6::new(destination, 0, 0, 0));
            let _ = sendto(socket.as_raw_fd(), bytes, &to, flags);
        }
    }
}

fn v4_destination(bytes: &[u8]) -> Option<Ipv4Addr> {
    (bytes.first()? >> 4 == 4).then_some(())?;
    bytes.get(16..20)?.first_chunk::<4>().map(|octets| Ipv4Addr::from(*octets))
}

fn v6_destination(bytes: &[u8]) -> Option<Ipv6Addr> {
    (bytes.first()? >> 4 == 6).then_some(())?;
    bytes.get(24..40)?.first_chunk::<16>().map(|octets| Ipv6Addr::from(*octets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::Duration;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn own(millis: u64) -> Output {
        Output { at: at(millis), what: Sent::Packet(vec![9]) }
    }

    #[test]
    fn a_packet_sent_at_once_goes_behind_those_that_wait() {
        let mut outgoing = Outgoing::default();
        assert_eq!(outgoing.behind(at(1)), None);
        outgoing.hold(at(3), 1, vec![1]);
        // The radio is awake, but the packet has not left yet.
        assert_eq!((outgoing.behind(at(2)), outgoing.behind(at(4))), (Some(at(3)), Some(at(4))));
        outgoing.hold(at(4), 2, vec![2]);
        let left: Vec<_> = std::iter::from_fn(|| outgoing.poll(at(4))).collect();
        assert_eq!(left, [Leaving::Held(1, vec![1]), Leaving::Held(2, vec![2])]);
        assert_eq!(outgoing.behind(at(5)), None);
    }

    #[test]
    fn acknowledgements_in_the_hosts_name_keep_their_place_among_its_own() {
        let mut outgoing = Outgoing::default();
        outgoing.outputs.extend([own(2), own(5)]);
        outgoing.hold(at(2), 1, vec![1]);
        outgoing.hold(at(4), 2, vec![2]);
        assert_eq!((outgoing.next_timeout(), outgoing.poll(at(1))), (Some(at(2)), None));
        let ours = Leaving::Own(own(0).what);
        let left: Vec<_> = std::iter::from_fn(|| outgoing.poll(at(4))).collect();
        assert_eq!(left, [Leaving::Held(1, vec![1]), ours.clone(), Leaving::Held(2, vec![2])]);
        assert_eq!((outgoing.next_timeout(), outgoing.poll(at(5))), (Some(at(5)), Some(ours)));
    }
}
