//! Controllers of the document: rates, windows, estimators.

use super::queueing::Measure;
use super::{Control, Mechanism, Result, refuse};
use crate::scenario::ScenarioError;
use crate::scenario::document::{
    ArrivalsReading, AwmDocument, CEarthDocument, ControllerDocument, EarthDocument, FlowCountDocument,
    ForecastStartReading, GRouterDocument, InService, LinkDocument, PaceReading, PractraDocument, QueueReading,
    RatesDocument, ReachReading, RoundTripDocument, TransitionPowerReading,
};
use crate::scenario::quantity::BufferSize;
use netlull_mechanism::ConfigError;
use netlull_mechanism::gateway::{AwmConfig, CEarthConfig, FlowCountConfig, GatewayConfig, Pace, RoundTripConfig};
use netlull_mechanism::rate::{
    ArrivalCount, EarthConfig, Evaluate, ForecastStart, PractRaConfig, QueueCount, RateSet, Reach,
};
use netlull_power::TransitionPower;
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A link's controller, checked.
pub(super) fn control(
    field: &str,
    document: &ControllerDocument,
    link: &LinkDocument,
    measure: Measure,
) -> Result<Control> {
    let field = format!("{field}.controller");
    let rate = link.rate;
    let (mechanism, in_service, power) = match document {
        ControllerDocument::Practra(document) => {
            let config = practra(&field, document)?;
            ends_at(&field, &config.rates, rate)?;
            (Mechanism::PractRa(config), document.in_service, document.transition_power)
        }
        ControllerDocument::Earth(document) => {
            let config = earth(&field, document, measure)?;
            ends_at(&field, &config.rates, rate)?;
            (Mechanism::Earth(config), document.in_service, document.transition_power)
        }
        ControllerDocument::Awm(document) => {
            let gateway = awm(&field, document, rate, measure)?;
            (Mechanism::Gateway(Box::new(gateway)), InService::default(), TransitionPowerReading::default())
        }
        ControllerDocument::CEarth(document) => {
            let gateway = c_earth_alone(&field, document, rate, measure)?;
            (Mechanism::Gateway(Box::new(gateway)), document.in_service, document.transition_power)
        }
        ControllerDocument::GRouter(document) => {
            let gateway = g_router(&field, document, rate, measure)?;
            (Mechanism::Gateway(Box::new(gateway)), document.in_service, document.transition_power)
        }
    };
    let transition_power = match power {
        TransitionPowerReading::Higher => TransitionPower::Higher,
        TransitionPowerReading::New => TransitionPower::New,
        TransitionPowerReading::Old => TransitionPower::Old,
    };
    Ok(Control { mechanism, in_service, transition_power, acknowledgements: None })
}

/// The link that brings a gateway its acknowledgements, as the document names it; `None` where the controller is no gateway.
pub(super) fn acknowledgements(document: &ControllerDocument) -> Option<Option<&str>> {
    match document {
        ControllerDocument::Practra(_) | ControllerDocument::Earth(_) => None,
        ControllerDocument::Awm(document) => Some(document.acknowledgements.as_deref()),
        ControllerDocument::CEarth(document) => Some(document.acknowledgements.as_deref()),
        ControllerDocument::GRouter(document) => Some(document.acknowledgements.as_deref()),
    }
}

fn ends_at(field: &str, rates: &RateSet, rate: BitRate) -> Result<()> {
    if rates.highest() == rate {
        return Ok(());
    }
    let message = format!("end at {}; expected the link's rate, {rate}, as the highest", rates.highest());
    refuse(format!("{field}.rates"), message)
}

/// What a mechanism refuses, by the field's path.
pub(super) fn refused(field: &str, error: &ConfigError) -> ScenarioError {
    ScenarioError::new(format!("{field}.{}", error.field), format!("is {}; expected {}", error.value, error.expected))
}

fn rates(field: &str, document: &RatesDocument) -> Result<RateSet> {
    let rates = match document {
        RatesDocument::List(list) => RateSet::from_list(list),
        RatesDocument::Steps(steps) => RateSet::from_range(steps.from, steps.to, steps.step),
    };
    rates.map_err(|error| refused(field, &error))
}

fn queue_count(reading: QueueReading) -> QueueCount {
    match reading {
        QueueReading::Waiting => QueueCount::Waiting,
        QueueReading::WaitingAndInService => QueueCount::WaitingAndInService,
    }
}

/// A length of a queue in bytes; packets are of one MTU.
fn length(field: &str, size: BufferSize, measure: Measure) -> Result<Bytes> {
    match size {
        BufferSize::Bytes(bytes) => Ok(bytes),
        BufferSize::Packets(packets) => Ok(Bytes::new(packets.saturating_mul(measure.mtu.as_u64()))),
        BufferSize::Unlimited | BufferSize::BandwidthDelay(_) => {
            refuse(field, format!("is {size}; expected packets or data, such as \"50 packets\" or \"50 kB\""))
        }
    }
}

fn practra(field: &str, document: &PractraDocument) -> Result<PractRaConfig> {
    let refused = |error| refused(field, &error);
    let config = PractRaConfig {
        transition: document.transition,
        min_interval: document.min_interval,
        delay_bound: document.delay_bound,
        forecast_weight: document.forecast_weight,
        forecast_interval: document.forecast_interval,
        forecast_start: match document.forecast_start {
            ForecastStartReading::FirstSample => ForecastStart::FirstSample,
            ForecastStartReading::Zero => ForecastStart::Zero,
        },
        evaluate: document.tick.map_or(Evaluate::EveryEvent, Evaluate::Tick),
        queue: queue_count(document.queue),
        arrivals: match document.arrivals {
            ArrivalsReading::Offered => ArrivalCount::Offered,
            ArrivalsReading::Accepted => ArrivalCount::Accepted,
        },
        steps: match document.steps {
            ReachReading::Adjacent => Reach::Adjacent,
            ReachReading::Any => Reach::Any,
        },
        initial_rate: document.initial_rate,
        ..PractRaConfig::new(rates(field, &document.rates)?)
    };
    config.validate().map_err(refused)?;
    Ok(config)
}

fn earth(field: &str, document: &EarthDocument, measure: Measure) -> Result<EarthConfig> {
    let config = EarthConfig {
        min_interval: document.min_interval,
        transition: document.transition,
        queue: queue_count(document.queue),
        initial_rate: document.initial_rate,
        ..EarthConfig::new(
            rates(field, &document.rates)?,
            length(&format!("{field}.threshold"), document.threshold, measure)?,
        )
    };
    config.validate().map_err(|error| refused(field, &error))?;
    Ok(config)
}

fn target(field: &str, target: BufferSize, measure: Measure) -> Result<Bytes> {
    length(&format!("{field}.target"), target, measure)
}

fn awm(field: &str, document: &AwmDocument, rate: BitRate, measure: Measure) -> Result<GatewayConfig> {
    let awm = AwmConfig {
        target: target(field, document.target, measure)?,
        beta: document.beta,
        floor: document.floor.unwrap_or(measure.mtu),
        initial_window: document.initial_window,
    };
    checked(
        field,
        &document.flows,
        None,
        GatewayConfig {
            awm,
            steers: true,
            c_earth: None,
            flows: flow_count(&document.flows),
            // Nobody asks for it.
            round_trip: RoundTripConfig::Fixed(Duration::from_secs(1)),
            queue: queue_count(document.queue),
            link_rate: rate,
        },
    )
}

fn g_router(field: &str, document: &GRouterDocument, rate: BitRate, measure: Measure) -> Result<GatewayConfig> {
    let awm = AwmConfig {
        target: target(field, document.target, measure)?,
        beta: document.beta,
        floor: document.floor.unwrap_or(measure.mtu),
        initial_window: document.initial_window,
    };
    let c_earth = CEarthConfig {
        initial: document.initial_rate,
        gamma: document.gamma,
        pace: pace(document.pace),
        granularity: document.granularity,
        transition: document.transition,
        ..CEarthConfig::new(document.min_rate, rate)
    };
    let config = GatewayConfig {
        awm,
        steers: true,
        c_earth: Some(c_earth),
        flows: flow_count(&document.flows),
        round_trip: round_trip(&document.round_trip),
        queue: queue_count(document.queue),
        link_rate: rate,
    };
    checked(field, &document.flows, Some(&document.round_trip), config)
}

fn c_earth_alone(field: &str, document: &CEarthDocument, rate: BitRate, measure: Measure) -> Result<GatewayConfig> {
    if matches!(document.round_trip, RoundTripDocument::Printed(_)) {
        let message = "is \"printed\"; expected fixed, handshake or timestamps: equation (7) is of AWM's window";
        return refuse(format!("{field}.round_trip.kind"), message);
    }
    let c_earth = CEarthConfig {
        initial: document.initial_rate,
        gamma: document.gamma,
        pace: pace(document.pace),
        granularity: document.granularity,
        transition: document.transition,
        ..CEarthConfig::new(document.min_rate, rate)
    };
    let config = GatewayConfig {
        awm: AwmConfig::new(target(field, document.target, measure)?),
        steers: false,
        c_earth: Some(c_earth),
        // Nobody asks for it.
        flows: FlowCountConfig::Fixed(1.0),
        round_trip: round_trip(&document.round_trip),
        queue: queue_count(document.queue),
        link_rate: rate,
    };
    checked(field, &FlowCountDocument::default(), Some(&document.round_trip), config)
}

fn pace(reading: PaceReading) -> Pace {
    match reading {
        PaceReading::RoundTrip => Pace::RoundTrip,
        PaceReading::Event => Pace::Event,
    }
}

fn checked(
    field: &str,
    flows: &FlowCountDocument,
    round_trip: Option<&RoundTripDocument>,
    config: GatewayConfig,
) -> Result<GatewayConfig> {
    let written = |error: ConfigError| {
        refused(field, &ConfigError { field: as_written(error.field, flows, round_trip), ..error })
    };
    netlull_mechanism::gateway::Gateway::new(&config, Instant::ZERO).map_err(written)?;
    Ok(config)
}

/// Where the document has a gateway's field: those of its estimators are in tables of their own.
fn as_written(field: &'static str, flows: &FlowCountDocument, round_trip: Option<&RoundTripDocument>) -> &'static str {
    match (field, flows, round_trip) {
        ("flows", FlowCountDocument::Printed(_), _) => "flows.initial",
        ("flows", _, _) => "flows.count",
        ("interval", _, _) => "flows.interval",
        ("bits", _, _) => "flows.bits",
        ("round_trip", _, Some(RoundTripDocument::Fixed(_))) => "round_trip.time",
        ("round_trip", _, _) => "round_trip.initial",
        _ => field,
    }
}

fn flow_count(document: &FlowCountDocument) -> FlowCountConfig {
    match document {
        FlowCountDocument::Fixed(fixed) => FlowCountConfig::Fixed(fixed.count),
        FlowCountDocument::Printed(printed) => FlowCountConfig::Printed(printed.initial),
        FlowCountDocument::LinearCounting(counting) => {
            FlowCountConfig::LinearCounting { interval: counting.interval, bits: counting.bits }
        }
    }
}

fn round_trip(document: &RoundTripDocument) -> RoundTripConfig {
    match document {
        RoundTripDocument::Fixed(fixed) => RoundTripConfig::Fixed(fixed.time),
        RoundTripDocument::Printed(_) => RoundTripConfig::Printed,
        RoundTripDocument::Handshake(measured) => RoundTripConfig::Handshake { initial: measured.initial },
        RoundTripDocument::Timestamps(measured) => RoundTripConfig::Timestamps { initial: measured.initial },
    }
}
