//! Names that may have been meant.

/// Names that are a few letters from another one, the nearest first.
pub fn near<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    const MOST: usize = 3;
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|other| {
            // The last part is what a function is called.
            let last = |text: &str| text.rsplit('.').next().unwrap_or("").to_lowercase();
            let whole = edits(&name.to_lowercase(), &other.to_lowercase());
            let part = edits(&last(name), &last(other));
            let edits = whole.min(part);
            let letters = last(name).chars().count();
            (edits <= (letters / 3).max(1) && edits < letters).then_some((edits, other))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// Letters to leave out, add, exchange or swap with the next one.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_named() {
        let known = ["initials", "postage", "Shelf.put", "tokens"];
        assert_eq!(near("initial", known), ["initials"]);
        assert_eq!(near("intiials", known), ["initials"]);
        assert_eq!(near("put", known), ["Shelf.put"]);
        assert_eq!(near("Shelf.putt", known), ["Shelf.put"]);
        assert!(near("zebra", known).is_empty());
        assert!(near("f", known).is_empty());
    }
}
