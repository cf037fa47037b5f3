//! The access point of a station that dozes, as the proxy of client-centered-2004 section IV-C: it holds packets, and releases them when polled.

use crate::error::{LiveError, Result};
use crate::tape::{OnTape, Taped};
use netlull_mechanism::Machine;
use netlull_mechanism::radio::{AccessAction, AccessEvent, AccessPoint, AccessPointConfig};
use netlull_mechanism::station::PowerMode;
use netlull_units::Instant;
use std::collections::VecDeque;
use std::path::Path;

/// What comes of an event at a [`Proxy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyOutput<T> {
    /// A beacon goes out now.
    Beacon {
        /// Its traffic indication for the station: packets are held.
        buffered: bool,
    },
    /// There was no room for this packet, and it is dropped.
    Refused(T),
}

/// An access point with the packets that it holds. Its driver sends, whenever the air to the station is free, what
/// [`next_packet`](Self::next_packet) gives.
#[derive(Debug)]
pub struct Proxy<T> {
    machine: OnTape<AccessPoint>,
    held: VecDeque<T>,
    /// What is to be sent, with the More Data bit of each.
    leaving: VecDeque<(T, bool)>,
    outputs: VecDeque<ProxyOutput<T>>,
    held_packets: u64,
    refused_packets: u64,
}

impl<T> Proxy<T> {
    /// An access point that holds nothing; recorded in `tape`, if there is one.
    ///
    /// # Errors
    /// If a value of `config` is out of range, or the file cannot be written.
    pub fn new(config: &AccessPointConfig, start: Instant, tape: Option<&Path>) -> Result<Self> {
        let machine = match tape {
            Some(file) => OnTape::recorded(config, start, AccessPoint::kind(config), file)?,
            None => {
                OnTape::blank(config, start).map_err(|error| LiveError::system(AccessPoint::kind(config), error))?
            }
        };
        let (held, leaving, outputs) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Ok(Self { machine, held, leaving, outputs, held_packets: 0, refused_packets: 0 })
    }

    /// A packet for the station has come.
    pub fn arrives(&mut self, now: Instant, packet: T) {
        let mut packet = Some(packet);
        self.machine.handle(now, AccessEvent::Arrival);
        while let Some(action) = self.machine.poll_action() {
            match (action, packet.take()) {
                (AccessAction::Hold, Some(packet)) => {
                    self.held_packets += 1;
                    self.held.push_back(packet);
                }
                (AccessAction::Refuse, Some(packet)) => {
                    self.refused_packets += 1;
                    self.outputs.push_back(ProxyOutput::Refused(packet));
                }
                (_, Some(packet)) => self.leaving.push_back((packet, false)),
                (_, None) => {}
            }
        }
    }

    /// The station has told whether it hears from now on.
    pub fn announced(&mut self, now: Instant, mode: PowerMode) {
        self.tell(now, AccessEvent::Announced(mode));
    }

    /// The station's poll has taken effect.
    pub fn polled(&mut self, now: Instant) {
        self.tell(now, AccessEvent::Polled);
    }

    /// The instant of [`next_timeout`](Self::next_timeout) has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.tell(now, AccessEvent::Timeout);
    }

    /// When the next beacon goes out.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.machine.next_timeout()
    }

    /// What is to be done besides sending packets.
    pub fn poll_output(&mut self) -> Option<ProxyOutput<T>> {
        self.outputs.pop_front()
    }

    /// The next packet to send and its More Data bit: to be taken when the air is free.
    pub fn next_packet(&mut self) -> Option<(T, bool)> {
        self.leaving.pop_front()
    }

    /// Whether there is a packet to send.
    #[must_use]
    pub fn has_packet(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// How many packets are held, and not to be sent yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// How many packets were held, and how many refused, since the start.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.held_packets, self.refused_packets)
    }

    /// Writes what its recording still holds.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(&mut self) -> Result<()> {
        self.machine.finish()
    }

    fn tell(&mut self, now: Instant, event: AccessEvent) {
        self.machine.handle(now, event);
        while let Some(action) = self.machine.poll_action() {
            match action {
                AccessAction::Release { packets, more } => {
                    for left in (0..packets).rev() {
                        let Some(packet) = self.held.pop_front() else { break };
                        self.leaving.push_back((packet, left > 0 || more));
                    }
                }
                AccessAction::Beacon { buffered } => self.outputs.push_back(ProxyOutput::Beacon { buffered }),
                // Answers to a packet that has come.
                AccessAction::Forward | AccessAction::Hold | AccessAction::Refuse => {}
            }
        }
    }
}
