//! Macros that turn the lines of `congestion_controls!` into the catalogue and the congestion controls of endpoints.

/// Declares the catalogue of [`Algorithm`](super::Algorithm) and [`Controller`](super::Controller), the algorithm of one
/// endpoint.
macro_rules! controllers {
    ([$($dispatch:tt)*] others { $($other:ident($other_window:ty);)* } $($name:ident $(($window:ty))? = $file:ident::$info:ident;)*) => {
        impl Algorithm {
            /// All congestion controls of this crate, in alphabetical order.
            #[must_use]
            pub fn catalogue() -> &'static [&'static AlgorithmInfo] {
                static CATALOGUE: &[&AlgorithmInfo] = &[$(&$file::$info),*];
                CATALOGUE
            }

            /// The entry of the catalogue; `None` for a foreign algorithm.
            #[must_use]
            pub fn info(&self) -> Option<&'static AlgorithmInfo> {
                match self {
                    $(Self::$name => Some(&$file::$info),)*
                    Self::Foreign(_) => None,
                }
            }
        }

        /// The algorithm of one endpoint. The set is closed, so the compiler can inline each call. One variant is for
        /// foreign algorithms.
        $($dispatch)*
        #[derive(Clone, Debug)]
        pub(crate) enum Controller {
            $($($name($window),)?)*
            $($other($other_window),)*
        }

        impl Controller {
            /// Takes the state of `fresh`, and reuses its own memory if both have the same algorithm.
            pub fn renew(&mut self, fresh: &Self) {
                match (self, fresh) {
                    $($((Self::$name(own), Self::$name(fresh)) => <$window>::clone_from(own, fresh),)?)*
                    $((Self::$other(own), Self::$other(fresh)) => <$other_window>::clone_from(own, fresh),)*
                    (own, fresh) => *own = fresh.clone(),
                }
            }
        }
    };
}

pub(super) use controllers;
