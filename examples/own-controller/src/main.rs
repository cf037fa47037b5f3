//! Prints the goodput of the flow and the mean rate of the link for a small and a large window.
#![allow(clippy::print_stdout)]

use netlull_example_own_controller::with_own;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for segments in [10, 60] {
        let summary = with_own(segments)?.summary;
        let (flow, link) = (&summary.flows[0], summary.links.get(0).ok_or("there is no link")?);
        println!(
            "a window of {segments} segments: goodput {:.2} Mb/s, mean rate of the link {:.2} Mb/s, {} changes",
            flow.goodput_bps / 1e6,
            link.mean_rate_bps / 1e6,
            link.rate_changes
        );
    }
    Ok(())
}
