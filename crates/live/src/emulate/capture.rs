//! A capture of an emulation as pcapng: the packets that each host sends and receives, with their virtual times.

use crate::error::{LiveError, Result};
use crate::tape::TapeWriter;
use netlull_units::Instant;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use std::path::Path;
use std::time::Duration;

/// The value of if_tsresol for units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// A capture file.
pub struct Capture {
    writer: PcapNgWriter<TapeWriter>,
}

impl Capture {
    /// Creates a file with an interface for each node.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(file: &Path, nodes: &[&str]) -> Result<Self> {
        let refused = |error| LiveError::system(format!("capturing to {}", file.display()), error);
        let mut writer = PcapNgWriter::new(TapeWriter::create(file)?).map_err(refused)?;
        for node in nodes {
            let options = vec![
                InterfaceDescriptionOption::IfName((*node).into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let block = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options };
            writer.write_pcapng_block(block).map_err(refused)?;
        }
        Ok(Self { writer })
    }

    /// Writes a packet sent or received by a host, given by its index in the list of nodes.
    pub fn packet(&mut self, host: usize, at: Instant, bytes: &[u8]) {
        let block = EnhancedPacketBlock {
            interface_id: u32::try_from(host).unwrap_or(u32::MAX),
            timestamp: Duration::from_nanos(at.as_nanos()),
            original_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            data: bytes.into(),
            options: Vec::new(),
        };
        // This writes into memory; `finish` reports errors of the disk.
        let _ = self.writer.write_pcapng_block(block);
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(self) -> Result<()> {
        self.writer.into_inner().finish()
    }
}
