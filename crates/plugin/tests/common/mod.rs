//! Modules in the text format.

use netlull_guest::abi::{VERSION, place};

/// The address of the mailbox.
pub const MAILBOX: usize = 1024;

/// A module of a link controller with this body of `netlull_event`, and more fields of its description.
pub fn controller(event: &str, more: &str) -> Vec<u8> {
    module(&describing("link_controller", more), event, "")
}

/// A description with more fields.
pub fn describing(kind: &str, more: &str) -> String {
    format!(r#"{{"netlull":{VERSION},"kind":"{kind}","name":"toy"{more}}}"#)
}

/// A module with this description, body of `netlull_event`, and further fields.
pub fn module(description: &str, event: &str, fields: &str) -> Vec<u8> {
    let escaped = description.replace('"', "\\22");
    let (address, length) = (8192, description.len());
    let text = format!(
        r#"(module
            (memory (export "memory") 1)
            (global $count (mut i64) (i64.const 0))
            (data (i32.const {address}) "{escaped}")
            (func (export "netlull_mailbox") (result i32) i32.const {MAILBOX})
            (func (export "netlull_describe")
                (i64.store (i32.const {MAILBOX}) (i64.const {address}))
                (i64.store (i32.const {}) (i64.const {length})))
            (func (export "netlull_create") (result i32) i32.const 0)
            (func $event (export "netlull_event") {event})
            {fields})"#,
        MAILBOX + 8,
    );
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Stores a word at a place of the mailbox.
pub fn put(place: usize, value: &str) -> String {
    format!("(i64.store (i32.const {}) {value})", MAILBOX + place * 8)
}

/// An answer with one rate and pause.
pub fn set_rate(rate: u64, pause: u64) -> String {
    let word = |offset: usize, value: u64| put(place::ANSWER + offset, &format!("(i64.const {value})"));
    [word(0, 1), word(3, 0), word(4, rate), word(5, pause)].concat()
}
