"""Measures what recording costs, beside other tracers where these are installed.

    python bench_recorder.py [--python PYTHON] [--repeat N] [--size N]

Prints, for a program of calls, one of loops and one of containers, how many times slower each
tracer makes it than the plain run (processor time, the best of N runs, each in a process of its
own), and for ours the time and the bytes an event. PySnooper, hunter and VizTracer are measured if
PYTHON has them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

TOOLS = os.path.dirname(os.path.abspath(__file__))

PROGRAMS = {
    "calls": """
def add(a, b):
    return a + b

def fib(n):
    if n < 2:
        return n
    return add(fib(n - 1), fib(n - 2))

def work(size):
    return fib(size)
""",
    "loops": """
def work(size):
    total = 0
    for i in range(size * 400):
        if i % 3 == 0:
            total += i
        else:
            total -= 1
        text = "even" if i % 2 == 0 else "odd"
    return total, text
""",
    "containers": """
def swap(items, i, j):
    items[i], items[j] = items[j], items[i]

def work(size):
    count = {}
    pairs = []
    items = [(7 * i) % 16 for i in range(16)]
    for round in range(size * 8):
        for i in range(15):
            if items[i] > items[i + 1]:
                swap(items, i, i + 1)
        key = "k%d" % (round % 7)
        count[key] = count.get(key, 0) + 1
        pairs.append((round, key))
        if len(pairs) > 12:
            pairs = pairs[6:]
        items = items[1:] + items[:1]
    return count, pairs
""",
}

# Each runs `work(size)` of the file `program` and leaves the seconds in `seconds`.
COMMON = f"""
import os, sys, time
program, size, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
sys.path[:0] = [{TOOLS!r}, os.path.dirname(program)]
scope = {{"__name__": "program"}}
exec(compile(open(program).read(), program, "exec"), scope)
work = scope["work"]
extra = {{}}
"""
TIMED = """
began = time.process_time()
work(size)
seconds = time.process_time() - began
"""
OURS = """
import json, ndbg_trace, ndbg_trace_stream
stream = ndbg_trace_stream.TraceStream(out, "functions")
wanted = lambda code: code.co_filename == program
tracer = ndbg_trace.Tracer(stream, wanted, max_events=10**9, {options})
work(1)
began = time.process_time()
tracer.start()
work(size)
end = tracer.stop()
stream.end(end)
seconds = time.process_time() - began
extra = {{"events": end["events"], "bytes": stream.bytes}}
"""
WAYS = {
    "plain": TIMED,
    "a settrace hook that does nothing": """
def hook(frame, event, argument):
    return hook
began = time.process_time()
sys.settrace(hook)
work(size)
sys.settrace(None)
seconds = time.process_time() - began
""",
    "ours, calls": OURS.format(options="states=False, lines=False"),
    "ours, calls and lines": OURS.format(options="states=False"),
    "ours, full states": OURS.format(options="states=True"),
    "PySnooper": """
import pysnooper
for name in list(scope):
    if callable(scope[name]) and name in ("work", "add", "fib", "swap"):
        scope[name] = pysnooper.snoop(out)(scope[name])
work = scope["work"]
"""
    + TIMED,
    "hunter, calls": """
import hunter
stream = open(out, "w")
began = time.process_time()
with hunter.trace(filename=program, kind_in=("call", "return"),
                  action=hunter.CallPrinter(stream=stream)):
    work(size)
stream.close()
seconds = time.process_time() - began
""",
    "hunter, variables": """
import hunter
stream = open(out, "w")
functions = [one for one in scope.values() if hasattr(one, "__code__")]
names = sorted({name for one in functions for name in one.__code__.co_varnames})
began = time.process_time()
with hunter.trace(filename=program, actions=[hunter.CallPrinter(stream=stream),
                  hunter.VarsPrinter(*names, stream=stream)]):
    work(size)
stream.close()
seconds = time.process_time() - began
""",
    "VizTracer, calls (its tracer in C)": """
import viztracer
tracer = viztracer.VizTracer(output_file=out + ".json", verbose=0, tracer_entries=10000000)
began = time.process_time()
tracer.start()
work(size)
tracer.stop()
tracer.save()
seconds = time.process_time() - began
""",
}
REPORT = """
import json
sys.stdout = sys.__stdout__
print("SECONDS", json.dumps(dict(extra, seconds=seconds)))
"""


def measure(python, way, program, size, repeat, folder):
    """The best of `repeat` runs as {"seconds", "events"?, "bytes"?}; None when it cannot run."""
    best = None
    script = os.path.join(folder, "way.py")
    with open(script, "w") as file:
        file.write(COMMON + WAYS[way] + REPORT)
    for _ in range(repeat):
        out = os.path.join(folder, "out")
        done = subprocess.run(
            [python, script, program, str(size), out], capture_output=True, timeout=600
        )
        lines = [one for one in done.stdout.decode().splitlines() if one.startswith("SECONDS ")]
        if not lines:
            sys.stderr.write(done.stderr.decode()[-300:])
            return None
        found = json.loads(lines[0][8:])
        if best is None or found["seconds"] < best["seconds"]:
            best = found
        os.remove(out) if os.path.exists(out) else None
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--size", type=int, default=17)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = {}
        for name, text in PROGRAMS.items():
            path = os.path.join(folder, name + ".py")
            with open(path, "w") as file:
                file.write(text)
            for way in WAYS:
                found = measure(options.python, way, path, options.size, options.repeat, folder)
                table.setdefault(way, {})[name] = found
    print("{:36}".format("times slower than plain"), *(f"{name:>12}" for name in PROGRAMS))
    for way, row in table.items():
        cells = [
            "{:12.1f}".format(row[name]["seconds"] / table["plain"][name]["seconds"])
            if row[name]
            else "           -"
            for name in PROGRAMS
        ]
        print(f"{way:36}", *cells)
    for unit, scale, field in (("µs an event", 1e6, "seconds"), ("bytes an event", 1, "bytes")):
        for way, row in table.items():
            if way.startswith("ours"):
                cells = [
                    "{:12.2f}".format(row[name][field] * scale / row[name]["events"])
                    for name in PROGRAMS
                ]
                print("{:36}".format(f"{way}: {unit}"), *cells)


if __name__ == "__main__":
    main()
