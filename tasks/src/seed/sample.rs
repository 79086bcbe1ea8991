//! Which mutation is tried next: by chance, but the same for the same seed, and spread over operators,
//! functions and files.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;

use super::site::Mutation;

/// A generator of random numbers (splitmix64) that is the same on every machine and in every version.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator for a seed and a name: the same seed must not pick alike in every repository.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed ^ hash)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Puts `items` in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }
}

/// How often something was kept and tried.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Count {
    kept: usize,
    tried: usize,
}

/// The mutations not tried yet.
#[derive(Debug)]
pub struct Sample {
    /// By operator, in random order.
    pools: Vec<(&'static str, Vec<Mutation>)>,
    operators: BTreeMap<&'static str, Count>,
    functions: BTreeMap<(Utf8PathBuf, String), Count>,
    files: BTreeMap<Utf8PathBuf, Count>,
}

impl Sample {
    /// A sample of `mutations`, which come in an order that does not depend on chance.
    pub fn new(mutations: Vec<Mutation>, random: &mut Random) -> Self {
        let mut pools: BTreeMap<&'static str, Vec<Mutation>> = BTreeMap::new();
        for mutation in mutations {
            pools.entry(mutation.operator).or_default().push(mutation);
        }
        let mut pools: Vec<_> = pools.into_iter().collect();
        random.shuffle(&mut pools);
        for (_, pool) in &mut pools {
            random.shuffle(pool);
        }
        Self {
            pools,
            operators: BTreeMap::new(),
            functions: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// The next mutation: of the operator that has the fewest bugs so far, in the function and then in
    /// the file that have the fewest.
    pub fn next(&mut self) -> Option<Mutation> {
        let (_, pool) = self
            .pools
            .iter_mut()
            .filter(|(_, pool)| !pool.is_empty())
            .min_by_key(|(operator, _)| {
                self.operators.get(operator).copied().unwrap_or_default()
            })?;
        let (place, _) = pool.iter().enumerate().min_by_key(|(_, mutation)| {
            let function = self.functions.get(&function_of(mutation)).copied();
            let file = self.files.get(&file_of(mutation)).copied();
            let (function, file) = (function.unwrap_or_default(), file.unwrap_or_default());
            (function.kept, file, function.tried)
        })?;
        let mutation = pool.remove(place);
        self.count(&mutation, |count| count.tried += 1);
        Some(mutation)
    }

    /// Says that a mutation was kept.
    pub fn kept(&mut self, mutation: &Mutation) {
        self.count(mutation, |count| count.kept += 1);
    }

    fn count(&mut self, mutation: &Mutation, change: fn(&mut Count)) {
        change(self.operators.entry(mutation.operator).or_default());
        change(self.functions.entry(function_of(mutation)).or_default());
        change(self.files.entry(file_of(mutation)).or_default());
    }
}

fn file_of(mutation: &Mutation) -> Utf8PathBuf {
    mutation
        .edits
        .first()
        .map(|edit| edit.file.clone())
        .unwrap_or_default()
}

fn function_of(mutation: &Mutation) -> (Utf8PathBuf, String) {
    (file_of(mutation), mutation.function.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndbg_tools::source::Edit;

    fn mutation(operator: &'static str, file: &str, function: &str, at: usize) -> Mutation {
        Mutation {
            operator,
            edits: vec![Edit::replace(file, at..at, "x")],
            function: function.into(),
            line: 1,
            summary: String::new(),
        }
    }

    fn all() -> Vec<Mutation> {
        let mut out = Vec::new();
        for at in 0..20 {
            out.push(mutation("one", "a.py", "f", at));
            out.push(mutation("one", "a.py", "g", at));
            out.push(mutation("two", "b.py", "f", at));
        }
        out
    }

    fn take(seed: u64, count: usize) -> Vec<Mutation> {
        let mut sample = Sample::new(all(), &mut Random::new(seed, "name"));
        (0..count)
            .filter_map(|_| {
                let next = sample.next()?;
                sample.kept(&next);
                Some(next)
            })
            .collect()
    }

    #[test]
    fn the_same_seed_picks_the_same() {
        assert_eq!(take(1, 30), take(1, 30));
        assert_ne!(take(1, 30), take(2, 30));
    }

    #[test]
    fn picks_are_spread() {
        let picked = take(3, 8);
        let of = |test: &dyn Fn(&Mutation) -> bool| picked.iter().filter(|m| test(m)).count();
        assert_eq!(of(&|m| m.operator == "one"), 4);
        assert_eq!(of(&|m| m.operator == "one" && m.function == "f"), 2);
    }

    #[test]
    fn every_mutation_comes_once() {
        assert_eq!(take(1, 1000).len(), 60);
    }

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = Random(0);
        assert_eq!(random.next(), 0xe220_a839_7b1d_cdaf);
    }
}
