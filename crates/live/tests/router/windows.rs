//! Windows in acknowledgements, packet by packet.

use super::net::{Network, command};
use super::packets::{self, ACK, Packet, SYN, Version, Way};
use super::{Instance, wait_for, wait_until};
use netlull_live::system::open_tun;
use std::fs::File;
use std::io::{Read, Write};

/// Both ends of the router, held by the test: a packet written to one end leaves the other, through the router's stack.
struct Bench {
    network: Network,
    near: File,
    far: File,
}

impl Bench {
    /// Both ends, with an instance between them that clamps windows.
    fn clamped() -> Option<(Self, Instance)> {
        let mut bench = Self::new(Network::for_test()?);
        let instance = Instance::start(&bench.network, CLAMP);
        // The programs receive their first orders a period after the installation of the bucket.
        wait_until("windows are clamped", || {
            bench.shake(Version::V4, 999, (Some(2), Some(7)));
            bench.window_after(Version::V4, 999, 512) == 157
        });
        Some((bench, instance))
    }

    fn new(network: Network) -> Self {
        let router = &network.router;
        command(&format!("ip -n {router} link del near"));
        command(&format!("ip -n {router} link del far"));
        let (near, far) =
            Network::inside(router, || (open_tun("near").unwrap(), open_tun("far").unwrap())).join().unwrap();
        for (device, net) in [("near", "1"), ("far", "2")] {
            command(&format!("ip -n {router} link set {device} up"));
            command(&format!("ip -n {router} addr add 10.77.{net}.2/24 dev {device}"));
            command(&format!("ip -n {router} addr add fd77:{net}::2/64 dev {device} nodad"));
        }
        Self { network, near, far }
    }

    /// Sends a packet and returns the packet at the other side.
    fn pass(&mut self, way: Way, packet: &[u8]) -> Vec<u8> {
        let (from, to) = match way {
            Way::Forward => (&mut self.near, &mut self.far),
            Way::Backward => (&mut self.far, &mut self.near),
        };
        from.write_all(packet).unwrap();
        let mut buffer = [0; 2048];
        wait_for("the packet passes", || {
            while let Ok(length) = to.read(&mut buffer) {
                // Skips the router's own neighbour and multicast messages.
                if length == packet.len() && buffer[12] == packet[12] {
                    return Some(buffer[..length].to_vec());
                }
            }
            None
        })
    }

    fn through(&mut self, packet: &Packet) -> Vec<u8> {
        let bytes = packet.bytes();
        let passed = self.pass(packet.way, &bytes);
        assert!(packets::is_intact(&passed), "its checksum is right");
        passed
    }

    /// A handshake with the scales of sender and receiver.
    fn shake(&mut self, version: Version, port: u16, scales: (Option<u8>, Option<u8>)) {
        let with = |packet: Packet, scale: Option<u8>| {
            let packet = Packet { sender_port: port, ..packet };
            scale.map_or(packet.clone(), |scale| packet.scale(scale))
        };
        let syn = with(Packet::new(version, Way::Forward, SYN, 64_240), scales.0);
        assert_eq!(packets::window(&self.through(&syn)), 64_240);
        let answer = with(Packet::new(version, Way::Backward, SYN | ACK, 65_160), scales.1);
        assert_eq!(packets::window(&self.through(&answer)), 65_160, "the window of a SYN is left alone");
    }

    fn window_after(&mut self, version: Version, port: u16, window: u16) -> u16 {
        let packet = Packet { sender_port: port, ..Packet::new(version, Way::Backward, ACK, window) };
        packets::window(&self.through(&packet))
    }
}

/// swnd stays at 20,000 B: with 100 flows, a beta of 1 b/s adds a byte in 13 minutes.
const CLAMP: &str =
    "--mechanism awm --set initial_window=20000B --set beta=1b/s --set flows.kind=fixed --set flows.count=100";

#[test]
fn windows_are_clamped_where_their_scale_is_known() {
    let Some((mut bench, instance)) = Bench::clamped() else { return };
    for version in [Version::V4, Version::V6] {
        // swnd is slightly above 20,000 B: at scale 7, 157 x 128 = 20,096; unscaled, at least 20,000 bytes.
        bench.shake(version, 1001, (Some(2), Some(7)));
        assert_eq!(bench.window_after(version, 1001, 512), 157);
        assert_eq!(bench.window_after(version, 1001, 157), 157, "not above what is suggested");
        assert_eq!(bench.window_after(version, 1001, 3), 3);
        assert_eq!(bench.window_after(version, 1001, 0), 0, "a closed window stays closed");
        bench.shake(version, 1002, (Some(2), None));
        let unscaled = bench.window_after(version, 1002, 65_535);
        assert!((20_000..20_050).contains(&unscaled), "only one end has the option: no scale; {unscaled}");
        bench.shake(version, 1003, (Some(0), Some(14)));
        assert_eq!(bench.window_after(version, 1003, 40), 2, "2 x 16,384, rounded up");
        // A scale above 14 counts as 14 (RFC 7323 section 2.3).
        bench.shake(version, 1004, (Some(0), Some(200)));
        assert_eq!(bench.window_after(version, 1004, 40), 2);
        assert_eq!(bench.window_after(version, 1005, 512), 512, "no handshake seen");
        // Only the handshake's second half.
        let answer = Packet::new(version, Way::Backward, SYN | ACK, 65_160).scale(7);
        bench.through(&Packet { sender_port: 1006, ..answer });
        assert_eq!(bench.window_after(version, 1006, 512), 512);
        // With data, FIN, PSH; not with RST.
        let ack = Packet { sender_port: 1001, ..Packet::new(version, Way::Backward, ACK, 512) };
        let with = |flags| Packet { flags: ACK | flags, payload: vec![1; 33], ..ack.clone() };
        assert_eq!(packets::window(&bench.through(&with(1 | 8))), 157);
        assert_eq!(packets::window(&bench.through(&with(4))), 512);
        // Timestamps, SACK, an unknown option, the end of the list.
        let options = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 253, 4, 0, 0, 0, 0, 0, 0];
        assert_eq!(packets::window(&bench.through(&Packet { options, ..ack.clone() })), 157);
        // Signed headers: TCP-MD5, TCP-AO.
        for options in [[&[1, 1, 19, 18][..], &[7; 16]].concat(), [&[29, 16, 1, 2][..], &[7; 12]].concat()] {
            assert_eq!(packets::window(&bench.through(&Packet { options, ..ack.clone() })), 512);
        }
        // A forged SYN-ACK after the handshake, at scale 0, which would turn the window into 512 of the permitted
        // 20,000 B.
        let forged = Packet::new(version, Way::Backward, SYN | ACK, 65_160).scale(0);
        bench.through(&Packet { sender_port: 1001, ..forged });
        assert_eq!(bench.window_after(version, 1001, 512), 157, "the scale is that of the first");
    }
    assert!(instance.end().status.success());
}

#[test]
fn headers_of_every_kind_are_read_or_left_alone() {
    let Some((mut bench, instance)) = Bench::clamped() else { return };
    for version in [Version::V4, Version::V6] {
        bench.shake(version, 40_000, (Some(2), Some(7)));
    }
    let v4 = Packet::new(Version::V4, Way::Backward, ACK, 512);
    let v6 = Packet::new(Version::V6, Way::Backward, ACK, 512);
    // IPv4 options: three NOPs and the end.
    let options = Packet { ip_options: vec![1, 1, 1, 0], ..v4.clone() };
    assert_eq!(packets::window(&bench.through(&options)), 157);
    // IPv6: destination options (60) of 8 bytes, then of 16: PadN.
    let pad = |length: usize| [&[0, (length / 8 - 1) as u8, 1, (length - 4) as u8][..], &vec![0; length - 4]].concat();
    let extended = Packet { extensions: vec![(60, pad(8)), (60, pad(16))], ..v6.clone() };
    assert_eq!(packets::window(&bench.through(&extended)), 157);
    // An authentication header of 24 bytes (RFC 4302): the window is at 40 + 24 + 14.
    let mut header = vec![0; 24];
    header[1] = 4;
    let signed = Packet { extensions: vec![(51, header)], ..v6 }.bytes();
    let passed = bench.pass(Way::Backward, &signed);
    assert_eq!(passed[78..80], 512_u16.to_be_bytes());
    // The first of several fragments: its checksum covers all of them, so it is left unchanged.
    let mut fragment = v4.bytes();
    fragment[6] = 0x20;
    fix_ipv4(&mut fragment);
    assert_eq!(packets::window(&bench.pass(Way::Backward, &fragment)), 512);
    // A data offset beyond the packet, one below 20 bytes; an option of length 0, one beyond the end of the header.
    for (offset, bytes) in [(12, vec![0xf0]), (12, vec![0x40])] {
        let mut packet = v4.bytes();
        packet.splice(20 + offset..20 + offset + bytes.len(), bytes);
        assert_eq!(packets::window(&bench.pass(Way::Backward, &packet)), 512);
    }
    for options in [vec![8, 0, 0, 0], vec![1, 1, 8, 10], vec![1, 1, 1, 8], vec![3, 4, 1, 1]] {
        let packet = Packet { options, ..v4.clone() };
        assert_eq!(packets::window(&bench.through(&packet)), 512);
    }
    // Truncated in the middle of the TCP header.
    let mut cut = v4.bytes();
    cut.truncate(34);
    cut[2..4].copy_from_slice(&34_u16.to_be_bytes());
    fix_ipv4(&mut cut);
    assert_eq!(bench.pass(Way::Backward, &cut), as_forwarded(cut));
    // Afterwards everything works as before.
    assert_eq!(bench.window_after(Version::V4, 40_000, 512), 157);
    assert!(instance.end().status.success());
    assert_eq!(bench.window_after(Version::V4, 40_000, 512), 512, "nobody clamps any more");
}

/// Recomputes the header's checksum.
fn fix_ipv4(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let check = !packets::sum(&[&packet[..20]]);
    packet[10..12].copy_from_slice(&check.to_be_bytes());
}

/// The packet with its time to live reduced by one.
fn as_forwarded(mut packet: Vec<u8>) -> Vec<u8> {
    packet[8] -= 1;
    fix_ipv4(&mut packet);
    packet
}

#[test]
fn a_daemon_that_hangs_or_dies_clamps_no_window() {
    let Some((mut bench, instance)) = Bench::clamped() else { return };
    bench.shake(Version::V4, 40_000, (Some(2), Some(7)));
    assert_eq!(bench.window_after(Version::V4, 40_000, 512), 157);
    instance.signal("STOP");
    wait_until("windows pass", || bench.window_after(Version::V4, 40_000, 512) == 512);
    instance.signal("CONT");
    wait_until("windows are clamped again", || bench.window_after(Version::V4, 40_000, 512) == 157);
    instance.signal("KILL");
    let _ = instance.wait();
    wait_until("windows pass", || bench.window_after(Version::V4, 40_000, 512) == 512);
}
