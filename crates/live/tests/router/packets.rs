//! Packets built by hand.

/// A segment between the sender (10.77.1.1, fd77:1::1; port 40000) and the receiver (10.77.2.1, fd77:2::1; port 80).
#[derive(Clone)]
pub struct Packet {
    pub version: Version,
    pub way: Way,
    pub flags: u8,
    pub window: u16,
    /// The TCP options, a multiple of four bytes.
    pub options: Vec<u8>,
    /// IPv4 options, a multiple of four bytes; IPv6 extension headers, each with its own type first: (type, bytes).
    pub ip_options: Vec<u8>,
    pub extensions: Vec<(u8, Vec<u8>)>,
    pub sender_port: u16,
    pub payload: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    V4,
    V6,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Forward,
    Backward,
}

pub const SYN: u8 = 2;
pub const ACK: u8 = 16;

impl Packet {
    pub fn new(version: Version, way: Way, flags: u8, window: u16) -> Self {
        Self {
            version,
            way,
            flags,
            window,
            options: Vec::new(),
            ip_options: Vec::new(),
            extensions: Vec::new(),
            sender_port: 40_000,
            payload: Vec::new(),
        }
    }

    /// Adds a window scale, as in a handshake.
    pub fn scale(mut self, scale: u8) -> Self {
        self.options.extend([1, 3, 3, scale]);
        self
    }

    fn addresses(&self) -> (Vec<u8>, Vec<u8>) {
        let of = |net: u8| match self.version {
            Version::V4 => vec![10, 77, net, 1],
            Version::V6 => vec![0xfd, 0x77, 0, net, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        };
        if self.way == Way::Forward { (of(1), of(2)) } else { (of(2), of(1)) }
    }

    /// The whole IP packet, with correct checksums.
    pub fn bytes(&self) -> Vec<u8> {
        let ports = if self.way == Way::Forward { (self.sender_port, 80) } else { (80, self.sender_port) };
        let mut tcp: Vec<u8> = Vec::new();
        tcp.extend(ports.0.to_be_bytes());
        tcp.extend(ports.1.to_be_bytes());
        tcp.extend(7_000_000_u32.to_be_bytes());
        tcp.extend(9_000_000_u32.to_be_bytes());
        tcp.extend([(((20 + self.options.len()) / 4) << 4) as u8, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(&self.options);
        tcp.extend(&self.payload);
        let (source, destination) = self.addresses();
        let check = !sum(&[&source, &destination, &6_u32.to_be_bytes(), &(tcp.len() as u32).to_be_bytes(), &tcp]);
        tcp[16..18].copy_from_slice(&check.to_be_bytes());
        match self.version {
            Version::V4 => {
                let header = 20 + self.ip_options.len();
                let mut ip = vec![0x40 | (header / 4) as u8, 0];
                ip.extend(((header + tcp.len()) as u16).to_be_bytes());
                ip.extend([0, 1, 0, 0, 64, 6, 0, 0]);
                ip.extend(source);
                ip.extend(destination);
                ip.extend(&self.ip_options);
                let check = !sum(&[&ip]);
                ip[10..12].copy_from_slice(&check.to_be_bytes());
                ip.extend(tcp);
                ip
            }
            Version::V6 => {
                let mut extensions = Vec::new();
                for (n, (_, bytes)) in self.extensions.iter().enumerate() {
                    let next = self.extensions.get(n + 1).map_or(6, |(kind, _)| *kind);
                    extensions.push(next);
                    extensions.extend(&bytes[1..]);
                }
                let mut ip = vec![0x60, 0, 0, 0];
                ip.extend(((extensions.len() + tcp.len()) as u16).to_be_bytes());
                ip.extend([self.extensions.first().map_or(6, |(kind, _)| *kind), 64]);
                ip.extend(source);
                ip.extend(destination);
                ip.extend(extensions);
                ip.extend(tcp);
                ip
            }
        }
    }
}

/// The ones' complement sum of 16-bit words (RFC 1071).
pub fn sum(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let mut sum: u32 =
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The offset of the TCP header, for packets with this module's IPv6 extension headers.
fn tcp_at(packet: &[u8]) -> usize {
    if packet[0] >> 4 == 4 {
        return usize::from(packet[0] & 15) * 4;
    }
    let (mut at, mut next) = (40, packet[6]);
    while next != 6 {
        (next, at) = (packet[at], at + (usize::from(packet[at + 1]) + 1) * 8);
    }
    at
}

/// The window of a packet's TCP header.
pub fn window(packet: &[u8]) -> u16 {
    let at = tcp_at(packet) + 14;
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

/// Returns true if its TCP checksum is correct.
pub fn is_intact(packet: &[u8]) -> bool {
    let addresses = if packet[0] >> 4 == 4 { &packet[12..20] } else { &packet[8..40] };
    let tcp = &packet[tcp_at(packet)..];
    sum(&[addresses, &6_u32.to_be_bytes(), &(tcp.len() as u32).to_be_bytes(), tcp]) == 0xffff
}
