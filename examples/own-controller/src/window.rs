//! A congestion control whose window never changes.

use netlull_tcp::cc::{
    Ack, CongestionControl, CongestionControlFactory, Idle, Loss, PlugInControl, Recovered, Start, TimeoutKind,
};
use netlull_tcp::{Config, ConfigError};

/// A window of a fixed number of segments.
#[derive(Clone, Debug)]
pub struct FixedWindow {
    segments: u64,
    smss: u64,
}

impl CongestionControl for FixedWindow {
    fn cwnd(&self) -> u64 {
        self.segments * self.smss
    }

    fn ssthresh(&self) -> u64 {
        self.cwnd()
    }

    fn on_established(&mut self, start: &Start) {
        self.smss = u64::from(start.smss);
    }

    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, _loss: &Loss) {}

    fn on_timeout(&mut self, _loss: &Loss, _kind: TimeoutKind) {}

    fn on_recovered(&mut self, _recovered: &Recovered) {}

    fn on_idle_restart(&mut self, _idle: &Idle) {}
}

/// The parameter. A factory makes one window for each connection.
#[derive(Debug)]
pub struct FixedWindowFactory {
    /// The window in segments.
    pub segments: u64,
}

impl CongestionControlFactory for FixedWindowFactory {
    fn name(&self) -> &'static str {
        "fixed_window"
    }

    fn check(&self, _config: &Config) -> Result<(), ConfigError> {
        if self.segments == 0 {
            return Err(ConfigError::new("segments", 0, "at least 1 segment"));
        }
        Ok(())
    }

    fn build(&self, config: &Config, _seed: u32) -> Box<dyn PlugInControl> {
        Box::new(FixedWindow { segments: self.segments, smss: u64::from(config.mss) })
    }
}
