//! The human-readable report.

use crate::station::{DownloadReport, StationReport};
use std::fmt::Write;

/// The maximum number of downloads in the list.
const LISTED: usize = 20;

/// The activity of the radio, and the energy-delay product of each download.
pub(super) fn table(report: &StationReport) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_table(&mut text, report);
    text
}

fn write_table(text: &mut String, report: &StationReport) -> std::fmt::Result {
    let StationReport { mechanism, seconds, .. } = report;
    let (asleep_s, counts) = (report.radio.asleep_s, &report.counts);
    let (received_packets, missed_packets) = (counts.received_packets, counts.missed_packets);
    let part = if *seconds > 0.0 { 100.0 * asleep_s / seconds } else { 0.0 };
    writeln!(text, "{mechanism}: {seconds:.3} s, radio asleep for {asleep_s:.3} s ({part:.0} %)")?;
    writeln!(
        text,
        "{received_packets} packets received, {missed_packets} missed; {} bursts, {} acknowledgements closed, {} sent on the host's behalf",
        counts.bursts, counts.closed_acks, report.own_acks
    )?;
    for (name, energy) in &report.energy.0 {
        let saving = 100.0 * energy.saving;
        writeln!(text, "{name}: {:.3} J; always on {:.3} J: {saving:.0} % saved", energy.total_j, energy.awake_j)?;
    }
    if report.downloads.is_empty() {
        return Ok(());
    }
    writeln!(text, "{:<24} {:>12} {:>9} {:>9} {:>10}  shaper", "download from", "bytes", "s", "J", "J s")?;
    for download in report.downloads.iter().rev().take(LISTED).rev() {
        write_download(text, download)?;
    }
    if report.downloads.len() > LISTED {
        writeln!(text, "({} earlier downloads)", report.downloads.len() - LISTED)?;
    }
    Ok(())
}

fn write_download(text: &mut String, download: &DownloadReport) -> std::fmt::Result {
    let first = |values: &[(String, f64)]| values.first().map_or(0.0, |(_, value)| *value);
    let span = &download.span;
    let (joules, product) = (first(&span.energy_j.0), first(&span.energy_delay_js.0));
    let shaper = download.shaper.map_or(String::new(), |shaper| {
        shaper.fallback.map_or(shaper.state.to_owned(), |why| format!("{} ({why})", shaper.state))
    });
    let DownloadReport { peer, bytes, .. } = download;
    writeln!(text, "{peer:<24} {bytes:>12} {:>9.3} {joules:>9.3} {product:>10.3}  {shaper}", span.seconds)
}
