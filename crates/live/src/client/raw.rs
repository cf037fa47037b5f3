//! Packets sent on behalf of the host's TCP.

use super::rules::MARK;
use crate::error::{LiveError, Result};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6, sendto, setsockopt, socket,
    sockopt,
};
use std::ffi::OsString;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

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
