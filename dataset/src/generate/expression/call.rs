//! Calls: methods of builtin types, builtins, the program's own functions.

use super::super::Author;
use super::super::author::Callable;
use super::super::code::{Code, Rank};
use super::super::literal::number;
use super::super::scope::Variable;
use super::super::signature::{Effect, SIGNATURES, Signature};
use super::super::types::{Binding, Type};
use super::argument::{argument, small};
use super::{expression, term};
use crate::profile::Metric;

const TRIES: usize = 4;

fn pick(
    author: &mut Author<'_>,
    metric: Metric,
    fits: impl Fn(&Signature) -> Option<Binding>,
) -> Option<(&'static Signature, Binding)> {
    let candidates: Vec<(&'static Signature, Binding)> = SIGNATURES
        .iter()
        .filter_map(|one| fits(one).map(|binding| (one, binding)))
        .collect();
    let weights: Vec<f64> = candidates
        .iter()
        .map(|(one, _)| author.weight(metric, &one.name) * if one.rare { 0.05 } else { 1.0 })
        .collect();
    let at = author.random.weighted(&weights)?;
    candidates.into_iter().nth(at)
}

fn returns(signature: &Signature, wanted: &Type) -> Option<Binding> {
    let mut binding = Binding::default();
    (signature.result != Type::Nothing && binding.unify(&signature.result, wanted))
        .then_some(binding)
}

fn has_receiver(author: &Author<'_>, signature: &Signature, binding: &Binding) -> bool {
    match &signature.receiver {
        Some(Type::Role(_)) | None => true,
        Some(pattern) => {
            binding.resolve(pattern).is_some()
                || author
                    .variables
                    .iter()
                    .any(|one| binding.clone().unify(pattern, &one.ty))
        }
    }
}

/// A method of a builtin type that returns `wanted`.
pub(super) fn method(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    for _ in 0..TRIES {
        let pure = author.pure;
        let reach: &Author<'_> = author;
        let known: Vec<(&'static Signature, Binding)> = SIGNATURES
            .iter()
            .filter(|one| one.receiver.is_some() && !(pure && one.effect != Effect::Nothing))
            .filter_map(|one| returns(one, wanted).map(|binding| (one, binding)))
            .filter(|(one, binding)| has_receiver(reach, one, binding))
            .collect();
        let weights: Vec<f64> = known
            .iter()
            .map(|(one, _)| {
                author.weight(Metric::Method, &one.name) * if one.rare { 0.05 } else { 1.0 }
            })
            .collect();
        let at = author.random.weighted(&weights)?;
        let (signature, mut binding) = known.into_iter().nth(at)?;
        if signature
            .raises
            .is_some_and(|error| !author.may_raise(error))
        {
            continue;
        }
        if let Some(code) = method_call(author, signature, &mut binding, height) {
            return Some(code);
        }
    }
    None
}

fn method_call(
    author: &mut Author<'_>,
    signature: &Signature,
    binding: &mut Binding,
    height: usize,
) -> Option<Code> {
    let pattern = signature.receiver.as_ref()?;
    let needs_variable = signature.effect != Effect::Nothing || signature.nonempty;
    let receiver = if matches!(pattern, Type::Role(_)) {
        argument(author, pattern, 1)?
    } else {
        let fits = {
            let known = binding.clone();
            move |one: &Variable| known.clone().unify(pattern, &one.ty)
        };
        let found = author
            .find(&fits)
            .filter(|_| needs_variable || height < 3 || author.random.chance(0.75));
        if let Some(at) = found {
            let shrinks = signature.effect == Effect::Shrinks;
            if signature.effect != Effect::Nothing && !author.can_resize(at, shrinks) {
                return None;
            }
            if signature.nonempty
                && author.variables[at].least == 0
                && !author.may_raise("IndexError")
            {
                return None;
            }
            let ty = author.variables[at].ty.clone();
            binding.unify(pattern, &ty);
            let code = author.read(at);
            if shrinks {
                author.weaken(at);
            }
            code
        } else {
            let wanted = binding
                .resolve(pattern)
                .filter(|_| !needs_variable && height >= 3)?;
            let code = term(author, &wanted, height - 1);
            if code.is_literal() {
                return None;
            }
            code
        }
    };
    let arguments = arguments(author, &signature.arguments, binding, height)?;
    let texts: Vec<String> = arguments.iter().map(|one| one.text.clone()).collect();
    let commas = author.style.commas(author.random, &texts);
    let mut code = Code::atom(format!(
        "{}.{}({commas})",
        receiver.receiver(),
        signature.name
    ));
    result_facts(&mut code, signature, receiver.size);
    Some(code)
}

fn arguments(
    author: &mut Author<'_>,
    patterns: &[Type],
    binding: &Binding,
    height: usize,
) -> Option<Vec<Code>> {
    patterns
        .iter()
        .map(|pattern| {
            argument(
                author,
                &binding.resolve(pattern)?,
                height.saturating_sub(1).max(1),
            )
        })
        .collect()
}

fn result_facts(code: &mut Code, signature: &Signature, source: u8) {
    match &signature.result {
        Type::Role(_) => {
            code.size = 1;
            code.nonnegative = true;
        }
        Type::Int => code.size = 4,
        _ => {
            let grows = matches!(
                signature.name.as_str(),
                "join" | "replace" | "center" | "ljust" | "rjust" | "zfill"
            );
            code.size = source.saturating_add(u8::from(grows));
        }
    }
}

/// A builtin that returns `wanted`.
pub(super) fn builtin(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    for _ in 0..TRIES {
        let (signature, mut binding) = pick(author, Metric::Builtin, |one| {
            if one.receiver.is_some() {
                None
            } else {
                returns(one, wanted)
            }
        })?;
        if signature
            .raises
            .is_some_and(|error| !author.may_raise(error))
        {
            continue;
        }
        if let Some(code) = builtin_call(author, signature, &mut binding, height) {
            return Some(code);
        }
    }
    None
}

fn builtin_call(
    author: &mut Author<'_>,
    signature: &Signature,
    binding: &mut Binding,
    height: usize,
) -> Option<Code> {
    let mut arguments = Vec::new();
    let mut size = 1;
    for (index, pattern) in signature.arguments.iter().enumerate() {
        let concrete = binding.resolve(pattern);
        let code = match concrete {
            Some(concrete) if index > 0 || !signature.nonempty => {
                let inner = height.saturating_sub(1).max(1);
                if index == 0 && !matches!(concrete, Type::Role(_)) {
                    term(author, &concrete, inner)
                } else {
                    argument(author, &concrete, inner)?
                }
            }
            _ => {
                let known = binding.clone();
                let at = author.find(|one| known.clone().unify(pattern, &one.ty))?;
                if signature.nonempty
                    && author.variables[at].least == 0
                    && !author.may_raise("ValueError")
                {
                    return None;
                }
                let ty = author.variables[at].ty.clone();
                binding.unify(pattern, &ty);
                author.read(at)
            }
        };
        // `len('abc')` and `str(3)` are what nobody writes.
        if index == 0 && code.is_literal() {
            return None;
        }
        // Nor `list(list(xs))`.
        if signature.arguments.len() == 1 && code.text.starts_with(&format!("{}(", signature.name))
        {
            return None;
        }
        size = size.max(code.size);
        arguments.push(code);
    }
    let mut texts: Vec<String> = arguments.iter().map(|one| one.text.clone()).collect();
    if texts.len() == 2 && texts[0] == texts[1] {
        return None;
    }
    keywords(author, signature, &arguments, &mut texts);
    let commas = author.style.commas(author.random, &texts);
    let mut code = Code::atom(format!("{}({commas})", signature.name));
    result_facts(&mut code, signature, size);
    match signature.name.as_str() {
        "len" => {
            code.nonzero = arguments[0].least > 0;
            code.size = arguments[0].size.clamp(1, 3);
        }
        "abs" => {
            code.nonnegative = true;
            code.nonzero = arguments[0].nonzero;
            code.size = arguments[0].size;
        }
        "min" | "max" if arguments.len() == 2 => {
            code.nonnegative = arguments.iter().all(|one| one.nonnegative);
            code.nonzero = code.nonnegative && arguments.iter().all(|one| one.nonzero);
            code.size = size;
        }
        "list" | "sorted" | "dict" | "set" | "str" | "repr" => {
            code.least = arguments[0].least.min(1);
        }
        "ord" => {
            code.nonnegative = true;
            code.size = 3;
        }
        _ => {}
    }
    Some(code)
}

/// The keyword arguments that go with ordering.
fn keywords(
    author: &mut Author<'_>,
    signature: &Signature,
    arguments: &[Code],
    texts: &mut Vec<String>,
) {
    if arguments.len() != 1 || !matches!(signature.name.as_str(), "sorted" | "max" | "min" | "sort")
    {
        return;
    }
    let Some(Type::List(item)) = author
        .variables
        .iter()
        .find(|one| one.name == arguments[0].text)
        .map(|one| one.ty.clone())
    else {
        return;
    };
    let key = match *item {
        Type::Str => author.random.word(&[
            "key=len",
            "key=str.lower",
            "key=lambda s: s[-1:]",
            "key=lambda w: (len(w), w)",
        ]),
        Type::Int => author.random.word(&[
            "key=lambda x: -x",
            "key=lambda n: n % 10",
            "key=abs",
            "key=str",
        ]),
        Type::Tuple(_) => author.random.word(&[
            "key=lambda pair: pair[1]",
            "key=lambda item: item[0]",
            "key=lambda p: (p[1], p[0])",
        ]),
        Type::List(_) => "key=len",
        _ => return,
    };
    if author.random.chance(0.2) {
        texts.push(key.to_owned());
    }
    if signature.name.starts_with("sort") && author.random.chance(0.15) {
        texts.push("reverse=True".to_owned());
    }
}

/// A call of one of the program's own functions that returns `wanted`.
pub(super) fn helper(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    call_helper(author, height, |one| one.result == *wanted)
}

/// A call of one of the program's own functions for which `fits` holds.
pub(in crate::generate) fn call_helper(
    author: &mut Author<'_>,
    height: usize,
    fits: impl Fn(&Callable) -> bool,
) -> Option<Code> {
    let candidates: Vec<Callable> = author
        .callables
        .iter()
        .filter(|one| fits(one))
        .cloned()
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let callable = author.random.pick(&candidates).clone();
    if callable
        .raises
        .is_some_and(|error| !author.is_caught(error) && !author.random.chance(0.15))
    {
        return None;
    }
    let callee = match callable.class {
        Some(class) => {
            let at = author.find(|one| one.ty == Type::Object(class))?;
            format!("{}.{}", author.read(at).text, callable.name)
        }
        None => callable.name.clone(),
    };
    let mut texts = Vec::new();
    for parameter in &callable.parameters {
        if parameter.default.is_some() && author.random.chance(0.5) {
            break;
        }
        let inner = height.saturating_sub(1).max(1);
        let code = match &parameter.ty {
            Type::Int if parameter.small => {
                let code = small(author);
                if code.size > 1 { number(3) } else { code }
            }
            Type::Object(_) => {
                let wanted = parameter.ty.clone();
                let at = author.find(|one| one.ty == wanted)?;
                author.read(at)
            }
            Type::Optional(inner_type) => expression(author, inner_type, inner),
            ty if parameter.nonempty => {
                let at = author.find(|one| one.ty == *ty && one.least > 0)?;
                author.read(at)
            }
            ty => expression(author, ty, inner),
        };
        // What a helper returned may be long already; a recursive one would make it longer still.
        if parameter.ty.is_sized() && code.size > 3 {
            return None;
        }
        // A parameter that the callee changes or hands on is no longer what it was.
        if let Some(at) = author
            .variables
            .iter()
            .position(|one| one.name == code.text)
            && author.variables[at].ty.is_mutable()
        {
            if !author.can_resize(at, true) {
                return None;
            }
            author.weaken(at);
        }
        let keyword = parameter.default.is_some() && author.random.chance(0.4);
        texts.push(if keyword {
            format!("{}={}", parameter.name, code.text)
        } else {
            code.text
        });
        if keyword {
            break;
        }
    }
    let commas = author.style.commas(author.random, &texts);
    let mut code = Code::new(format!("{callee}({commas})"), Rank::Atom);
    code.size = 4;
    Some(code)
}

/// A method call as a statement that changes its receiver.
pub(in crate::generate) fn mutation(author: &mut Author<'_>, height: usize) -> Option<String> {
    for _ in 0..TRIES {
        let reach: &Author<'_> = author;
        let known: Vec<(&'static Signature, Binding)> = SIGNATURES
            .iter()
            .filter(|one| one.result == Type::Nothing)
            .map(|one| (one, Binding::default()))
            .filter(|(one, binding)| has_receiver(reach, one, binding))
            .collect();
        let weights: Vec<f64> = known
            .iter()
            .map(|(one, _)| author.weight(Metric::Method, &one.name))
            .collect();
        let at = author.random.weighted(&weights)?;
        let (signature, mut binding) = known.into_iter().nth(at)?;
        if signature
            .raises
            .is_some_and(|error| !author.may_raise(error))
        {
            continue;
        }
        let Some(pattern) = &signature.receiver else {
            continue;
        };
        let found = author.find(|one| {
            // Emptying a parameter is rare; adding to what the function made is what it is for.
            let willing = one.own || signature.effect != Effect::Shrinks;
            willing && Binding::default().unify(pattern, &one.ty)
        });
        let Some(receiver) = found else { continue };
        let shrinks = signature.effect == Effect::Shrinks;
        if !author.can_resize(receiver, shrinks)
            || (signature.nonempty
                && author.variables[receiver].least == 0
                && !author.may_raise("IndexError"))
        {
            continue;
        }
        let ty = author.variables[receiver].ty.clone();
        binding.unify(pattern, &ty);
        let name = author.variables[receiver].name.clone();
        let Some(arguments) = arguments(author, &signature.arguments, &binding, height) else {
            continue;
        };
        let grown = author.loops > 0 && signature.effect == Effect::Grows;
        let itself = arguments.iter().any(|one| one.text == name || one.size > 3);
        if itself && (grown || signature.name == "extend") {
            continue;
        }
        let mut texts: Vec<String> = arguments.iter().map(|one| one.text.clone()).collect();
        if signature.name == "sort" {
            let receiver = [Code::atom(name.clone())];
            keywords(author, signature, &receiver, &mut texts);
        }
        match signature.effect {
            Effect::Shrinks => author.weaken(receiver),
            _ => {
                author.variables[receiver].reads =
                    author.variables[receiver].reads.saturating_sub(1);
            }
        }
        let commas = author.style.commas(author.random, &texts);
        return Some(format!("{name}.{}({commas})", signature.name));
    }
    None
}
