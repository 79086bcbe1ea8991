//! Why a function or a file is not there, and what may have been meant.

use camino::Utf8Path;
use ndbg_tools::python::executions::Subject;

use super::near::near;
use super::outline::{What, outline};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Names that a hint lists.
const LISTED: usize = 6;

/// Names, as many as are read at a glance.
fn listed(names: &[&str]) -> String {
    let more = if names.len() > LISTED { ", …" } else { "" };
    let first: Vec<&str> = names.iter().copied().take(LISTED).collect();
    format!("{}{more}", first.join(", "))
}

/// What is said of a function that cannot be called, with a look into the source.
pub fn explained(stop: Stop, subject: &Subject, source: &str) -> Stop {
    let defined = outline(source);
    let name = subject.function.as_str();
    let is_callable = |what: What| what == What::Function;
    let callable: Vec<&str> = defined
        .iter()
        .filter(|one| is_callable(one.what))
        .map(|one| one.name.as_str())
        .collect();
    if stop.outcome != Outcome::Usage || defined.is_empty() || callable.contains(&name) {
        return stop;
    }
    let usage = |message: String| Stop::new(Outcome::Usage, message);
    let parent = |name: &str| {
        name.rsplit_once('.')
            .map_or("", |(parent, _)| parent)
            .to_owned()
    };
    match defined.iter().rev().find(|one| one.name == name) {
        Some(one) if one.what == What::Class => {
            let start = format!("{name}.");
            let methods: Vec<&str> = callable
                .iter()
                .copied()
                .filter(|method| method.starts_with(&start))
                .collect();
            let stop = usage(format!("`{name}` is a class, and inputs are of functions"));
            if methods.is_empty() {
                stop.hint("it has no methods of its own")
            } else {
                stop.hint(format!("its methods: {}", listed(&methods)))
            }
        }
        Some(one) if one.what == What::Lambda => {
            usage(format!("`{name}` is a lambda, and inputs are of functions"))
                .hint(format!("write it as `def {name}(…):`"))
        }
        Some(one) if one.what == What::Inner => usage(format!(
            "`{name}` is within `{}`: it cannot be called from outside",
            parent(name)
        ))
        .hint(format!("search for inputs of `{}`", parent(name))),
        _ => {
            let inner = defined
                .iter()
                .find(|one| one.what == What::Inner && one.name.ends_with(&format!(".{name}")));
            let stop = usage(format!("there is no function `{name}`"));
            if let Some(inner) = inner {
                let outer = parent(&inner.name);
                return stop.hint(format!(
                    "there is one within `{outer}`, which cannot be called from outside"
                ));
            }
            let close = near(name, callable.iter().copied());
            if close.is_empty() {
                stop.hint(format!("functions of the file: {}", listed(&callable)))
            } else {
                stop.hint(format!("near: {}", close.join(", ")))
            }
        }
    }
}

/// What is said of a file that is not there.
pub fn file(path: &Utf8Path) -> Stop {
    let usage = |message: String| Stop::new(Outcome::Usage, message);
    let form = "a target is FILE.py::function or FILE.py::Class.method";
    if path.is_dir() {
        return usage(format!("`{path}` is a folder")).hint(form);
    }
    let stop = usage(format!("there is no file `{path}`"));
    let folder = match path.parent() {
        Some(folder) if folder != "" => folder,
        _ => Utf8Path::new("."),
    };
    let Ok(entries) = folder.read_dir_utf8() else {
        return stop.hint(format!("there is no folder `{folder}` either"));
    };
    let names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| Utf8Path::new(name).extension() == Some("py"))
        .collect();
    let stem = |name: &str| Utf8Path::new(name).file_stem().unwrap_or("").to_owned();
    let stems: Vec<String> = names.iter().map(|name| stem(name)).collect();
    let wanted = stem(path.file_name().unwrap_or(""));
    let close: Vec<String> = near(&wanted, stems.iter().map(String::as_str))
        .into_iter()
        .map(|name| folder.join(format!("{name}.py")).to_string())
        .map(|name| name.trim_start_matches("./").to_owned())
        .collect();
    if close.is_empty() {
        stop.hint(form)
    } else {
        stop.hint(format!("near: {}", close.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn why_a_name_is_no_function_is_said() {
        let source = "double = lambda x: x\n\ndef outer(x):\n    def inner(y): ...\n\n\
                      class Empty: ...\n\nclass Cart:\n    def add(self): ...\n";
        let said = |function: &str| {
            let subject = Subject {
                file: "/x.py".into(),
                function: function.into(),
                root: None,
            };
            let stop = explained(Stop::new(Outcome::Usage, "?"), &subject, source);
            format!("{}; {}", stop.message, stop.hint.unwrap_or_default())
        };
        for (function, words) in [
            (
                "double",
                "is a lambda, and inputs are of functions; write it as `def double",
            ),
            ("outer.inner", "is within `outer`"),
            ("inner", "there is one within `outer`"),
            (
                "Cart",
                "is a class, and inputs are of functions; its methods: Cart.add",
            ),
            ("Empty", "no methods"),
            ("outr", "there is no function `outr`; near: outer"),
            ("add", "near: Cart.add"),
            ("zebra", "functions of the file: outer, Cart.add"),
        ] {
            assert!(
                said(function).contains(words),
                "{function}: {}",
                said(function)
            );
        }
    }

    #[test]
    fn files_with_a_similar_name_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        std::fs::write(root.join("orders.py"), "").unwrap();
        let stop = file(&root.join("order.py"));
        assert!(stop.hint.unwrap().ends_with("orders.py"));
        assert!(file(&root).message.contains("is a folder"));
        let stop = file(&root.join("zebra.py"));
        assert!(stop.hint.unwrap().contains("FILE.py::function"));
        assert!(
            file(&root.join("no/x.py"))
                .hint
                .unwrap()
                .contains("no folder")
        );
    }
}
