//! Reasons to reject bytes as a packet.

use std::fmt;

/// The error of a packet: the field, its value and the expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The packet ends too early.
    Truncated {
        /// The incomplete part.
        part: &'static str,
        /// The bytes that the part needs, counted from its beginning.
        needed: usize,
        /// The bytes present.
        found: usize,
    },
    /// A field has a value that no packet may have.
    Invalid {
        /// The field.
        field: &'static str,
        /// Its value.
        value: usize,
        /// The accepted values.
        expected: &'static str,
    },
    /// The operation needs a TCP segment.
    NotTcp {
        /// The protocol number (IPv4) or the first unsupported next header (IPv6).
        protocol: u8,
    },
    /// The operation needs a whole packet, and this is a fragment.
    Fragment,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { part, needed, found } => write!(f, "{part} is {found} B; expected {needed} B or more"),
            Self::Invalid { field, value, expected } => write!(f, "{field} is {value}; expected {expected}"),
            Self::NotTcp { protocol } => write!(f, "protocol is {protocol}; expected 6 (TCP)"),
            Self::Fragment => write!(f, "packet is a fragment; expected a whole packet"),
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_field_the_value_and_what_was_expected() {
        let short = Malformed::Truncated { part: "IPv4 header", needed: 20, found: 12 };
        assert_eq!(short.to_string(), "IPv4 header is 12 B; expected 20 B or more");
        let odd = Malformed::Invalid { field: "IP version", value: 5, expected: "4 or 6" };
        assert_eq!(odd.to_string(), "IP version is 5; expected 4 or 6");
        assert_eq!(Malformed::NotTcp { protocol: 17 }.to_string(), "protocol is 17; expected 6 (TCP)");
    }
}
