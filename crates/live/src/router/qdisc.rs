//! The queue of a device: a token bucket (TBF) with a controlled rate, and the queue that it replaces.

use super::readings::Reading;
use crate::error::{LiveError, Result};
use crate::netlink::{Message, Socket, find, flag, kind, long, put, word};
use netlull_units::{BitRate, Bytes};
use nix::errno::Errno;
use serde::{Deserialize, Serialize};

/// TC_H_ROOT.
const ROOT: u32 = u32::MAX;
/// The handle of the daemon's own queue, `6e6c:`, which identifies its leftovers.
pub const OURS: u32 = 0x6e6c_0000;

/// TCA_KIND, TCA_OPTIONS, TCA_STATS2, TCA_STAB.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const STATISTICS: u16 = 7;
const SIZE_TABLE: u16 = 8;
/// Attributes within TCA_STATS2: TCA_STATS_BASIC, TCA_STATS_QUEUE.
const BASIC: u16 = 1;
const QUEUE: u16 = 3;
/// Attributes within TBF's options: TCA_TBF_PARMS, TCA_TBF_RATE64, TCA_TBF_BURST.
const PARAMETERS: u16 = 1;
const RATE64: u16 = 4;
const BURST: u16 = 6;
/// TC_LINKLAYER_ETHERNET: no rate table is needed.
const ETHERNET: u8 = 1;

/// A network device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The name.
    pub name: String,
    /// The interface index.
    pub index: u32,
    /// The MTU, in bytes.
    pub mtu: u32,
    /// The length of the link-layer header in bytes: 14 for Ethernet, or 0.
    pub link_header: u32,
}

impl Device {
    /// Finds a device by its name.
    ///
    /// # Errors
    /// If it does not exist, or its packets start with neither an Ethernet nor an IP header.
    pub fn find(socket: &mut Socket, name: &str) -> Result<Self> {
        Self::look(socket, name)?.ok_or_else(|| LiveError::system(format!("device \"{name}\""), Errno::ENODEV.desc()))
    }

    /// Finds a device by its name; `None` if it does not exist.
    ///
    /// # Errors
    /// If its packets start with neither an Ethernet nor an IP header, or the name is invalid.
    pub fn look(socket: &mut Socket, name: &str) -> Result<Option<Self>> {
        // struct ifinfomsg; IFLA_IFNAME is 3, IFLA_MTU 4.
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        let message = Message::new(kind::GET_LINK, 0, &[0; 16]).with(3, &text);
        let found = match socket.ask(message) {
            Ok(found) => found,
            Err(Errno::ENODEV) => return Ok(None),
            Err(error) => return Err(LiveError::system(format!("device \"{name}\""), error.desc())),
        };
        let (index, layer) = (word(found, 4), word(found, 0) >> 16);
        let mtu = found.get(16..).and_then(|attributes| find(attributes, 4)).map_or(1500, |mtu| word(mtu, 0));
        let link_header = match layer {
            // ARPHRD_ETHER, ARPHRD_LOOPBACK.
            1 | 772 => 14,
            // ARPHRD_PPP, ARPHRD_TUNNEL, ARPHRD_TUNNEL6, ARPHRD_SIT, ARPHRD_NONE (TUN, WireGuard), ARPHRD_RAWIP.
            512 | 768 | 769 | 776 | 65_534 | 519 => 0,
            other => {
                let message = format!("device \"{name}\" has a link layer of type {other}; expected Ethernet, or none");
                return Err(LiveError::new(message));
            }
        };
        Ok(Some(Self { name: name.to_owned(), index, mtu, link_header }))
    }

    /// A stand-in for a device that does not exist yet: Ethernet with an MTU of 1500 B.
    #[must_use]
    pub fn ethernet(name: &str) -> Self {
        Self { name: name.to_owned(), index: 0, mtu: 1500, link_header: 14 }
    }
}

/// The parameters of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The rate at which packets leave, headers of the link layer included.
    pub rate: BitRate,
    /// The burst: the bytes that may leave at once after an idle time.
    pub burst: u32,
    /// The limit of the queue, in bytes.
    pub limit: u32,
}

impl Bucket {
    /// The lowest rate, 1 kB/s: TBF counts whole bytes per second and treats zero as "no limit".
    pub const SLOWEST: BitRate = BitRate::from_bps(8000);
    /// The highest rate: TBF counts whole nanoseconds, and the shortest Ethernet frame, 64 B, takes 1 ns at this rate.
    pub const FASTEST: BitRate = BitRate::from_mbps(512_000);

    /// Creates a bucket for packets of up to `mtu` bytes. The burst is half a millisecond of data, but at least two
    /// packets.
    ///
    /// # Errors
    /// If the rate is outside [`Bucket::SLOWEST`] to [`Bucket::FASTEST`], or the buffer is smaller than a packet or at
    /// least 4 GB.
    pub fn new(rate: BitRate, buffer: Bytes, mtu: u32, link_header: u32) -> Result<Self> {
        check_rate("rate", rate)?;
        let frame = mtu + link_header;
        let limit = u32::try_from(buffer.as_u64())
            .ok()
            .filter(|&limit| limit >= frame)
            .ok_or_else(|| LiveError::input(format!("buffer is {buffer}; expected at least {frame} B, below 4 GB")))?;
        let half_millisecond = u32::try_from(rate.as_bps() / 16_000).unwrap_or(u32::MAX);
        Ok(Self { rate, burst: half_millisecond.max(2 * frame), limit })
    }

    /// The same bucket at another rate.
    #[must_use]
    pub fn at(self, rate: BitRate) -> Self {
        Self { rate, ..self }
    }

    /// The options of TBF, which rounds rates to whole bytes per second.
    fn options(self) -> Vec<u8> {
        let rate = self.rate.clamp(Self::SLOWEST, Self::FASTEST).as_bps() / 8;
        // struct tc_tbf_qopt: two of struct tc_ratespec (12 bytes each), limit, buffer, mtu.
        let mut parameters = [0; 36];
        parameters[1] = ETHERNET;
        parameters[8..12].copy_from_slice(&u32::try_from(rate).unwrap_or(u32::MAX).to_ne_bytes());
        parameters[24..28].copy_from_slice(&self.limit.to_ne_bytes());
        let mut options = Vec::with_capacity(64);
        put(&mut options, PARAMETERS, &parameters);
        put(&mut options, BURST, &self.burst.to_ne_bytes());
        if u32::try_from(rate).is_err() {
            put(&mut options, RATE64, &rate.to_ne_bytes());
        }
        options
    }
}

/// Checks that a bucket can have a rate; `field` is the name of the parameter in the error.
///
/// # Errors
/// If the rate is outside [`Bucket::SLOWEST`] to [`Bucket::FASTEST`].
pub fn check_rate(field: &str, rate: BitRate) -> Result<()> {
    let expected = if rate < Bucket::SLOWEST {
        format!("at least {}", Bucket::SLOWEST)
    } else if rate > Bucket::FASTEST {
        format!("at most {}", Bucket::FASTEST)
    } else {
        return Ok(());
    };
    Err(LiveError::input(format!("{field} is {rate}; expected {expected}")))
}

/// The queue at a device's root before the daemon replaced it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Former {
    /// The kind of the queue.
    pub kind: String,
    /// The handle; 0 for the kernel's default queue of a device.
    pub handle: u32,
    /// The options as the kernel reports them.
    #[serde(with = "hexadecimal")]
    pub options: Vec<u8>,
}

/// The classless queues whose reported options can be set again. TBF is excluded: its inner queue would be lost.
const RESTORABLE: [&str; 11] =
    ["pfifo", "bfifo", "pfifo_head_drop", "pfifo_fast", "fq", "fq_codel", "codel", "cake", "sfq", "fq_pie", "noqueue"];

impl Former {
    /// Reads the kernel's report.
    fn read(shown: &[u8]) -> Self {
        let attributes = attributes(shown);
        let kind = find(attributes, KIND).map_or_else(|| "noqueue".to_owned(), text);
        let options = find(attributes, OPTIONS).unwrap_or_default().to_vec();
        Self { kind, handle: word(shown, 8), options }
    }

    /// Returns true if the queue is the daemon's own.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.handle == OURS && self.kind == "tbf"
    }

    /// Checks that the queue can be restored with everything attached to it. The daemon's own queue needs no restoring.
    ///
    /// # Errors
    /// If something would be lost.
    pub fn check(&self, device: &str, attached: &[String]) -> Result<()> {
        if self.is_ours() {
            return Ok(());
        }
        let kind = &self.kind;
        if self.handle != 0 && !RESTORABLE.contains(&kind.as_str()) {
            let (lost, known) = ("whose classes, filters and inner queues would be lost", RESTORABLE.join(", "));
            return Err(LiveError::new(format!("{device} has a root qdisc {kind}, {lost}; expected one of {known}")));
        }
        if !attached.is_empty() {
            let lost = attached.join(", ");
            let message =
                format!("{device} has a root qdisc {kind} with {lost}, which would be lost; expected it alone");
            return Err(LiveError::new(message));
        }
        Ok(())
    }
}

/// Reads the queue at a device's root and checks that it can be restored.
///
/// # Errors
/// If it cannot be restored, or the kernel does not report it.
pub fn former(socket: &mut Socket, device: &Device) -> Result<Former> {
    let refused = |error: Errno| LiveError::system(format!("the queue of {}", device.name), error);
    let shown = socket.ask(ask_for_root(device.index)).map_err(refused)?;
    let (former, has_sizes) = (Former::read(shown), find(attributes(shown), SIZE_TABLE).is_some());
    let mut attached = filters(socket, device.index).map_err(refused)?;
    if has_sizes {
        attached.push("a size table (stab)".to_owned());
    }
    former.check(&device.name, &attached)?;
    Ok(former)
}

/// The kinds of filters at a device's root, without duplicates.
///
/// # Errors
/// The kernel's error: ENODEV if the device is gone.
pub fn filters(socket: &mut Socket, index: u32) -> std::result::Result<Vec<String>, Errno> {
    // struct tcmsg: the parent 0 is the root.
    let fixed: Vec<u8> = [0, index, 0, 0, 0].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let shown = socket.ask_all(Message::new(kind::GET_FILTER, flag::DUMP, &fixed))?;
    let mut kinds: Vec<_> = shown
        .iter()
        .map(|filter| {
            find(attributes(filter), KIND)
                .map_or_else(|| "a filter".to_owned(), |name| format!("filter {}", text(name)))
        })
        .collect();
    kinds.sort();
    kinds.dedup();
    Ok(kinds)
}

/// A struct tcmsg for a queue at the root.
fn place(index: u32, handle: u32) -> Vec<u8> {
    [0, index, handle, ROOT, 0].iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn ask_for_root(index: u32) -> Message {
    Message::new(kind::GET_QDISC, flag::ECHO | flag::ACK, &place(index, 0))
}

/// The attributes after a struct tcmsg.
fn attributes(shown: &[u8]) -> &[u8] {
    shown.get(20..).unwrap_or_default()
}

/// Text that ends with a zero byte.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

/// Reads the queue at a device's root.
///
/// # Errors
/// The kernel's error: ENODEV if the device is gone.
pub fn root(socket: &mut Socket, index: u32) -> std::result::Result<Former, Errno> {
    socket.ask(ask_for_root(index)).map(Former::read)
}

/// Replaces the queue at a device's root by a bucket.
///
/// # Errors
/// The kernel's error.
pub fn install(socket: &mut Socket, index: u32, bucket: Bucket) -> std::result::Result<(), Errno> {
    let flags = flag::ACK | flag::CREATE | flag::REPLACE;
    let message = Message::new(kind::NEW_QDISC, flags, &place(index, OURS)).with(KIND, b"tbf\0");
    socket.ask(message.with(OPTIONS, &bucket.options())).map(|_| ())
}

/// Changes the parameters of the installed bucket; its packets are unaffected.
///
/// # Errors
/// The kernel's error: ENODEV if the device is gone, ENOENT if the bucket is.
pub fn change(socket: &mut Socket, index: u32, bucket: Bucket) -> std::result::Result<(), Errno> {
    let message = Message::new(kind::NEW_QDISC, flag::ACK, &place(index, OURS)).with(KIND, b"tbf\0");
    socket.ask(message.with(OPTIONS, &bucket.options())).map(|_| ())
}

/// Restores the former queue. A queue other than the daemon's own is left unchanged.
///
/// # Errors
/// The kernel's error: ENODEV if the device is gone.
pub fn restore(socket: &mut Socket, index: u32, former: Option<&Former>) -> std::result::Result<(), Errno> {
    if !root(socket, index)?.is_ours() {
        return Ok(());
    }
    let message = match former.filter(|former| former.handle != 0) {
        Some(former) => {
            let flags = flag::ACK | flag::CREATE | flag::REPLACE;
            let mut name = former.kind.clone().into_bytes();
            name.push(0);
            let message = Message::new(kind::NEW_QDISC, flags, &place(index, former.handle)).with(KIND, &name);
            if former.options.is_empty() { message } else { message.with(OPTIONS, &former.options) }
        }
        // The kernel then installs its default queue.
        None => Message::new(kind::DELETE_QDISC, flag::ACK, &place(index, OURS)),
    };
    socket.ask(message).map(|_| ())
}

/// Reads the bucket's counters and backlog.
///
/// # Errors
/// The kernel's error: ENODEV if the device is gone; ENOENT if somebody has replaced the bucket.
pub fn read(socket: &mut Socket, index: u32) -> std::result::Result<Reading, Errno> {
    let shown = socket.ask(ask_for_root(index))?;
    if word(shown, 8) != OURS {
        return Err(Errno::ENOENT);
    }
    let statistics = find(attributes(shown), STATISTICS).ok_or(Errno::EPROTO)?;
    let basic = find(statistics, BASIC).ok_or(Errno::EPROTO)?;
    let queue = find(statistics, QUEUE).ok_or(Errno::EPROTO)?;
    Ok(Reading {
        sent_bytes: long(basic, 0),
        sent_packets: u64::from(word(basic, 8)),
        packets: u64::from(word(queue, 0)),
        backlog: u64::from(word(queue, 4)),
        drops: u64::from(word(queue, 8)),
    })
}

/// Bytes as hexadecimal text.
mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Write;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Option<Vec<u8>> = (0..text.len().div_ceil(2)).map(|n| digit(2 * n)).collect();
        bytes.ok_or_else(|| D::Error::custom(format!("\"{text}\": expected pairs of hexadecimal digits")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_two_packets_or_half_a_millisecond() {
        // 20 Mb/s x 0.5 ms = 1250 B, below two of 1514 B; 1 Gb/s: 62,500 B.
        let slow = Bucket::new(BitRate::from_mbps(20), Bytes::new(150_000), 1500, 14).unwrap();
        assert_eq!((slow.burst, slow.limit), (3028, 150_000));
        assert_eq!(Bucket::new(BitRate::from_mbps(1000), Bytes::new(1_000_000), 1500, 14).unwrap().burst, 62_500);
        let why = Bucket::new(BitRate::from_mbps(20), Bytes::new(1000), 1500, 14).unwrap_err().to_string();
        assert_eq!(why, "buffer is 1 kB; expected at least 1514 B, below 4 GB");
    }

    #[test]
    fn rates_beyond_32_bits_of_bytes_have_an_attribute_of_their_own() {
        let options = |mbps| Bucket { rate: BitRate::from_mbps(mbps), burst: 3028, limit: 9 }.options();
        // 20 Mb/s = 2,500,000 B/s.
        let slow = options(20);
        assert_eq!(word(find(&slow, PARAMETERS).unwrap(), 8), 2_500_000);
        assert_eq!(find(&slow, RATE64), None);
        // 100 Gb/s = 12.5e9 B/s, above 2^32.
        let fast = options(100_000);
        assert_eq!(word(find(&fast, PARAMETERS).unwrap(), 8), u32::MAX);
        assert_eq!(long(find(&fast, RATE64).unwrap(), 0), 12_500_000_000);
    }

    #[test]
    fn a_bucket_is_never_without_a_limit() {
        let told = |bps| {
            word(
                find(&Bucket { rate: BitRate::from_bps(bps), burst: 3028, limit: 9 }.options(), PARAMETERS).unwrap(),
                8,
            )
        };
        assert_eq!((told(8000), told(7), told(0)), (1000, 1000, 1000));
        let bucket = |rate| Bucket::new(rate, Bytes::new(150_000), 1500, 14);
        let why = bucket(BitRate::from_bps(7999)).unwrap_err().to_string();
        assert_eq!(why, "rate is 7.999 kb/s; expected at least 8 kb/s");
        let why = bucket(BitRate::from_mbps(1_000_000)).unwrap_err().to_string();
        assert_eq!(why, "rate is 1000 Gb/s; expected at most 512 Gb/s");
        assert!(bucket(Bucket::SLOWEST).is_ok() && bucket(Bucket::FASTEST).is_ok());
    }

    #[test]
    fn what_stood_there_goes_to_text_and_back() {
        let former = Former { kind: "bfifo".to_owned(), handle: 0x10000, options: vec![0, 0x80, 255] };
        let text = serde_json::to_string(&former).unwrap();
        assert!(text.contains("0080ff"));
        assert_eq!(serde_json::from_str::<Former>(&text).unwrap(), former);
        assert!(serde_json::from_str::<Former>(&text.replace("0080ff", "0080f")).is_err());
    }

    fn checked(kind: &str, handle: u32, attached: &[&str]) -> Result<()> {
        let attached: Vec<_> = attached.iter().map(|&what| what.to_owned()).collect();
        Former { kind: kind.to_owned(), handle, options: Vec::new() }.check("eth0", &attached)
    }

    #[test]
    fn queues_with_classes_are_not_touched() {
        let why = checked("htb", 0x10000, &[]).unwrap_err().to_string();
        assert!(why.starts_with("eth0 has a root qdisc htb, whose classes, filters and inner queues would be lost"));
        assert!(checked("tbf", 0x10000, &[]).is_err(), "its inner queue would be lost");
        assert!(checked("tbf", OURS, &[]).is_ok(), "a leftover, behind which another stood");
        assert!(checked("fq_codel", 0x80010000, &[]).is_ok());
        assert!(checked("mq", 0, &[]).is_ok(), "the kernel makes it again");
    }

    #[test]
    fn queues_with_filters_are_not_touched() {
        let why = checked("fq_codel", 0x10000, &["filter flower", "filter u32"]).unwrap_err().to_string();
        let expected =
            "eth0 has a root qdisc fq_codel with filter flower, filter u32, which would be lost; expected it alone";
        assert_eq!(why, expected);
        assert!(checked("fq_codel", 0, &["filter u32"]).is_err(), "the kernel makes the queue again, not its filters");
    }
}
