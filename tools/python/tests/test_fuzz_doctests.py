"""Examples of docstrings as calls."""

import ndbg_doctests

MODULE = '''"""Module.

>>> double(4)
8
"""
import math
import os


def double(n):
    """Twice.

    >>> start = 2
    >>> start += 1
    >>> double(start)
    6
    >>> double("ab") + "c"
    'ababc'
    >>> double(None)
    Traceback (most recent call last):
    TypeError: no
    """
    return n * 2


def area(radius):
    """
    >>> round(area(1), 2)
    3.14
    """
    return math.pi * radius ** 2


def files(folder):
    """
    >>> files('.')
    []
    """
    return os.listdir(folder)


def nothing():
    """
    >>> 1 + 1
    2
    """
'''


def records(tmp_path, source=MODULE):
    path = tmp_path / "module.py"
    path.write_text(source)
    found = list(ndbg_doctests.records(str(path), "p/"))
    return {record["id"].split("::")[1]: record for record in found}


def test_each_example_is_a_source_and_one_call(tmp_path):
    found = records(tmp_path)
    first, second = found["double#0"], found["double#1"]
    assert first["calls"] == ["double(start)"]
    assert "start = 2\nstart += 1" in first["source"]
    namespace = {}
    exec(first["source"], namespace)
    assert eval(first["calls"][0], namespace) == 6
    assert second["calls"] == ['double("ab") + "c"']
    assert found["__doc__#0"]["function"] == "double"
    assert "double#2" not in found


def test_a_source_holds_only_what_the_example_needs(tmp_path):
    source = records(tmp_path)["area#0"]["source"]
    assert "import math" in source and "def area" in source
    assert "import os" not in source and "def double" not in source and "_example" not in source


def test_what_cannot_be_a_job_says_why(tmp_path):
    found = records(tmp_path)
    assert "harmless" in found["files"]["skipped"]
    assert found["nothing"]["skipped"] == "no example calls a function of the module"
