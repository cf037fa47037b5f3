//! The load that requests offer to links, and a warning if it exceeds a link's capacity.

use super::{FlowPath, Scenario};

impl Scenario {
    /// For every link, the offered load of requests, data without headers, in bit/s.
    #[must_use]
    pub fn offered_bps(&self) -> Vec<f64> {
        let mut offered = vec![0.0; self.links.len()];
        for flow in &self.request_flows {
            let FlowPath { from, to, .. } = flow.path;
            // The scenario has checked that every flow has a route.
            for link in self.routes.path(from, to, &self.edges).unwrap_or_default() {
                offered[link.index()] += flow.offered.as_f64();
            }
        }
        offered
    }

    /// Warnings about unusual values. Each is a sentence that starts with the field.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let too_much = |(link, offered): (&super::LinkSpec, f64)| {
            let load = offered / link.rate.as_f64();
            let told = format!(
                "link.{}: requests offer {:.3} Mb/s of data to {}, a load of {load:.3}; expected less than 1, \
                 otherwise open connections grow without limit",
                link.name,
                offered / 1e6,
                link.rate
            );
            (load >= 1.0).then_some(told)
        };
        // A replay offers the load of the first run.
        let before = self.recording.iter().flat_map(|recording| recording.first.warnings());
        self.links.iter().zip(self.offered_bps()).filter_map(too_much).chain(before).collect()
    }
}
