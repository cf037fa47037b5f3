//! The algorithm that a configuration carries: the name of one of this crate, or the factory of another crate's.

use super::CongestionControl;
use crate::config::Config;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Declares [`Algorithm`] from the lines of `congestion_controls!`.
macro_rules! algorithms {
    ([$($_:tt)*] others { $($other:tt)* } $($name:ident $(($window:ty))? = $file:ident::$info:ident;)*) => {
        /// The algorithm that sets the congestion window. Each is known with a loss recovery
        /// ([`Config::with_algorithm`]), and works with any other.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $(
                #[doc = concat!("The algorithm of `cc/", stringify!($file), "`.")]
                $name,
            )*
            /// An algorithm from outside of this crate.
            Foreign(Foreign),
        }
    };
}

congestion_controls!(algorithms);

/// Makes the congestion control of each endpoint; a [`Config`] carries it
/// ([`Config::with_congestion_control`]).
pub trait ControllerFactory: fmt::Debug + Send + Sync {
    /// The name that results show.
    fn name(&self) -> &'static str;

    /// A congestion control with the options of `config`, before the handshake. `seed` is for random decisions.
    fn build(&self, config: &Config, seed: u32) -> Box<dyn ForeignControl>;
}

/// A congestion control in a box: any that can be cloned and sent to another thread.
pub trait ForeignControl: CongestionControl + fmt::Debug + Send + Sync {
    /// A copy in a box of its own.
    fn clone_box(&self) -> Box<dyn ForeignControl>;
}

impl<T: CongestionControl + Clone + fmt::Debug + Send + Sync + 'static> ForeignControl for T {
    fn clone_box(&self) -> Box<dyn ForeignControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn ForeignControl> {
    fn clone(&self) -> Self {
        // Of the algorithm in the box: the box itself is a `ForeignControl` too.
        (**self).clone_box()
    }
}

/// A factory, shared by the configurations that carry it and equal to itself alone.
#[derive(Clone, Debug)]
pub struct Foreign(pub Arc<dyn ControllerFactory>);

impl Deref for Foreign {
    type Target = dyn ControllerFactory;

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
