"""Finds plain functions in module files and inputs under which they return.

    python ndbg_fuzz.py [--seed N] [--calls N] [--id PREFIX] FILE...

One JSON line a function: {"id", "file", "function", "source", "calls"}, or {"id", "file",
"function", "skipped"}. `source` is the part of the module that the function needs, closed under
names; `calls` are expressions to evaluate after it.

Nothing of the module runs in this process. Each trial is a forked child with a deadline, a memory
limit, no network and an empty folder to work in, and functions that could reach out (files,
processes, time, chance) are refused before, from their syntax tree.
"""

import argparse
import ast
import json
import os
import random
import sys
import tokenize

from ndbg_fuzz_guess import guess
from ndbg_fuzz_inputs import draw, literals_in
from ndbg_fuzz_slice import Refused, functions_in, slice_of
from ndbg_fuzz_trial import Trials

ROUNDS = 40
CALLS = 8
FEW = 4
TELLING = 80
TYPICAL = 40


def _shortest(found, limit):
    """The calls that together cover every line that any of them covers, short ones first.

    The shortest input of a kind is often an empty one, with which little happens, so that a few
    that get furthest and are still short come along.
    """
    chosen, covered = [], set()
    for call, lines in sorted(found.items(), key=lambda item: (len(item[0]), item[0])):
        if not lines <= covered:
            chosen.append(call)
            covered |= lines
    telling = sorted(
        (call for call in found if call not in chosen and len(call) <= TELLING),
        key=lambda call: (-len(found[call]), -min(len(call), TYPICAL), call),
    )
    return (chosen + telling[: max(0, FEW - len(chosen))])[:limit]


def fuzz_function(source, name, seed=0, calls=CALLS, rounds=ROUNDS):
    """(calls, None), or ([], reason). The same arguments give the same answer."""
    tree = ast.parse(source)
    function = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name
    )
    parameters = function.args
    if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
        return [], "takes any number of arguments"
    names = [one.arg for one in getattr(parameters, "posonlyargs", []) + parameters.args]
    required = len(names) - len(parameters.defaults)
    chance = random.Random(f"{seed}:{name}:{source}")
    literals = literals_in(function)
    kinds = guess(function)
    found = {}
    with Trials(source, name) as trials:
        if not trials.ready:
            return [], "its module part does not run: " + trials.problem
        for _ in range(rounds):
            wanted = names if chance.random() < 0.7 else names[:required]
            tuples = [[chance.choice(kinds[parameter]) for parameter in wanted] for _ in range(6)]
            batch, shapes = [], {}
            for shape in tuples:
                call = "{}({})".format(
                    name, ", ".join(draw(kind, chance, literals) for kind in shape)
                )
                if call not in found and call not in shapes:
                    shapes[call] = dict(zip(wanted, shape))
                    batch.append(call)
            for call, outcome in zip(batch, trials.run(batch)):
                if outcome is None:
                    continue
                found[call] = outcome
                # A type under which it returned is likelier from now on.
                for parameter, kind in shapes[call].items():
                    if kinds[parameter].count(kind) < 12:
                        kinds[parameter].append(kind)
            if trials.deaths > 5:
                return [], "its calls run into the deadline or the memory limit"
            if not names:
                break
    if not found:
        return [], "no input under which it returns was found"
    return _shortest(found, calls), None


def records(path, prefix="", seed=0, calls=CALLS):
    """The lines of one file."""
    try:
        # Reads what the coding line says.
        with tokenize.open(path) as file:
            text = file.read()
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError) as error:
        yield {
            "id": prefix + path,
            "file": path,
            "skipped": f"cannot be read: {type(error).__name__}",
        }
        return
    for function in functions_in(tree):
        record = {"id": f"{prefix}{path}::{function}", "file": path, "function": function}
        try:
            record["source"] = slice_of(text, tree, function)
            record["calls"], problem = fuzz_function(record["source"], function, seed, calls)
        except Refused as refusal:
            problem = str(refusal)
        except RecursionError:
            problem = "nested too deep"
        if problem is not None:
            record.pop("source", None)
            record.pop("calls", None)
            record["skipped"] = problem
        yield record


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--id", default="", help="prefix of the ids")
    options = parser.parse_args(arguments)
    if not hasattr(os, "fork"):
        parser.error("needs fork")
    for path in options.files:
        for record in records(path, options.id, options.seed, options.calls):
            print(json.dumps(record, sort_keys=True), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
