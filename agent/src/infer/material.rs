//! The values that a search starts from: those of the goal, then those of the source.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::Goal;

use super::pool::Pool;
use super::readings;
use super::value::Value;

/// The values; the first are tried first.
pub fn pool<'l>(
    goal: &Goal,
    wanted: impl Iterator<Item = &'l Literal>,
    literals: &[String],
    source: &str,
    random: &mut Random,
) -> Pool {
    let mut pool = Pool::default();
    for value in wanted {
        pool.add_wanted(&value.clone().into());
    }
    let held: Vec<Value> = literals
        .iter()
        .filter_map(|text| Some(literal::parse(text).ok()?.into()))
        .collect();
    pool.add_undone(&held);
    for value in &held {
        pool.add_with_kin(value);
    }
    readings::add(&mut pool, source, &held, random);
    pool.fill();
    if let Goal::Raises(class) | Goal::RaisesAt { class, .. } = goal
        && class
            .rsplit('.')
            .next()
            .is_some_and(|name| name.starts_with("Unicode"))
    {
        // Half a character cannot be encoded, nor can these bytes be decoded.
        for text in ["'\\ud800'", "'a\\udc80'"] {
            pool.add(Value::Named(text.to_owned()));
        }
        pool.add(Literal::Bytes(vec![0xff]).into());
        pool.add(Literal::Bytes(vec![b'a', 0x80]).into());
    }
    pool
}
