//! Segments as text: those of the peer, and those that the endpoint must send.

use super::parse_number;
use netlull_tcp::{Flags, MOST_SACK_BLOCKS, SackBlock, Segment, SeqNr};

/// A segment of a line. Offsets count a stream from its first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// SYN, FIN, RST, ECE, CWR, ECT, CE.
    pub flags: Flags,
    /// The data's first offset, and the offset after its last.
    pub range: Option<(u64, u64)>,
    /// The offset of a segment without data.
    pub seq: Option<u64>,
    pub ack: Option<u64>,
    pub window: Option<u16>,
    /// SACK blocks; an empty `Some` forbids blocks.
    pub sack: Option<Vec<(u64, u64)>>,
    pub stamps: Option<(u32, u32)>,
    pub mss: Option<u16>,
    pub scale: Option<u8>,
    pub sack_permitted: bool,
    /// It begins with retransmitted bytes.
    pub retransmission: bool,
}

/// Flags that a line names, which must match exactly.
const FLAG_WORDS: [(&str, Flags); 7] = [
    ("syn", Flags::SYN),
    ("fin", Flags::FIN),
    ("rst", Flags::RST),
    ("ece", Flags::ECE),
    ("cwr", Flags::CWR),
    ("ect", Flags::ECT),
    ("ce", Flags::CE),
];

/// Sequence numbers of offset 0 in the streams from a sender and to it.
#[derive(Clone, Copy, Debug)]
pub struct Origins {
    pub own: SeqNr,
    pub other: SeqNr,
}

/// Default fields of a peer's segment.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    pub seq: u64,
    pub ack: u64,
    pub window: u16,
}

impl Pattern {
    /// The segments of a line: `by N` cuts the data into pieces, `times N` repeats.
    pub fn parse_all(words: &[&str]) -> Result<Vec<Self>, String> {
        let mut pattern = Self::default();
        let (mut by, mut times) = (None, 1_usize);
        let mut rest = words;
        while let Some((&word, behind)) = rest.split_first() {
            rest = behind;
            match word {
                "by" => by = Some(take(&mut rest)?),
                "times" => times = take(&mut rest)?,
                _ => pattern.parse_word(word, &mut rest)?,
            }
        }
        let cut = match (by, pattern.range) {
            (None, _) => vec![pattern],
            (Some(size), Some(range)) => pattern.cut(range, size)?,
            (Some(_), None) => return Err("`by` without data".to_owned()),
        };
        Ok(cut.iter().cycle().take(cut.len() * times).cloned().collect())
    }

    fn parse_word(&mut self, word: &str, rest: &mut &[&str]) -> Result<(), String> {
        if let Some((_, flag)) = FLAG_WORDS.iter().find(|known| known.0 == word) {
            self.flags = self.flags | *flag;
            return Ok(());
        }
        match word {
            "ack" => self.ack = Some(take(rest)?),
            "seq" => self.seq = Some(take(rest)?),
            "win" => self.window = Some(take(rest)?),
            "mss" => self.mss = Some(take(rest)?),
            "scale" => self.scale = Some(take(rest)?),
            "ts" => self.stamps = Some((take(rest)?, take(rest)?)),
            "sackok" => self.sack_permitted = true,
            "retransmission" => self.retransmission = true,
            "sack" => self.sack = Some(take_blocks(rest)?),
            _ => self.range = Some(range(word)?),
        }
        Ok(())
    }

    /// A piece of at most `size` bytes for each part of the data; flags go with the last.
    fn cut(&self, (start, end): (u64, u64), size: u64) -> Result<Vec<Self>, String> {
        if size == 0 {
            return Err("`by 0`".to_owned());
        }
        let starts = (start..end).step_by(usize::try_from(size).map_err(|_| "`by` is too large")?);
        Ok(starts.map(|from| Self { range: Some((from, (from + size).min(end))), ..self.clone() }).collect())
    }

    /// The segment from the peer.
    pub fn build(&self, origins: Origins, defaults: Defaults) -> Result<Segment, String> {
        let (start, end) = self.range.unwrap_or((self.seq.unwrap_or(defaults.seq), self.seq.unwrap_or(defaults.seq)));
        let mut flags = self.flags;
        let alone = flags.intersects(Flags::SYN | Flags::RST) && self.ack.is_none();
        if !alone {
            flags = flags | Flags::ACK;
        }
        // A SYN comes before offset 0.
        let seq = if flags.contains(Flags::SYN) { origins.own.advanced_by(u64::from(u32::MAX)) } else { origins.own };
        let mut segment = Segment {
            seq: if flags.contains(Flags::SYN) { seq } else { origins.own.advanced_by(start) },
            ack: if alone { SeqNr::new(0) } else { origins.other.advanced_by(self.ack.unwrap_or(defaults.ack)) },
            window: self.window.unwrap_or(defaults.window),
            len: u16::try_from(end - start).map_err(|_| "a segment this long cannot be".to_owned())?,
            ..Segment::default()
        };
        self.add_options(&mut segment, &mut flags, origins)?;
        segment.flags = flags;
        Ok(segment)
    }

    fn add_options(&self, segment: &mut Segment, flags: &mut Flags, origins: Origins) -> Result<(), String> {
        if let Some((value, echo)) = self.stamps {
            *flags = *flags | Flags::HAS_TIMESTAMPS;
            (segment.ts_val, segment.ts_ecr) = (value, echo);
        }
        if let Some(mss) = self.mss {
            *flags = *flags | Flags::HAS_MSS;
            segment.mss = mss;
        }
        if let Some(scale) = self.scale {
            *flags = *flags | Flags::HAS_WINDOW_SCALE;
            segment.window_scale = scale;
        }
        if self.sack_permitted {
            *flags = *flags | Flags::HAS_SACK_PERMITTED;
        }
        let blocks = self.sack.as_deref().unwrap_or_default();
        if blocks.len() > MOST_SACK_BLOCKS {
            return Err(format!("{} SACK blocks; at most {MOST_SACK_BLOCKS} fit", blocks.len()));
        }
        for (place, (left, right)) in segment.sack.iter_mut().zip(blocks) {
            *place = SackBlock { left: origins.other.advanced_by(*left), right: origins.other.advanced_by(*right) };
        }
        segment.sack_count = u8::try_from(blocks.len()).unwrap_or(u8::MAX);
        Ok(())
    }

    /// The error in a segment of the endpoint, if it has one.
    pub fn difference(&self, sent: &Segment, retransmission: bool, origins: Origins) -> Option<String> {
        let has = |flag| sent.flags.contains(flag);
        for (word, flag) in FLAG_WORDS {
            if has(flag) != self.flags.contains(flag) {
                return Some(format!("{word} is {}", if has(flag) { "set" } else { "missing" }));
            }
        }
        let start = u64::from(sent.seq.as_u32().wrapping_sub(origins.own.as_u32()));
        let range = (sent.len > 0).then(|| (start, start + u64::from(sent.len)));
        let ack = has(Flags::ACK).then(|| u64::from(sent.ack.as_u32().wrapping_sub(origins.other.as_u32())));
        let stamps = has(Flags::HAS_TIMESTAMPS).then_some((sent.ts_val, sent.ts_ecr));
        let scale = has(Flags::HAS_WINDOW_SCALE).then_some(sent.window_scale);
        let wrong = [
            (range != self.range, "data"),
            (self.seq.is_some_and(|seq| seq != start), "seq"),
            (self.ack.is_some() && ack != self.ack, "ack"),
            (self.window.is_some_and(|window| window != sent.window), "win"),
            (self.stamps.is_some() && stamps != self.stamps, "ts"),
            (self.mss.is_some() && (!has(Flags::HAS_MSS) || Some(sent.mss) != self.mss), "mss"),
            (self.flags.contains(Flags::SYN) && scale != self.scale, "scale"),
            (has(Flags::HAS_SACK_PERMITTED) != self.sack_permitted, "sackok"),
            (self.sack.as_ref().is_some_and(|blocks| *blocks != sack_blocks(sent, origins)), "sack"),
            (retransmission != self.retransmission, "retransmission"),
        ];
        let names: Vec<&str> = wrong.iter().filter(|each| each.0).map(|each| each.1).collect();
        (!names.is_empty()).then(|| format!("different: {}", names.join(", ")))
    }
}

/// A segment in the words of the language.
pub fn describe(segment: &Segment, retransmission: bool, origins: Origins) -> String {
    let has = |flag| segment.flags.contains(flag);
    let mut words: Vec<String> =
        FLAG_WORDS.iter().filter(|known| has(known.1)).map(|known| known.0.to_owned()).collect();
    let start = segment.seq.as_u32().wrapping_sub(origins.own.as_u32());
    if segment.len > 0 {
        words.push(format!("{start}:{}", start.wrapping_add(u32::from(segment.len))));
    } else if !has(Flags::SYN) {
        words.push(format!("seq {start}"));
    }
    if has(Flags::ACK) {
        words.push(format!("ack {}", segment.ack.as_u32().wrapping_sub(origins.other.as_u32())));
    }
    words.push(format!("win {}", segment.window));
    if has(Flags::HAS_MSS) {
        words.push(format!("mss {}", segment.mss));
    }
    if has(Flags::HAS_WINDOW_SCALE) {
        words.push(format!("scale {}", segment.window_scale));
    }
    if has(Flags::HAS_SACK_PERMITTED) {
        words.push("sackok".to_owned());
    }
    if has(Flags::HAS_TIMESTAMPS) {
        words.push(format!("ts {} {}", segment.ts_val, segment.ts_ecr));
    }
    if segment.sack_count > 0 {
        let blocks = sack_blocks(segment, origins);
        words.push("sack".to_owned());
        words.extend(blocks.iter().map(|(left, right)| format!("{left}:{right}")));
    }
    if retransmission {
        words.push("retransmission".to_owned());
    }
    words.join(" ")
}

fn sack_blocks(segment: &Segment, origins: Origins) -> Vec<(u64, u64)> {
    let offset = |seq: SeqNr| u64::from(seq.as_u32().wrapping_sub(origins.other.as_u32()));
    segment.sack_blocks().iter().map(|block| (offset(block.left), offset(block.right))).collect()
}

fn take<T: std::str::FromStr>(rest: &mut &[&str]) -> Result<T, String> {
    let (word, behind) = rest.split_first().ok_or("a number is missing at the end")?;
    *rest = behind;
    parse_number(word)
}

/// `none`, or the blocks in order.
fn take_blocks(rest: &mut &[&str]) -> Result<Vec<(u64, u64)>, String> {
    if rest.first() == Some(&"none") {
        *rest = &rest[1..];
        return Ok(Vec::new());
    }
    let mut blocks = Vec::new();
    while let Some((word, behind)) = rest.split_first()
        && word.contains(':')
    {
        blocks.push(range(word)?);
        *rest = behind;
    }
    if blocks.is_empty() { Err("`sack` without blocks".to_owned()) } else { Ok(blocks) }
}

/// `first:end`.
fn range(word: &str) -> Result<(u64, u64), String> {
    let (start, end) = word.split_once(':').ok_or_else(|| format!("`{word}` is not understood"))?;
    let (start, end) = (parse_number(start)?, parse_number(end)?);
    if start > end { Err(format!("`{word}` ends before it begins")) } else { Ok((start, end)) }
}
