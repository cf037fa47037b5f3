//! Single packets with chosen headers: skipped, ignored and rejected ones.

use netlull_wire::{
    AckTemplate, Checksums, Connection, Ecn, Endpoint, Extension, Flags, Fragmentation, IpVersion, Malformed, Packet,
    SpecError, TcpOption, TcpPacket, TcpSpec, build_tcp, mark_congestion, parse, set_window, verify_checksums,
};

const RIGHT: Checksums = Checksums { ip: true, tcp: true };

fn between(from: &str, to: &str) -> TcpSpec {
    let end = |text: &str, port| Endpoint::new(text.parse().expect("an address"), port);
    TcpSpec::new(Connection { from: end(from, 5001), to: end(to, 443) })
}

fn v4() -> TcpSpec {
    between("10.1.0.1", "10.2.0.1")
}

fn v6() -> TcpSpec {
    between("fd00::1", "fd00:1::2")
}

fn built(spec: &TcpSpec, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    build_tcp(spec, payload, &mut bytes).expect("a packet that can be written");
    bytes
}

fn tcp(bytes: &[u8]) -> TcpPacket<'_> {
    let tcp = if let Ok(Packet::Tcp(tcp)) = parse(bytes) { Some(tcp) } else { None };
    tcp.expect("a segment")
}

fn extension(protocol: u8, body: &[u8]) -> Extension {
    Extension { protocol, body: body.to_vec() }
}

#[test]
fn options_and_extension_headers_are_passed_over() {
    // A router alert (RFC 2113), 4 bytes.
    let alert = TcpSpec { ip_options: vec![148, 4, 0, 0], ..v4() };
    // Hop-by-hop options of 8 bytes, a finished route of 24 bytes, destination options of 16 bytes.
    let extensions = vec![
        extension(0, &[1, 4]),
        extension(43, &[0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        extension(60, &[1, 12, 0, 0, 0, 0, 0]),
    ];
    for (spec, headers) in [(v4(), 20), (alert, 24), (v6(), 40), (TcpSpec { extensions, ..v6() }, 40 + 8 + 24 + 16)] {
        let bytes = built(&spec, b"data");
        let tcp = tcp(&bytes);
        assert_eq!(
            (tcp.ip_headers_len(), tcp.packet_len(), tcp.payload()),
            (headers, headers as u32 + 24, &b"data"[..])
        );
        assert_eq!(tcp.connection(), spec.connection);
        assert_eq!(verify_checksums(&bytes), Ok(RIGHT));
    }
}

#[test]
fn hop_by_hop_options_elsewhere_are_not_passed() {
    let spec = TcpSpec { extensions: vec![extension(60, &[]), extension(0, &[])], ..v6() };
    let bytes = built(&spec, b"");
    let Ok(Packet::Other(other)) = parse(&bytes) else { panic!("{:?}", parse(&bytes)) };
    assert_eq!((other.version, other.protocol, other.length), (IpVersion::V6, 0, 40 + 8 + 8 + 20));
}

#[test]
fn a_route_still_to_go_hides_the_connection() {
    // One segment left: the receiver in the header is only the next stop.
    let mut bytes = built(&TcpSpec { extensions: vec![extension(43, &[0, 1, 0, 0, 0, 0])], ..v6() }, b"");
    let Ok(Packet::Other(other)) = parse(&bytes) else { panic!("{:?}", parse(&bytes)) };
    assert_eq!(other.protocol, 43);
    assert_eq!(set_window(&mut bytes, 1), Err(Malformed::NotTcp { protocol: 43 }));
}

#[test]
fn secured_and_other_content_is_not_looked_at() {
    for protocol in [1, 17, 50, 51, 58, 59, 132] {
        for (spec, at) in [(v4(), 9), (v6(), 6)] {
            let mut bytes = built(&spec, b"");
            bytes[at] = protocol;
            let Ok(Packet::Other(other)) = parse(&bytes) else { panic!("{:?}", parse(&bytes)) };
            assert_eq!((other.protocol, other.length as usize), (protocol, bytes.len()));
            assert_eq!((other.source, other.destination), (spec.connection.from.address, spec.connection.to.address));
        }
    }
}

#[test]
fn fragments_are_never_segments() {
    for (offset, more) in [(0, true), (1, true), (1, false), (0x1fff, false)] {
        let fragmentation = Fragmentation::Piece { offset, more };
        for spec in [v4(), v6()] {
            let mut bytes = built(&TcpSpec { fragmentation, ..spec }, &[0; 64]);
            let Ok(Packet::Fragment(other)) = parse(&bytes) else { panic!("{:?}", parse(&bytes)) };
            assert_eq!((other.protocol, other.length as usize), (6, bytes.len()));
            assert_eq!(set_window(&mut bytes, 1), Err(Malformed::Fragment));
        }
    }
    // A single fragment that contains the whole packet (RFC 6946).
    let fragmentation = Fragmentation::Piece { offset: 0, more: false };
    assert_eq!(tcp(&built(&TcpSpec { fragmentation, ..v6() }, b"all")).payload(), b"all");
}

#[test]
fn a_jumbogram_is_left_alone() {
    let mut bytes = built(&TcpSpec { extensions: vec![extension(0, &[0xc2, 4, 0, 1, 0, 0])], ..v6() }, &[0; 100]);
    bytes[4..6].copy_from_slice(&[0, 0]);
    let Ok(Packet::Other(other)) = parse(&bytes) else { panic!("{:?}", parse(&bytes)) };
    assert_eq!((other.protocol, other.length as usize), (0, bytes.len()));
    assert_eq!(set_window(&mut bytes, 1), Err(Malformed::NotTcp { protocol: 0 }));
}

#[test]
fn a_chain_of_extension_headers_ends_with_the_packet() {
    // 8,000 empty destination options, and no room for TCP after them.
    let mut bytes = built(&TcpSpec { extensions: vec![extension(60, &[]); 8000], ..v6() }, b"");
    assert_eq!(tcp(&bytes).ip_headers_len(), 64_040);
    let length = (bytes.len() - 40 - 20) as u16;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    assert_eq!(parse(&bytes), Err(Malformed::Truncated { part: "TCP header", needed: 20, found: 0 }));
}

#[test]
fn a_window_changes_with_its_checksum_and_damage_stays() {
    for spec in [v4(), v6()] {
        let mut bytes = built(&TcpSpec { window: 502, ..spec }, b"payload");
        set_window(&mut bytes, 17).expect("a segment");
        assert_eq!((tcp(&bytes).window_field(), verify_checksums(&bytes)), (17, Ok(RIGHT)));
        // A bit of the data is flipped on the way: the receiver must detect it for any window.
        let last = bytes.len() - 1;
        bytes[last] ^= 0x10;
        for window in [0, 1, 502, 0xfffe, 0xffff] {
            set_window(&mut bytes, window).expect("a segment");
            assert_eq!(verify_checksums(&bytes), Ok(Checksums { ip: true, tcp: false }), "{window}");
        }
        bytes[last] ^= 0x10;
        assert_eq!(verify_checksums(&bytes), Ok(RIGHT));
    }
}

#[test]
fn only_what_knows_ecn_is_marked() {
    // DSCP 46 (expedited forwarding) above each codepoint.
    let codepoints = [(0, Ecn::NotEct, false), (1, Ecn::Ce, true), (2, Ecn::Ce, true), (3, Ecn::Ce, true)];
    for (codepoint, after, marked) in codepoints {
        for spec in [v4(), v6()] {
            let mut bytes = built(&TcpSpec { traffic_class: 46 << 2 | codepoint, flow_label: 0xf_ffff, ..spec }, b"");
            assert_eq!(mark_congestion(&mut bytes), Ok(marked));
            assert_eq!((tcp(&bytes).ecn(), verify_checksums(&bytes)), (after, Ok(RIGHT)));
        }
    }
    let fragmentation = Fragmentation::Piece { offset: 3, more: true };
    let mut piece = built(&TcpSpec { traffic_class: 2, fragmentation, ..v4() }, b"");
    assert_eq!(mark_congestion(&mut piece), Ok(true));
    assert!(matches!(parse(&piece), Ok(Packet::Fragment(other)) if other.ecn == Ecn::Ce));
}

#[test]
fn an_acknowledgement_is_like_those_of_its_host() {
    let model = TcpSpec {
        traffic_class: 0xb8 | 2,
        ttl: 63,
        flow_label: 0x12345,
        identification: 77,
        flags: Flags { ack: true, psh: true, ece: true, ..Flags::default() },
        options: vec![TcpOption::Timestamps(100, 90), TcpOption::Sack(vec![(5, 6)])],
        ..v4()
    };
    // The longest: 40 bytes of IPv6, 20 of TCP and 12 of timestamps.
    assert_eq!(AckTemplate::MAX_LEN, 72);
    for (spec, length) in [(model.clone(), 52), (TcpSpec { connection: v6().connection, ..model }, 72)] {
        let sent = built(&spec, b"a request");
        let template = AckTemplate::from_packet(&tcp(&sent)).expect("a template");
        assert_eq!((template.connection(), template.timestamps()), (spec.connection, Some((100, 90))));
        let mut buffer = [0; AckTemplate::MAX_LEN];
        assert_eq!(template.build(1000, 2000, 500, Some((111, 99)), &mut buffer), length);
        let expected = TcpSpec {
            seq: 1000,
            ack: 2000,
            window: 500,
            traffic_class: 0xb8,
            identification: 0,
            flags: Flags { ack: true, ..Flags::default() },
            options: vec![TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::Timestamps(111, 99)],
            ..spec
        };
        assert_eq!(buffer[..length], built(&expected, b""));
        // Without new timestamps, the packet repeats those of the model.
        assert_eq!(template.build(1000, 2000, 500, None, &mut buffer), length);
        assert_eq!(tcp(&buffer[..length]).options().timestamps, Some((100, 90)));
    }
}

#[test]
fn a_connection_without_timestamps_gets_none() {
    let sent = built(&v4(), b"");
    let template = AckTemplate::from_packet(&tcp(&sent)).expect("a template");
    let mut buffer = [0; 40];
    assert_eq!(template.build(1, 2, 3, Some((4, 5)), &mut buffer), 40);
    assert_eq!((tcp(&buffer).options().timestamps, verify_checksums(&buffer)), (None, Ok(RIGHT)));
    assert_eq!(template.build(1, 2, 3, None, &mut [0; 39]), 0);
}

#[test]
fn what_cannot_be_imitated_gives_no_template() {
    let flags = |byte| TcpSpec { flags: Flags::from_byte(byte), ..v4() };
    let options = |list| TcpSpec { options: list, ..v4() };
    let other = |kind| options(vec![TcpOption::Other { kind, data: vec![0; 8] }]);
    let refused = [
        ("SYN and ACK", flags(0x12)),
        ("RST and ACK", flags(0x14)),
        ("no ACK", flags(0x08)),
        ("MD5 signature", other(19)),
        ("TCP-AO", other(29)),
        ("Multipath TCP", other(30)),
        ("broken options", options(vec![TcpOption::Raw(vec![8, 60])])),
        ("IPv4 options", TcpSpec { ip_options: vec![148, 4, 0, 0], ..v4() }),
        ("extension headers", TcpSpec { extensions: vec![extension(60, &[])], ..v6() }),
    ];
    for (what, spec) in refused {
        assert!(AckTemplate::from_packet(&tcp(&built(&spec, b""))).is_none(), "{what}");
    }
    // A FIN belongs to an established connection, and an unknown option is the host's own affair.
    for spec in [flags(0x11), other(200)] {
        assert!(AckTemplate::from_packet(&tcp(&built(&spec, b""))).is_some());
    }
}

#[test]
fn packets_that_cannot_be_written_are_refused() {
    let refused = |spec: &TcpSpec, payload: &[u8]| {
        let mut bytes = vec![1, 2, 3];
        let why = build_tcp(spec, payload, &mut bytes).expect_err("an error");
        assert!(bytes.is_empty());
        why
    };
    let mixed = TcpSpec::new(Connection { from: v4().connection.from, to: v6().connection.to });
    assert_eq!(refused(&mixed, b""), SpecError::MixedVersions);
    let options = TcpSpec { options: vec![TcpOption::Timestamps(1, 2); 5], ..v4() };
    assert_eq!(refused(&options, b"").to_string(), "TCP options is 52 B; expected 40 B or less");
    let misplaced = TcpSpec { ip_options: vec![1], ..v6() };
    assert_eq!(refused(&misplaced, b""), SpecError::OtherVersion { field: "ip_options" });
    assert_eq!(refused(&v4(), &[0; 65_496]), SpecError::TooLong { part: "IPv4 packet", length: 65_536, most: 65_535 });
    assert_eq!(built(&v4(), &[0; 65_495]).len(), 65_535);
    // The length field of IPv6 does not count its header.
    assert_eq!(tcp(&built(&v6(), &[0; 65_515])).packet_len(), 65_575);
}
