//! A TUN device: the one system call that has no safe wrapper.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::Error;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// TUNSETIFF, IFF_TUN, IFF_NO_PI of linux/if_tun.h.
const TUNSETIFF: libc::Ioctl = 0x4004_54ca_u32 as libc::Ioctl;
const FLAGS: u16 = 0x0001 | 0x1000;

/// Makes a TUN device of that name in the namespace of this thread; it goes with the file. Reads and writes do not wait.
pub fn open(name: &str) -> File {
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun").unwrap();
    // struct ifreq: 16 bytes of name, then the flags.
    let mut request = [0_u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[16..18].copy_from_slice(&FLAGS.to_ne_bytes());
    // SAFETY: the kernel reads and writes a struct ifreq of 40 bytes, which lives through the call.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, request.as_mut_ptr()) };
    assert_eq!(done, 0, "TUN device {name}: {}", Error::last_os_error());
    file
}
