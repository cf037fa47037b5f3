//! Packets drawn from bytes: any bytes give a packet, and fewer or smaller bytes a simpler packet.

use netlull_wire::{Connection, Endpoint, Extension, Flags, Fragmentation, TcpOption, TcpSpec};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes consumed from the front; zeros follow the end.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    /// A number below `end`, which is at most 256.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    pub fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    fn number(&mut self) -> u32 {
        u32::from(self.word()) << 16 | u32::from(self.word())
    }

    /// Up to `most` bytes.
    pub fn raw(&mut self, most: usize) -> Vec<u8> {
        let length = self.below(most + 1);
        (0..length).map(|_| self.byte()).collect()
    }

    fn address(&mut self, version: usize) -> IpAddr {
        if version == 0 {
            Ipv4Addr::from_bits(self.number()).into()
        } else {
            Ipv6Addr::from_bits(u128::from(self.number()) << 96 | u128::from(self.number())).into()
        }
    }

    /// A whole, correct segment and its data.
    pub fn spec(&mut self) -> (TcpSpec, Vec<u8>) {
        let version = self.below(2);
        let from = Endpoint::new(self.address(version), self.word());
        let to = Endpoint::new(self.address(version), self.word());
        let mut spec = TcpSpec::new(Connection { from, to });
        spec.traffic_class = self.byte();
        spec.ttl = self.byte();
        spec.identification = self.number();
        spec.fragmentation = [Fragmentation::Forbidden, Fragmentation::Allowed][self.below(2)];
        spec.flow_label = self.number() & 0xf_ffff;
        spec.seq = self.number();
        spec.ack = self.number();
        spec.flags = Flags::from_byte(self.byte());
        spec.window = self.word();
        spec.urgent = self.word();
        if self.below(4) == 1 {
            match version {
                0 => spec.ip_options = self.raw(40),
                _ => spec.extensions = self.extensions(),
            }
        }
        spec.options = self.options();
        // The data derives from its length, so a short input also gives long packets.
        let length = if self.below(4) == 1 { self.word() >> 4 } else { self.word() >> 12 };
        let payload = (0..length).map(|index| (index ^ length >> 3) as u8).collect();
        (spec, payload)
    }

    /// Hop-by-hop options come first; a route has no stop left, because its fourth byte is zero.
    fn extensions(&mut self) -> Vec<Extension> {
        let mut extensions = Vec::new();
        if self.below(2) == 1 {
            extensions.push(Extension { protocol: 0, body: self.raw(40) });
        }
        for _ in 0..self.below(3) {
            let protocol = [60, 43][self.below(2)];
            let mut body = self.raw(40);
            if let (43, Some(segments_left)) = (protocol, body.get_mut(1)) {
                *segments_left = 0;
            }
            extensions.push(Extension { protocol, body });
        }
        extensions
    }

    fn options(&mut self) -> Vec<TcpOption> {
        let mut options = Vec::new();
        let mut room = 40;
        while room > 0 {
            let (option, length) = match self.below(10) {
                0 => return options,
                1 => (TcpOption::NoOperation, 1),
                2 => (TcpOption::Mss(self.word()), 4),
                3 => (TcpOption::WindowScale(self.byte()), 3),
                4 => (TcpOption::SackPermitted, 2),
                5 => {
                    let blocks: Vec<_> = (0..=self.below(4)).map(|_| (self.number(), self.number())).collect();
                    let length = 2 + 8 * blocks.len();
                    (TcpOption::Sack(blocks), length)
                }
                6 => {
                    // Kinds from 6 on except timestamps: unknown here, including signatures and Multipath TCP.
                    let kind = [9, 19, 29, 30, 34, 253, 254, 6, 7, 255][self.below(10)];
                    let data = self.raw(18);
                    let length = 2 + data.len();
                    (TcpOption::Other { kind, data }, length)
                }
                7 => (TcpOption::End, 1),
                _ => (TcpOption::Timestamps(self.number(), self.number()), 10),
            };
            if length > room {
                return options;
            }
            room -= length;
            options.push(option);
        }
        options
    }

    /// Replaces bytes, flips bits, and cuts or extends the end. Headers are changed more often than data.
    pub fn change(&mut self, packet: &mut Vec<u8>) {
        for _ in 0..self.below(8) {
            let end = packet.len().min(1 + self.below(100));
            let (kind, at, value) = (self.below(8), self.below(256), self.byte());
            match kind {
                0 => packet.truncate(packet.len().saturating_sub(at)),
                1 => packet.extend(vec![value; at]),
                _ if end == 0 => {}
                2 | 3 => packet[at % end] = [0, 0xff, 1, 0x80][usize::from(value & 3)],
                4 | 5 => packet[at % end] ^= 1 << (value & 7),
                _ => packet[at % end] = value,
            }
        }
    }
}

/// The input with a given number among those of a seed.
pub fn fuzz_input(seed: u64, number: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x1_0000_0001) ^ number << 1;
    // SplitMix64 (Steele et al. 2014, figure 16).
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let length = next() % 250;
    let mut bytes: Vec<u8> = (0..length).map(|_| (next() >> 32) as u8).collect();
    if let [mode, packet @ ..] = bytes.as_mut_slice()
        && *mode % 4 == 0
    {
        disguise(*mode >> 2, packet);
    }
    bytes
}

/// Makes random bytes resemble a packet of either version; otherwise few inputs would pass the first checks.
fn disguise(choice: u8, packet: &mut [u8]) {
    let protocol = [0, 6, 6, 17, 43, 44, 51, 60][usize::from(choice >> 2) % 8];
    let length = packet.len() as u8;
    match packet {
        [version, _, high, low, _, _, fragment, offset, _, number, ..] if choice & 3 < 2 => {
            *version = [0x45, 0x40 | *version & 15][usize::from(choice & 1)];
            [*high, *low] = [0, length];
            *number = protocol;
            [*fragment, *offset] = [*fragment & 0x41, 0];
        }
        [version, _, _, _, high, low, next, _, ..] if choice & 3 == 2 => {
            *version = 0x60 | *version & 15;
            [*high, *low] = [0, length.saturating_sub(40)];
            *next = protocol;
            // Length and next header of the first extension header.
            if let Some([next, units]) = packet.get_mut(40..42).and_then(<[u8]>::first_chunk_mut) {
                *next = [6, 6, 17, 60, 43, 44, 0, *next][usize::from(*next) % 8];
                *units &= 3;
            }
        }
        _ => {}
    }
}
