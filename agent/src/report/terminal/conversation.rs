//! The conversation with a language model, line by line.

use std::fmt::Write as _;

use super::page::Page;
use crate::plan::llm::Exchange;
use crate::report::look::Role;
use crate::report::visible::{ellipsize, one_line};
use crate::report::wording::{duration, spent, thousands};

impl Page<'_> {
    /// A step of the conversation with a model.
    pub fn exchange(&mut self, exchange: &Exchange) {
        match exchange {
            Exchange::Asked {
                round,
                model,
                tokens,
            } => {
                self.out.push('\n');
                let text = format!(
                    "{model}, round {round}, a prompt of about {} tokens",
                    thousands(*tokens)
                );
                self.entry("asks", Role::Label, &one_line(&text));
            }
            // The line that redraws itself.
            Exchange::Receiving { .. } => {}
            Exchange::Again { why, wait } => {
                let text = format!("{}; again in {}", one_line(why), duration(*wait));
                self.entry("waits", Role::Warn, &text);
            }
            Exchange::Answered {
                prompt,
                completion,
                estimated,
                cost,
                total,
                seconds,
                ..
            } => {
                let text = format!(
                    "{} in, {} out in {}; {}",
                    thousands(*prompt),
                    thousands(*completion),
                    duration(*seconds),
                    spent(*total, *estimated, *cost, " so far")
                );
                self.entry("tokens", Role::Dim, &text);
            }
            Exchange::Query {
                name, arguments, ..
            } => {
                let text = format!("{name} {}", one_line(arguments));
                self.entry("looks up", Role::Dim, &ellipsize(&text, 200, "…"));
            }
            Exchange::Unusable { why, .. } => self.entry("unusable", Role::Warn, &one_line(why)),
            Exchange::Hypothesis {
                claim,
                file,
                line,
                verdict,
                dropped,
                ..
            } => {
                let mut text = format!("{} ({}:{line})", one_line(claim), one_line(file));
                match (dropped, verdict) {
                    (Some(why), _) => {
                        let _ = write!(text, "; not tried: {}", one_line(why));
                    }
                    (None, Some(verdict)) => {
                        let _ = write!(text, "; {}", one_line(&verdict.text()));
                    }
                    (None, None) => {}
                }
                self.entry("hypothesis", Role::Strong, &text);
            }
        }
    }
}
