//! The recorders of a run's tables, by hand.

use netlull_network::probe::{
    AirRow, AirTime, Column, EventTables, FlowSample, LinkSample, Recorder, RequestRow, RequestTable, StationProbe,
    Table,
};
use netlull_units::{Bytes, Duration, Instant};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A table as text, with null for a missing value.
fn text(table: &Table) -> String {
    serde_json::to_string(table).expect("text")
}

#[test]
fn bins_hold_what_was_added_since_the_last_one() {
    let events = EventTables { window: false, drops: false };
    let mut recorder = Recorder::new(Some(Duration::from_millis(10)), events, 1, 1);
    assert_eq!((recorder.next_bin(at(3)), recorder.records_windows()), (at(13), false));
    for (now, (bytes, dropped), windows) in [(10, (3000, 1), None), (20, (7500, 3), Some((2920, u64::MAX)))] {
        let (arrived_bytes, delivered_bytes) = (bytes, bytes - 1500);
        let link =
            LinkSample { arrived_bytes, delivered_bytes, dropped_packets: dropped, queue_packets: 4, rate_bps: 5 };
        recorder.link(at(now), 0, link);
        recorder.flow(at(now), 0, FlowSample { sent_bytes: bytes, delivered_bytes, windows });
    }
    let tables = recorder.into_tables();
    assert_eq!(
        tables.iter().map(text).collect::<Vec<_>>(),
        [
            r#"{"name":"link","columns":[["time_s",{"float":[0.01,0.02]}],["link",{"index":[0,0]}],["arrived_bytes",{"count":[3000,4500]}],["delivered_bytes",{"count":[1500,4500]}],["dropped_packets",{"count":[1,2]}],["queue_packets",{"count":[4,4]}],["rate_bps",{"count":[5,5]}]]}"#,
            r#"{"name":"flow","columns":[["time_s",{"float":[0.01,0.02]}],["flow",{"index":[0,0]}],["sent_bytes",{"count":[3000,4500]}],["delivered_bytes",{"count":[1500,4500]}],["cwnd_bytes",{"float":[null,2920.0]}],["ssthresh_bytes",{"float":[null,null]}]]}"#,
        ]
    );
}

#[test]
fn events_are_recorded_where_they_are_wanted_and_drops_come_in_the_order_of_time() {
    let record = |events| {
        let mut recorder = Recorder::new(None, events, 2, 2);
        assert_eq!(recorder.next_bin(at(3)), Instant::NEVER);
        recorder.window(at(1), 1, 2920, 65_535);
        recorder.drop(at(7), 1, 0);
        recorder.drop(at(5), 0, 1);
        recorder.into_tables().iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(record(EventTables { window: false, drops: false }), [""; 0]);
    assert_eq!(
        record(EventTables { window: true, drops: true }),
        [
            r#"{"name":"window","columns":[["time_s",{"float":[0.001]}],["flow",{"index":[1]}],["cwnd_bytes",{"count":[2920]}],["ssthresh_bytes",{"float":[65535.0]}]]}"#,
            r#"{"name":"drop","columns":[["time_s",{"float":[0.005,0.007]}],["link",{"index":[0,1]}],["flow",{"index":[1,0]}]]}"#,
        ]
    );
}

#[test]
fn open_requests_have_no_completion() {
    let mut table = RequestTable::default();
    let row = RequestRow { flow: 3, start: at(4), size: 9000, completion: None, retransmissions: 2, timeouts: 1 };
    table.push(&row);
    table.push(&RequestRow { completion: Some(Duration::from_millis(250)), ..row });
    assert_eq!(
        text(&table.into_table()),
        r#"{"name":"request","columns":[["start_s",{"float":[0.004,0.004]}],["flow",{"index":[3,3]}],["size_bytes",{"count":[9000,9000]}],["completion_s",{"float":[null,0.25]}],["retransmissions",{"count":[2,2]}],["timeouts",{"count":[1,1]}]]}"#
    );
}

#[test]
fn transmissions_are_recorded_up_to_the_end_of_the_run() {
    let mut probe = StationProbe::new(at(500));
    probe.radio(at(1), 0, "awake");
    for from in [250, 500, 501] {
        let time = AirTime { from: at(from), to: at(from + 250) };
        probe.air(0, &AirRow { seq: 7, window: Some(Bytes::new(0)), ..AirRow::frame("beacon", time, 100) });
    }
    let [radio, air, burst] = probe.into_tables();
    assert_eq!(
        text(&radio),
        r#"{"name":"radio","columns":[["time_s",{"float":[0.001]}],["station",{"index":[0]}],["state",{"text":["awake"]}]]}"#
    );
    assert_eq!(
        text(&air),
        r#"{"name":"air","columns":[["time_s",{"float":[0.25,0.5]}],["station",{"index":[0,0]}],["end_s",{"float":[0.5,0.75]}],["kind",{"text":["beacon","beacon"]}],["seq",{"count":[7,7]}],["size_bytes",{"count":[100,100]}],["window_bytes",{"float":[0.0,0.0]}]]}"#
    );
    assert!(burst.columns.iter().all(|(_, column)| column.is_empty()));
}

#[test]
fn a_missing_value_is_null_in_text_and_nan_when_read() {
    let table = Table::new("t", vec![("x", Column::Float(vec![1.5, f64::NAN, 2.5]))]);
    let read: Table = serde_json::from_str(&text(&table)).expect("a table");
    let [(name, Column::Float(values))] = &read.columns[..] else { panic!("{read:?}") };
    assert_eq!((&**name, values[0], values[2], values.len()), ("x", 1.5, 2.5, 3));
    assert!(values[1].is_nan());
}
