//! Which of the tests that catch a bug a tool may see.

use std::collections::BTreeMap;

use super::sample::Random;

/// The test function that a node id belongs to: the id without its parameters.
pub fn function_of(id: &str) -> &str {
    // Parameters may hold anything, `::` and brackets too, so they start at the first bracket after
    // the file's name.
    let file = id.find("::").unwrap_or(id.len());
    id[file..].find('[').map_or(id, |at| &id[..file + at])
}

/// Visible and hidden tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    pub visible: Vec<String>,
    pub hidden: Vec<String>,
}

/// Splits the catching tests in halves by test function, the larger one visible. A single function
/// is split by its parameters; a single test stays visible, and so do those of which `hideable` says
/// that they cannot go away alone.
pub fn split(
    catching: &[String],
    random: &mut Random,
    hideable: impl Fn(&[String]) -> bool,
) -> Split {
    let mut functions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for id in catching {
        functions
            .entry(function_of(id))
            .or_default()
            .push(id.clone());
    }
    let mut groups: Vec<Vec<String>> = functions.into_values().collect();
    if let [only] = groups.as_slice() {
        groups = only.iter().map(|id| vec![id.clone()]).collect();
    }
    random.shuffle(&mut groups);
    let half = groups.len() / 2;
    let mut hidden = Vec::new();
    groups.retain(|group| {
        let hide = hidden.len() < half && hideable(group);
        if hide {
            hidden.push(group.clone());
        }
        !hide
    });
    let sorted = |groups: Vec<Vec<String>>| {
        let mut ids = groups.concat();
        ids.sort();
        ids
    };
    Split {
        visible: sorted(groups),
        hidden: sorted(hidden),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(ids: &[&str]) -> (usize, usize) {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let split = split(&ids, &mut Random::new(1, ""), |_| true);
        let mut all = [split.visible.clone(), split.hidden.clone()].concat();
        all.sort();
        assert_eq!(all, ids);
        (split.visible.len(), split.hidden.len())
    }

    #[test]
    fn parameters_belong_to_their_function() {
        assert_eq!(function_of("t.py::test_a[x::y[0]]"), "t.py::test_a");
        assert_eq!(function_of("t[1].py::T::test_a"), "t[1].py::T::test_a");
    }

    #[test]
    fn what_cannot_be_hidden_stays_visible() {
        let ids = ["t::a", "t::b", "t::c", "t::d"].map(str::to_owned);
        let split = split(&ids, &mut Random::new(1, ""), |group| group[0] > ids[1]);
        assert_eq!(split.hidden, ["t::c", "t::d"]);
    }

    #[test]
    fn halves_are_made_of_whole_functions() {
        assert_eq!(halves(&["t::a"]), (1, 0));
        assert_eq!(halves(&["t::a", "t::b"]), (1, 1));
        assert_eq!(halves(&["t::a", "t::b", "t::c"]), (2, 1));
        assert_eq!(halves(&["t::a[0]", "t::a[1]", "t::a[2]"]), (2, 1));
        let (visible, hidden) = halves(&["t::a[0]", "t::a[1]", "t::a[2]", "t::b"]);
        assert!(visible + hidden == 4 && (visible == 1 || hidden == 1));
    }
}
