//! Traces of other implementations, a line per event.

use std::io::Read;

/// A trace in a compressed file of `golden/`, where a line `== NAME` begins each.
pub fn read(file: &'static [u8], name: &str) -> String {
    let mut text = String::from("\n");
    xz4rust::XzReader::new(file).read_to_string(&mut text).unwrap();
    let (_, from_here) = text.split_once(&format!("\n== {name}\n")).unwrap();
    from_here.split("== ").next().unwrap_or_default().to_owned()
}

/// A line of a trace.
pub struct Event<'a> {
    pub kind: &'a str,
    pub numbers: Vec<u64>,
    pub state: &'a str,
}

impl<'a> Event<'a> {
    pub fn parse(line: &'a str) -> Self {
        let mut fields = line.split(' ');
        let kind = fields.next().unwrap_or_default();
        let (mut numbers, mut state) = (Vec::new(), "");
        for field in fields {
            match field.parse() {
                Ok(number) => numbers.push(number),
                Err(_) => state = field,
            }
        }
        Self { kind, numbers, state }
    }
}
