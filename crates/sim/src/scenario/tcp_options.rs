//! Conversion of TCP options of the document to TCP's configuration.

use super::document::TcpDocument;
use super::error::ScenarioError;
use netlull_tcp::Config;
use netlull_units::Bytes;

/// IPv4 and TCP headers without options. The announced segment size does not count options (RFC 6691).
const HEADERS: u64 = 40;

/// The configuration of a flow. Its own options come first, then the scenario's, then the preset's.
pub(super) fn config(
    scenario: &TcpDocument,
    flow: &TcpDocument,
    field: &str,
    mtu: Bytes,
) -> Result<Config, ScenarioError> {
    let options = flow.over(scenario);
    // An error names the table with the option: the flow's, if it is set there, otherwise the scenario's.
    let refused = |option: &str, message: &str| {
        let own = serde_json::to_value(flow).is_ok_and(|table| table.get(option).is_some());
        let table = if own { format!("{field}.tcp") } else { "tcp".to_owned() };
        ScenarioError::new(format!("{table}.{option}"), message)
    };
    let mss = mss(&options, mtu).map_err(|message| refused("mss", &message))?;
    options.config(mss).map_err(|error| {
        if error.field() == "mss" && options.mss.is_none() {
            let why = format!("is {} B, which leaves TCP segments of {mss} B; expected more", mtu.as_u64());
            return ScenarioError::new("mtu", format!("{why} ({})", error.message()));
        }
        refused(error.field(), error.message())
    })
}

/// The given segment size, or the size from the MTU. An error if it exceeds the MTU.
fn mss(options: &TcpDocument, mtu: Bytes) -> Result<u16, String> {
    let most = mtu.as_u64() - HEADERS;
    let mss = options.mss.map_or(most, |size| size.as_u64());
    match u16::try_from(mss) {
        Ok(mss) if mss > 0 && u64::from(mss) <= most => Ok(mss),
        _ => Err(format!("is {mss} B; expected 1 to {most} B, the MTU less {HEADERS} B of headers")),
    }
}
