//! Transfers of a known size, and statistics of their completion times.

use crate::scenario::Scenario;
use netlull_units::{Duration, Instant};
use serde::Serialize;

/// Statistics of completion times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Completions {
    pub mean: Duration,
    pub p50: Duration,
    pub p95: Duration,
    pub p99: Duration,
    pub max: Duration,
}

impl Completions {
    /// Computes the statistics of times in nanoseconds.
    ///
    /// Percentiles are exact, by nearest rank: the p-th percentile is the smallest time that p per cent of the
    /// completions do not exceed.
    pub fn of(mut sorted: Vec<u64>) -> Option<Self> {
        sorted.sort_unstable();
        let max = *sorted.last()?;
        let count = sorted.len();
        let sum: u128 = sorted.iter().map(|&nanos| u128::from(nanos)).sum();
        let percentile = |p: usize| Duration::from_nanos(sorted[(count * p).div_ceil(100) - 1]);
        Some(Self {
            mean: Duration::from_nanos(u64::try_from(sum / count as u128).unwrap_or(max)),
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
            max: Duration::from_nanos(max),
        })
    }
}

/// Requests that started in a phase. The fields are those of the run's summary.
#[derive(Clone, Debug, Serialize)]
pub struct RequestPhase {
    /// Requests that started.
    pub requests_started: u64,
    /// Requests among them that were complete by the end of the run: all data acknowledged.
    pub requests_completed: u64,
    /// The completion times of the completed requests.
    #[serde(flatten)]
    pub times: CompletionTimes,
}

/// Transfers of a known size, TCP flows with a `size` and requests, that started in a phase.
#[derive(Clone, Debug, Serialize)]
pub struct TransferSummary {
    /// Transfers that started.
    pub started: u64,
    /// Transfers among them that were complete by the end of the run, perhaps after the phase: all data acknowledged.
    pub completed: u64,
    /// Transfers among them that were incomplete then.
    pub unfinished: u64,
    /// The flows of the unfinished transfers.
    pub unfinished_flows: Vec<String>,
    /// The completion times of the completed transfers.
    #[serde(flatten)]
    pub times: CompletionTimes,
}

/// Statistics of completion times, from the SYN to the last acknowledged byte; null without completed transfers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CompletionTimes {
    /// Mean completion time.
    pub mean_completion_s: Option<f64>,
    /// Median completion time: the smallest time that half of the transfers do not exceed.
    pub p50_completion_s: Option<f64>,
    /// Smallest time that 95 % of the transfers do not exceed.
    pub p95_completion_s: Option<f64>,
    /// Smallest time that 99 % of the transfers do not exceed.
    pub p99_completion_s: Option<f64>,
    /// Maximum completion time.
    pub max_completion_s: Option<f64>,
}

impl CompletionTimes {
    pub(super) fn of(transfers: &[Transfer]) -> Self {
        let nanos = transfers.iter().filter_map(|transfer| Some(transfer.completion?.as_nanos())).collect();
        Completions::of(nanos).map_or_else(Self::default, |all| Self {
            mean_completion_s: Some(all.mean.as_secs_f64()),
            p50_completion_s: Some(all.p50.as_secs_f64()),
            p95_completion_s: Some(all.p95.as_secs_f64()),
            p99_completion_s: Some(all.p99.as_secs_f64()),
            max_completion_s: Some(all.max.as_secs_f64()),
        })
    }
}

/// A transfer of a known size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    /// The time of the SYN.
    pub start: Instant,
    /// The time from the SYN to the acknowledgement of the last byte; `None` if the run ended before.
    pub completion: Option<Duration>,
}

/// The numbers of started and completed transfers.
pub(super) fn numbers(transfers: &[Transfer]) -> [u64; 2] {
    let completed = transfers.iter().filter(|transfer| transfer.completion.is_some()).count();
    [transfers.len() as u64, completed as u64]
}

/// The summary of the transfers of all flows.
pub(super) fn transfers_summary(scenario: &Scenario, transfers: &[Vec<Transfer>]) -> TransferSummary {
    let all = transfers.concat();
    let [started, completed] = numbers(&all);
    let is_unfinished = |flow: &[Transfer]| flow.iter().any(|transfer| transfer.completion.is_none());
    let flows = scenario.flow_paths().zip(transfers).filter(|(_, flow)| is_unfinished(flow));
    TransferSummary {
        started,
        completed,
        unfinished: started - completed,
        unfinished_flows: flows.map(|(path, _)| path.name.clone()).collect(),
        times: CompletionTimes::of(&all),
    }
}
