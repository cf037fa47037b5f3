//! Captures of packets: pcapng, with an interface for each link or host, or classic pcap.

use netlull_units::Instant;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, Endianness, TsResolution};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

/// The value of `if_tsresol` for units of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// The length for "not cut" in a classic file, as in tcpdump.
const WHOLE: u32 = 262_144;

/// A form of capture files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// pcapng (draft-ietf-opsawg-pcapng).
    Ng,
    /// pcap with time stamps in nanoseconds. It has no interfaces.
    Classic,
}

impl Form {
    /// The form of a file with this name: classic for `.pcap`.
    #[must_use]
    pub fn of(path: &std::path::Path) -> Self {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pcap")) {
            Self::Classic
        } else {
            Self::Ng
        }
    }
}

/// A file of IPv4 packets without link headers.
pub struct Capture<W: Write>(Writer<W>);

enum Writer<W: Write> {
    Ng(PcapNgWriter<W>),
    Classic(PcapWriter<W>),
}

impl<W: Write> fmt::Debug for Capture<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Capture").finish_non_exhaustive()
    }
}

impl<W: Write> Capture<W> {
    /// Begins a file. Packets are cut to `most` bytes; 0 if they are whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(writer: W, form: Form, interfaces: &[&str], most: u32) -> io::Result<Self> {
        if form == Form::Classic {
            let header = PcapHeader {
                snaplen: if most == 0 { WHOLE } else { most },
                // tcptrace reads no other type for packets without link headers.
                datalink: DataLink::RAW,
                ts_resolution: TsResolution::NanoSecond,
                endianness: Endianness::Little,
                ..PcapHeader::default()
            };
            return Ok(Self(Writer::Classic(PcapWriter::with_header(writer, header).map_err(io::Error::other)?)));
        }
        let mut file = PcapNgWriter::new(writer).map_err(io::Error::other)?;
        for name in interfaces {
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(*name)),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            // libpcap refuses files with several interfaces of type RAW, because its own number of that type is another.
            let block = InterfaceDescriptionBlock { linktype: DataLink::IPV4, snaplen: most, options };
            file.write_pcapng_block(block).map_err(io::Error::other)?;
        }
        Ok(Self(Writer::Ng(file)))
    }

    /// Writes the first bytes of a packet of `length` bytes at an interface, given by its index.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn packet(&mut self, interface: u32, at: Instant, length: u32, bytes: &[u8]) -> io::Result<()> {
        let timestamp = Duration::from_nanos(at.as_nanos());
        let written = match &mut self.0 {
            Writer::Classic(file) => file.write_packet(&PcapPacket::new(timestamp, length, bytes)),
            Writer::Ng(file) => file.write_pcapng_block(EnhancedPacketBlock {
                interface_id: interface,
                timestamp,
                original_len: length,
                data: Cow::Borrowed(bytes),
                options: Vec::new(),
            }),
        };
        written.map(drop).map_err(io::Error::other)
    }

    /// The writer.
    pub fn into_inner(self) -> W {
        match self.0 {
            Writer::Ng(file) => file.into_inner(),
            Writer::Classic(file) => file.into_writer(),
        }
    }
}
