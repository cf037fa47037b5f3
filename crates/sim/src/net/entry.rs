//! What stands before the buffer of some links, and what makes their packets late.

use super::loss::Loss;
use super::noise::Noise;
use super::queue::red::Red;

/// What some links do with packets beside sending them: most of it stands before the buffer.
#[derive(Default)]
pub(super) struct Entry {
    pub loss: Option<Loss>,
    pub red: Option<Red>,
    pub noise: Option<Noise>,
    /// Nothing passes: the link sleeps, or is waking.
    pub closed: bool,
}

impl Entry {
    /// Nothing, where a link that is awake needs none.
    pub fn open(self) -> Option<Box<Self>> {
        let needed = self.loss.is_some() || self.red.is_some() || self.noise.is_some();
        needed.then(|| Box::new(Self { closed: false, ..self }))
    }
}
