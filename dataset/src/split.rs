//! Which items train and which validate.
//!
//! An item's side is decided by the hash of its largest function in normal form, so it never changes as
//! the data grows, and copies of a function fall on one side. What is left is a helper that items of both
//! sides share: such an item of the training side is withheld.

use std::collections::HashSet;

use crate::near_duplicates::{fnv, mix};
use crate::normalised::{Normalised, NormalisedFunction};

/// Where an item goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// The model sees it.
    Training,
    /// It measures the model.
    Validation,
    /// Neither: it shares this function with the validation side.
    Withheld {
        /// Name of the function in the item.
        function: String,
    },
}

/// Functions with fewer tokens in normal form are too common to tell anything: accessors,
/// constructors that store their arguments.
const TELLING: usize = 16;

fn telling(item: &Normalised) -> impl Iterator<Item = &NormalisedFunction> {
    item.functions
        .iter()
        .filter(|function| function.tokens >= TELLING)
}

/// Whether an item validates, when `share` of all functions do.
pub fn validates(item: &Normalised, share: f64) -> bool {
    let largest = item
        .functions
        .iter()
        .max_by_key(|function| (function.tokens, &function.hash));
    let hash = largest.map_or_else(|| item.hash(), |function| function.hash.clone());
    let unit = (mix(fnv(hash.as_bytes())) >> 11) as f64 / (1_u64 << 53) as f64;
    unit < share
}

/// The side of each item.
pub fn split(items: &[Normalised], share: f64) -> Vec<Side> {
    let validation: Vec<bool> = items.iter().map(|item| validates(item, share)).collect();
    let held: HashSet<&str> = items
        .iter()
        .zip(&validation)
        .filter(|(_, validates)| **validates)
        .flat_map(|(item, _)| telling(item).map(|function| function.hash.as_str()))
        .collect();
    items
        .iter()
        .zip(&validation)
        .map(|(item, validates)| {
            if *validates {
                return Side::Validation;
            }
            match telling(item).find(|function| held.contains(function.hash.as_str())) {
                Some(function) => Side::Withheld {
                    function: function.name.clone(),
                },
                None => Side::Training,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Side, split, telling};
    use crate::generate::program_at;
    use crate::normalised::{Normalised, normalise};
    use crate::profile::Profile;

    fn items(from: u64, to: u64) -> Vec<Normalised> {
        let profile = Profile::standard_library().unwrap();
        (from..to)
            .map(|index| normalise(&program_at(3, index, &profile).source).unwrap())
            .collect()
    }

    #[test]
    fn no_function_is_on_both_sides() {
        let mut items = items(0, 600);
        // Helpers that several items share.
        for at in 1..items.len() {
            if at % 3 == 0 {
                let shared = items[at - 1].functions.clone();
                items[at].functions.extend(shared);
            }
        }
        let sides = split(&items, 0.2);
        let of = |wanted: &Side| -> HashSet<&str> {
            let chosen = items.iter().zip(&sides).filter(|(_, side)| *side == wanted);
            chosen
                .flat_map(|(item, _)| telling(item).map(|one| one.hash.as_str()))
                .collect()
        };
        let (training, validation) = (of(&Side::Training), of(&Side::Validation));
        assert!(!training.is_empty() && !validation.is_empty());
        assert_eq!(training.intersection(&validation).count(), 0);
        assert!(
            sides
                .iter()
                .any(|side| matches!(side, Side::Withheld { .. }))
        );
    }

    #[test]
    fn sides_stay_as_the_data_grows() {
        let (few, many) = (items(0, 100), items(0, 300));
        for (before, after) in split(&few, 0.1).iter().zip(split(&many, 0.1)) {
            assert_eq!(*before == Side::Validation, after == Side::Validation);
        }
        let validating = split(&many, 0.1)
            .iter()
            .filter(|side| **side == Side::Validation)
            .count();
        assert!((10..60).contains(&validating), "{validating}");
    }
}
