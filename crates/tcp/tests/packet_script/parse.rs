//! The parser, from text to a [`Script`].

use super::path::PathModel;
use super::pattern::Pattern;
use super::quantity::Expectation;
use super::{Action, Script, ScriptStep, Side, options, parse_number, parse_seconds};
use netlull_tcp::{Config, Data, Preset, TcpOptions};
use netlull_units::{Duration, Instant};

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Names the wrong line, and the reason.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self {
            title: String::new(),
            sections: sections(text),
            config: options::base(),
            preset: None,
            side: Side::Client,
            iss: 100,
            irs: 700,
            path: None,
            steps: Vec::new(),
        };
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if script.title.is_empty() && line.starts_with('#') {
                line.trim_start_matches('#').trim().clone_into(&mut script.title);
            }
            if !words.is_empty() {
                script.parse_line(number + 1, &words).map_err(|why| format!("line {}: {why}", number + 1))?;
            }
        }
        script.config.validate().map_err(|why| why.to_string())?;
        Ok(script)
    }

    fn parse_line(&mut self, line: usize, words: &[&str]) -> Result<(), String> {
        match words {
            ["option", name, value] => options::apply(&mut self.config, name, value),
            ["algorithm", name] => self.choose_algorithm(name),
            ["preset", name] => self.choose_preset(name),
            ["server"] => {
                self.side = Side::Server;
                Ok(())
            }
            ["iss", number] => {
                self.iss = parse_number(number)?;
                Ok(())
            }
            ["path", rest @ ..] => {
                self.path = Some(PathModel::parse(rest)?);
                Ok(())
            }
            [at, action @ ..] => self.parse_step(line, at, action),
            [] => Ok(()),
        }
    }

    /// Sets the algorithm with its usual recovery; the other options stay.
    fn choose_algorithm(&mut self, name: &str) -> Result<(), String> {
        if let Some(preset) = self.preset {
            let options =
                TcpOptions { preset: Some(preset), congestion_control: Some(name.into()), ..TcpOptions::default() };
            self.config = options.config(self.config.mss).map_err(|why| why.to_string())?;
            return Ok(());
        }
        let mut config: Config = self.config.clone();
        options::apply(&mut config, "congestion_control", name)?;
        self.config = self.config.clone().with_algorithm(config.congestion_control);
        Ok(())
    }

    /// Replaces the configuration with a preset of scenarios, for segments of the same size.
    fn choose_preset(&mut self, name: &str) -> Result<(), String> {
        let preset: Preset = options::named(name)?;
        (self.preset, self.config) = (Some(preset), preset.config(self.config.mss));
        Ok(())
    }

    fn parse_step(&mut self, line: usize, at: &str, words: &[&str]) -> Result<(), String> {
        let (from, to) = at.split_once("..").unwrap_or((at, at));
        let (at, latest) = (Instant::ZERO + parse_seconds(from)?, Instant::ZERO + parse_seconds(to)?);
        if self.steps.last().is_some_and(|last| last.end() > at) || latest < at {
            return Err("time goes back".to_owned());
        }
        if latest > at && words.first() != Some(&"out") {
            return Err(format!("`{}` at an interval; only `out` takes one", words.join(" ")));
        }
        let action = match words {
            ["open"] => Action::Open,
            ["connect"] => Action::Connect(Duration::ZERO),
            ["connect", "rtt", rtt] => Action::Connect(parse_seconds(rtt)?),
            ["send", "endless"] => Action::Send(Data::Endless),
            ["send", bytes] => Action::Send(Data::Bytes(parse_number(bytes)?)),
            ["close"] => Action::Close,
            ["acks", "off"] => Action::Acks(None),
            ["acks", delay] => Action::Acks(Some(parse_seconds(delay)?)),
            ["measure"] => Action::Measure,
            ["read", bytes] => Action::Read(parse_number(bytes)?),
            ["in", rest @ ..] => Action::In(Pattern::parse_all(rest)?),
            ["out", "any"] => Action::OutAny,
            ["out", rest @ ..] => Action::Out(latest, Pattern::parse_all(rest)?),
            ["silence"] => Action::Expect(Vec::new()),
            ["expect", rest @ ..] => Action::Expect(expectations(rest)?),
            _ => return Err(format!("`{}` is not understood", words.join(" "))),
        };
        self.steps.push(ScriptStep { line, at, action });
        Ok(())
    }
}

impl ScriptStep {
    /// The time at which the step is over.
    fn end(&self) -> Instant {
        match &self.action {
            Action::Connect(rtt) => self.at + *rtt,
            Action::Out(latest, _) => *latest,
            _ => self.at,
        }
    }
}

fn expectations(words: &[&str]) -> Result<Vec<Expectation>, String> {
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return Err("`expect` takes names and values".to_owned());
    }
    words.chunks(2).map(|pair| Expectation::parse(pair[0], pair[1])).collect()
}

/// "RFC 5681 sections 3.1 and 3.2" and similar words in comments, as "RFC 5681 3.1, 3.2".
fn sections(text: &str) -> String {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        let Some((_, comment)) = line.split_once('#') else { continue };
        let words: Vec<&str> = comment.split_whitespace().collect();
        for (n, window) in words.windows(4).enumerate() {
            if window[0].ends_with("RFC") && window[2].starts_with("section") {
                let entry = rfc_entry(&mut found, window[1]);
                add_sections(entry, &words[n + 3..]);
            }
        }
    }
    let each: Vec<String> = found.iter().map(|(rfc, list)| format!("RFC {rfc} {}", list.join(", "))).collect();
    each.join("; ")
}

fn rfc_entry<'a>(found: &'a mut Vec<(String, Vec<String>)>, rfc: &str) -> &'a mut Vec<String> {
    let at = found.iter().position(|entry| entry.0 == rfc).unwrap_or(found.len());
    if at == found.len() {
        found.push((rfc.to_owned(), Vec::new()));
    }
    &mut found[at].1
}

/// Numbers such as `3.2`, up to the first word that is neither a number nor "and".
fn add_sections(list: &mut Vec<String>, words: &[&str]) {
    for word in words {
        let number = word.trim_end_matches([',', '.', ';', ':', ')']);
        if *word == "and" {
            continue;
        }
        if number.is_empty() || !number.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return;
        }
        if !list.iter().any(|known| known == number) {
            list.push(number.to_owned());
        }
        if word.ends_with(['.', ';', ':', ')']) {
            return;
        }
    }
}
