//! Records: values as words of 64 bits, in the memory that host and guest share.
//!
//! | type | words |
//! |---|---|
//! | whole number, time, rate, amount | 1 |
//! | `bool` | 1: 0 or 1 |
//! | `f64` | 1: its bits |
//! | `Option` | 1, which is 0 or 1, then those of the value |
//! | struct | those of its fields in order |
//! | enum | 1 with the tag, then those of the longest variant |
//!
//! The macros [`record_struct!`] and [`record_enum!`] name every field of a type once. The compiler rejects a list that
//! misses a field or a variant.

use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::fmt;

/// A destination of words.
pub trait Sink {
    /// Writes the next word.
    fn put(&mut self, word: u64);

    /// Leaves out words.
    fn skip(&mut self, words: usize);
}

/// A source of words.
pub trait Source {
    /// Reads the next word.
    fn take(&mut self) -> u64;

    /// Passes over words.
    fn skip(&mut self, words: usize);
}

/// A word with a value that its type does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadWord {
    /// The type.
    pub of: &'static str,
    /// The word.
    pub word: u64,
}

impl fmt::Display for BadWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is no value of {}", self.word, self.of)
    }
}

/// The layout of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A single word, with its unit or values.
    Word(&'static str),
    /// A word that is 0 or 1, and a value that counts if it is 1.
    Option(Box<Shape>),
    /// Named fields.
    Struct(Vec<(&'static str, Shape)>),
    /// An enum with its name.
    Enum(&'static str, Vec<Variant>),
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The word that tells it from the others.
    pub tag: u64,
    /// The name.
    pub name: &'static str,
    /// The fields.
    pub fields: Vec<(&'static str, Shape)>,
}

impl Shape {
    /// The number of words.
    #[must_use]
    pub fn words(&self) -> usize {
        let sum = |fields: &[(&str, Self)]| fields.iter().map(|(_, shape)| shape.words()).sum();
        match self {
            Self::Word(_) => 1,
            Self::Option(value) => 1 + value.words(),
            Self::Struct(fields) => sum(fields),
            Self::Enum(_, variants) => 1 + variants.iter().map(|variant| sum(&variant.fields)).max().unwrap_or(0),
        }
    }
}

/// A value as words.
pub trait Record: Sized {
    /// The number of words.
    const WORDS: usize;

    /// Writes the words.
    fn write(&self, to: &mut impl Sink);

    /// Reads the words.
    ///
    /// # Errors
    /// If a word has no meaning.
    fn read(from: &mut impl Source) -> Result<Self, BadWord>;

    /// The layout.
    fn shape() -> Shape;
}

/// The largest of some numbers of words.
#[doc(hidden)]
#[must_use]
pub const fn longest(words: &[usize]) -> usize {
    let (mut longest, mut index) = (0, 0);
    while index < words.len() {
        if words[index] > longest {
            longest = words[index];
        }
        index += 1;
    }
    longest
}

macro_rules! word {
    ($($type:ty, $unit:literal: |$value:ident| $to:expr, |$word:ident| $from:expr;)+) => {
        $(impl Record for $type {
            const WORDS: usize = 1;

            #[inline]
            fn write(&self, to: &mut impl Sink) {
                let $value = *self;
                to.put($to);
            }

            #[inline]
            fn read(from: &mut impl Source) -> Result<Self, BadWord> {
                let $word = from.take();
                let value: Option<Self> = $from;
                value.ok_or(BadWord { of: $unit, word: $word })
            }

            fn shape() -> Shape {
                Shape::Word($unit)
            }
        })+
    };
}

word! {
    u64, "number": |value| value, |word| Some(word);
    u32, "number": |value| u64::from(value), |word| u32::try_from(word).ok();
    bool, "0 or 1": |value| u64::from(value), |word| (word < 2).then_some(word == 1);
    f64, "bits of a 64-bit float": |value| value.to_bits(), |word| Some(f64::from_bits(word));
    Bytes, "bytes": |value| value.as_u64(), |word| Some(Bytes::new(word));
    BitRate, "bit/s": |value| value.as_bps(), |word| Some(BitRate::from_bps(word));
    Instant, "ns since the start": |value| value.as_nanos(), |word| Some(Instant::from_nanos(word));
    Duration, "ns": |value| value.as_nanos(), |word| Some(Duration::from_nanos(word));
}

impl<T: Record> Record for Option<T> {
    const WORDS: usize = 1 + T::WORDS;

    #[inline]
    fn write(&self, to: &mut impl Sink) {
        to.put(u64::from(self.is_some()));
        match self {
            Some(value) => value.write(to),
            None => to.skip(T::WORDS),
        }
    }

    #[inline]
    fn read(from: &mut impl Source) -> Result<Self, BadWord> {
        if bool::read(from)? {
            return T::read(from).map(Some);
        }
        from.skip(T::WORDS);
        Ok(None)
    }

    fn shape() -> Shape {
        Shape::Option(Box::new(T::shape()))
    }
}

/// Implements [`Record`] for a struct from its fields.
#[macro_export]
macro_rules! record_struct {
    ($($($type:ident)::+ { $($field:ident: $of:ty),+ $(,)? })+) => {
        $(impl $crate::record::Record for $($type)::+ {
            const WORDS: usize = 0 $(+ <$of as $crate::record::Record>::WORDS)+;

            #[inline]
            fn write(&self, to: &mut impl $crate::record::Sink) {
                let Self { $($field),+ } = self;
                $(<$of as $crate::record::Record>::write($field, to);)+
            }

            #[inline]
            fn read(from: &mut impl $crate::record::Source) -> Result<Self, $crate::record::BadWord> {
                Ok(Self { $($field: <$of as $crate::record::Record>::read(from)?),+ })
            }

            fn shape() -> $crate::record::Shape {
                $crate::record::Shape::Struct(vec![
                    $((stringify!($field), <$of as $crate::record::Record>::shape())),+
                ])
            }
        })+
    };
}

/// Implements [`Record`] for an enum from its variants, each with its tag.
#[macro_export]
macro_rules! record_enum {
    ($($type:ident {
        $($tag:literal = $variant:ident $({ $($field:ident: $of:ty),+ })? $(( $($item:ident: $part:ty),+ ))?),+ $(,)?
    })+) => {
        $(impl $crate::record::Record for $type {
            const WORDS: usize = 1 + $crate::record::longest(&[$(
                0 $($(+ <$of as $crate::record::Record>::WORDS)+)? $($(+ <$part as $crate::record::Record>::WORDS)+)?
            ),+]);

            #[inline]
            fn write(&self, to: &mut impl $crate::record::Sink) {
                match self {
                    $(Self::$variant $({ $($field),+ })? $(( $($item),+ ))? => {
                        to.put($tag);
                        const USED: usize = 1 $($(+ <$of as $crate::record::Record>::WORDS)+)?
                            $($(+ <$part as $crate::record::Record>::WORDS)+)?;
                        $($(<$of as $crate::record::Record>::write($field, to);)+)?
                        $($(<$part as $crate::record::Record>::write($item, to);)+)?
                        to.skip(Self::WORDS - USED);
                    })+
                }
            }

            #[inline]
            fn read(from: &mut impl $crate::record::Source) -> Result<Self, $crate::record::BadWord> {
                match from.take() {
                    $($tag => {
                        const USED: usize = 1 $($(+ <$of as $crate::record::Record>::WORDS)+)?
                            $($(+ <$part as $crate::record::Record>::WORDS)+)?;
                        let value = Self::$variant
                            $({ $($field: <$of as $crate::record::Record>::read(from)?),+ })?
                            $(( $(<$part as $crate::record::Record>::read(from)?),+ ))?;
                        from.skip(Self::WORDS - USED);
                        Ok(value)
                    })+
                    word => Err($crate::record::BadWord { of: stringify!($type), word }),
                }
            }

            fn shape() -> $crate::record::Shape {
                $crate::record::Shape::Enum(stringify!($type), vec![$($crate::record::Variant {
                    tag: $tag,
                    name: stringify!($variant),
                    fields: vec![
                        $($((stringify!($field), <$of as $crate::record::Record>::shape())),+)?
                        $($((stringify!($item), <$part as $crate::record::Record>::shape())),+)?
                    ],
                }),+])
            }
        })+
    };
}
