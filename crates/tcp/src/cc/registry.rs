//! The set of congestion controls, from one line for each.

/// Declares [`Algorithm`](super::Algorithm), the names that users choose from, and
/// [`Controller`](super::Controller), the algorithm of one endpoint.
///
/// A line is `Name(Type) = FILE::INFO;`. A line without a type shares the type of another; `others` are types that no line
/// names. Lines are in the order of the names in scenarios. The attribute in front is for
/// the second enum: enum_dispatch works only if it comes from the same place as the names (macro hygiene).
macro_rules! congestion_controls {
    ([$($dispatch:tt)*] others { $($other:ident($other_window:ty);)* } $($name:ident $(($window:ty))? = $file:ident::$info:ident;)*) => {
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

        /// The algorithm of one endpoint: a closed set, so that the compiler sees through each call. One of the others is
        /// for foreign algorithms.
        $($dispatch)*
        #[derive(Clone, Debug)]
        pub(crate) enum Controller {
            $($($name($window),)?)*
            $($other($other_window),)*
        }

        impl Controller {
            /// Takes the state of `fresh`, in the memory of its own if that is of the same algorithm.
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

pub(super) use congestion_controls;
