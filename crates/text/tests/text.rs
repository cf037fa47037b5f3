//! Paths, changes and places. `paths.json` is read by `tests/test_fieldpath.py` too: both languages have the same rules.
#![allow(clippy::unwrap_used)]

use netlull_text::{Change, Text};
use serde_json::{Value, json};

fn table() -> Value {
    serde_json::from_str(include_str!("paths.json")).unwrap()
}

fn rows(name: &str) -> Vec<Value> {
    table()[name].as_array().unwrap().clone()
}

fn text(row: &Value, field: &str) -> String {
    row[field].as_str().unwrap().to_owned()
}

#[test]
fn a_path_leads_to_a_value() {
    for row in rows("set") {
        let mut after = table()["document"].clone();
        Change { path: text(&row, "path"), value: Some(json!("new")) }.apply(&mut after).unwrap();
        let pointer = text(&row, "changes");
        assert_eq!(after.pointer(&pointer), Some(&json!("new")), "{row}");
    }
}

#[test]
fn a_removal_leaves_the_rest() {
    for row in rows("removed") {
        let (before, mut after) = (table()["document"].clone(), table()["document"].clone());
        Change { path: text(&row, "path"), value: None }.apply(&mut after).unwrap();
        match row["goes"].as_str() {
            None => assert_eq!(after, before, "{row}"),
            Some(pointer) => assert!(before.pointer(pointer).is_some() && after.pointer(pointer).is_none(), "{row}"),
        }
    }
}

#[test]
fn a_path_that_leads_nowhere_is_named_and_changes_nothing() {
    for row in rows("refused") {
        let mut document = table()["document"].clone();
        let change = Change { path: text(&row, "path"), value: Some(json!(1)) };
        let error = change.apply(&mut document).unwrap_err().to_string();
        assert!(error.contains(&text(&row, "says")), "{error}");
        assert_eq!(document, table()["document"]);
    }
}

#[test]
fn a_setting_is_toml_or_text() {
    for row in rows("settings") {
        let change = Change::parse(&text(&row, "setting")).unwrap();
        assert_eq!((change.path, change.value), (text(&row, "path"), Some(row["value"].clone())), "{row}");
    }
    for row in rows("wrong_settings") {
        let error = Change::parse(&text(&row, "setting")).unwrap_err().to_string();
        assert!(error.contains(&text(&row, "says")), "{error}");
    }
}

const DOCUMENT: &str = "# A link.\nduration = \"1 s\"\n\n[[link]]\nfrom = \"ä\"\nto = \"b\"\nrate = \"1 Mb/s\"\n\
    controller = { kind = \"practra\", rates = [\"1 Mb/s\", 2] }\n[tcp]\nmss = 1460\n";

#[test]
fn a_text_becomes_values_in_their_order() {
    let text = Text { origin: "a.toml", text: DOCUMENT };
    let controller = json!({ "kind": "practra", "rates": ["1 Mb/s", 2] });
    let link = json!({ "from": "ä", "to": "b", "rate": "1 Mb/s", "controller": controller });
    let expected = json!({ "duration": "1 s", "link": [link], "tcp": { "mss": 1460 } });
    assert_eq!(text.parse().unwrap().to_string(), expected.to_string());
}

#[test]
fn a_field_has_a_line_and_a_column() {
    let text = Text { origin: "a.toml", text: DOCUMENT };
    let place = |field: &str| text.place(field).map(|place| (place.line, place.column));
    assert_eq!(place("duration"), Some((2, 12)));
    assert_eq!(place("link.ä-b.rate"), Some((7, 8)));
    assert_eq!(place("link.0.controller.rates.1"), Some((8, 53)));
    // The longest part that the text has.
    assert_eq!(place("link.0.rate.unit"), Some((7, 8)));
    assert_eq!(place("tcp.mss"), Some((10, 7)));
    assert_eq!(place("flow"), None);
    assert_eq!(text.place("duration").unwrap().to_string(), "a.toml, line 2, column 12");
}

#[test]
fn what_is_no_document_is_named_with_its_place() {
    let why = |text: &str| Text { origin: "a.toml", text }.parse().unwrap_err().to_string();
    assert!(why("a = 1\nb = = 2").starts_with("a.toml, line 2, column 5: is not TOML: "), "{}", why("a = 1\nb = = 2"));
    assert!(why("a = 1\na = 2").starts_with("a.toml, line 2, column 1: is not TOML: "), "{}", why("a = 1\na = 2"));
    assert_eq!(why("a = True"), "a.toml, line 1, column 5: is not TOML: True; expected true");
    assert_eq!(why("a = [1, FALSE]"), "a.toml, line 1, column 9: is not TOML: FALSE; expected false");
    assert_eq!(why("kind = tcp"), "a.toml, line 1, column 8: is not TOML: tcp; expected text in quotes, \"tcp\"");
    assert_eq!(why("a = [1, x]"), "a.toml, line 1, column 9: is not TOML: x; expected text in quotes, \"x\"");
    assert_eq!(why("a = nan"), "a.toml, line 1, column 5: a: nan; expected a finite number");
    let date = "a.toml, line 2, column 5: t.d: 2020-01-01 is a date; expected text, a number, true or false, a list or a table";
    assert_eq!(why("[t]\nd = 2020-01-01"), date);
    let deep = format!("a = {}{}", "[".repeat(40), "]".repeat(40));
    assert!(why(&deep).contains("is nested too deeply"), "{}", why(&deep));
    assert!(why("a = 99999999999999999999").contains("expected a whole number of 64 bits"));
    assert_eq!(Text { origin: "a", text: "a = 18446744073709551615" }.parse().unwrap(), json!({ "a": u64::MAX }));
}

#[test]
fn the_place_of_a_repeated_entry_is_that_of_the_text() {
    let text = "[[link]]\nfrom = \"a\"\nto = \"b\"\n[[link]]\neach = { i = \"1..9\" }\nfrom = \"h{i}\"\nto = \"s\"\nrate = 1\n";
    let text = Text { origin: "x", text };
    let line = |field: &str| text.place(field).map(|place| place.line);
    assert_eq!(line("link.h3-s.rate"), Some(8));
    assert_eq!(line("link.h3-s"), Some(4));
    assert_eq!(line("link.a-b.to"), Some(3));
    assert_eq!(line("link.3.rate"), Some(1));
    let text = "[[link]]\nto = \"s\"\nrate = 1\nentries = [\n{ from = \"a\" },\n{ from = \"b.c{i}\", delay = 1 },\n]\n";
    let text = Text { origin: "x", text };
    let line = |field: &str| text.place(field).map(|place| place.line);
    assert_eq!(line("link.a-s.rate"), Some(3));
    assert_eq!(line("link.a-s.from"), Some(5));
    assert_eq!(line("link.b.c7-s.delay"), Some(6));
    assert_eq!(line("link.b.c7-s.rate"), Some(3));
    let text = "[[flow]]\nname = \"{n}-1\"\nrate = 1\neach.n = [\"q\"]\n[[flow]]\nname = \"{n}-2\"\nrate = 2\neach.n = [\"q\"]\n";
    let text = Text { origin: "x", text };
    let line = |field: &str| text.place(field).map(|place| place.line);
    assert_eq!((line("flow.q-1.rate"), line("flow.q-2.rate")), (Some(3), Some(7)));
}
