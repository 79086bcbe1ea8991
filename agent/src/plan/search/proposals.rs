//! Where operators put what they propose.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use tree_sitter::Node;

use super::layout::Change;
use super::weights::{Features, WEIGHTS};

/// A proposed edit before it becomes a candidate.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Number among all drafts, the likeliest first.
    pub number: usize,
    /// Index of the file.
    pub file: usize,
    /// Offset of the enclosing outermost function (or of the statement at module level): pairs are
    /// made within it.
    pub function: usize,
    /// Offset of the statement.
    pub statement: usize,
    /// Index of the operator.
    pub operator: usize,
    /// The changes, all in one file.
    pub changes: Vec<Change>,
    /// What the candidate believes, where the changes do not say it themselves.
    pub claim: Option<&'static str>,
    /// What is known of it.
    pub features: Features,
    /// Ranking score.
    pub score: f64,
    /// The score before any results.
    pub base: f64,
}

/// Collects the proposals of all operators.
#[derive(Debug, Default)]
pub struct Proposals {
    drafts: Vec<Draft>,
    site: Vec<(Vec<Change>, f64, Option<&'static str>)>,
}

impl Proposals {
    /// Proposes `text` for a node. `fit` is 0 to 1: how well it suits the place.
    pub fn replace(&mut self, node: Node<'_>, text: impl Into<String>, fit: f64) {
        self.range(node.byte_range(), text, fit);
    }

    /// Proposes `text` for a range.
    pub fn range(&mut self, range: Range<usize>, text: impl Into<String>, fit: f64) {
        self.site.push((vec![Change::new(range, text)], fit, None));
    }

    /// Proposes a change, when there is one, and says why.
    pub fn change(&mut self, change: Option<Change>, fit: f64, claim: &'static str) {
        if let Some(change) = change {
            self.site.push((vec![change], fit, Some(claim)));
        }
    }

    /// Proposes changes that belong together.
    pub fn together(&mut self, changes: Vec<Change>, fit: f64, claim: &'static str) {
        self.site.push((changes, fit, Some(claim)));
    }

    /// Proposes to swap two nodes.
    pub fn swap(&mut self, source: &str, a: Node<'_>, b: Node<'_>, fit: f64) {
        let (a, b) = if a.start_byte() <= b.start_byte() {
            (a, b)
        } else {
            (b, a)
        };
        if a.end_byte() > b.start_byte() {
            return;
        }
        let text = format!(
            "{}{}{}",
            &source[b.byte_range()],
            &source[a.end_byte()..b.start_byte()],
            &source[a.byte_range()]
        );
        self.range(a.start_byte()..b.end_byte(), text, fit);
    }

    /// Ends an operator's turn at a site: its alternatives there decay in the order of their fit,
    /// so that no site floods the head of the list.
    pub fn close(&mut self, place: &Place, prior: f64) {
        let mut site = std::mem::take(&mut self.site);
        let alternatives = site.len();
        site.sort_by(|a, b| b.1.total_cmp(&a.1));
        site.truncate(SITE_CAP);
        for (k, (changes, fit, claim)) in site.drain(..).enumerate() {
            let features = Features {
                suspicion: place.suspicion,
                prior,
                fit,
                better: k,
                earlier: 0,
                alternatives,
                added: added(&changes),
                needed: 0.0,
            };
            self.drafts.push(Draft {
                number: 0,
                file: place.file,
                function: place.function,
                statement: place.statement,
                operator: place.operator,
                changes,
                claim,
                features,
                score: WEIGHTS.score(&features),
                base: 0.0,
            });
        }
        self.site = site;
    }

    /// All drafts, best first; within a statement an operator's alternatives decay once more.
    /// Textually equal proposals of several operators are merged into the best of them.
    pub fn finish(self) -> Vec<Draft> {
        let mut drafts = self.drafts;
        sort(&mut drafts);
        let mut seen: HashMap<(usize, usize, usize), usize> = HashMap::new();
        for draft in &mut drafts {
            let count = seen
                .entry((draft.file, draft.statement, draft.operator))
                .or_default();
            draft.features.earlier = *count;
            draft.score = WEIGHTS.score(&draft.features);
            *count += 1;
        }
        sort(&mut drafts);
        let mut known = HashSet::new();
        drafts.retain(|d| {
            let mut hasher = DefaultHasher::new();
            (d.file, &d.changes).hash(&mut hasher);
            known.insert(hasher.finish())
        });
        for (number, draft) in drafts.iter_mut().enumerate() {
            draft.number = number;
            draft.base = draft.score;
        }
        drafts
    }
}

/// Alternatives of one operator at one site; what is beyond would never be reached.
const SITE_CAP: usize = 80;

/// Characters that changes add.
fn added(changes: &[Change]) -> usize {
    let new: usize = changes.iter().map(|c| c.text.len()).sum();
    let old: usize = changes.iter().map(|c| c.range.len()).sum();
    new.saturating_sub(old)
}

/// Where and by whom something is proposed.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Index of the file.
    pub file: usize,
    /// See [`Draft::function`].
    pub function: usize,
    /// See [`Draft::statement`].
    pub statement: usize,
    /// Index of the operator.
    pub operator: usize,
    /// Suspiciousness of the statement.
    pub suspicion: f64,
}

/// Best first; equal scores in source order, then by text, so that runs are repeatable.
pub fn sort(drafts: &mut [Draft]) {
    drafts.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.file.cmp(&b.file))
            .then_with(|| a.operator.cmp(&b.operator))
            .then_with(|| key(a).cmp(&key(b)))
    });
}

fn key(draft: &Draft) -> Option<(usize, usize, &str)> {
    draft
        .changes
        .first()
        .map(|c| (c.range.start, c.range.end, c.text.as_str()))
}
