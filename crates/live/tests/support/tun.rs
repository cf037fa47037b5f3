//! A TUN device in a network namespace, held by a descriptor.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// IFF_TUN | IFF_NO_PI (linux/if_tun.h).
const TUN_WITHOUT_HEADER: i16 = 0x1001;

nix::ioctl_write_int!(tun_set_interface, b'T', 202);

/// Makes a TUN device of this name in the namespace of the calling thread; reads and writes do not block.
pub fn open(name: &str) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    // SAFETY: ifreq is plain data for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = TUN_WITHOUT_HEADER;
    // SAFETY: TUNSETIFF reads and writes an ifreq, which lives beyond the call.
    unsafe { tun_set_interface(file.as_raw_fd(), std::ptr::from_mut(&mut request) as u64) }?;
    Ok(file)
}
