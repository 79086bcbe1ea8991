import json
import os
import subprocess
import sys
import time

import conftest
import pytest

TOOL = os.path.join(conftest.TOOLS, "ndbg_probe.py")


def test_probe_describes_this_interpreter(tmp_path):
    facts = conftest.probe(sys.executable, str(tmp_path))
    assert facts["version"] == list(sys.version_info[:3])
    assert facts["pytest"] == pytest.__version__
    assert facts["prefix"] == sys.prefix
    assert facts["base_prefix"] == sys.base_prefix
    assert facts["fork"] is hasattr(os, "fork")
    assert facts["implementation"] == "CPython"
    assert facts["editable"] == []
    assert conftest.TOOLS not in facts["sys_path"]


def test_probe_is_fast():
    seconds = []
    for _ in range(3):
        began = time.monotonic()
        conftest.probe(sys.executable)
        seconds.append(time.monotonic() - began)
    assert min(seconds) < 0.2


def test_probe_finds_editable_installations(tmp_path):
    root = tmp_path / "checkout"
    site = tmp_path / "site"
    (root / "src" / "finder_pkg").mkdir(parents=True)
    (root / "flat").mkdir()
    site.mkdir()
    (site / "__editable__.my_demo-1.2.pth").write_text(f"{root / 'src'}\n")
    (site / "_poetry_style.pth").write_text(f"import os\n{root / 'flat'}\n/elsewhere\n")
    (site / "__editable___other_1_0_finder.py").write_text(
        "from __future__ import annotations\n"
        f"MAPPING: dict[str, str] = {{'finder_pkg': {str(root / 'src' / 'finder_pkg')!r}}}\n"
    )
    output = subprocess.run(
        [sys.executable, TOOL, str(root)],
        stdout=subprocess.PIPE,
        check=True,
        env=dict(os.environ, PYTHONPATH=str(site)),
    ).stdout
    found = {one["name"]: one["paths"] for one in json.loads(output)["editable"]}
    assert found == {
        "my_demo": [str(root / "src")],
        "poetry_style": [str(root / "flat")],
        "other": [str(root / "src" / "finder_pkg")],
    }


@pytest.mark.parametrize("name", ["python2.7", "python3.6", "python3.7"])
def test_probe_runs_on_old_interpreters(name):
    import shutil

    python = shutil.which(name)
    works = python and subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0
    if not works:
        pytest.skip(f"no {name}")
    version = conftest.probe(python)["version"]
    assert name == "python{}.{}".format(*version[:2])
