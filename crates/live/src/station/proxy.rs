//! The access point of a dozing station, as the proxy of client-centered-2004 section IV-C: it holds packets and
//! releases them when polled.

use crate::error::{LiveError, Result};
use crate::tape::{OnTape, Taped};
use netlull_mechanism::Machine;
use netlull_mechanism::radio::{AccessAction, AccessEvent, AccessPoint, AccessPointConfig, answer};
use netlull_mechanism::station::PowerMode;
use netlull_units::Instant;
use std::collections::VecDeque;
use std::path::Path;

/// An output of a [`Proxy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyOutput<T> {
    /// A beacon to send now.
    Beacon {
        /// Its traffic indication for the station: packets are held.
        buffered: bool,
    },
    /// A packet dropped because the buffer is full.
    Refused(T),
}

/// An access point with its held packets. When the air is free, its driver sends [`next_packet`](Self::next_packet).
#[derive(Debug)]
pub struct Proxy<T> {
    machine: OnTape<AccessPoint>,
    held: VecDeque<T>,
    /// The packets to send, with the More Data bit of each.
    leaving: VecDeque<(T, bool)>,
    outputs: VecDeque<ProxyOutput<T>>,
    held_packets: u64,
    refused_packets: u64,
}

impl<T> Proxy<T> {
    /// Creates an empty access point. With a `tape`, its events are recorded.
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

    /// Accepts a packet for the station.
    pub fn arrives(&mut self, now: Instant, packet: T) {
        match answer(&mut self.machine, now, AccessEvent::Arrival) {
            Some(AccessAction::Hold) => {
                self.held_packets += 1;
                self.held.push_back(packet);
            }
            Some(AccessAction::Refuse) => {
                self.refused_packets += 1;
                self.outputs.push_back(ProxyOutput::Refused(packet));
            }
            _ => self.leaving.push_back((packet, false)),
        }
    }

    /// Processes the station's announcement of its power mode.
    pub fn announced(&mut self, now: Instant, mode: PowerMode) {
        self.tell(now, AccessEvent::Announced(mode));
    }

    /// Processes the station's poll.
    pub fn polled(&mut self, now: Instant) {
        self.tell(now, AccessEvent::Polled);
    }

    /// Processes the timer of [`next_timeout`](Self::next_timeout).
    pub fn handle_timeout(&mut self, now: Instant) {
        self.tell(now, AccessEvent::Timeout);
    }

    /// The instant of the next beacon.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.machine.next_timeout()
    }

    /// Takes the next output other than a packet to send.
    pub fn poll_output(&mut self) -> Option<ProxyOutput<T>> {
        self.outputs.pop_front()
    }

    /// Takes the next packet to send and its More Data bit; to be called when the air is free.
    pub fn next_packet(&mut self) -> Option<(T, bool)> {
        self.leaving.pop_front()
    }

    /// Returns true if there is a packet to send.
    #[must_use]
    pub fn has_packet(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// The number of packets held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The numbers of packets held and refused since the start.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.held_packets, self.refused_packets)
    }

    /// Writes the rest of the recording.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(&mut self) -> Result<()> {
        self.machine.finish()
    }

    fn tell(&mut self, now: Instant, event: AccessEvent) {
        match answer(&mut self.machine, now, event) {
            Some(AccessAction::Release { packets, more }) => {
                for left in (0..packets).rev() {
                    let Some(packet) = self.held.pop_front() else { break };
                    self.leaving.push_back((packet, left > 0 || more));
                }
            }
            Some(AccessAction::Beacon { buffered }) => self.outputs.push_back(ProxyOutput::Beacon { buffered }),
            // Responses to the arrival of a packet.
            Some(AccessAction::Forward | AccessAction::Hold | AccessAction::Refuse) | None => {}
        }
    }
}
