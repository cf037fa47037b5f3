//! BBR on the paths of `validation/bbr`: the stored rows of netlull are what it does today, and noq's, with its
//! deviations from the draft mended, agree with them.

#[path = "../../../validation/bbr/src/ours.rs"]
mod ours;
#[path = "../../../validation/bbr/src/path.rs"]
mod path;

use ours::Ours;
use path::{Path, paths, print, run};
use std::fs;

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
    for file in ["noq.txt", "mended.txt"] {
        let text = stored(file);
        for path in paths() {
            let mut control = Ours::new(&seeds(&text));
            let found = run(&path, &mut [&mut control]).rows;
            let rows = rows(&text, &path);
            // Other stored rows are there for a change of noq's state alone.
            let mut lines = rows.iter();
            for row in found {
                let row = format!("{} {} ", row.at, print(&row.snapshots[0]));
                let is_stored = lines.any(|line| line.starts_with(&row));
                assert!(is_stored, "{file}: {}: {row}is not stored; `make test-bbr` renews the rows", path.name);
            }
        }
    }
}
