//! Which tokens may come next.

/// A set of token ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSet {
    words: Vec<u64>,
}

impl TokenSet {
    /// Nothing, of a vocabulary of `size` tokens.
    pub fn new(size: usize) -> Self {
        Self {
            words: vec![0; size.div_ceil(64)],
        }
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Puts a token in; one that is not in the vocabulary is left out.
    pub fn insert(&mut self, token: u32) {
        if let Some(word) = self.words.get_mut(token as usize / 64) {
            *word |= 1 << (token % 64);
        }
    }

    /// Whether it has a token.
    pub fn contains(&self, token: u32) -> bool {
        let word = self.words.get(token as usize / 64);
        word.is_some_and(|word| word >> (token % 64) & 1 == 1)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Its tokens, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let words = (0_u32..).zip(&self.words);
        words.flat_map(|(place, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(place * 64 + bit)
            })
        })
    }
}

impl Extend<u32> for TokenSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, tokens: I) {
        for token in tokens {
            self.insert(token);
        }
    }
}

/// A language of token sequences. It must allow the token that ends a text where one may end.
pub trait Mask: Sync {
    /// A walk from the beginning.
    fn begin(&self) -> Box<dyn Walk + '_>;
}

/// A place in a [`Mask`]. What is not allowed is never generated.
pub trait Walk {
    /// Puts what may come next into a set that is empty. A generation ends where that is nothing.
    fn allowed(&self, tokens: &mut TokenSet);

    /// Goes on with a token that was allowed.
    fn advance(&mut self, token: u32);
}

/// A mask of a list of sequences: names in scope, lines of a function.
#[derive(Debug, Clone, Default)]
pub struct Trie {
    nodes: Vec<Node>,
    ends: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    /// Tokens that go on, and where to.
    children: Vec<(u32, usize)>,
    complete: bool,
}

impl Trie {
    /// Of sequences, after each of which one of `ends` may come. Without `ends` a generation ends at
    /// a sequence that no other one continues.
    pub fn new<S: AsRef<[u32]>>(sequences: impl IntoIterator<Item = S>, ends: &[u32]) -> Self {
        let mut nodes = vec![Node::default()];
        for sequence in sequences {
            let mut at = 0;
            for &token in sequence.as_ref() {
                let known = nodes[at].children.iter().find(|child| child.0 == token);
                at = if let Some(&(_, next)) = known {
                    next
                } else {
                    let next = nodes.len();
                    nodes[at].children.push((token, next));
                    nodes.push(Node::default());
                    next
                };
            }
            nodes[at].complete = true;
        }
        Self {
            nodes,
            ends: ends.to_vec(),
        }
    }
}

impl Mask for Trie {
    fn begin(&self) -> Box<dyn Walk + '_> {
        let at = (!self.nodes.is_empty()).then_some(0);
        Box::new(Step { trie: self, at })
    }
}

struct Step<'a> {
    trie: &'a Trie,
    /// None after an end.
    at: Option<usize>,
}

impl Walk for Step<'_> {
    fn allowed(&self, tokens: &mut TokenSet) {
        if let Some(at) = self.at {
            let node = &self.trie.nodes[at];
            tokens.extend(node.children.iter().map(|child| child.0));
            if node.complete {
                tokens.extend(self.trie.ends.iter().copied());
            }
        }
    }

    fn advance(&mut self, token: u32) {
        let node = self.at.map(|at| &self.trie.nodes[at]);
        let child = node.and_then(|node| node.children.iter().find(|child| child.0 == token));
        self.at = child.map(|child| child.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(trie: &Trie, so_far: &[u32]) -> Vec<u32> {
        let mut walk = trie.begin();
        for &token in so_far {
            walk.advance(token);
        }
        let mut set = TokenSet::new(300);
        walk.allowed(&mut set);
        set.iter().collect()
    }

    #[test]
    fn a_trie_allows_what_goes_on_with_a_sequence_or_ends_it() {
        let trie = Trie::new([vec![1, 2], vec![1, 2, 299], vec![1, 70]], &[9]);
        assert_eq!(allowed(&trie, &[]), [1]);
        assert_eq!(allowed(&trie, &[1]), [2, 70]);
        assert_eq!(allowed(&trie, &[1, 2]), [9, 299]);
        assert_eq!(allowed(&trie, &[1, 70]), [9]);
        assert_eq!(allowed(&trie, &[1, 70, 9]), [0; 0]);
        assert_eq!(allowed(&trie, &[5]), [0; 0]);
        assert_eq!(allowed(&Trie::default(), &[]), [0; 0]);
    }
}
