"""Measures the warm runner beside one pytest process per candidate.

    python bench_runner.py [--python PYTHON] [--requests N]

Prints candidates per second for swapping and for reimporting with one and two jobs, the median and
the 95th percentile of a single candidate's time, and the same for `python -m pytest`.
"""

import argparse
import base64
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
MODULE = "def work(x):\n    return x - 1\n"
TEST = "from mod import work\n\n\ndef test_it():\n    assert work(1) == 2\n"


class Runner:
    def __init__(self, python, folder, stage, jobs):
        path = os.path.join(folder, "config.json")
        config = {"mode": "serve", "stage": stage, "roots": [folder], "jobs": jobs}
        with open(path, "w") as file:
            json.dump(dict(config, memory_limit=1 << 30), file)
        environment = dict(os.environ, NDBG_CONFIG=path, PYTHONPATH=TOOLS)
        self._process = subprocess.Popen(
            [python, "-m", "pytest", "-p", "ndbg_pytest_plugin", "-p", "no:cacheprovider"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.ready = self.receive()

    def send(self, number, patch):
        request = {"id": number, "patches": [patch], "must": ["test_mod.py::test_it"], "keep": []}
        self._process.stdin.write(json.dumps(dict(request, deadline_ms=5000)).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self):
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def measure_warm(python, folder, stage, jobs, requests):
    start = MODULE.index("x - 1")
    text = base64.b64encode(b"x + 1").decode()
    patch = {"file": os.path.join(folder, "mod.py"), "edits": [[start, start + 5, text]]}
    runner = Runner(python, folder, stage, jobs)
    began = time.monotonic()
    for number in range(requests):
        runner.send(number, patch)
    results = [runner.receive() for _ in range(requests)]
    seconds = time.monotonic() - began
    runner.close()
    assert all(result["results"][0][1] == "passed" for result in results), results[0]
    return seconds, [result["ms"] for result in results], runner.ready["ms"]


def measure_cold(python, folder, requests):
    times = []
    for _ in range(requests):
        began = time.monotonic()
        subprocess.run(
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        times.append((time.monotonic() - began) * 1000)
    return sum(times) / 1000, times


def line(name, requests, seconds, times):
    times = sorted(times)
    late = times[min(len(times) - 1, int(len(times) * 0.95))]
    rate = requests / seconds
    middle = statistics.median(times)
    print(f"{name:34} {rate:8.1f} /s   median {middle:7.1f} ms   p95 {late:7.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for name, text in (("mod.py", MODULE), ("test_mod.py", TEST)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        for stage, name in (("collected", "swap"), ("configured", "reimport")):
            for jobs in (1, 2):
                seconds, times, ready = measure_warm(
                    options.python, folder, stage, jobs, options.requests
                )
                line(f"{name}, jobs={jobs}", options.requests, seconds, times)
            print(f"{'':34} ready after {ready:.0f} ms")
        requests = max(5, options.requests // 20)
        line(
            "one pytest process per candidate",
            requests,
            *measure_cold(options.python, folder, requests),
        )


if __name__ == "__main__":
    main()
