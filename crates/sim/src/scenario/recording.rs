//! Two runs of one document: the first records the packets offered to a link, the second replays them.

use super::checked::{Recording, Scenario};
use super::document::Document;
use super::flow::{FlowDocument, RecordingDocument, ReplayDocument};
use super::frame::{Result, ScenarioError, listed, refuse};
use super::read::read_value;
use super::report::ProbeDocument;
use super::sleep::SleepDocument;
use super::station::StationDocument;
use crate::net::ids::LinkId;
use netlull_mechanism::topology::SleepAlgorithm;
use netlull_text::Change;
use netlull_units::Duration;

impl FlowDocument {
    /// The name and destination of the flow.
    fn ends(&self) -> (&str, &str) {
        match self {
            Self::Tcp(flow) => (&flow.name, &flow.to),
            Self::Cbr(flow) | Self::Poisson(flow) => (&flow.name, &flow.to),
            Self::Bursts(flow) => (&flow.name, &flow.to),
            Self::Requests(flow) => (&flow.name, &flow.to),
            Self::Replay(flow) => (&flow.name, &flow.to),
        }
    }
}

/// The second run, which contains the first.
pub(super) fn two_runs(document: &Document, recording: &RecordingDocument) -> Result<Scenario> {
    let whole = Document { recording: None, ..document.clone() };
    check_flows(&whole, recording)?;
    let mut first = first_run(&whole, recording)?;
    let link = recorded_link(&first, recording)?;
    first.probe.arrivals = Some(vec![link]);
    // The links are the same in both runs. Buffers in BDP use the routes of the replaced flows.
    let probe = ProbeDocument::default();
    let as_it_stands = Scenario::resolve(&Document { probe, ..whole.clone() }, &[])?;
    let two_way = longest_round_trips(&as_it_stands);
    let from = first.nodes[first.links[link].from].as_str();
    // The plan counts the flows themselves: the replay's packets are known only after the first run.
    let sleep = as_it_stands.sleep;
    let mut second =
        Scenario::resolve(&Document { flow: replaced(&whole, recording, from)?, ..whole.clone() }, &two_way)?;
    let source = second.datagram_flows.iter().position(|flow| flow.path.name == recording.name).unwrap_or_default();
    let without = recording.without.iter().flat_map(|path| by_node(&whole, path)).collect();
    second.sleep = sleep;
    second.recording = Some(Recording { first: Box::new(first), link, source, without });
    Ok(second)
}

fn check_flows(whole: &Document, recording: &RecordingDocument) -> Result<()> {
    let known: Vec<_> = whole.flow.iter().map(|flow| flow.ends().0).collect();
    let expected = || format!("expected some of {}", listed(&known));
    if let Some(name) = recording.flows.iter().find(|name| !known.contains(&name.as_str())) {
        return refuse("recording.flows", format!("\"{name}\" is not a flow; {}", expected()));
    }
    if recording.flows.is_empty() {
        return refuse("recording.flows", format!("is empty; {}", expected()));
    }
    Ok(())
}

/// A path of `recording.without`. That of a station becomes a path for each of its nodes.
fn by_node(whole: &Document, path: &str) -> Vec<String> {
    let named = |station: &StationDocument| {
        let rest = path.strip_prefix("station.")?.strip_prefix(station.name.as_deref()?)?;
        (rest.is_empty() || rest.starts_with('.')).then_some(rest)
    };
    match whole.station.iter().find_map(|station| Some((station, named(station)?))) {
        Some((station, rest)) => station.nodes.iter().map(|node| format!("station.{node}{rest}")).collect(),
        None => vec![path.to_owned()],
    }
}

/// The error of a first run without these fields.
fn within(error: ScenarioError) -> ScenarioError {
    ScenarioError::new("recording.without", format!("leaves a scenario that cannot be run: {error}"))
}

/// The document of the first run, without the fields that it leaves out.
fn reduced(whole: &Document, recording: &RecordingDocument) -> Result<Document> {
    let internal = |error: serde_json::Error| ScenarioError::new("recording", error.to_string());
    if recording.without.is_empty() {
        return Ok(whole.clone());
    }
    let is_custom = |sleep: &SleepDocument| {
        sleep.plan.as_ref().is_some_and(|plan| matches!(plan.algorithm, SleepAlgorithm::PlugIn(_)))
    };
    // A custom plan cannot be written as JSON.
    if whole.sleep.iter().any(is_custom) {
        return refuse("recording.without", "conflicts with a custom sleep plan; expected an empty list");
    }
    let mut value = serde_json::to_value(whole).map_err(internal)?;
    for path in &recording.without {
        let removal = Change { path: path.clone(), value: None };
        removal.apply(&mut value).map_err(|error| ScenarioError::new("recording.without", error.to_string()))?;
    }
    read_value(&value).map_err(within)
}

/// The first run. It records only the arrivals of the flows.
fn first_run(whole: &Document, recording: &RecordingDocument) -> Result<Scenario> {
    let document = reduced(whole, recording)?;
    let is_recorded = |flow: &&FlowDocument| recording.flows.iter().any(|name| name == flow.ends().0);
    let recorded: Vec<String> = document.flow.iter().filter(is_recorded).flat_map(names).collect();
    let document = Document { probe: ProbeDocument::default(), ..document };
    let mut first = Scenario::resolve(&document, &[]).map_err(within)?;
    let flows = first.flow_paths().enumerate().filter(|(_, path)| recorded.contains(&path.name));
    first.probe.flows = Some(flows.map(|(index, _)| index).collect());
    first.probe.nameless = true;
    Ok(first)
}

/// The names of a flow's connections.
fn names(flow: &FlowDocument) -> Vec<String> {
    match flow {
        FlowDocument::Tcp(flow) => (0..flow.count).map(|number| flow.connection(number)).collect(),
        flow => vec![flow.ends().0.to_owned()],
    }
}

/// The link with the recording in the first run. A recorded flow must cross it.
fn recorded_link(first: &Scenario, recording: &RecordingDocument) -> Result<usize> {
    let Some(link) = first.links.iter().position(|link| link.name == recording.link) else {
        let known: Vec<_> = first.links.iter().map(|link| link.name.as_str()).collect();
        let known = listed(&known);
        let message = format!("\"{}\" is unknown; expected one of {known}", recording.link);
        return refuse("recording.link", message);
    };
    let is_recorded = |index: usize| first.probe.flows.as_ref().is_some_and(|flows| flows.contains(&index));
    let crosses = |from, to| {
        first.routes.path(from, to, &first.edges).is_some_and(|way| way.iter().any(|&over| over.index() == link))
    };
    let mut recorded = first.flow_paths().enumerate().filter(|(index, _)| is_recorded(*index));
    if !recorded.any(|(_, path)| crosses(path.from, path.to) || crosses(path.to, path.from)) {
        let message =
            format!("is \"{}\", which none of these flows crosses; expected a link on their path", recording.link);
        return refuse("recording.link", message);
    }
    Ok(link)
}

/// The flows of the second run. The replay takes the position of the first recorded flow.
fn replaced(whole: &Document, recording: &RecordingDocument, from: &str) -> Result<Vec<FlowDocument>> {
    let is_recorded = |flow: &FlowDocument| recording.flows.iter().any(|name| name == flow.ends().0);
    let mut to: Vec<&str> = whole.flow.iter().filter(|flow| is_recorded(flow)).map(|flow| flow.ends().1).collect();
    to.sort_unstable();
    to.dedup();
    let to = match (&recording.to, &to[..]) {
        (Some(node), _) => node.clone(),
        (None, [node]) => (*node).to_owned(),
        (None, nodes) => {
            let nodes = listed(nodes);
            let message = format!("is missing, and these flows go to {nodes}; expected one node");
            return refuse("recording.to", message);
        }
    };
    let (name, from) = (recording.name.clone(), from.to_owned());
    let replay = ReplayDocument { name, from, to, arrivals: Some(Vec::new()), file: None };
    let place = whole.flow.iter().position(is_recorded).unwrap_or_default();
    let mut flows = whole.flow.clone();
    flows.retain(|flow| !is_recorded(flow));
    flows.insert(place.min(flows.len()), FlowDocument::Replay(replay));
    Ok(flows)
}

/// The two-way propagation delay of the longest route of any flow across each link; zero for a link without flows.
fn longest_round_trips(scenario: &Scenario) -> Vec<Duration> {
    let mut longest = vec![Duration::ZERO; scenario.links.len()];
    let datagrams = scenario.tcp_flows.len()..scenario.tcp_flows.len() + scenario.datagram_flows.len();
    let delay = |way: &[LinkId]| way.iter().map(|&link| scenario.links[link.index()].delay).sum::<Duration>();
    for (number, flow) in scenario.flow_paths().enumerate() {
        let way = |from, to| scenario.routes.path(from, to, &scenario.edges).unwrap_or_default();
        let there = way(flow.from, flow.to);
        let back = if datagrams.contains(&number) { there.clone() } else { way(flow.to, flow.from) };
        let two_way = delay(&there) + delay(&back);
        for &link in there.iter().chain(&back) {
            longest[link.index()] = longest[link.index()].max(two_way);
        }
    }
    longest
}
