//! The algorithm of a configuration: one of this crate, or the factory of another crate.

use super::CongestionControl;
use crate::config::{Config, ConfigError};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Declares [`Algorithm`] from the lines of `congestion_controls!`.
macro_rules! algorithms {
    ([$($_:tt)*] others { $($other:tt)* } $($name:ident $(($window:ty))? = $file:ident::$info:ident;)*) => {
        /// The algorithm that sets the congestion window. Each has a usual loss recovery
        /// ([`Config::with_algorithm`]), and works with any other.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $(
                #[doc = concat!("The algorithm of `cc/", stringify!($file), "`.")]
                $name,
            )*
            /// An algorithm from another crate.
            Foreign(Foreign),
        }
    };
}

congestion_controls!(algorithms);

/// A custom congestion control: builds one for each endpoint. [`Config::with_congestion_control`] sets it.
pub trait CongestionControlFactory: fmt::Debug + Send + Sync {
    /// The name in results.
    fn name(&self) -> &str;

    /// Checks the parameters. [`Config::validate`] calls it, so [`build`](Self::build) needs no second check.
    ///
    /// # Errors
    /// If a parameter is invalid, or does not fit `config`.
    fn check(&self, _config: &Config) -> Result<(), ConfigError> {
        Ok(())
    }

    /// A congestion control with the options of `config`, before the handshake. `seed` is for random decisions.
    ///
    /// It cannot fail, unlike the `build` of other factories: endpoints also open in the middle of a run.
    fn build(&self, config: &Config, seed: u32) -> Box<dyn ForeignControl>;
}

/// A boxed congestion control that can be cloned and sent to another thread.
pub trait ForeignControl: CongestionControl + fmt::Debug + Send + Sync {
    /// Clones the congestion control into a new box.
    fn clone_box(&self) -> Box<dyn ForeignControl>;
}

impl<T: CongestionControl + Clone + fmt::Debug + Send + Sync + 'static> ForeignControl for T {
    fn clone_box(&self) -> Box<dyn ForeignControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn ForeignControl> {
    fn clone(&self) -> Self {
        // Clones the algorithm in the box: the box itself is a `ForeignControl` too.
        (**self).clone_box()
    }
}

/// A factory, shared by the configurations that carry it and equal to itself alone.
#[derive(Clone, Debug)]
pub struct Foreign(pub Arc<dyn CongestionControlFactory>);

impl Deref for Foreign {
    type Target = dyn CongestionControlFactory;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Foreign {}
