"""Kills a worker in the middle of a data set and compares what comes out with a run on one machine.

    python test_ray_dataset.py                      # with a command of its own
    python test_ray_dataset.py --command "… --parts {parts} --shard {shard}" \\
        --merge "… --parts {parts} --out {out}"     # with the real one
    python test_ray_dataset.py --compare predictions.jsonl \\
        --command "ndbg-agent bench run --tasks T --out {parts} --shard {shard}" \\
        --merge "ndbg-agent bench merge {parts} --out {out}"    # a benchmark run

Needs Ray and nothing else. `{parts}` and `{out}` become folders of the test. Ends with 0 when the
data set made with a killed worker is the same, byte for byte, as that of one undisturbed shard.
"""

import argparse
import hashlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Forty units, a file each; a merge that is a concatenation in order.
STAND_IN = """
import os, sys, time
parts, shard = sys.argv[1:]
index, count = map(int, shard.split("/"))
os.makedirs(parts, exist_ok=True)
for unit in range(40):
    path = os.path.join(parts, "part-%03d" % unit)
    if unit % count != index or os.path.exists(path):
        continue
    time.sleep(0.25)
    with open(path + ".tmp%d" % os.getpid(), "w") as file:
        file.write("unit %d\\n" % unit * (unit % 7))
    os.replace(file.name, path)
"""
STAND_IN_MERGE = """
import os, sys
parts, out = sys.argv[1:]
os.makedirs(out, exist_ok=True)
names = sorted(name for name in os.listdir(parts) if ".tmp" not in name)
assert len(names) == 40, names
with open(os.path.join(out, "data"), "w") as file:
    for name in names:
        with open(os.path.join(parts, name)) as part:
            file.write(part.read())
"""


def digest(folder):
    """{file: hash} of a folder."""
    found = {}
    for root, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def children_of(pid):
    """Processes below one, from /proc: (pid, command line)."""
    parents, lines = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{name}/cmdline", "rb") as file:
                lines[int(name)] = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
        except (OSError, ValueError, IndexError):
            continue
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        below = [child for child, of in parents.items() if of == parent]
        todo += below
        found += [(child, lines.get(child, "")) for child in below]
    return found


def kill_a_worker(pid, marker, seconds, killed):
    """Waits until a shard's command runs below `pid`, then kills the Ray worker above it and it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        below = children_of(pid)
        workers = [child for child, line in below if line.startswith("ray::run_shard")]
        for worker in workers:
            commands = [child for child, line in children_of(worker) if marker in line]
            if commands:
                time.sleep(1.0)
                for victim in [worker, *commands]:
                    try:
                        os.kill(victim, signal.SIGKILL)
                        killed.append(victim)
                    except OSError:
                        pass
                if killed:
                    return
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command")
    parser.add_argument("--merge")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument(
        "--compare", nargs="*", help="files of {out} that are compared; default: all"
    )
    parser.add_argument(
        "--wait", type=float, default=120.0, help="seconds to wait for a worker to kill"
    )
    options = parser.parse_args()
    if bool(options.command) != bool(options.merge):
        parser.error("--command and --merge go together")
    with tempfile.TemporaryDirectory(prefix="ray-dataset-") as root:
        python = shlex.quote(sys.executable)
        if not options.command:
            for name, text in (("shard.py", STAND_IN), ("merge.py", STAND_IN_MERGE)):
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            options.command = f"{python} {root}/shard.py {{parts}} {{shard}}"
            options.merge = f"{python} {root}/merge.py {{parts}} {{out}}"

        def templates(name):
            parts, out = os.path.join(root, name + "-parts"), os.path.join(root, name + "-out")
            return [
                template.replace("{parts}", parts).replace("{out}", out)
                for template in (options.command, options.merge)
            ]

        command, merge = templates("one")
        for words in (command.replace("{shard}", "0/1"), merge):
            subprocess.run(shlex.split(words), check=True)
        command, merge = templates("ray")
        driver = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "ray_dataset.py"), "--shards", str(options.shards)]
            + ["--command", command, "--merge", merge, "--pause", "0.2"]
        )
        killed = []
        marker = os.path.join(root, "ray-parts")
        killer = threading.Thread(
            target=kill_a_worker, args=(driver.pid, marker, options.wait, killed)
        )
        killer.start()
        code = driver.wait()
        killer.join()
        one, ray = digest(os.path.join(root, "one-out")), digest(os.path.join(root, "ray-out"))
        if options.compare:
            # What was measured differs from run to run, what was found does not.
            one = {name: one.get(name) for name in options.compare}
            ray = {name: ray.get(name) for name in options.compare}
    print(f"driver ended with {code}, killed {killed}, {len(one)} and {len(ray)} files")
    if code != 0 or not killed or not one or one != ray:
        print("FAILED: " + ("nothing was killed" if not killed else "the data sets differ"))
        return 1
    print("the same bytes, with a worker killed on the way")
    return 0


if __name__ == "__main__":
    sys.exit(main())
