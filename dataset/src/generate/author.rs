//! What is known while a program is written.

use std::collections::BTreeSet;

use super::code::{Code, Rank};
use super::scope::{Role, Variable};
use super::style::Style;
use super::types::Type;
use super::vocabulary::RESERVED;
use crate::profile::{Metric, Profile, bucket_bounds};
use crate::random::Random;

/// A parameter of something that can be called.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) ty: Type,
    /// Only small non-negative numbers go in: a depth, a number of repetitions.
    pub(super) small: bool,
    /// Only values with items go in.
    pub(super) nonempty: bool,
    /// Text of the default.
    pub(super) default: Option<String>,
}

/// A helper or a method.
#[derive(Debug, Clone)]
pub(super) struct Callable {
    pub(super) name: String,
    /// Index of the class whose instances it is called on.
    pub(super) class: Option<usize>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) result: Type,
    pub(super) raises: Option<&'static str>,
}

/// A class of the program.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) constructor: Vec<Parameter>,
    /// Attributes, without `self`.
    pub(super) fields: Vec<(String, Type)>,
}

/// The state of writing one program.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about one place in the text"
)]
#[derive(Debug)]
pub(super) struct Author<'a> {
    pub(super) random: &'a mut Random,
    pub(super) profile: &'a Profile,
    pub(super) style: Style,
    pub(super) lines: Vec<String>,
    pub(super) indent: usize,
    pub(super) variables: Vec<Variable>,
    pub(super) callables: Vec<Callable>,
    pub(super) classes: Vec<Class>,
    /// Names of functions, classes and constants.
    pub(super) taken: Vec<String>,
    pub(super) imports: BTreeSet<&'static str>,
    /// Result type of the function that is being written.
    pub(super) returns: Type,
    pub(super) loops: usize,
    /// Whether `continue` cannot skip what ends the innermost loop.
    pub(super) can_continue: bool,
    /// Statements that the function may still get.
    pub(super) left: usize,
    /// Blocks around what is written; 1 in the body of the function.
    pub(super) depth: usize,
    /// Errors that handlers around catch.
    pub(super) caught: Vec<&'static str>,
    /// Chance of an operation that may raise where nothing catches it.
    pub(super) hazard: f64,
    /// Within a comprehension or condition: nothing changes in place.
    pub(super) pure: bool,
    /// Whether the innermost block may or may not run: only there one leaves early.
    pub(super) conditional: bool,
    /// Whether a helper is being written: it may raise what its callers handle.
    pub(super) helper: bool,
    /// An error that the function raises on purpose and lets through.
    pub(super) raises: Option<&'static str>,
    groups: u32,
}

impl<'a> Author<'a> {
    pub(super) fn new(random: &'a mut Random, profile: &'a Profile) -> Self {
        let double = profile.share(Metric::Quotes, "double").unwrap_or(0.4)
            * profile.weight(Metric::Quotes, "double");
        let single = profile.share(Metric::Quotes, "single").unwrap_or(0.6)
            * profile.weight(Metric::Quotes, "single");
        let style = Style::draw(random, double / (double + single).max(1e-9));
        // Most programs are careful; some are not, and end in an error for it.
        let hazard = if random.chance(0.25) { 0.25 } else { 0.004 };
        Self {
            random,
            profile,
            style,
            lines: Vec::new(),
            indent: 0,
            variables: Vec::new(),
            callables: Vec::new(),
            classes: Vec::new(),
            taken: Vec::new(),
            imports: BTreeSet::new(),
            returns: Type::Nothing,
            loops: 0,
            can_continue: true,
            left: 0,
            depth: 0,
            caught: Vec::new(),
            hazard,
            pure: false,
            conditional: false,
            helper: false,
            raises: None,
            groups: 0,
        }
    }

    /// Weight of a value: its share in real code, corrected by the fit.
    pub(super) fn weight(&self, metric: Metric, value: &str) -> f64 {
        self.profile.share(metric, value).unwrap_or(2e-4).max(1e-4)
            * self.profile.weight(metric, value)
    }

    /// One of `values`, as the profile has it.
    pub(super) fn choose<'v>(&mut self, metric: Metric, values: &[&'v str]) -> &'v str {
        let weights: Vec<f64> = values
            .iter()
            .map(|value| self.weight(metric, value))
            .collect();
        values[self.random.weighted(&weights).unwrap_or(0)]
    }

    /// A count, drawn from a table of buckets and cut at `most`.
    pub(super) fn count(&mut self, metric: Metric, least: i64, most: i64) -> usize {
        const BUCKETS: &[&str] = &[
            "0", "1", "2", "3", "4-5", "6-8", "9-12", "13-20", "21-40", "41+",
        ];
        let fitting: Vec<&str> = BUCKETS
            .iter()
            .copied()
            .filter(|bucket| {
                let (low, high) = bucket_bounds(bucket);
                high >= least && low <= most
            })
            .collect();
        if fitting.is_empty() {
            return least.max(0) as usize;
        }
        let (low, high) = bucket_bounds(self.choose(metric, &fitting));
        self.random.between(low.max(least), high.min(most)).max(0) as usize
    }

    pub(super) fn line(&mut self, text: &str) {
        let mut line = self.style.indent.repeat(self.indent);
        line.push_str(text);
        self.lines.push(line);
    }

    pub(super) fn is_taken(&self, name: &str) -> bool {
        RESERVED.contains(&name)
            || self.taken.iter().any(|taken| taken == name)
            || self.variables.iter().any(|variable| variable.name == name)
    }

    pub(super) fn group(&mut self) -> u32 {
        self.groups += 1;
        self.groups
    }

    /// A variable with a fresh identity, not yet in scope.
    pub(super) fn variable(&mut self, name: String, ty: Type) -> Variable {
        let group = self.group();
        Variable::new(name, ty, group)
    }

    /// Brings a variable into scope that holds the value of `code`.
    pub(super) fn bind(&mut self, name: String, ty: Type, code: &Code) {
        // An alias shares the identity of what it names.
        // What is mentioned may be it: `xs if ok else ys`.
        let source = self
            .variables
            .iter()
            .find(|one| one.name == code.text && one.ty == ty);
        let role = source.map_or(Role::Plain, |source| source.role.clone());
        let mentioned = || {
            let mentions = |one: &&Variable| one.ty == ty && mentions(&code.text, &one.name);
            self.variables
                .iter()
                .filter(|_| ty.is_mutable())
                .find(mentions)
        };
        let group = source.or_else(mentioned).map(|source| source.group);
        let group = group.unwrap_or_else(|| self.group());
        self.variables.retain(|one| one.name != name);
        // A name that is given to what a loop runs over inside that loop is bound by the same rule.
        let iterated = self
            .variables
            .iter()
            .any(|one| one.group == group && one.iterated);
        let mut variable = Variable::new(name, ty, group);
        variable.iterated = iterated;
        variable.size = code.size;
        variable.nonnegative = code.nonnegative;
        variable.nonzero = code.nonzero;
        variable.least = code.least;
        variable.role = role;
        self.variables.push(variable);
    }

    /// Index of a variable for which `fits` holds; unread and recent ones are likelier.
    pub(super) fn find(&mut self, fits: impl Fn(&Variable) -> bool) -> Option<usize> {
        let total = self.variables.len();
        let weights: Vec<f64> = self
            .variables
            .iter()
            .enumerate()
            .map(|(at, variable)| {
                if !fits(variable) {
                    return 0.0;
                }
                let fresh = if variable.reads == 0 { 4.0 } else { 1.0 };
                fresh * (1.0 + at as f64 / total as f64)
            })
            .collect();
        self.random.weighted(&weights)
    }

    /// Reads the variable at an index.
    pub(super) fn read(&mut self, at: usize) -> Code {
        let variable = &mut self.variables[at];
        variable.reads += 1;
        Code {
            text: variable.name.clone(),
            rank: Rank::Atom,
            size: variable.size,
            nonnegative: variable.nonnegative,
            nonzero: variable.nonzero,
            least: variable.least,
        }
    }

    /// Whether an operation that can raise `error` may stand here.
    pub(super) fn may_raise(&mut self, error: &str) -> bool {
        let share = if self.is_caught(error) {
            0.7
        } else {
            self.hazard
        };
        self.random.chance(share)
    }

    pub(super) fn is_caught(&self, error: &str) -> bool {
        self.caught.iter().any(|caught| {
            *caught == error
                || *caught == "Exception"
                || (*caught == "LookupError" && matches!(error, "KeyError" | "IndexError"))
                || (*caught == "ArithmeticError" && error == "ZeroDivisionError")
        })
    }

    /// Forgets what is known about a variable and about everything that may be the same object.
    pub(super) fn weaken(&mut self, at: usize) {
        let (group, name) = (self.variables[at].group, self.variables[at].name.clone());
        for variable in &mut self.variables {
            if variable.group == group {
                variable.weaken();
            }
            if matches!(&variable.role, Role::IndexOf(owner) | Role::KeyOf(owner) if *owner == name)
            {
                variable.role = Role::Plain;
            }
        }
    }

    /// Whether the items of a variable may become fewer or more.
    pub(super) fn can_resize(&self, at: usize, shrinks: bool) -> bool {
        let group = self.variables[at].group;
        !self.pure
            && self
                .variables
                .iter()
                .filter(|one| one.group == group)
                .all(|one| !(one.iterated || shrinks && one.locked))
    }

    /// Whether a loop around may take items out of a variable.
    pub(super) fn is_growing(&self, name: &str) -> bool {
        self.loops > 0
            && self
                .variables
                .iter()
                .any(|one| one.name == name && !one.locked)
    }

    /// Runs `write` in a block whose variables end with it. What was known before is joined with
    /// what holds after: the block may run or not.
    pub(super) fn scoped<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.variables.clone();
        let result = write(self);
        let after = std::mem::replace(&mut self.variables, before);
        for variable in &mut self.variables {
            match after.iter().find(|one| one.name == variable.name) {
                Some(other) => variable.join(other),
                None => variable.weaken(),
            }
        }
        result
    }

    /// Writes an indented block.
    pub(super) fn indented<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        self.indent += 1;
        self.depth += 1;
        let result = write(self);
        self.indent -= 1;
        self.depth -= 1;
        result
    }
}

/// Whether `text` has `name` as a word.
fn mentions(text: &str, name: &str) -> bool {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(word) && !text[at + name.len()..].starts_with(word))
}
