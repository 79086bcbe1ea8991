//! The arguments of `fix` that a benchmark run passes on: looked at before the first task.

use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// What a run sets itself, with its own option for it.
const OWN: &[(&str, &str)] = &[
    ("--json", "results are read from its events"),
    ("--out", "its files go into the results folder"),
    ("--repo", "each task has its own"),
    ("--test", "each task has its own"),
    ("--max-time", "use `--max-time` of `bench run`"),
    ("--python", "use `--python` of `bench run`"),
    ("--apply", "nothing is applied in a benchmark"),
];

/// Whether an option is among the arguments.
pub fn names(arguments: &[String], option: &str) -> bool {
    arguments.iter().any(|word| {
        word == option
            || word
                .strip_prefix(option)
                .is_some_and(|rest| rest.starts_with('='))
    })
}

/// The value of an option, the last one if there are several.
pub fn value(arguments: &[String], option: &str) -> Option<String> {
    let mut words = arguments.iter();
    let mut found = None;
    while let Some(word) = words.next() {
        if word == option {
            found = words.next().cloned();
        } else if let Some(value) = word
            .strip_prefix(option)
            .and_then(|rest| rest.strip_prefix('='))
        {
            found = Some(value.to_owned());
        }
    }
    found
}

/// Refuses arguments that `fix` would refuse for every task.
pub fn check(arguments: &[String]) -> Result<(), Stop> {
    for (option, why) in OWN {
        if names(arguments, option) {
            let text = format!("`{option}` cannot be passed on to `fix`");
            return Err(Stop::new(Outcome::Usage, text).hint(*why));
        }
    }
    crate::cli::check_fix(arguments).map_err(|message| {
        let text = format!("`fix` would not take `{}`: {message}", arguments.join(" "));
        Stop::new(Outcome::Usage, text).hint("`ndbg-agent fix --help` lists what it takes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_fix_would_refuse_is_refused_before_any_task() {
        for (arguments, says) in [
            ("--bogus", "unexpected argument"),
            ("--out x", "cannot be passed on"),
            ("--max-time=1", "cannot be passed on"),
            ("--planner llm", "--model"),
            ("--planner dream", "invalid value"),
        ] {
            let stop = check(&words(arguments)).unwrap_err();
            assert!(stop.message.contains(says), "{arguments}: {}", stop.message);
        }
        check(&words("--jobs 1 --alternatives 5 --simulator embedded")).unwrap();
    }

    #[test]
    fn values_are_found_in_both_spellings() {
        assert_eq!(
            value(&words("--planner llm --model=x/y"), "--model").as_deref(),
            Some("x/y")
        );
        assert_eq!(
            value(&words("--planner llm"), "--planner").as_deref(),
            Some("llm")
        );
        assert!(!names(&words("--jobserver 1"), "--jobs"));
    }
}
