//! Configurations described by their struct alone.
//!
//! A configuration struct derives serde's traits and schemars' `JsonSchema`. Three things follow from this
//! description: the reader of documents ([`read()`]), the JSON Schema, and the list of parameters for users
//! ([`describe()`]).
//!
//! Each field has a name, a type, a default and a doc comment. The schema's key `x-source` adds the source of the
//! default. `x-unit` and `x-default` replace the unit and default derived from the type, if users need another word.
//!
//! A number's range is in the schema's own keys, and that of a quantity in `x-minimum`, `x-exclusiveMinimum` and
//! `x-maximum`. [`check_ranges()`] checks a configuration against them.

mod error;
mod files;
mod kind;
mod loaders;
mod message;
mod parameter;
mod range;
mod read;
mod renames;

pub use error::ConfigError;
pub use files::read_regular;
pub use kind::{Kind, kind_of_table, schema_of_kind, schema_of_open_kind};
pub use loaders::{ClassTable, Load, Loaders, ModuleTable};
pub use message::near;
pub use parameter::{Description, Parameter, describe, kinds};
pub use range::check_ranges;
#[doc(hidden)]
pub use read::names_of_part;
pub use read::{Fields, ReadError, Tagged, field_names, read, refused, tagged, unknown_kind, within};
pub use renames::{RENAMES, Rename, hint_of_old};
#[doc(hidden)]
pub use schemars as __schemars;
#[doc(hidden)]
pub use serde as __serde;
#[doc(hidden)]
pub use serde_json as __serde_json;
