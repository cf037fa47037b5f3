//! Traces of other implementations, a line per event.

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
