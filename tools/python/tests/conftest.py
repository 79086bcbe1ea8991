import json
import os
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.dirname(HERE)
sys.path[:0] = [HERE, TOOLS]

from pytest_process import Project  # noqa: E402

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def probe(python, root=os.sep):
    output = subprocess.run(
        [python, os.path.join(TOOLS, "ndbg_probe.py"), root], stdout=subprocess.PIPE, check=True
    ).stdout
    return json.loads(output)


def _candidates():
    """Interpreters to test with: NDBG_TEST_PYTHONS first, then this one, then those on PATH."""
    named = os.environ.get("NDBG_TEST_PYTHONS", "").split(os.pathsep)
    on_path = [shutil.which("python" + version) for version in VERSIONS]
    return [path for path in [*named, sys.executable, *on_path] if path]


def _find_interpreters():
    found = {}
    for path in _candidates():
        try:
            facts = probe(path)
        except (OSError, ValueError, subprocess.CalledProcessError):
            continue
        if facts.get("pytest"):
            found.setdefault("{}.{}".format(*facts["version"][:2]), (path, facts))
    return found


INTERPRETERS = _find_interpreters()


@pytest.fixture(params=VERSIONS)
def every_python(request):
    """Path of each interpreter that has pytest."""
    if request.param not in INTERPRETERS:
        pytest.skip(f"no Python {request.param} with pytest; name one in NDBG_TEST_PYTHONS")
    return INTERPRETERS[request.param][0]


@pytest.fixture
def project(tmp_path):
    """An empty project, run with the interpreter that runs these tests."""
    return Project(tmp_path, sys.executable)


@pytest.fixture
def every_project(tmp_path, every_python):
    return Project(tmp_path, every_python)


@pytest.fixture
def needs_plugins():
    """Skips unless the entry points are installed for this interpreter."""

    def check(*names):
        missing = [name for name in names if name not in probe(sys.executable)["plugins"]]
        if missing:
            pytest.skip("not installed: " + ", ".join(missing))

    return check
