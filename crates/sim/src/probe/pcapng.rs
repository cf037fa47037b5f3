//! Captures of packets on named links, for Wireshark and tcpdump.
//!
//! The file has one interface per link, IPv4 packets and time stamps in nanoseconds. A packet is written when its
//! last bit reaches the far end of the link. Headers are complete. Their checksums are correct for a payload of zeros.
//! The payload is cut off, as in a capture with a snapshot length.

use crate::net::flight::Packet;
use crate::net::ids::{LinkId, NodeId};
use crate::scenario::{Scenario, listed};
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use netlull_network::capture::{Capture, Form};
use netlull_tcp::{Flags, Segment};
use netlull_units::Instant;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The reason for a failed capture.
#[derive(Debug)]
pub enum CaptureError {
    /// The link does not exist.
    UnknownLink {
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// Flows and connections of requests outnumber the ports that distinguish them.
    TooManyFlows {
        /// The number of flows and connections.
        flows: usize,
    },
    /// The file could not be written.
    File {
        /// The path of the file.
        path: PathBuf,
        /// The message of the operating system.
        why: String,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownLink { name, known } => write!(f, "link: \"{name}\" is unknown; expected one of {known}"),
            Self::TooManyFlows { flows } => {
                write!(
                    f,
                    "flow: there are {flows}, including each request connection that may be open (most_open); \
                     expected at most {MOST_FLOWS} in a capture, because each needs a port"
                )
            }
            Self::File { path, why } => write!(f, "cannot write {}: {why}", path.display()),
        }
    }
}

impl std::error::Error for CaptureError {}

/// The address and port of an agent.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// IPv4 address: 10.0.0.1 for the first node.
    pub address: [u8; 4],
    /// Port: the flow's number and its role.
    pub port: u16,
    /// True if the agent uses TCP.
    pub tcp: bool,
}

/// Writes the packets of some links. The file gets its name only when it is complete.
pub struct CaptureWriter {
    /// `None` once it is finished.
    capture: Option<Capture<BufWriter<File>>>,
    path: PathBuf,
    partial: PathBuf,
    interfaces: BTreeMap<LinkId, u32>,
    hosts: Vec<Host>,
}

/// The port ranges of senders and receivers must not overlap, and must fit in 16 bits.
const MOST_FLOWS: usize = 20_000;
/// The maximum length of IPv4 and TCP headers with all options.
const SNAPLEN: u32 = 120;
/// The TTL of a packet without a hop count: a common default of hosts.
const TTL: u8 = 64;

impl CaptureWriter {
    /// Creates a capture of `links` (number and name) in `path`. `hosts` are the run's agents in their order.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path, form: Form, links: &[(LinkId, &str)], hosts: Vec<Host>) -> Result<Self, CaptureError> {
        let refuse = |why: String| CaptureError::File { path: path.to_owned(), why };
        let name = path.file_name().ok_or_else(|| refuse("the path has no file name".to_owned()))?;
        let partial = path.with_file_name(format!(".{}.partial", name.to_string_lossy()));
        let file = File::create(&partial).map_err(|error| refuse(error.to_string()))?;
        let names: Vec<&str> = links.iter().map(|&(_, name)| name).collect();
        let capture = Capture::new(BufWriter::new(file), form, &names, SNAPLEN);
        let capture = capture.map_err(|error| refuse(error.to_string()))?;
        let interfaces = links.iter().map(|&(link, _)| link).zip(0..).collect();
        Ok(Self { capture: Some(capture), path: path.to_owned(), partial, interfaces, hosts })
    }

    /// Writes a packet that has crossed a link.
    pub(crate) fn packet(&mut self, now: Instant, link: LinkId, packet: &Packet) -> Result<(), CaptureError> {
        let Some(&interface) = self.interfaces.get(&link) else { return Ok(()) };
        let receiver = self.hosts[packet.agent.index()];
        let sender = self.hosts[packet.agent.peer().index()];
        let data = headers(packet, sender, receiver).map_err(|why| self.refuse(why))?;
        let written = self.capture.as_mut().map_or(Ok(()), |file| file.packet(interface, now, packet.size, &data));
        written.map_err(|error| self.refuse(error.to_string()))
    }

    /// Renames the complete file to its final name.
    pub(crate) fn finish(mut self) -> Result<(), CaptureError> {
        let written = self.capture.take().map_or(Ok(()), |file| file.into_inner().into_inner().map(drop));
        let renamed = written
            .map_err(|error| error.to_string())
            .and_then(|()| std::fs::rename(&self.partial, &self.path).map_err(|error| error.to_string()));
        renamed.map_err(|why| {
            let _ = std::fs::remove_file(&self.partial);
            self.refuse(why)
        })
    }

    fn refuse(&self, why: String) -> CaptureError {
        CaptureError::File { path: self.path.clone(), why }
    }
}

impl Drop for CaptureWriter {
    /// Removes the file of an unfinished capture.
    fn drop(&mut self) {
        if self.capture.is_some() {
            // A failed removal cannot be repaired here.
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// The packet's headers in wire format.
fn headers(packet: &Packet, sender: Host, receiver: Host) -> Result<Vec<u8>, String> {
    let protocol = if sender.tcp { IpNumber::TCP } else { IpNumber::UDP };
    let ip_payload = u16::try_from(packet.size.saturating_sub(20)).map_err(|error| error.to_string())?;
    let ttl = u8::try_from(packet.segment.ttl).ok().filter(|ttl| *ttl > 0).unwrap_or(TTL);
    let mut ip = Ipv4Header::new(ip_payload, ttl, protocol, sender.address, receiver.address)
        .map_err(|error| error.to_string())?;
    ip.ecn = ecn(packet);
    ip.header_checksum = ip.calc_header_checksum();
    let mut bytes = ip.to_bytes().to_vec();
    if sender.tcp {
        bytes.extend_from_slice(&tcp_header(packet, sender, receiver)?.to_bytes());
    } else {
        let payload = vec![0; usize::from(ip_payload.saturating_sub(8))];
        let udp = UdpHeader::with_ipv4_checksum(sender.port, receiver.port, &ip, &payload)
            .map_err(|error| error.to_string())?;
        bytes.extend_from_slice(&udp.to_bytes());
    }
    Ok(bytes)
}

/// The ECN field of the IP header (RFC 3168 section 5).
fn ecn(packet: &Packet) -> IpEcn {
    match (packet.is_marked(), packet.segment.flags.contains(Flags::ECT)) {
        (true, _) => IpEcn::CongestionExperienced,
        (false, true) => IpEcn::Ect0,
        (false, false) => IpEcn::NotEct,
    }
}

fn tcp_header(packet: &Packet, sender: Host, receiver: Host) -> Result<TcpHeader, String> {
    let segment = &packet.segment;
    let has = |flag: Flags| segment.flags.contains(flag);
    let mut header = TcpHeader::new(sender.port, receiver.port, segment.seq.as_u32(), segment.window);
    header.acknowledgment_number = segment.ack.as_u32();
    (header.syn, header.ack, header.fin) = (has(Flags::SYN), has(Flags::ACK), has(Flags::FIN));
    (header.psh, header.rst) = (has(Flags::PSH), has(Flags::RST));
    (header.ece, header.cwr) = (has(Flags::ECE), has(Flags::CWR));
    let options = tcp_options(segment);
    header.set_options(&options).map_err(|error| error.to_string())?;
    let payload = vec![0; usize::from(segment.len)];
    header.checksum =
        header.calc_checksum_ipv4_raw(sender.address, receiver.address, &payload).map_err(|error| error.to_string())?;
    Ok(header)
}

/// The TCP options with the padding that the segment's length assumes. Each is padded to four bytes. SACK-permitted
/// takes the place of the timestamp's padding (as in Linux).
fn tcp_options(segment: &Segment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp, WindowScale,
    };
    let has = |flag: Flags| segment.flags.contains(flag);
    let mut options = Vec::new();
    if has(Flags::HAS_MSS) {
        options.push(MaximumSegmentSize(segment.mss));
    }
    if has(Flags::HAS_WINDOW_SCALE) {
        options.extend([Noop, WindowScale(segment.window_scale)]);
    }
    match (has(Flags::HAS_SACK_PERMITTED), has(Flags::HAS_TIMESTAMPS)) {
        (true, true) => options.push(SelectiveAcknowledgementPermitted),
        (true, false) => options.extend([Noop, Noop, SelectiveAcknowledgementPermitted]),
        (false, true) => options.extend([Noop, Noop]),
        (false, false) => {}
    }
    if has(Flags::HAS_TIMESTAMPS) {
        options.push(Timestamp(segment.ts_val, segment.ts_ecr));
    }
    let mut blocks = segment.sack_blocks().iter().map(|block| (block.left.as_u32(), block.right.as_u32()));
    if let Some(first) = blocks.next() {
        options.extend([Noop, Noop, SelectiveAcknowledgement(first, [blocks.next(), blocks.next(), None])]);
    }
    options
}

impl CaptureWriter {
    /// Creates a capture of the named links of `scenario` in `path`, in a form. No names mean all links.
    ///
    /// Node n has the address 10.0.0.1 + n. Flow f has the ports 10000 + f (sender) and 30000 + f (receiver). The
    /// slots of request connections follow the flows.
    ///
    /// # Errors
    /// If a name is unknown or the file cannot be created.
    pub fn of(scenario: &Scenario, names: &[String], path: &Path, form: Form) -> Result<Self, CaptureError> {
        let known: Vec<_> = scenario.links.iter().map(|link| link.name.as_str()).collect();
        let find = |name: &String| {
            let found = known.iter().position(|known| known == name);
            let unknown = || CaptureError::UnknownLink { name: name.clone(), known: listed(&known) };
            found.map(|index| (LinkId::new(index), known[index])).ok_or_else(unknown)
        };
        let flows = scenario.flow_paths().count() + scenario.most_open();
        if flows > MOST_FLOWS {
            return Err(CaptureError::TooManyFlows { flows });
        }
        let all = || known.iter().enumerate().map(|(index, &name)| Ok((LinkId::new(index), name)));
        let links =
            if names.is_empty() { all().collect() } else { names.iter().map(find).collect::<Result<Vec<_>, _>>() }?;
        let address = |node: usize| (0x0a00_0001 + NodeId::new(node).number()).to_be_bytes();
        let datagrams = scenario.tcp_flows.len()..scenario.tcp_flows.len() + scenario.datagram_flows.len();
        let places = scenario.request_flows.iter().flat_map(|flow| (0..flow.most_open).map(|_| &flow.path));
        let hosts = scenario.flow_paths().chain(places).zip(0_u16..).flat_map(|(ends, number)| {
            let host = |node: usize, first: u16| Host {
                address: address(node),
                port: first + number,
                tcp: !datagrams.contains(&usize::from(number)),
            };
            [host(ends.from, 10_000), host(ends.to, 30_000)]
        });
        Self::create(path, form, &links, hosts.collect())
    }
}
