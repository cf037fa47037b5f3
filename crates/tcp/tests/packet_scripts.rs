//! Every packet script of `validation/rfc/scripts` and `validation/linux/scripts` passes, and a wrong script fails.

use crate::packet_script::{Script, split};
use netlull_tcp::Preset;
use std::path::PathBuf;

/// The scripts of a folder by name.
fn scripts(of: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation").join(of).join("scripts");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "script"));
    paths.sort();
    let read =
        |path: &PathBuf| split(&path.file_stem().unwrap().to_string_lossy(), &std::fs::read_to_string(path).unwrap());
    paths.iter().flat_map(read).collect()
}

fn run(text: &str) -> Vec<String> {
    Script::parse(text).unwrap().run().differences
}

#[test]
fn every_script_of_the_rfcs_passes() {
    let scripts = scripts("rfc");
    assert!(scripts.len() > 20, "{} scripts found", scripts.len());
    for (name, script) in every_one_passes(scripts) {
        assert!(!script.sections.is_empty(), "{name} names no section of an RFC");
    }
}

#[test]
fn every_script_that_a_kernel_has_played_passes() {
    let scripts = scripts("linux");
    assert!(scripts.len() > 5, "{} scripts found", scripts.len());
    for (name, script) in every_one_passes(scripts) {
        let expected = Preset::Linux6.config(1000).recovery.window_reduction;
        assert_eq!(script.window_reduction(), expected, "{name} is about another TCP");
    }
}

/// The scripts by their names, after a run of each.
fn every_one_passes(scripts: Vec<(String, String)>) -> Vec<(String, Script)> {
    let (mut failures, mut all) = (Vec::new(), Vec::new());
    for (name, text) in scripts {
        let script = Script::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let outcome = script.run();
        assert!(outcome.checks > 0, "{name} checks nothing");
        if !outcome.passed() {
            failures.push(format!("{name}\n{}", outcome.transcript.join("\n")));
        }
        all.push((name, script));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    all
}

const GOOD: &str = "# A window of two\noption initial_window 2\n0 connect\n0 send 3000\n0 out 0:2000 by 1000\n\
                    0.1 in ack 1000\n0.1 out 2000:3000\n0.1 expect cwnd 3000 flight 2000\n";

#[test]
fn a_script_that_is_right_passes() {
    assert_eq!(run(GOOD), [""; 0]);
}

#[test]
fn a_file_holds_several_scripts_with_its_own_line_numbers() {
    let file = format!("script right\n{GOOD}\nscript wrong\n{}", GOOD.replace("cwnd 3000", "cwnd 3001"));
    let [(right, first), (wrong, second)] = &split("file", &file)[..] else { panic!("{file}") };
    assert_eq!([right.as_str(), wrong.as_str()], ["file-right", "file-wrong"]);
    assert_eq!(run(first), [""; 0]);
    assert_eq!(run(second), ["line 19: at 0.100: expected cwnd 3001, found 3000"]);
    assert_eq!(split("file", GOOD), [("file".to_owned(), GOOD.to_owned())]);
}

/// The line number of the difference, and part of the message.
fn one_difference(from: &str, to: &str, line: usize, part: &str) {
    let text = GOOD.replace(from, to);
    assert_ne!(text, GOOD);
    let differences = run(&text);
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert!(differences[0].starts_with(&format!("line {line}: ")), "{differences:?}");
    assert!(differences[0].contains(part), "{differences:?}");
}

#[test]
fn each_kind_of_difference_is_found_in_its_line() {
    one_difference("0.1 out 2000:3000", "0.1 out 2000:3000 retransmission", 7, "retransmission");
    one_difference("0.1 out 2000:3000", "0.1 out 2000:2999", 7, "data");
    one_difference("0.1 out 2000:3000", "0.1 out 2000:3000 ack 1", 7, "ack");
    one_difference("0.1 out 2000:3000", "0.1 out fin 2000:3000", 7, "fin is missing");
    one_difference("0.1 out 2000:3000\n", "", 7, "unexpected at 0.100: out 2000:3000");
    one_difference("cwnd 3000", "cwnd 3001", 8, "expected cwnd 3001, found 3000");
    one_difference("cwnd 3000", "cwnd 1..2999", 8, "expected cwnd 1..2999, found 3000");
    one_difference("flight 2000", "ssthresh 2000", 8, "expected ssthresh 2000, found none");
}

#[test]
fn what_comes_late_early_or_not_at_all_is_found() {
    let late = GOOD.replace("0.1 out 2000:3000\n0.1", "0.2 out 2000:3000\n0.2");
    assert!(run(&late)[0].contains("line 7: sent at 0.100, expected at 0.200"), "{:?}", run(&late));
    let more = format!("{GOOD}0.1 out 3000:4000\n");
    assert_eq!(run(&more), ["line 9: nothing was sent, expected a segment 3000:4000"]);
}

#[test]
fn what_is_not_understood_is_an_error_with_its_line() {
    for (line, why) in [
        ("0 sned 5", "`sned 5` is not understood"),
        ("0 in ack", "a number is missing"),
        ("option mss large", "`large` is not a number"),
        ("option colour red", "no option `colour`"),
        ("0 expect happiness 5", "no quantity `happiness`"),
        ("option ecn maybe", "expected one of `off`, `classic`, `dctcp`"),
    ] {
        let error = Script::parse(&format!("# title\n{line}\n")).unwrap_err();
        assert!(error.starts_with("line 2: ") && error.contains(why), "{error}");
    }
    assert!(Script::parse("1 connect\n0.5 send 5\n").unwrap_err().contains("time goes back"));
}

#[test]
fn a_preset_brings_its_system_and_an_algorithm_stays_in_it() {
    // Linux grows by acknowledged segments: two at once open the window by two. RFC 5681 counts acknowledgements.
    let text = "# A window\npreset linux-6\noption timestamps off\n0 connect rtt 0.1\n0.1 send 20000\n0.1 out any\n\
                0.2 in ack 2000\n0.2 out any\n0.2 expect cwnd_segments 12 srtt 0.1\n";
    assert_eq!(run(text), [""; 0]);
    assert_eq!(run(&text.replace("preset linux-6\n", "preset linux-6\nalgorithm sack\n")), [""; 0]);
    let rfc = run(&text.replace("preset linux-6", "preset rfc"));
    assert_eq!(rfc, ["line 9: at 0.200: expected cwnd_segments 12, found 11"]);
    assert!(Script::parse("# title\npreset windows\n").unwrap_err().contains("expected one of `rfc`, `ns2`"));
    let named = Script::parse("# title\npreset linux-6\nalgorithm fast\n").unwrap_err();
    assert!(named.contains("congestion_control \"fast\" is unknown; expected one of"), "{named}");
}

#[test]
fn a_handshake_with_a_round_trip_is_a_sample_and_takes_its_time() {
    let text = "# A handshake\noption handshake_rtt sampled\n1 connect rtt 0.25\n1.25 expect srtt 0.25\n";
    assert_eq!(run(text), [""; 0]);
    assert_eq!(Script::parse(&text.replace("1.25 expect", "1.2 expect")).unwrap_err(), "line 4: time goes back");
}

#[test]
fn a_wildcard_takes_what_was_sent_and_an_interval_its_first_segment() {
    let any = GOOD.replace("0 out 0:2000 by 1000", "0 out any");
    assert_eq!(run(&any), [""; 0]);
    // Nothing is a number of segments, too.
    assert_eq!(run(&any.replace("0 out any\n", "0 out any\n0.05 out any\n")), [""; 0]);
    let early = GOOD.replace("0.1 in", "0.05..0.09 out 2000:3000\n0.1 in");
    assert!(run(&early)[0].contains("nothing was sent, expected a segment 2000:3000"), "{:?}", run(&early));
    let within = GOOD.replace("0.1 out", "0.1..0.2 out").replace("0.1 expect", "0.2 expect");
    assert_eq!(run(&within), [""; 0]);
    let late = GOOD.replace("0.1 out", "0.11..0.2 out").replace("0.1 expect", "0.2 expect");
    assert!(run(&late)[0].contains("sent at 0.100, expected at 0.110..0.200"), "{:?}", run(&late));
    let wrong = Script::parse("# title\n0..1 in ack 5\n").unwrap_err();
    assert_eq!(wrong, "line 2: `in ack 5` at an interval; only `out` takes one");
}

#[test]
fn sections_are_collected_from_comments() {
    let script =
        Script::parse("# One\n# RFC 5681 sections 3.1 and 3.2: x\n0 connect # RFC 6298 section 5.1\n").unwrap();
    assert_eq!((script.title.as_str(), script.sections.as_str()), ("One", "RFC 5681 3.1, 3.2; RFC 6298 5.1"));
}
