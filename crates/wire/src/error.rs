//! Why bytes are not a packet that can be worked with.

use std::fmt;

/// What is wrong with a packet: the field, its value, what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The packet ends too early.
    Truncated {
        /// What is not all there.
        part: &'static str,
        /// The bytes that it needs, counted from its beginning.
        needed: usize,
        /// The bytes that are there.
        found: usize,
    },
    /// A field holds a value that no packet may have.
    Invalid {
        /// The field.
        field: &'static str,
        /// Its value.
        value: usize,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// What was asked for needs a TCP segment, and this is none.
    NotTcp {
        /// The protocol's number (IPv4) or the next header that was not passed (IPv6).
        protocol: u8,
    },
    /// What was asked for needs a whole packet, and this is a fragment.
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
