//! The state of a device's instance.

use super::arguments::StatusArguments;
use super::qdisc;
use super::state::{Place, Saved, lock};
use crate::error::{LiveError, Result, exit, tell};
use crate::netlink::Socket;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;

/// Shows the state; the exit code is [`NO`](exit::NO) if no instance runs.
///
/// # Errors
/// If the state cannot be read or printed.
pub(super) fn status(arguments: &StatusArguments) -> Result<ExitCode> {
    let place = Place::new(&arguments.device.state, &arguments.device.dev)?;
    let device = &arguments.device.dev;
    let saved = place.load()?;
    let index = place.index(&mut Socket::open()?);
    let holder = index.map(|index| lock(index, device)?.holder()).transpose()?.flatten();
    let Some(saved) =
        saved.filter(|saved| holder.is_some_and(|holder| holder.is_alive() && holder.pid == Some(saved.pid)))
    else {
        let leftover = place.saved().exists();
        if arguments.json {
            let pid = holder.and_then(|holder| holder.pid);
            let elsewhere = holder.is_some();
            let shown = json!({
                "device": device, "running": false, "leftover": leftover, "driven_elsewhere": elsewhere, "pid": pid,
            });
            tell(shown)?;
        } else if let Some(holder) = holder {
            tell(format_args!("{device}: no instance with this --state; {holder} controls the device with another"))?;
        } else if leftover {
            tell(format_args!(
                "{device}: no instance, but an earlier one has left its queue; see `netlulld router restore`"
            ))?;
        } else {
            tell(format_args!("{device}: no instance"))?;
        }
        return Ok(ExitCode::from(exit::NO));
    };
    let inside = saved.metrics.and_then(ask);
    let shown = show(&saved, inside.as_ref())?;
    if arguments.json {
        tell(shown)?;
    } else if let Value::Object(fields) = shown {
        for (name, value) in fields {
            tell(format_args!("{name:<22} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Combines the kernel's counters with the instance's own report, if it serves metrics.
fn show(saved: &Saved, inside: Option<&Value>) -> Result<Value> {
    let reading = qdisc::read(&mut Socket::open()?, saved.device.index)
        .map_err(|error| LiveError::system(format!("the queue of {}", saved.device.name), error))?;
    let mut shown = json!({
        "device": saved.device.name,
        "running": true,
        "pid": saved.pid,
        "mechanism": saved.mechanism,
        "full_rate": saved.bucket.rate.to_string(),
        "buffer_bytes": saved.bucket.limit,
        "queue_bytes": reading.backlog,
        "queue_packets": reading.packets,
        "sent_bytes": reading.sent_bytes,
        "drops": reading.drops,
        "metrics": saved.metrics.map_or("none; more is known with --metrics".to_owned(), |at| format!("http://{at}/metrics")),
    });
    if let (Some(Value::Object(inside)), Value::Object(shown)) = (inside, &mut shown) {
        for (name, value) in inside {
            shown.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(shown)
}

/// Requests the instance's own report; `None` if it does not answer within a second.
fn ask(address: SocketAddr) -> Option<Value> {
    let patience = std::time::Duration::from_secs(1);
    let mut stream = TcpStream::connect_timeout(&address, patience).ok()?;
    stream.set_read_timeout(Some(patience)).ok()?;
    stream.write_all(b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}
