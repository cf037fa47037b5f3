//! Files that a scenario names, read once: the scenario holds their content. `cdf` of an empirical law of sizes,
//! `arrivals` of a replay, `opportunities` of a link's trace.

use super::host::{File, Host};
use super::requests::{PERCENT, whole_of};
use netlull_network::trace::Trace;
use netlull_text::{Error, name_of};
use netlull_units::Instant;
use serde_json::{Map, Value, json};

/// The largest file that is read, in bytes.
const LARGEST: usize = 256 << 20;
/// The longest run, in seconds.
const LATEST_S: f64 = 1e9;
/// The largest whole number that a float holds with all smaller ones.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

type Result<T> = std::result::Result<T, Error>;

/// Replaces `file` by its content.
pub(super) fn read_in(document: &mut Map<String, Value>, host: &dyn Host) -> Result<()> {
    let is = |table: &Map<String, Value>, kind: &str| table.get("kind").is_some_and(|given| given == kind);
    if let Some(Value::Array(links)) = document.get_mut("link") {
        for (index, link) in links.iter_mut().enumerate() {
            let place = format!("link.{}.capacity", name_of(link).unwrap_or_else(|| index.to_string()));
            let capacity = link.get_mut("capacity").and_then(Value::as_object_mut);
            if let Some(capacity) = capacity.filter(|capacity| is(capacity, "trace")) {
                replace(capacity, "opportunities", &place, |name| opportunities(&host.file(name, LARGEST)?))?;
            }
        }
    }
    let Some(Value::Array(flows)) = document.get_mut("flow") else { return Ok(()) };
    for (index, flow) in flows.iter_mut().enumerate() {
        let Some(flow) = flow.as_object_mut() else { continue };
        let name = flow.get("name").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned);
        let place = format!("flow.{name}");
        if let Some(size) = flow.get_mut("size").and_then(Value::as_object_mut).filter(|size| is(size, "empirical")) {
            replace(size, "cdf", &format!("{place}.size"), |name| points(&host.file(name, LARGEST)?))?;
        }
        if is(flow, "replay") {
            replace(flow, "arrivals", &place, |name| arrivals(name, host))?;
        }
    }
    Ok(())
}

fn replace(
    table: &mut Map<String, Value>,
    field: &str,
    place: &str,
    read: impl FnOnce(&str) -> Result<Value>,
) -> Result<()> {
    // The schema refuses a `file` that is no text, or is beside the field: it has the messages.
    let Some(Value::String(name)) = table.get("file").filter(|_| !table.contains_key(field)) else { return Ok(()) };
    let content = read(name).map_err(|error| Error { field: format!("{place}.file"), ..error })?;
    table.shift_remove("file");
    table.insert(field.to_owned(), content);
    Ok(())
}

/// A line with two columns.
struct Row<'t> {
    place: String,
    columns: [&'t str; 2],
}

impl Row<'_> {
    fn wrong(&self, told: impl std::fmt::Display, expected: &str) -> Error {
        Error::input("", format!("{}: {told}; expected {expected}", self.place))
    }

    fn number(&self, column: usize, expected: &str) -> Result<f64> {
        let text = self.columns[column];
        let number: f64 = text.parse().map_err(|_| self.wrong(format!("\"{text}\" is not a number"), expected))?;
        let is_fine = number.is_finite() && number >= 0.0;
        is_fine.then_some(number).ok_or_else(|| self.wrong(format!("{text} is out of range"), expected))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and in range")]
    fn bytes(&self, column: usize) -> Result<u64> {
        let number = self.number(column, "whole bytes")?;
        if number > LARGEST_WHOLE || number.fract() != 0.0 {
            return Err(self.wrong(format!("{} is not a number of bytes", self.columns[column]), "whole bytes"));
        }
        Ok(number as u64)
    }
}

/// Times in milliseconds, one per line, as mm-link reads them: no line is empty, and no time is before another.
fn opportunities(file: &File) -> Result<Value> {
    let text = std::str::from_utf8(&file.content);
    let text = text.map_err(|_| Error::input("", format!("{}: is not UTF-8 text; expected a text file", file.name)))?;
    let mut times: Vec<u64> = Vec::new();
    for (index, line) in (1..).zip(text.lines()) {
        let wrong = |told: String| Error::input("", format!("{}, line {index}: {told}", file.name));
        let expected = || format!("expected whole milliseconds, at most {}", Trace::LATEST_MS);
        let line = line.trim();
        let time = line.parse().ok().filter(|time| *time <= Trace::LATEST_MS);
        let time: u64 = time.ok_or_else(|| wrong(format!("\"{line}\" is not a time; {}", expected())))?;
        if let Some(before) = times.last().filter(|before| **before > time) {
            return Err(wrong(format!("{time} comes after {before}; expected times that do not decrease")));
        }
        times.push(time);
    }
    if times.last().is_none_or(|last| *last == 0) {
        let told = "has no time above 0; expected times in milliseconds, one per line, as in a file of mm-link";
        return Err(Error::input("", format!("{}: {told}", file.name)));
    }
    Ok(times.into())
}

/// The lines of a file that are not empty. `#` begins a comment.
fn rows(file: &File) -> Result<Vec<Row<'_>>> {
    let text = std::str::from_utf8(&file.content);
    let text = text.map_err(|_| Error::input("", format!("{}: is not UTF-8 text; expected a text file", file.name)))?;
    let mut rows = Vec::new();
    for (index, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let place = format!("{}, line {index}", file.name);
        let columns: Vec<&str> = if content.contains(',') {
            content.split(',').map(str::trim).collect()
        } else {
            content.split_whitespace().collect()
        };
        let Ok(columns) = <[&str; 2]>::try_from(columns) else {
            let told = format!("{place}: \"{content}\" is not a line of two columns; expected two numbers");
            return Err(Error::input("", told));
        };
        rows.push(Row { place, columns });
    }
    Ok(rows)
}

/// Pairs of bytes and cumulative share, one per line. A heading is skipped.
fn points(file: &File) -> Result<Value> {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let rows = rows(file)?;
    let heading = rows.first().is_some_and(|row| !row.columns.iter().any(|text| is_number(text)));
    let mut points: Vec<(u64, f64)> = Vec::new();
    for row in rows.iter().skip(usize::from(heading)) {
        let (size, share) = (row.bytes(0)?, row.number(1, "a share from 0 to 1, or to 100 %")?);
        if share > PERCENT {
            return Err(row.wrong(format!("{} is out of range", row.columns[1]), "a share from 0 to 1, or to 100 %"));
        }
        if let Some(&(before, sum)) = points.last()
            && (size < before || share < sum)
        {
            let told = format!("is {size} B, {share} after {before} B, {sum}");
            return Err(row.wrong(told, "both columns not to decrease"));
        }
        points.push((size, share));
    }
    let wrong = |told: String| Err(Error::input("", format!("{}: {told}", file.name)));
    match points.last() {
        None => wrong("has no points; expected lines of two columns, bytes and cumulative share".to_owned()),
        Some((_, sum)) if whole_of(*sum).is_none() => {
            wrong(format!("rises to {sum}; expected a last share of 1, or of 100 in a table in percent"))
        }
        _ => Ok(points.iter().map(|&(size, share)| json!([size, share])).collect()),
    }
}

/// Pairs of nanoseconds and bytes, one packet per line. The heading names the unit of the times.
fn arrivals(name: &str, host: &dyn Host) -> Result<Value> {
    if name.ends_with(".parquet") {
        return Ok(host.packets(name)?.iter().map(|&(time, size)| json!([time, size])).collect());
    }
    let file = host.file(name, LARGEST)?;
    let rows = rows(&file)?;
    let heading = rows.first().map(|row| row.columns);
    let (unit, most) = match heading {
        Some(["time_ns", "bytes"]) => ("ns", LATEST_S * 1e9),
        Some(["time_s", "bytes"]) => ("s", LATEST_S),
        _ => {
            let place = rows.first().map_or(file.name.clone(), |row| row.place.clone());
            let told = format!("{place}: expected the heading \"time_ns,bytes\" or \"time_s,bytes\"");
            return Err(Error::input("", told));
        }
    };
    let mut packets: Vec<(u64, u64)> = Vec::with_capacity(rows.len());
    for row in &rows[1..] {
        let text = row.columns[0];
        let exact = format!("{text} {unit}").parse::<Instant>();
        let time = match exact {
            Ok(time) if row.number(0, "a time of 0 or more")? <= most => time.as_nanos(),
            _ => {
                row.number(0, "a time of 0 or more")?;
                return Err(row.wrong(format!("{text} is out of range"), &format!("a time up to {LATEST_S} s")));
            }
        };
        if packets.last().is_some_and(|&(before, _)| time < before) {
            return Err(row.wrong(format!("{text} comes after a later time"), "times that do not decrease"));
        }
        packets.push((time, row.bytes(1)?));
    }
    if packets.is_empty() {
        let told = format!("{}: has no packets; expected lines of two columns, time and bytes", file.name);
        return Err(Error::input("", told));
    }
    Ok(packets.iter().map(|&(time, size)| json!([time, size])).collect())
}
