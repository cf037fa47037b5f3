//! Errors of configurations.

use std::borrow::Cow;
use std::fmt;

/// A field of a [`Config`](super::Config) that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    field: Cow<'static, str>,
    message: String,
}

impl ConfigError {
    /// The name that [`TcpOptions`](crate::TcpOptions) has for the field, or that of the field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The value and the expectation.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error of a field with a value that does not meet the expectation.
    #[must_use]
    pub fn new(field: &'static str, value: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self { field: Cow::Borrowed(field), message: format!("is {value}; expected {expected}") }
    }

    /// The error of an unknown name.
    pub(crate) fn unknown(field: &'static str, name: &str, known: &[&str]) -> Self {
        let hint = netlull_document::hint_of_old(name, known).map(|hint| format!("{hint}; ")).unwrap_or_default();
        let message = format!("\"{name}\" is unknown; {hint}expected one of {}", known.join(", "));
        Self { field: Cow::Borrowed(field), message }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.message)
    }
}

impl std::error::Error for ConfigError {}

impl From<netlull_document::ConfigError> for ConfigError {
    fn from(error: netlull_document::ConfigError) -> Self {
        Self { message: error.reason(), field: Cow::Owned(error.field) }
    }
}

/// Refuses `value` unless it `holds`.
pub(super) fn expect(
    holds: bool,
    field: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::new(field, value, expected)) }
}

#[cfg(test)]
mod tests {
    use crate::config::{Algorithm, Config, DelayedAck, Increase, InitialWindow, RttClock, ShrunkWindow};
    use netlull_units::{Bytes, Duration};

    #[test]
    fn the_presets_are_valid() {
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(Config::ns2().validate(), Ok(()));
        assert_eq!(Config::ns2().with_ns2_window(500).validate(), Ok(()));
        assert_eq!(Config::freebsd_4_5().validate(), Ok(()));
        assert_eq!(Config::linux_6().validate(), Ok(()));
    }

    #[test]
    fn an_error_names_the_field_its_value_and_what_was_expected() {
        let why = |change: &dyn Fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        assert_eq!(why(&|c| c.mss = 20), "mss is 20; expected at least 48 bytes");
        assert!(
            why(&|c| c.flow_control.receive_buffer = Bytes::new(100)).starts_with("receive_buffer is 100 B; expected")
        );
        assert!(
            why(&|c| c.flow_control.send_buffer = Some(Bytes::new(100))).starts_with("send_buffer is 100 B; expected")
        );
        let pull_back = |c: &mut Config| {
            *c = Config::default()
                .with(|c| c.flow_control.shrunk_window = ShrunkWindow::PullBack)
                .with_algorithm(Algorithm::Sack);
        };
        assert_eq!(
            why(&pull_back),
            "shrunk_window is pull_back; expected keep, or loss_recovery tahoe, reno or new_reno"
        );
        assert!(
            why(&|c| c.timer.max_rto = Duration::from_secs(5)).starts_with("max_rto is 5 s; expected at least 60 s")
        );
        assert!(why(&|c| c.timer.min_rto = Duration::ZERO).starts_with("min_rto is 0 s"));
        assert!(why(&|c| c.timer.initial_rto = Duration::from_secs(61)).starts_with("initial_rto is 61 s"));
        assert!(
            why(&|c| c.timer.rtt_clock = RttClock::Ticks { tick: Duration::ZERO })
                .starts_with("rto_granularity is 0 s")
        );
        let delayed = DelayedAck::EverySecond { timeout: Duration::from_millis(501) };
        assert!(why(&|c| c.acks.delayed_ack = delayed).starts_with("delayed_ack_timeout is 501 ms; expected"));
        assert!(why(&|c| c.timestamp_granularity = Duration::from_secs(2)).starts_with("timestamp_granularity is 2 s"));
        assert!(why(&|c| c.cwnd.initial_window = InitialWindow::Segments(0)).starts_with("initial_window is 0"));
        assert!(why(&|c| c.cwnd.initial_ssthresh = Some(Bytes::ZERO)).starts_with("initial_ssthresh is 0 B"));
        assert!(why(&|c| c.cwnd.increase = Increase::ByteCounting { limit: 0 }).starts_with("increase limit is 0"));
        assert!(why(&|c| c.recovery.duplicate_ack_threshold = 0).starts_with("duplicate_ack_threshold is 0"));
        assert!(why(&|c| c.timer.max_backoff = 33).starts_with("max_backoff is 33"));
    }
}
