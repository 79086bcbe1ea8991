//! New calls: variations of one or two that came near, or ones drawn anew.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::Literal;

use super::genes::{Genes, Slot, Way, fits};
use super::mutate::{mutated, mutated_at};
use super::population::{Member, Population};
use super::seeds::Ground;
use super::value::{REBUILT, Value};

/// How often a variation that is not what the source says of the parameter is tried all the same.
const OTHERWISE: f64 = 0.25;

/// A new call.
pub fn child(ground: &Ground<'_>, population: &Population, random: &mut Random) -> Genes {
    let parent = if random.chance(0.08) {
        None
    } else {
        population.parent(random)
    };
    let Some(parent) = parent else {
        return drawn(ground, random);
    };
    if let Some(genes) = continued(ground, parent, random) {
        return genes;
    }
    let mut genes = parent.genes.clone();
    if genes.len() > 1
        && random.chance(0.15)
        && let Some(other) = population.parent(random)
    {
        for (gene, theirs) in genes.iter_mut().zip(&other.genes) {
            if random.chance(0.5) {
                gene.clone_from(theirs);
            }
        }
    }
    if genes.is_empty() {
        return genes;
    }
    let changes = 1 + random.below(3).min(random.below(3));
    for _ in 0..changes {
        let at = random.below(genes.len());
        let slot = &ground.slots[at];
        genes[at] = match &genes[at] {
            Some(_) if !slot.required && random.chance(0.1) => None,
            Some(value) => Some(varied(ground, at, value, random)),
            None if random.chance(0.5) => {
                let kind = *random.pick(&ground.kinds[at]);
                Some(ground.value(at, kind, random))
            }
            None => None,
        };
    }
    genes
}

fn drawn(ground: &Ground<'_>, random: &mut Random) -> Genes {
    let slots = ground.slots.iter().enumerate();
    slots
        .map(|(at, slot)| {
            if !slot.required && random.chance(0.5) {
                return None;
            }
            let kinds = &ground.kinds[at];
            let kind = random.below(kinds.len()).min(random.below(kinds.len()));
            Some(ground.value(at, kinds[kind], random))
        })
        .collect()
}

/// A change at the place where the result goes wrong: many functions go through their input in order.
fn continued(ground: &Ground<'_>, parent: &Member, random: &mut Random) -> Option<Genes> {
    let (start, end) = parent.differs?;
    if !random.chance(0.3) {
        return None;
    }
    let mut genes = parent.genes.clone();
    let at = random.below(genes.len().max(1));
    let value = genes.get(at)?.as_ref()?;
    let length = match value {
        Value::Atom(Literal::Str(text)) => text.chars().count(),
        other => other.parts().len(),
    };
    let place = if random.chance(0.7) {
        start
    } else {
        length.saturating_sub(end + 1)
    };
    let value = mutated_at(value, place, ground.pool, random);
    if fits(ground.slots[at].way, &value) {
        genes[at] = Some(value);
    }
    Some(genes)
}

fn varied(ground: &Ground<'_>, at: usize, value: &Value, random: &mut Random) -> Value {
    let slot = &ground.slots[at];
    if random.chance(0.1) {
        let kind = *random.pick(&ground.kinds[at]);
        return ground.value(at, kind, random);
    }
    let new = mutated(value, ground.pool, random);
    if !fits(slot.way, &new) || !is_object_of(slot, &new) {
        return value.clone();
    }
    let is_said = slot.said.as_ref().is_none_or(|said| said.takes(&new));
    if is_said || random.chance(OTHERWISE) {
        return new;
    }
    let kind = *random.pick(&ground.kinds[at]);
    ground.value(at, kind, random)
}

/// Whether a method may be called on a value.
fn is_object_of(slot: &Slot, value: &Value) -> bool {
    if slot.way != Way::Receiver {
        return true;
    }
    match (value, &slot.annotation) {
        (Value::Built(class, _), Some(name)) => class == name || class == REBUILT,
        _ => true,
    }
}
