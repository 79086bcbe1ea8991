//! Comprehensions, unrolled into the loops that they stand for.

use ruff_python_ast::{Comprehension, Expr};

use super::machine::{Machine, Operations, Outcome};
use super::object::Ref;

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// What the element expressions come to, one after the other, for each turn.
    pub(super) fn comprehension(
        &mut self,
        generators: &'p [Comprehension],
        elements: &[&'p Expr],
    ) -> Outcome<Vec<Ref>> {
        // The outermost iterable is evaluated where the comprehension stands.
        let Some((first, _)) = generators.split_first() else {
            return Ok(Vec::new());
        };
        let iterable = self.expression(&first.iter)?;
        let outer = self.scope();
        let inner = self.new_scope(outer, None, false);
        self.frame().scope = inner;
        let mut found = Vec::new();
        let result = self.turns(generators, iterable, elements, &mut found);
        self.frame().scope = outer;
        result.map(|()| found)
    }

    fn turns(
        &mut self,
        generators: &'p [Comprehension],
        iterable: Ref,
        elements: &[&'p Expr],
        found: &mut Vec<Ref>,
    ) -> Outcome<()> {
        let Some((generator, rest)) = generators.split_first() else {
            return Ok(());
        };
        let mut walk = self.walk(iterable)?;
        while let Some(item) = self.advance(&mut walk)? {
            self.assign_own(&generator.target, item)?;
            let mut taken = true;
            for condition in &generator.ifs {
                let value = self.expression(condition)?;
                taken = self.truth(value)?;
                if !taken {
                    break;
                }
            }
            if !taken {
                continue;
            }
            if let Some(next) = rest.first() {
                let iterable = self.expression(&next.iter)?;
                self.turns(rest, iterable, elements, found)?;
            } else {
                for element in elements {
                    let value = self.expression(element)?;
                    found.push(value);
                }
            }
        }
        Ok(())
    }
}
