//! The algorithm of a configuration: one of this crate, or the factory of another crate.

use super::CongestionControl;
use crate::config::{Config, ConfigError};
use netlull_document::{ClassTable, Loaders, ModuleTable, schema_of_open_kind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;
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
            PlugIn(PlugIn),
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
    fn build(&self, config: &Config, seed: u32) -> Box<dyn PlugInControl>;
}

/// A boxed congestion control that can be cloned and sent to another thread.
pub trait PlugInControl: CongestionControl + fmt::Debug + Send + Sync {
    /// Clones the congestion control into a new box.
    fn clone_box(&self) -> Box<dyn PlugInControl>;
}

impl<T: CongestionControl + Clone + fmt::Debug + Send + Sync + 'static> PlugInControl for T {
    fn clone_box(&self) -> Box<dyn PlugInControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn PlugInControl> {
    fn clone(&self) -> Self {
        // Clones the algorithm in the box: the box itself is a `PlugInControl` too.
        (**self).clone_box()
    }
}

/// A factory, shared by the configurations that carry it and equal to itself alone.
#[derive(Clone, Debug)]
pub struct PlugIn(pub Arc<dyn CongestionControlFactory>);

impl Deref for PlugIn {
    type Target = dyn CongestionControlFactory;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for PlugIn {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for PlugIn {}

/// The kinds of congestion controls that other crates read from documents.
pub static PLUG_INS: Loaders<Arc<dyn CongestionControlFactory>> = Loaders::new();

/// A congestion control in a document: a name, or a table whose `kind` is one of [`PLUG_INS`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Choice {
    /// The name of an algorithm of this crate.
    Name(String),
    /// The table of an algorithm of another crate.
    Table(Value),
}

impl Choice {
    /// The algorithm.
    ///
    /// # Errors
    /// If there is no algorithm of that name, or the table is refused.
    pub fn algorithm(&self) -> Result<Algorithm, ConfigError> {
        match self {
            Self::Name(name) => Algorithm::by_name(name).ok_or_else(|| {
                let known: Vec<_> = Algorithm::catalogue().iter().map(|info| info.name).collect();
                ConfigError::unknown("congestion_control", name, &known)
            }),
            Self::Table(table) => {
                let mut fields = table.clone();
                let kind = fields.as_object_mut().and_then(|fields| fields.shift_remove("kind")).unwrap_or_default();
                let factory = PLUG_INS.load(kind.as_str().unwrap_or_default(), &fields);
                let factory = factory.map_err(|error| error.within("congestion_control"))?;
                Ok(Algorithm::PlugIn(PlugIn(factory)))
            }
        }
    }
}

impl From<&str> for Choice {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(Self::Name(name)),
            table @ Value::Object(_) => Ok(Self::Table(table)),
            other => Err(D::Error::custom(format!("is {other}; expected a name, or a table with a field `kind`"))),
        }
    }
}

impl JsonSchema for Choice {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("CongestionControl")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let wasm = schema_of_open_kind("wasm", ModuleTable::json_schema(generator), &[]);
        let python = schema_of_open_kind("python", ClassTable::json_schema(generator), &[]);
        json_schema!({ "anyOf": [{ "type": "string" }, wasm, python] })
    }

    fn inline_schema() -> bool {
        true
    }
}
