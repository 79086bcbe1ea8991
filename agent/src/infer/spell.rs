//! How a call is written so that it does, pasted into Python, what was seen.

use ndbg_tools::python::executions::{Call, Description, Outcome};

/// Items that are taken of what does not end.
const MOST_ITEMS: usize = 10_000;

/// What takes all of an asynchronous iterator. Test files define it, and answers begin with it.
pub const COLLECTED: &str = "\
async def collected(items):
    return [item async for item in items]
";

/// The call as a person writes it: a property has no brackets, what yields is taken to its end, and what is
/// awaited is run.
pub fn written(description: &Description, function: &str, call: &Call) -> String {
    let name = function.rsplit('.').next().unwrap_or(function);
    let reached = match &call.receiver {
        // `C.name.setter`: an assignment, as an expression.
        Some(receiver) if description.is_setter => {
            let name = function.rsplit('.').nth(1).unwrap_or(name);
            format!("setattr({receiver}, '{name}', {})", call.arguments)
        }
        Some(receiver) if description.is_property => format!("{receiver}.{name}"),
        Some(receiver) => format!("{receiver}.{name}({})", call.arguments),
        None => format!("{function}({})", call.arguments),
    };
    ran(description, &reached)
}

/// A call of what may have to be awaited or taken to its end.
pub fn ran(description: &Description, call: &str) -> String {
    if description.is_async_generator {
        format!("asyncio.run(collected({call}))")
    } else if description.is_async {
        format!("asyncio.run({call})")
    } else if description.is_generator {
        format!("list({call})")
    } else {
        call.to_owned()
    }
}

/// A written call with an end to what it yields, where that has none of its own.
pub fn bounded(description: &Description, call: String, outcome: &Outcome) -> String {
    let is_long = match outcome {
        Outcome::Returned { text, cut, .. } => *cut || text.contains('…'),
        _ => false,
    };
    if !description.is_generator || !is_long {
        return call;
    }
    match call
        .strip_prefix("list(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        Some(inner) => format!("list(itertools.islice({inner}, {MOST_ITEMS}))"),
        None => call,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn description() -> Description {
        Description {
            parameters: Vec::new(),
            receiver: None,
            classes: Vec::new(),
            literals: Vec::new(),
            lines: (1, 2),
            is_async: false,
            is_generator: false,
            is_property: false,
            is_setter: false,
            is_async_generator: false,
            unsteady_names: Vec::new(),
        }
    }

    #[test]
    fn a_call_does_what_was_seen_when_it_is_pasted() {
        let call = |receiver: Option<&str>, arguments: &str| Call {
            receiver: receiver.map(Into::into),
            arguments: arguments.into(),
        };
        let plain = description();
        assert_eq!(written(&plain, "f", &call(None, "1")), "f(1)");
        assert_eq!(
            written(&plain, "Cart.add", &call(Some("Cart()"), "1")),
            "Cart().add(1)"
        );
        let awaited = Description {
            is_async: true,
            ..description()
        };
        assert_eq!(
            written(&awaited, "co", &call(None, "3")),
            "asyncio.run(co(3))"
        );
        let yielding = Description {
            is_generator: true,
            ..description()
        };
        assert_eq!(written(&yielding, "gen", &call(None, "2")), "list(gen(2))");
        let both = Description {
            is_async_generator: true,
            ..description()
        };
        assert_eq!(
            written(&both, "S.agen", &call(Some("S(1)"), "2")),
            "asyncio.run(collected(S(1).agen(2)))"
        );
        let accessed = Description {
            is_property: true,
            ..description()
        };
        assert_eq!(
            written(&accessed, "Cart.size", &call(Some("Cart('', 77)"), "")),
            "Cart('', 77).size"
        );
    }
}
