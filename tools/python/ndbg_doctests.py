"""Turns the examples of docstrings into sources with one call each, as `ndbg_fuzz` writes them.

    python ndbg_doctests.py [--id PREFIX] FILE...

An example whose statement is an expression that calls a function of the module becomes a job: the
part of the module that the function and the statements before the example need, these statements,
and the call. Nothing is believed about what the docstring expects; a job counts when its call
returns.
"""

import argparse
import ast
import doctest
import json
import sys
import tokenize

from ndbg_fuzz_slice import Refused, functions_in, slice_of
from ndbg_fuzz_trial import Trials

SETUP = 12


def docstrings(tree):
    """(name, text) of the module, its functions, classes and methods."""
    found = [("", ast.get_docstring(tree, clean=False))]
    todo = [("", tree)]
    while todo:
        prefix, parent = todo.pop(0)
        for node in parent.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.append((prefix + node.name, ast.get_docstring(node, clean=False)))
                if isinstance(node, ast.ClassDef):
                    todo.append((prefix + node.name + ".", node))
    return [(name, text) for name, text in found if text and ">>>" in text]


def _called(expression, functions):
    """The function of the module that an expression calls outermost, or anywhere."""
    names = [
        node.func.id
        for node in ast.walk(expression)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in functions
    ]
    return names[0] if names else None


def _expression(source):
    try:
        return ast.parse(source.strip(), mode="eval").body
    except SyntaxError:
        return None


def jobs(text, tree, name, docstring):
    """(function, source, call) of each example of a docstring that can be one."""
    functions = functions_in(tree)
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return
    setup = []
    for example in examples:
        expression = _expression(example.source)
        if expression is None:
            setup.append(example.source.rstrip("\n"))
            continue
        function = _called(expression, functions)
        if function is None or example.exc_msg:
            continue
        if len(setup) > SETUP:
            raise Refused("its examples need a long story")
        # The slice is taken of the module with the setup below it, so that what the setup and the
        # call use is in it and is checked like the rest.
        call = ast.get_source_segment(example.source, expression) or example.source.strip()
        holder = "\n".join(
            [
                "def _example():",
                *("    " + line for line in _lines(setup)),
                f"    return ({call}\n    )",
            ]
        )
        whole = text + "\n\n" + holder + "\n"
        try:
            source = slice_of(whole, ast.parse(whole), "_example")
        except SyntaxError:
            continue
        head = source[: source.rindex("def _example():")]
        yield function, head + "\n".join([*setup, ""]), " ".join(call.split("\n"))


def _lines(statements):
    return [line for statement in statements for line in statement.split("\n")]


def records(path, prefix=""):
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
    for name, docstring in docstrings(tree):
        base = {"id": f"{prefix}{path}::{name or '__doc__'}", "file": path}
        try:
            found = list(jobs(text, tree, name, docstring))
        except Refused as refusal:
            yield dict(base, skipped=str(refusal))
            continue
        kept = 0
        for number, (function, source, call) in enumerate(found):
            with Trials(source, function) as trials:
                returns = trials.ready and trials.run([call])[0] is not None
            if returns:
                kept += 1
                yield dict(
                    base,
                    id=f"{base['id']}#{number}",
                    function=function,
                    source=source,
                    calls=[call],
                )
        if not kept:
            reason = (
                "no example returns by itself"
                if found
                else "no example calls a function of the module"
            )
            yield dict(base, skipped=reason)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--id", default="", help="prefix of the ids")
    options = parser.parse_args(arguments)
    for path in options.files:
        for record in records(path, options.id):
            print(json.dumps(record, sort_keys=True), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
