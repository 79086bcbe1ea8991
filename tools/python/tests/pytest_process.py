"""Runs real pytest processes with the plugin, once or as a server."""

import base64
import json
import os
import subprocess
import sys
import textwrap
import time

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Outcome:
    def __init__(self, returncode, output, records):
        self.returncode = returncode
        self.output = output
        self.records = records

    def all(self, kind, **wanted):
        return [
            record
            for record in self.records
            if record["t"] == kind and all(record.get(k) == v for k, v in wanted.items())
        ]

    def one(self, kind, **wanted):
        found = self.all(kind, **wanted)
        assert len(found) == 1, f"{len(found)} {kind} records {wanted}\n{self.output}"
        return found[0]

    def outcomes(self):
        """{id: outcome of the call, or of the phase that failed}."""
        found = {}
        for report in self.all("report"):
            if report["when"] == "call" or report["outcome"] != "passed":
                found[report["id"]] = report["outcome"]
        return found


class Project:
    """A folder with tests, and ways to run pytest in it.

    Installed plugins are left out unless `plugins` is set: they take most of a second to import.
    """

    def __init__(self, folder, python):
        self.plugins = False
        self.root = folder / "project"
        self.root.mkdir()
        self._folder = folder
        self._python = python
        self._runs = 0

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(textwrap.dedent(text).lstrip("\n").encode("utf-8"))
        return str(path)

    def _command(self, config, arguments):
        self._runs += 1
        path = self._folder / f"config{self._runs}.json"
        path.write_text(json.dumps(config))
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV_"))}
        environment.update(
            NDBG_CONFIG=str(path), PYTHONPATH=TOOLS, PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0"
        )
        if not self.plugins:
            environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command = [self._python, "-m", "pytest", "-p", "ndbg_pytest_plugin", *arguments]
        return command, environment

    def run(self, *arguments, mode="run", env=None, **config):
        results = self._folder / f"results{self._runs}.jsonl"
        config = dict(
            {"mode": mode, "results": str(results), "token": "secret", "roots": [str(self.root)]},
            **config,
        )
        command, environment = self._command(config, arguments)
        environment.update(env or {})
        done = subprocess.run(
            command,
            cwd=str(self.root),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
        )
        lines = results.read_bytes().splitlines() if results.exists() else []
        output = done.stdout.decode("utf-8", "replace")
        return Outcome(done.returncode, output, [json.loads(line) for line in lines])

    def serve(self, *arguments, stage="collected", **config):
        config = dict(
            {"mode": "serve", "stage": stage, "roots": [str(self.root)], "jobs": 1}, **config
        )
        command, environment = self._command(config, arguments)
        errors = self._folder / f"stderr{self._runs}.txt"
        return Server(command, str(self.root), environment, errors)

    def patch(self, name, old, new):
        """The patch that replaces the only occurrence of a text."""
        path = self.root / name
        data = path.read_bytes()
        old, new = old.encode("utf-8"), new.encode("utf-8")
        assert data.count(old) == 1, f"{old!r} is {data.count(old)} times in {name}"
        start = data.index(old)
        text = base64.b64encode(new).decode("ascii")
        return {"file": str(path), "edits": [[start, start + len(old), text]]}


class Server:
    """A warm runner; use as a context manager."""

    def __init__(self, command, folder, environment, errors):
        self._errors = errors
        with open(errors, "wb") as file:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
            )
        self._number = 0

    def __enter__(self):
        self.ready = self.receive()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            sys.stderr.write(self._errors.read_text("utf-8", "replace"))
            raise EOFError("the runner ended")
        return json.loads(line)

    def send(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode("utf-8")
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, patches=(), must=(), keep=(), deadline_ms=10000, how="auto", probe=None):
        self._number += 1
        self.send(
            {
                "id": self._number,
                "patches": list(patches),
                "must": list(must),
                "keep": list(keep),
                "deadline_ms": deadline_ms,
                "how": how,
                "probe": probe,
            }
        )
        return self._number

    def try_out(self, *patches, **fields):
        number = self.request(patches, **fields)
        result = self.receive()
        assert result["id"] == number
        return result


def outcomes(result):
    return {one[0]: one[1] for one in result["results"]}


def wait_until(condition, seconds=5):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False
