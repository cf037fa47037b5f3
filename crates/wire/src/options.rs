//! TCP options (RFC 9293, section 3.2).

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The largest window shift; greater values count as this value (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;

/// The options of a segment that mechanisms need. The last of a repeated option counts; unknown options are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The largest segment that the sender of this segment accepts (RFC 9293, section 3.7.1); valid in a SYN.
    pub mss: Option<u16>,
    /// The shift of the sender's windows, at most 14 (RFC 7323, section 2.3); valid in a SYN.
    pub window_scale: Option<u8>,
    /// True if selective acknowledgements may be sent (RFC 2018, section 2); valid in a SYN.
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323, section 3.2).
    pub timestamps: Option<(u32, u32)>,
    /// The received blocks: the first sequence number and the number after the last (RFC 2018, section 3).
    pub sack: [Option<(u32, u32)>; 4],
    /// True if the list is malformed; the options before the error are valid, the options after it are missing.
    pub malformed: bool,
}

impl Options {
    /// Reads the bytes between the header's fixed part and the payload.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut options = Self::default();
        // Fast path: the options of nearly every segment of an established connection (RFC 7323, appendix A).
        if let &[NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10, a, b, c, d, e, f, g, h] = bytes {
            options.timestamps = Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])));
        } else if !bytes.is_empty() {
            options.read_list(bytes);
        }
        options
    }

    fn read_list(&mut self, bytes: &[u8]) {
        for option in RawOptions(bytes) {
            match option {
                Ok((MSS, &[a, b])) => self.mss = Some(u16::from_be_bytes([a, b])),
                Ok((WINDOW_SCALE, &[shift])) => self.window_scale = Some(shift.min(MAX_SHIFT)),
                Ok((SACK_PERMITTED, [])) => self.sack_permitted = true,
                Ok((TIMESTAMPS, &[a, b, c, d, e, f, g, h])) => {
                    self.timestamps = Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])));
                }
                Ok((SACK, data)) if !data.is_empty() && data.len().is_multiple_of(8) => {
                    let (blocks, _) = data.as_chunks::<8>();
                    self.sack = [None; 4];
                    // 40 bytes of options have no room for a fifth block.
                    for (block, &[a, b, c, d, e, f, g, h]) in self.sack.iter_mut().zip(blocks) {
                        *block = Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])));
                    }
                }
                Ok((MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _)) | Err(NoOption) => {
                    self.malformed = true;
                    return;
                }
                Ok(_) => {}
            }
        }
    }
}

/// A malformed option: its length is missing, below two or beyond the end.
pub(crate) struct NoOption;

/// Iterates over the options of a list: kinds with their data, without padding.
pub(crate) struct RawOptions<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for RawOptions<'a> {
    type Item = Result<(u8, &'a [u8]), NoOption>;

    fn next(&mut self) -> Option<Self::Item> {
        while let [NO_OPERATION, rest @ ..] = self.0 {
            self.0 = rest;
        }
        let (kind, length) = match *self.0 {
            [] | [END, ..] => return None,
            [kind, length, ..] => (kind, usize::from(length)),
            [_] => return self.end(),
        };
        let Some(data) = self.0.get(2..length) else { return self.end() };
        self.0 = self.0.get(length..).unwrap_or_default();
        Some(Ok((kind, data)))
    }
}

impl<'a> RawOptions<'a> {
    fn end(&mut self) -> Option<Result<(u8, &'a [u8]), NoOption>> {
        self.0 = &[];
        Some(Err(NoOption))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_syn() {
        // The options of a Linux SYN: MSS 1460, SACK permitted, timestamps 1 and 0, a NOP, shift 7.
        let bytes = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
        let expected = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((1, 0)),
            ..Options::default()
        };
        assert_eq!(Options::read(&bytes), expected);
    }

    #[test]
    fn a_shift_above_fourteen_is_fourteen() {
        assert_eq!(Options::read(&[3, 3, 14, 0]).window_scale, Some(14));
        assert_eq!(Options::read(&[3, 3, 15, 0]).window_scale, Some(14));
        assert_eq!(Options::read(&[3, 3, 255, 0]).window_scale, Some(14));
    }

    #[test]
    fn timestamps_are_read_wherever_they_stand() {
        let timestamps = [8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
        for before in [&[][..], &[1], &[1, 1], &[1, 1, 1, 1], &[200, 2], &[254, 4, 9, 9]] {
            let options = Options::read(&[before, &timestamps].concat());
            assert_eq!(options.timestamps, Some((0x0102_0304, 0x0506_0708)), "{before:?}");
            assert!(!options.malformed);
        }
    }

    #[test]
    fn up_to_four_blocks_are_read_and_the_last_list_counts() {
        let mut bytes = vec![5, 34];
        bytes.extend((0..8u32).flat_map(u32::to_be_bytes));
        let options = Options::read(&bytes);
        assert_eq!(options.sack, [Some((0, 1)), Some((2, 3)), Some((4, 5)), Some((6, 7))]);
        let twice = [5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 5, 10, 0, 0, 0, 5, 0, 0, 0, 6];
        assert_eq!(Options::read(&twice).sack, [Some((5, 6)), None, None, None]);
    }

    #[test]
    fn reading_stops_at_what_is_no_option() {
        // No length; lengths of 0 and 1; a length beyond the end; known kinds of a wrong length. A shift of 7 would
        // follow.
        let broken: [&[u8]; 11] = [
            &[9],
            &[9, 0, 3, 3, 7],
            &[9, 1, 3, 3, 7],
            &[9, 6, 3, 3, 7],
            &[2, 3, 5, 3, 3, 7],
            &[3, 2, 3, 3, 7],
            &[4, 3, 0, 3, 3, 7],
            &[8, 9, 0, 0, 0, 0, 0, 0, 0, 3, 3, 7],
            &[5, 2, 3, 3, 7],
            &[5, 6, 0, 0, 0, 0, 3, 3, 7],
            &[5, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 7],
        ];
        for broken in broken {
            let options = Options::read(&[&[2, 4, 0x05, 0xb4], broken].concat());
            let expected = Options { mss: Some(1460), malformed: true, ..Options::default() };
            assert_eq!(options, expected, "{broken:?}");
        }
    }

    #[test]
    fn nothing_counts_behind_the_end() {
        let options = Options::read(&[1, 1, 0, 2, 4, 0x05, 0xb4, 9]);
        assert_eq!(options, Options::default());
    }
}
