//! IPv4, IPv6 and TCP as views over bytes.
