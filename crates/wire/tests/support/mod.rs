//! Packets drawn from bytes, the properties that must hold for any bytes, and the comparison with etherparse.

use etherparse::{IpSlice, TcpOptionElement, TcpOptionReadError, TcpSlice};
use netlull_wire::{
    AckTemplate, Checksums, Ecn, Flags, Fragmentation, Malformed, Options, Packet, TcpOption, TcpPacket, TcpSpec,
    build_tcp, mark_congestion, ones_complement_sum, parse, set_window, transport_checksum, verify_checksums,
};
use std::net::IpAddr;

mod draw;

pub use draw::{Input, fuzz_input};

const TCP: u8 = 6;

/// Returns the message as an error unless the condition holds.
macro_rules! must {
    ($holds:expr, $($found:tt)+) => {
        if !$holds {
            return Err(format!($($found)+));
        }
    };
}

/// The classification of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tcp,
    Other,
    Fragment,
    Malformed,
}

/// Builds packets from an input and judges them: correct, fragments, randomly changed, and the input itself.
pub fn judge_input(bytes: &[u8]) -> Result<Kind, String> {
    let mut input = Input(bytes);
    match input.below(4) {
        0 => judge(input.0, 0x1234),
        1 => {
            let (spec, payload) = input.spec();
            judge_built(&spec, &payload, &built(&spec, &payload)?)
        }
        2 => {
            let (mut spec, payload) = input.spec();
            let (offset, more) = (input.word() >> input.below(16), input.below(2) == 1);
            spec.fragmentation = Fragmentation::Piece { offset: offset & 0x1fff, more };
            judge_piece(&spec, &payload)
        }
        _ => {
            let (mut spec, payload) = input.spec();
            if input.below(2) == 1 {
                spec.options = vec![TcpOption::Raw(input.raw(40))];
            }
            let mut packet = built(&spec, &payload)?;
            input.change(&mut packet);
            judge(&packet, input.word())
        }
    }
}

fn built(spec: &TcpSpec, payload: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    build_tcp(spec, payload, &mut bytes).map_err(|why| why.to_string())?;
    Ok(bytes)
}

fn judge_piece(spec: &TcpSpec, payload: &[u8]) -> Result<Kind, String> {
    let bytes = built(spec, payload)?;
    let whole = spec.fragmentation == Fragmentation::Piece { offset: 0, more: false };
    let kind = if whole { judge_built(spec, payload, &bytes)? } else { judge(&bytes, 1)? };
    must!(whole || kind == Kind::Fragment, "{:?} is {kind:?}", spec.fragmentation);
    Ok(kind)
}

/// Checks a correctly built packet: every field must read back as written.
pub fn judge_built(spec: &TcpSpec, payload: &[u8], bytes: &[u8]) -> Result<Kind, String> {
    let Ok(Packet::Tcp(tcp)) = parse(bytes) else { return Err(format!("{:?}", parse(bytes))) };
    must!(tcp.connection() == spec.connection, "connection {:?}", tcp.connection());
    must!(tcp.seq() == spec.seq && tcp.ack() == spec.flags.ack.then_some(spec.ack), "{} {:?}", tcp.seq(), tcp.ack());
    must!(tcp.flags() == spec.flags && tcp.window_field() == spec.window, "{:?} {}", tcp.flags(), tcp.window_field());
    must!(tcp.payload() == payload, "payload of {} B", tcp.payload_len());
    must!(tcp.packet_len() as usize == bytes.len(), "{} B are {}", bytes.len(), tcp.packet_len());
    let taken = payload.len() + usize::from(spec.flags.syn) + usize::from(spec.flags.fin);
    must!(tcp.sequence_len() as usize == taken, "{taken} numbers are {}", tcp.sequence_len());
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(spec.traffic_class & 3)];
    must!(tcp.ecn() == ecn, "{:?} for {ecn:?}", tcp.ecn());
    must!(*tcp.options() == expected_options(&spec.options), "{:?} for {:?}", tcp.options(), spec.options);
    let checksums = verify_checksums(bytes).map_err(|why| why.to_string())?;
    must!(checksums.ip && checksums.tcp, "{checksums:?} of a packet that was just built");
    judge(bytes, !spec.window)
}

/// The expected options of a correct list (RFC 9293, RFC 7323, RFC 2018).
fn expected_options(list: &[TcpOption]) -> Options {
    let mut options = Options::default();
    for option in list {
        match option {
            TcpOption::End => break,
            TcpOption::Mss(mss) => options.mss = Some(*mss),
            TcpOption::WindowScale(shift) => options.window_scale = Some((*shift).min(14)),
            TcpOption::SackPermitted => options.sack_permitted = true,
            TcpOption::Sack(blocks) => options.sack = std::array::from_fn(|index| blocks.get(index).copied()),
            TcpOption::Timestamps(value, echo) => options.timestamps = Some((*value, *echo)),
            TcpOption::NoOperation | TcpOption::Other { .. } | TcpOption::Raw(_) => {}
        }
    }
    options
}

/// Checks the properties of any bytes, packet or not.
pub fn judge(bytes: &[u8], window: u16) -> Result<Kind, String> {
    let parsed = parse(bytes);
    agrees_with_etherparse(bytes, parsed)?;
    marking_changes_nothing_else(bytes)?;
    match parsed {
        Ok(Packet::Tcp(tcp)) => {
            let length = tcp.packet_len() as usize;
            must!(parse(&bytes[..length]) == parsed, "bytes behind the packet change it");
            for cut in 0..length {
                must!(parse(&bytes[..cut]).is_err(), "{cut} of {length} B are a packet");
            }
            rewriting_changes_nothing_else(bytes, &tcp, window)?;
            templates_give_valid_packets(&tcp, window)?;
            Ok(Kind::Tcp)
        }
        Ok(Packet::Other(_)) => {
            refuses(bytes, |why| matches!(why, Malformed::NotTcp { .. }))?;
            Ok(Kind::Other)
        }
        Ok(Packet::Fragment(_)) => {
            refuses(bytes, |why| why == Malformed::Fragment)?;
            Ok(Kind::Fragment)
        }
        Err(expected) => {
            refuses(bytes, |why| why == expected)?;
            Ok(Kind::Malformed)
        }
    }
}

fn refuses(bytes: &[u8], expected: impl Fn(Malformed) -> bool) -> Result<(), String> {
    let mut changed = bytes.to_vec();
    let refused = set_window(&mut changed, 1).err();
    must!(refused.is_some_and(&expected), "a window was written, or refused with {refused:?}");
    must!(changed == bytes, "a window was refused, but the bytes have changed");
    let refused = verify_checksums(bytes).err();
    must!(refused.is_some_and(&expected), "checksums of no segment: {refused:?}");
    Ok(())
}

/// The distance of a sum with its checksum from all ones, modulo 2^16 - 1: zero if the checksum is correct.
fn error_of(sum: u16) -> u16 {
    !sum % 0xffff
}

fn segment_error(bytes: &[u8], tcp: &TcpPacket<'_>) -> u16 {
    let segment = &bytes[tcp.ip_headers_len()..tcp.packet_len() as usize];
    error_of(!transport_checksum(tcp.source(), tcp.destination(), TCP, segment))
}

fn rewriting_changes_nothing_else(bytes: &[u8], tcp: &TcpPacket<'_>, window: u16) -> Result<(), String> {
    let mut changed = bytes.to_vec();
    set_window(&mut changed, window).map_err(|why| why.to_string())?;
    let Ok(Packet::Tcp(after)) = parse(&changed) else { return Err("the rewritten packet is no segment".into()) };
    must!(after.window_field() == window, "window {} for {window}", after.window_field());
    let (before_error, after_error) = (segment_error(bytes, tcp), segment_error(&changed, &after));
    must!(before_error == after_error, "the checksum was wrong by {before_error}, now by {after_error}");
    let at = tcp.ip_headers_len() + 14;
    must!(
        changed[..at] == bytes[..at] && changed[at + 4..] == bytes[at + 4..],
        "more than window and checksum changed"
    );
    let is_right = |bytes: &[u8]| verify_checksums(bytes).map_err(|why| why.to_string());
    must!(is_right(bytes)? == is_right(&changed)?, "a checksum was mended or broken");
    set_window(&mut changed, tcp.window_field()).map_err(|why| why.to_string())?;
    let Ok(Packet::Tcp(back)) = parse(&changed) else { return Err("the packet changed back is no segment".into()) };
    // 0x0000 and 0xffff mean the same.
    must!(back.checksum() % 0xffff == tcp.checksum() % 0xffff, "{:#06x} for {:#06x}", back.checksum(), tcp.checksum());
    Ok(())
}

fn marking_changes_nothing_else(bytes: &[u8]) -> Result<(), String> {
    let mut changed = bytes.to_vec();
    if mark_congestion(&mut changed) != Ok(true) {
        must!(changed == bytes, "a mark was refused, but the bytes have changed");
        return Ok(());
    }
    let mut unmarked = changed.clone();
    if bytes[0] >> 4 == 4 {
        let header = 4 * usize::from(bytes[0] & 15);
        let error = |bytes: &[u8]| error_of(ones_complement_sum(&bytes[..header]));
        must!(error(bytes) == error(&changed), "the header's checksum was wrong by {}", error(bytes));
        must!(changed[1] & 3 == 3 && bytes[1] & 3 != 0, "class {:#04x} from {:#04x}", changed[1], bytes[1]);
        unmarked[1] = bytes[1];
        unmarked[10..12].copy_from_slice(&bytes[10..12]);
        must!(changed[1] & !3 == bytes[1] & !3, "the DSCP has changed");
    } else {
        must!(changed[1] & 0x30 == 0x30 && bytes[1] & 0x30 != 0, "class {:#04x} from {:#04x}", changed[1], bytes[1]);
        must!(changed[1] & !0x30 == bytes[1] & !0x30, "DSCP or flow label has changed");
        unmarked[1] = bytes[1];
    }
    must!(unmarked == bytes, "more than the mark and its checksum has changed");
    let ecn = match parse(&changed) {
        Ok(Packet::Tcp(tcp)) => tcp.ecn(),
        Ok(Packet::Other(other) | Packet::Fragment(other)) => other.ecn,
        Err(_) => Ecn::Ce,
    };
    must!(ecn == Ecn::Ce, "{ecn:?} after a mark");
    Ok(())
}

fn templates_give_valid_packets(tcp: &TcpPacket<'_>, window: u16) -> Result<(), String> {
    let Some(template) = AckTemplate::from_packet(tcp) else { return Ok(()) };
    let (seq, ack) = (tcp.seq().wrapping_add(1), tcp.seq().wrapping_mul(3));
    let mut buffer = [0xa5; AckTemplate::MAX_LEN + 1];
    let length = template.build(seq, ack, window, Some((seq, ack)), &mut buffer);
    must!(buffer[length..].iter().all(|byte| *byte == 0xa5), "bytes behind the packet were written");
    let bytes = &buffer[..length];
    let Ok(Packet::Tcp(written)) = parse(bytes) else { return Err(format!("{:?}", parse(bytes))) };
    agrees_with_etherparse(bytes, Ok(Packet::Tcp(written)))?;
    must!(written.packet_len() as usize == length && written.payload_len() == 0, "{} B", written.packet_len());
    must!(verify_checksums(bytes) == Ok(Checksums { ip: true, tcp: true }), "{:?}", verify_checksums(bytes));
    must!(written.connection() == tcp.connection(), "{:?}", written.connection());
    must!((written.seq(), written.ack()) == (seq, Some(ack)), "{} {:?}", written.seq(), written.ack());
    must!(written.flags() == Flags { ack: true, ..Flags::default() }, "{:?}", written.flags());
    must!((written.window_field(), written.ecn()) == (window, Ecn::NotEct), "{}", written.window_field());
    let timestamps = tcp.options().timestamps.map(|_| (seq, ack));
    must!(*written.options() == Options { timestamps, ..Options::default() }, "{:?}", written.options());
    for short in 0..length {
        let mut small = vec![0; short];
        must!(template.build(seq, ack, window, None, &mut small) == 0, "{length} B in a buffer of {short}");
    }
    Ok(())
}

/// Returns true if etherparse reads the same fields, as far as it supports them.
fn agrees_with_etherparse(bytes: &[u8], parsed: Result<Packet<'_>, Malformed>) -> Result<(), String> {
    let oracle = IpSlice::from_slice(bytes);
    let segment = oracle.as_ref().ok().filter(|ip| ip.payload_ip_number().0 == TCP && !ip.is_fragmenting_payload());
    match parsed {
        Ok(Packet::Tcp(tcp)) => {
            let Some(ip) = segment else { return Err(format!("etherparse sees no segment: {oracle:?}")) };
            let theirs = TcpSlice::from_slice(ip.payload().payload).map_err(|why| why.to_string())?;
            segments_agree(ip, &theirs, &tcp)?;
            checksums_agree(ip, &theirs, bytes)
        }
        Ok(Packet::Other(other)) => {
            // It skips authentication headers, unfinished routes and, ignoring its length, the header of a jumbogram.
            let passes = [0, 43, 51].contains(&other.protocol);
            must!(segment.is_none() || passes, "etherparse sees a segment in {other:?}");
            if let Ok(ip) = &oracle {
                must!((ip.source_addr(), ip.destination_addr()) == (other.source, other.destination), "{other:?}");
            }
            Ok(())
        }
        // It reads on after the header of a later fragment, where the bytes are arbitrary.
        Ok(Packet::Fragment(other)) => {
            must!(oracle.is_err() || oracle.is_ok_and(|ip| ip.is_fragmenting_payload()), "{other:?} is no fragment");
            Ok(())
        }
        Err(why) => {
            // It treats an IPv6 payload length of zero as "all remaining bytes".
            let no_payload = bytes.len() >= 40 && bytes[0] >> 4 == 6 && bytes[4..6] == [0, 0];
            let broken = segment.is_some_and(|ip| TcpSlice::from_slice(ip.payload().payload).is_err());
            must!(oracle.is_err() || broken || no_payload, "etherparse sees no error: {why}");
            Ok(())
        }
    }
}

fn segments_agree(ip: &IpSlice<'_>, theirs: &TcpSlice<'_>, ours: &TcpPacket<'_>) -> Result<(), String> {
    let connection = ours.connection();
    must!(
        (connection.from.address, connection.from.port) == (ip.source_addr(), theirs.source_port()),
        "{connection:?}"
    );
    must!(
        (connection.to.address, connection.to.port) == (ip.destination_addr(), theirs.destination_port()),
        "{connection:?}"
    );
    must!(ours.seq() == theirs.sequence_number(), "seq {} {}", ours.seq(), theirs.sequence_number());
    let ack = theirs.ack().then(|| theirs.acknowledgment_number());
    must!(ours.ack() == ack, "ack {:?} {ack:?}", ours.ack());
    let flags = Flags {
        cwr: theirs.cwr(),
        ece: theirs.ece(),
        urg: theirs.urg(),
        ack: theirs.ack(),
        psh: theirs.psh(),
        rst: theirs.rst(),
        syn: theirs.syn(),
        fin: theirs.fin(),
    };
    must!(ours.flags() == flags, "{:?} {flags:?}", ours.flags());
    must!(ours.window_field() == theirs.window_size(), "window {} {}", ours.window_field(), theirs.window_size());
    must!(ours.checksum() == theirs.checksum(), "checksum {} {}", ours.checksum(), theirs.checksum());
    must!(ours.payload() == theirs.payload(), "payloads of {} and {} B", ours.payload_len(), theirs.payload().len());
    must!(ours.option_bytes() == theirs.options(), "options {:?} {:?}", ours.option_bytes(), theirs.options());
    if let Some(options) = etherparse_options(theirs) {
        must!(*ours.options() == options, "{:?} {options:?}", ours.options());
    }
    let ecn = match ip {
        IpSlice::Ipv4(ip) => ip.header().ecn(),
        IpSlice::Ipv6(ip) => ip.header().ecn(),
    };
    must!(
        ours.ecn() == [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn.value())],
        "{:?} {ecn:?}",
        ours.ecn()
    );
    Ok(())
}

/// The options according to etherparse, which cannot skip unknown kinds.
fn etherparse_options(segment: &TcpSlice<'_>) -> Option<Options> {
    let mut options = Options::default();
    for option in segment.options_iterator() {
        match option {
            Ok(TcpOptionElement::Noop) => {}
            Ok(TcpOptionElement::MaximumSegmentSize(mss)) => options.mss = Some(mss),
            Ok(TcpOptionElement::WindowScale(shift)) => options.window_scale = Some(shift.min(14)),
            Ok(TcpOptionElement::SelectiveAcknowledgementPermitted) => options.sack_permitted = true,
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, [b, c, d])) => options.sack = [Some(first), b, c, d],
            Ok(TcpOptionElement::Timestamp(value, echo)) => options.timestamps = Some((value, echo)),
            Err(TcpOptionReadError::UnknownId(_)) => return None,
            Err(_) => options.malformed = true,
        }
    }
    Some(options)
}

fn checksums_agree(ip: &IpSlice<'_>, theirs: &TcpSlice<'_>, bytes: &[u8]) -> Result<(), String> {
    // 0x0000 and 0xffff mean the same.
    let equal = |a: u16, b: u16| a % 0xffff == b % 0xffff;
    let computed = match (ip.source_addr(), ip.destination_addr()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => theirs.calc_checksum_ipv4(from.octets(), to.octets()),
        (IpAddr::V6(from), IpAddr::V6(to)) => theirs.calc_checksum_ipv6(from.octets(), to.octets()),
        _ => return Err("mixed versions".into()),
    };
    let tcp = equal(computed.map_err(|why| why.to_string())?, theirs.checksum());
    let ip = ip.ipv4().is_none_or(|ip| {
        // Its header type lacks the reserved bit (RFC 791, section 3.1), which the sum covers.
        let reserved = if bytes[6] & 0x80 == 0 { 0 } else { 0x8000 };
        let sum = u32::from(!ip.header().to_header().calc_header_checksum()) + reserved;
        equal(!((sum % 0xffff) as u16), ip.header().header_checksum())
    });
    must!(verify_checksums(bytes) == Ok(Checksums { ip, tcp }), "{:?}", verify_checksums(bytes));
    Ok(())
}
