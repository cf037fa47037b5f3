//! The main parameters of congestion controls, as users see them. Each algorithm's file lists its own, from the
//! constants of its computation.

/// A parameter of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its name in the source, or the scenario's option.
    pub name: &'static str,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
    /// Its value; for an option, the default.
    pub value: String,
    /// Its meaning in one line.
    pub meaning: &'static str,
    /// Its source.
    pub source: &'static str,
    /// True if it is an option in scenarios.
    pub is_option: bool,
}

/// A constant of the algorithm.
pub(super) fn constant(
    name: &'static str,
    unit: &'static str,
    value: impl ToString,
    meaning: &'static str,
    source: &'static str,
) -> ParameterInfo {
    ParameterInfo { name, unit, value: value.to_string(), meaning, source, is_option: false }
}

/// An option of scenarios, with its default.
pub(super) fn option(
    name: &'static str,
    value: impl ToString,
    meaning: &'static str,
    source: &'static str,
) -> ParameterInfo {
    ParameterInfo { is_option: true, ..constant(name, "", value, meaning, source) }
}

#[cfg(test)]
mod tests {
    use crate::config::Algorithm;

    #[test]
    fn every_algorithm_tells_of_its_parameters_once_each() {
        for info in Algorithm::catalogue() {
            let parameters = info.algorithm.parameters();
            assert!(!parameters.is_empty(), "{}", info.name);
            for (index, parameter) in parameters.iter().enumerate() {
                assert!(parameters[..index].iter().all(|other| other.name != parameter.name), "{}", parameter.name);
                assert!(!parameter.value.is_empty() && !parameter.source.is_empty(), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn values_are_those_of_the_sources() {
        let value = |algorithm: Algorithm, name: &str| {
            algorithm.parameters().into_iter().find(|p| p.name == name).map(|p| p.value)
        };
        // RFC 9438 sections 5, 4.6 and 4.7: 0.4, 0.7, (1 + 0.7)/2.
        assert_eq!(value(Algorithm::Cubic, "C").as_deref(), Some("0.4"));
        assert_eq!(value(Algorithm::Cubic, "beta_cubic").as_deref(), Some("0.7"));
        assert_eq!(value(Algorithm::Cubic, "fast_convergence").as_deref(), Some("0.85"));
        // RFC 9406 section 4.3.
        assert_eq!(value(Algorithm::Cubic, "MIN_RTT_THRESH").as_deref(), Some("4"));
        // 819/1024 = 0.7998; 410/1024 = 0.4004.
        assert_eq!(value(Algorithm::Bic, "beta").as_deref(), Some("0.800"));
        assert_eq!(value(Algorithm::Cubic2622, "C").as_deref(), Some("0.400"));
        assert_eq!(value(Algorithm::Compound, "alpha").as_deref(), Some("1/8"));
        assert_eq!(value(Algorithm::Vegas, "vegas").as_deref(), Some("{ alpha = 2, beta = 4, gamma = 1 }"));
    }
}
