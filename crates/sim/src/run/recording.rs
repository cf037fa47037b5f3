//! Two runs: the first records arrivals at a link, the second replays them as datagrams.

use super::error::RunError;
use super::finish::finish;
use super::outcome::{RunOutcome, Wanted};
use super::summary::RecordingSummary;
use super::{Monitor, Stop, World, pass, run_once};
use crate::net::ids::LinkId;
use crate::probe::CaptureWriter;
use crate::scenario::{ArrivalPattern, Recording, Scenario};
use crate::traffic::Record;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Half of the work, for a monitor of the whole.
struct Half<'a> {
    whole: &'a mut dyn Monitor,
    /// The share of the whole at its start.
    from: f64,
}

impl Monitor for Half<'_> {
    fn progress(&mut self, share: f64) -> ControlFlow<Stop> {
        self.whole.progress(self.from + 0.5 * share)
    }
}

/// Records with the same seed, then replays.
pub(super) fn run(
    scenario: &Scenario,
    recording: &Recording,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
    wanted: Wanted,
) -> Result<RunOutcome, RunError> {
    let record = record(scenario, recording, &mut Half { whole: monitor, from: 0.0 })?;
    let summary = RecordingSummary {
        link: recording.first.links[recording.link].name.clone(),
        flow: scenario.datagram_flows[recording.source].path.name.clone(),
        packets: record.len() as u64,
        bytes: record.bytes(),
    };
    let mut second = Scenario { recording: None, ..scenario.clone() };
    second.datagram_flows[recording.source].pattern = ArrivalPattern::Replay(Arc::new(record));
    let mut outcome = run_once(&second, &mut Half { whole: monitor, from: 0.5 }, capture, wanted)?;
    outcome.summary.recording = Some(summary);
    Ok(outcome)
}

/// The packets that the first run offers to the link.
fn record(scenario: &Scenario, recording: &Recording, monitor: &mut dyn Monitor) -> Result<Record, RunError> {
    let first = Scenario { seed: scenario.seed, verify: scenario.verify, ..(*recording.first).clone() };
    let mut world = pass(World::new(&first, None)?, &first, monitor)?;
    world.draw_all();
    let arrivals = world.observers.arrivals.take();
    let record = arrivals.map(|arrivals| arrivals.into_record(LinkId::new(recording.link))).unwrap_or_default();
    // The first run's ledger is checked like any other.
    finish(world, &first, Wanted::Summary)?;
    Ok(record)
}
