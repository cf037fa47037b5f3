//! Configurations that are described once, on their struct.
//!
//! A configuration struct derives serde's traits and schemars' `JsonSchema`. From that one description follow the
//! reader of documents ([`read()`]), the JSON Schema, and the list of parameters that people see ([`parameters`]).
//!
//! Beyond name, type, default and doc comment a field says where its default comes from, in the schema's key
//! `x-source`. `x-unit` and `x-default` replace the unit and the default that the type tells, where people need another word.

mod error;
mod kind;
mod parameter;
mod read;

pub use error::ConfigError;
pub use kind::schema_of_kind;
pub use parameter::{Description, Parameter, describe, kinds, parameters};
pub use read::{Fields, ReadError, Tagged, field_names, read, refused, tagged, unknown_kind, within};
#[doc(hidden)]
pub use serde as __serde;
#[doc(hidden)]
pub use serde_json as __serde_json;
