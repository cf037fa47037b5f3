//! BBR on the paths of `validation/bbr`: the stored rows of netlull are what it does today, and noq's, with its
//! deviations from the draft mended, agree with them.

#[path = "../../../validation/bbr/src/ours.rs"]
mod ours;
#[allow(dead_code, reason = "the comparison itself reads more of a run")]
#[path = "../../../validation/bbr/src/path.rs"]
mod path;

use ours::Ours;
use path::{Path, paths, print, run};
use std::fs;

/// The least share of time in the same state, and the largest mean difference of max_bw, on any path. The README of
/// `validation/bbr` has the values of each and the reasons of the rest.
const SAME_STATE: f64 = 0.97;
const BANDWIDTH: f64 = 0.04;

fn stored(name: &str) -> String {
    let file = format!("{}/../../validation/bbr/stored/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The lines of a path in a stored result.
fn rows<'a>(text: &'a str, path: &Path) -> Vec<&'a str> {
    let head = format!("# path {} leader netlull ", path.name);
    let after = text.lines().skip_while(|line| !line.starts_with(&head)).skip(1);
    after.take_while(|line| !line.starts_with('#')).collect()
}

fn seeds(text: &str) -> Vec<u32> {
    let line = text.lines().next().unwrap_or_default();
    line.split(' ').skip(2).map(|seed| seed.parse().expect("a seed")).collect()
}

#[test]
fn the_stored_rows_are_those_of_today() {
    let files = ["noq.txt", "mended.txt"].map(|name| (name, stored(name)));
    for path in paths() {
        let mut control = Ours::new(&seeds(&files[0].1));
        let found = run(&path, &mut [&mut control]).rows;
        for (file, text) in &files {
            let rows = rows(text, &path);
            // Other stored rows are there for a change of noq's state alone.
            let mut lines = rows.iter();
            for row in &found {
                let row = format!("{} {} ", row.at, print(&row.snapshots[0]));
                let is_stored = lines.any(|line| line.starts_with(&row));
                assert!(is_stored, "{file}: {}: {row}is not stored; `make test-bbr` renews the rows", path.name);
            }
        }
    }
}

/// The words of a row as numbers; nan for a state.
fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').map(|word| word.parse().unwrap_or(f64::NAN)).collect()
}

#[test]
fn noq_agrees_when_its_deviations_are_mended() {
    // Words of a row: the time, netlull's state, cwnd, pacing rate and max_bw, four more, and the same of noq.
    const NOQ: usize = 8;
    let text = stored("mended.txt");
    for path in paths() {
        let rows = rows(&text, &path);
        let (mut total, mut same, mut bandwidth) = (0.0, 0.0, 0.0);
        for pair in rows.windows(2).skip(1) {
            let words: Vec<&str> = pair[0].split(' ').collect();
            let (now, next) = (numbers(pair[0]), numbers(pair[1]));
            let span = next[0] - now[0];
            total += span;
            same += if words[1] == words[1 + NOQ] { span } else { 0.0 };
            bandwidth += span * (now[4 + NOQ] / now[4] - 1.0).abs();
        }
        assert!(same / total >= SAME_STATE, "{}: {}", path.name, same / total);
        assert!(bandwidth / total <= BANDWIDTH, "{}: {}", path.name, bandwidth / total);
    }
}
