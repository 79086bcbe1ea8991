//! What tokens cost, as far as that is known.

use crate::failure::Failure;
use crate::model::Model;
use crate::provider::Provider;
use crate::reply::Usage;
use serde::Deserialize;

const BUILT_IN: &str = include_str!("../prices.toml");

/// Prices by model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// The day on which they were true, `YYYY-MM-DD`.
    pub date: String,
    entries: Vec<Entry>,
}

/// US dollars for a million tokens of one model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of the prompt, read from the cache; as `input` where it is not given.
    pub cached: Option<f64>,
    /// Of the prompt, written to the cache; as `input` where it is not given.
    pub cache_write: Option<f64>,
    /// Generated.
    pub output: f64,
    /// Tokens of context, prompt and reply together; 0 where unknown.
    #[serde(default)]
    pub context: u64,
    /// Prompts of more tokens than this cost more: see `long_factor`.
    pub long_from: Option<u64>,
    /// What prices of the prompt are multiplied by for long prompts.
    pub long_input: Option<f64>,
    /// What the price of the output is multiplied by for long prompts.
    pub long_output: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    pattern: String,
    price: Price,
}

#[derive(Deserialize)]
struct File {
    date: String,
    #[serde(default)]
    models: toml::map::Map<String, toml::Value>,
}

impl Price {
    /// Of a server that nobody pays.
    pub const FREE: Self = Self {
        input: 0.0,
        cached: None,
        cache_write: None,
        output: 0.0,
        context: 0,
        long_from: None,
        long_input: None,
        long_output: None,
    };

    /// US dollars that an exchange costs; what the server itself says it charges goes first.
    pub fn cost(&self, usage: &Usage) -> f64 {
        if let Some(cost) = usage.cost {
            return cost;
        }
        let long = self.long_from.is_some_and(|from| usage.prompt > from);
        let (input, output) = if long {
            (
                self.long_input.unwrap_or(1.0),
                self.long_output.unwrap_or(1.0),
            )
        } else {
            (1.0, 1.0)
        };
        let fresh = usage
            .prompt
            .saturating_sub(usage.cached + usage.cache_written);
        let prompt = fresh as f64 * self.input
            + usage.cached as f64 * self.cached.unwrap_or(self.input)
            + usage.cache_written as f64 * self.cache_write.unwrap_or(self.input);
        (prompt * input + usage.completion as f64 * self.output * output) / 1e6
    }

    /// The most that an exchange of so many tokens can cost: nothing cached, all of it written.
    pub fn bound(&self, prompt: u64, completion: u64) -> f64 {
        let dearest = self.cache_write.unwrap_or(self.input) > self.input;
        self.cost(&Usage {
            prompt,
            completion,
            cache_written: if dearest { prompt } else { 0 },
            ..Usage::default()
        })
    }
}

impl Prices {
    /// Those that come with the program.
    pub fn built_in() -> Self {
        // The file is part of the program and read by a test.
        Self::parse(BUILT_IN).unwrap_or_else(|_| Self {
            date: String::new(),
            entries: Vec::new(),
        })
    }

    /// Reads a price file. Fails with [`Failure::BadFile`].
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let bad = |message: String| Failure::BadFile {
            path: "prices.toml".to_owned(),
            message,
        };
        let file: File = toml::from_str(text).map_err(|error| bad(error.message().to_owned()))?;
        let entries = file
            .models
            .into_iter()
            .map(|(pattern, value)| {
                let price: Price = value.try_into().map_err(|error: toml::de::Error| {
                    bad(format!("`{pattern}`: {}", error.message()))
                })?;
                let numbers = [
                    Some(price.input),
                    Some(price.output),
                    price.cached,
                    price.cache_write,
                ];
                if numbers
                    .iter()
                    .flatten()
                    .any(|number| !number.is_finite() || *number < 0.0)
                {
                    return Err(bad(format!("`{pattern}` has a price that is no price")));
                }
                Ok(Entry { pattern, price })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            date: file.date,
            entries,
        })
    }

    /// These prices, with those of another file before them.
    #[must_use]
    pub fn overridden_by(mut self, other: Self) -> Self {
        self.entries
            .retain(|entry| other.entries.iter().all(|o| o.pattern != entry.pattern));
        self.entries.extend(other.entries);
        self.date = other.date;
        self
    }

    /// The price of a model: 0 for a server nearby, `None` where it is not known. The longest pattern
    /// that fits decides.
    pub fn of(&self, model: &Model) -> Option<Price> {
        if model.is_local() {
            return Some(Price::FREE);
        }
        // Whoever runs a gateway sets its prices.
        if model.base_url.is_some() {
            return None;
        }
        if model.provider == Provider::OpenRouter && model.name.ends_with(":free") {
            return Some(Price::FREE);
        }
        let provider = match model.provider {
            Provider::OpenAiResponses => Provider::OpenAi,
            other => other,
        };
        let name = format!("{}/{}", provider.prefix(), model.name);
        self.entries
            .iter()
            .filter(|entry| fits(&entry.pattern, &name))
            .max_by_key(|entry| entry.pattern.len())
            .map(|entry| entry.price)
    }
}

/// A pattern is a name, with or without a date behind it, or the beginning of one with `*` behind it.
fn fits(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        return name.starts_with(start);
    }
    let Some(rest) = name.strip_prefix(pattern) else {
        return false;
    };
    let is_date = |rest: &str| {
        let digits = rest.bytes().filter(u8::is_ascii_digit).count();
        digits == 8 && rest.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    };
    rest.is_empty() || rest.strip_prefix('-').is_some_and(is_date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(name: &str) -> Option<Price> {
        Prices::built_in().of(&Model::parse(name, None).unwrap())
    }

    #[test]
    fn the_built_in_file_can_be_read_and_has_a_date() {
        let prices = Prices::parse(BUILT_IN).unwrap();
        assert_eq!(prices.date.len(), 10);
        assert!(prices.entries.len() > 20);
        for entry in &prices.entries {
            assert!(entry.price.context > 0, "{}", entry.pattern);
            assert!(
                entry.price.cached.unwrap_or(0.0) <= entry.price.input,
                "{}",
                entry.pattern
            );
        }
    }

    #[test]
    fn the_longest_pattern_decides() {
        let prices = Prices::parse(
            "date = '2026-01-01'\n[models]\n'openai/a*' = { input = 1.0, output = 2.0 }\n\
             'openai/a-mini*' = { input = 0.5, output = 1.0 }\n",
        )
        .unwrap();
        let of = |name: &str| {
            prices
                .of(&Model::parse(name, None).unwrap())
                .map(|p| p.input)
        };
        assert_eq!(of("openai/a-2026"), Some(1.0));
        assert_eq!(of("openai-responses/a-mini-2026"), Some(0.5));
        assert_eq!(of("openai/b"), None);
    }

    #[test]
    fn a_date_behind_a_name_does_not_matter_and_anything_else_does() {
        assert_eq!(price("openai/gpt-5-2025-08-07"), price("openai/gpt-5"));
        assert_eq!(
            price("anthropic/claude-haiku-4-5-20251001"),
            price("anthropic/claude-haiku-4-5")
        );
        assert!(price("openai/gpt-5").is_some());
        assert_eq!(price("openai/gpt-5-pro"), None);
        assert_eq!(price("openrouter/some/model:free"), Some(Price::FREE));
    }

    #[test]
    fn local_servers_cost_nothing_and_gateways_are_unknown() {
        assert_eq!(price("ollama/llama3"), Some(Price::FREE));
        assert_eq!(price("http://127.0.0.1:8000/v1#x"), Some(Price::FREE));
        assert_eq!(price("https://gate.example/v1#x"), None);
        assert_eq!(price("azure/my-deployment"), None);
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let price = Price {
            cached: Some(1.0),
            cache_write: Some(20.0),
            input: 10.0,
            output: 100.0,
            ..Price::FREE
        };
        let usage = Usage {
            prompt: 1_000_000,
            cached: 500_000,
            cache_written: 100_000,
            completion: 10_000,
            ..Usage::default()
        };
        assert!((price.cost(&usage) - (4.0 + 0.5 + 2.0 + 1.0)).abs() < 1e-9);
        assert!(
            (price.cost(&Usage {
                cost: Some(0.25),
                ..usage
            }) - 0.25)
                .abs()
                < 1e-9
        );
        assert!((price.bound(1_000_000, 0) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn long_prompts_cost_more_where_the_provider_says_so() {
        let price = Price {
            input: 1.0,
            output: 10.0,
            long_from: Some(200_000),
            long_input: Some(2.0),
            long_output: Some(1.5),
            ..Price::FREE
        };
        let cost = |prompt| {
            price.cost(&Usage {
                prompt,
                completion: 1_000_000,
                ..Usage::default()
            })
        };
        assert!((cost(200_000) - 10.2).abs() < 1e-9);
        assert!((cost(400_000) - 15.8).abs() < 1e-9);
    }

    #[test]
    fn a_price_that_is_none_is_refused() {
        let text = "date = '2026-01-01'\n[models]\n'openai/a' = { input = -1.0, output = 2.0 }\n";
        assert!(
            Prices::parse(text)
                .unwrap_err()
                .to_string()
                .contains("`openai/a`")
        );
    }
}
