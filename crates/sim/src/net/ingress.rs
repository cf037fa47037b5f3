//! Components in front of a link's buffer, the air that it shares, and the noise that delays packets.

use super::air::Air;
use super::loss::Loss;
use super::noise::Noise;
use super::queue::red::Red;

/// Losses, early drops and sleep in front of the buffer, a shared air, and noise.
#[derive(Default)]
pub(super) struct Ingress {
    pub loss: Option<Loss>,
    pub red: Option<Red>,
    pub noise: Option<Noise>,
    /// The air that the link shares with others.
    pub air: Option<Air>,
    /// True if RED has marked the last packet.
    pub marked: bool,
    /// True if the link sleeps or is waking: it takes no packets.
    pub closed: bool,
}

impl Ingress {
    /// The ingress of an awake link; `None` if the link does not need it.
    pub fn open(self) -> Option<Box<Self>> {
        let needed = self.loss.is_some() || self.red.is_some() || self.noise.is_some() || self.air.is_some();
        needed.then(|| Box::new(Self { closed: false, ..self }))
    }
}
