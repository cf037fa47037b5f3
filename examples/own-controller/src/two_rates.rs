//! A controller with two rates: half of the link's rate while the queue is short, and the full rate above.

use netlull_mechanism::link::{self, LinkAction, LinkEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// The controller of one link.
#[derive(Debug)]
pub struct TwoRates {
    full: BitRate,
    half: BitRate,
    /// The backlog at which the link switches to its full rate.
    threshold: Bytes,
    rate: BitRate,
    changes: u64,
    action: Option<LinkAction>,
}

impl Machine for TwoRates {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, _now: Instant, event: LinkEvent) {
        let Some(queue) = event.queue() else { return };
        let rate = if queue.waiting >= self.threshold { self.full } else { self.half };
        if rate != self.rate {
            self.rate = rate;
            self.changes += 1;
            self.action = Some(LinkAction::SetRate { rate, pause: Duration::ZERO });
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        self.action.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl link::Controller for TwoRates {
    fn rate(&self) -> BitRate {
        self.rate
    }

    fn changes(&self) -> u64 {
        self.changes
    }
}

/// The parameters. A factory makes one controller for each link.
#[derive(Debug)]
pub struct TwoRatesFactory {
    /// The backlog at which the link switches to its full rate, in packets of one MTU.
    pub queue_packets: u64,
}

impl link::Factory for TwoRatesFactory {
    fn name(&self) -> &'static str {
        "two_rates"
    }

    fn build(&self, link: link::Context, _start: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        if self.queue_packets == 0 {
            return Err(ConfigError::new("queue_packets", 0, "at least 1 packet"));
        }
        let half = BitRate::from_bps(link.rate.as_bps() / 2);
        let threshold = Bytes::new(self.queue_packets * link.mtu.as_u64());
        Ok(Box::new(TwoRates { full: link.rate, half, threshold, rate: link.rate, changes: 0, action: None }))
    }
}
