//! The parts of some links that packets meet before the buffer, and the noise that makes them late.

use super::loss::Loss;
use super::noise::Noise;
use super::queue::red::Red;

/// Losses, early drops and sleep, which stand before the buffer, and noise.
#[derive(Default)]
pub(super) struct Ingress {
    pub loss: Option<Loss>,
    pub red: Option<Red>,
    pub noise: Option<Noise>,
    /// Nothing passes: the link sleeps, or is waking.
    pub closed: bool,
}

impl Ingress {
    /// Nothing, where a link that is awake needs none.
    pub fn open(self) -> Option<Box<Self>> {
        let needed = self.loss.is_some() || self.red.is_some() || self.noise.is_some();
        needed.then(|| Box::new(Self { closed: false, ..self }))
    }
}
