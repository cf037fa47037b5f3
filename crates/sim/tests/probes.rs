//! The tables of TCP senders: `segment` and `event`.

use crate::common::{close, floats, flow, outcome, table, words};
use netlull_sim::run::RunOutcome;
use serde_json::{Value, json};

/// A link of 12 Mb/s and 20 ms in each direction, on which a segment of 1460 B takes 1 ms. Every packet fits.
fn transfer(size: &str, loss: &Value, probe: &Value) -> Value {
    let mut forth = json!({ "from": "a", "to": "b", "rate": "12 Mb/s", "delay": "20 ms", "buffer": "unlimited" });
    if !loss.is_null() {
        forth["loss"] = loss.clone();
    }
    let back = json!({ "from": "b", "to": "a", "rate": "12 Mb/s", "delay": "20 ms", "buffer": "unlimited" });
    let tcp = json!({ "timestamps": false, "delayed_ack": false });
    json!({
        "duration": "10 s",
        "nodes": ["a", "b"],
        "link": [forth, back],
        "flow": [{ "kind": "tcp", "name": "t", "from": "a", "to": "b", "size": size, "tcp": tcp }],
        "probe": probe,
    })
}

fn both() -> Value {
    json!({ "segments": true, "events": true })
}

fn scripted(packets: &[u64]) -> Value {
    json!({ "kind": "scripted", "drops": [{ "flow": "t", "packets": packets }] })
}

fn events(run: &RunOutcome) -> Vec<&'static str> {
    words(table(run, "event"), "event")
}

#[test]
fn each_data_segment_is_a_row_and_nothing_else_is() {
    // 16,000 B: an initial window of ten segments of 1460 B leaves right after the handshake, and the remaining 1400 B
    // at the first acknowledgement. SYN, the handshake's ACK and the FIN (with the last byte) have no rows of their
    // own.
    let run = outcome(transfer("16000 B", &Value::Null, &both()));
    let segments = table(&run, "segment");
    let offsets: Vec<f64> = (0..11).map(|n| f64::from(n) * 1460.0).collect();
    assert_eq!(floats(segments, "offset_bytes"), offsets);
    let lengths = [[1460.0; 10].as_slice(), &[1400.0]].concat();
    assert_eq!(floats(segments, "length_bytes"), lengths);
    assert_eq!(floats(segments, "retransmission"), [0.0; 11]);
    assert_eq!(floats(segments, "flow"), [0.0; 11]);
    // Handshake: two packets of 48 B (MSS and window scale) at 12 Mb/s, 32 us, and 20 ms each.
    let established = 2.0 * (0.02 + 32e-6);
    let times = floats(segments, "time_s");
    times[..10].iter().for_each(|time| close(*time, established, 1e-9));
    // First segment: 1 ms + 20 ms. Its acknowledgement: 40 B, 26.666... us rounded up to a nanosecond, + 20 ms.
    close(times[10], established + 0.021 + 0.020_026_667, 2e-9);
    // The n-th segment of the window leaves with n segments in flight. Then slow start has added one.
    let flights = floats(segments, "flight_bytes");
    assert_eq!((flights[0], flights[9]), (1460.0, 14_600.0));
    assert_eq!(floats(segments, "cwnd_bytes")[9..], [14_600.0, 11.0 * 1460.0]);
    assert!(events(&run).is_empty());
}

#[test]
fn a_segment_sent_again_says_so_and_the_recovery_has_two_ends() {
    // The sender's packets: SYN, then data. The first segment acknowledges the handshake, so the fourth packet is the
    // third segment.
    let run = outcome(transfer("100 kB", &scripted(&[4]), &both()));
    assert_eq!(events(&run), ["fast_retransmit", "recovered"]);
    let segments = table(&run, "segment");
    let again: Vec<usize> =
        (0..).zip(floats(segments, "retransmission")).filter(|(_, r)| *r == 1.0).map(|r| r.0).collect();
    assert_eq!(again.len(), 1);
    close(floats(segments, "offset_bytes")[again[0]], 2.0 * 1460.0, 0.0);
    let happened = table(&run, "event");
    close(floats(happened, "time_s")[0], floats(segments, "time_s")[again[0]], 0.0);
    // Until the gap is closed no later data is acknowledged; then all earlier data is.
    assert_eq!(floats(happened, "offset_bytes")[0], 2.0 * 1460.0);
    assert!(floats(happened, "offset_bytes")[1] > 12.0 * 1460.0);
    assert_eq!((flow(&run, "t").retransmissions, flow(&run, "t").fast_retransmits), (1, 1));
}

#[test]
fn a_lost_tail_times_out() {
    // Five segments, the fifth lost: only the timer detects the loss.
    let run = outcome(transfer("7300 B", &scripted(&[6]), &both()));
    assert_eq!(events(&run), ["timeout", "recovered"]);
    let segments = table(&run, "segment");
    assert_eq!(floats(segments, "offset_bytes")[4..], [4.0 * 1460.0; 2]);
    assert_eq!(floats(segments, "retransmission"), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // The window is one segment, and ssthresh half the flight of one segment but at least two (RFC 5681 equation 4).
    let happened = table(&run, "event");
    assert_eq!(floats(happened, "cwnd_bytes")[0], 1460.0);
    assert_eq!(floats(happened, "ssthresh_bytes")[0], 2920.0);
    close(floats(happened, "time_s")[0], floats(segments, "time_s")[5], 0.0);
}

#[test]
fn a_needless_timeout_is_an_event_and_a_count() {
    // Ten segments arrive, and their acknowledgements are lost: packets 2 to 11 of the reverse link, after the SYN-ACK.
    // The timer sends the first segment again, and the answer to it reports a duplicate.
    let run = |undo: &str| {
        let mut json = transfer("14600 B", &Value::Null, &both());
        json["link"][1]["loss"] = scripted(&(2..12).collect::<Vec<_>>());
        json["tcp"] = json!({ "loss_recovery": "sack", "undo": undo });
        outcome(json)
    };
    let undone = run("rfc");
    assert_eq!(events(&undone), ["timeout", "undo", "recovered"]);
    assert_eq!((flow(&undone, "t").undone_timeouts, flow(&undone, "t").undone_fast_retransmits), (1, 0));
    // ssthresh: none before, half of the flight after the timeout.
    assert_eq!(floats(table(&undone, "event"), "ssthresh_bytes")[1..], [f64::INFINITY; 2]);
    let kept = run("off");
    assert_eq!(events(&kept), ["timeout", "recovered"]);
    assert_eq!(flow(&kept, "t").undone_timeouts, 0);
    // Other summaries have no field more.
    let named = |run: &RunOutcome| serde_json::to_string(&run.summary).expect("writes").contains("undone");
    assert_eq!((named(&undone), named(&kept)), (true, false));
    assert_eq!(floats(table(&kept, "event"), "ssthresh_bytes"), [7300.0; 2]);
}

#[test]
fn every_recovery_tells_of_its_losses() {
    for recovery in ["new_reno", "sack", "rack"] {
        let mut json = transfer("300 kB", &scripted(&[20, 22, 23, 60]), &both());
        json["tcp"] = json!({ "loss_recovery": recovery });
        let run = outcome(json);
        let totals = flow(&run, "t");
        let count = |word: &str| events(&run).iter().filter(|event| **event == word).count() as u64;
        assert_eq!(count("fast_retransmit"), totals.fast_retransmits, "{recovery}");
        assert_eq!(count("timeout"), totals.timeouts, "{recovery}");
        let again: f64 = floats(table(&run, "segment"), "retransmission").iter().sum();
        close(again, totals.retransmissions as f64, 0.0);
        assert!(again >= 4.0, "{recovery}: four segments were lost");
        // Segments sent for the first time add up to the stream.
        let segments = table(&run, "segment");
        let once = floats(segments, "length_bytes").into_iter().zip(floats(segments, "retransmission"));
        close(once.filter(|(_, r)| *r == 0.0).map(|(length, _)| length).sum(), 300_000.0, 0.0);
    }
}

#[test]
fn looking_at_senders_never_changes_a_run_and_nothing_is_kept_unasked() {
    let run = |probe: &Value| outcome(transfer("1 MB", &scripted(&[20, 21, 90]), probe));
    let summary = |run: &RunOutcome| serde_json::to_string(&run.summary).expect("writes");
    let (silent, watched) = (run(&json!({})), run(&both()));
    assert_eq!(summary(&silent), summary(&watched));
    assert_eq!(silent.tables.len() + 2, watched.tables.len());
    let only = run(&json!({ "events": true }));
    assert!(only.tables.iter().all(|table| table.name != "segment"));
}

#[test]
fn only_the_flows_asked_for_are_in_the_tables() {
    let mut json = transfer("100 kB", &Value::Null, &json!({ "segments": true, "flows": ["u"] }));
    let other = json!({ "kind": "tcp", "name": "u", "from": "b", "to": "a", "size": "20 kB" });
    json["flow"].as_array_mut().expect("a list").push(other);
    let run = outcome(json);
    let flows = floats(table(&run, "segment"), "flow");
    assert!(!flows.is_empty() && flows.iter().all(|flow| *flow == 1.0), "{flows:?}");
}
