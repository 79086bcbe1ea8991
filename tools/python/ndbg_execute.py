"""Executes calls of a user's function, thousands a second: `python ndbg_execute.py`.

JSON lines, in and out. First in: settings (`subject`, `goal`, `each`, `memory`, `folder`, and at
will `chance`, a number that decides what is drawn by chance, and `patience`, the seconds that an
import may take). First out: `{"ready": description}`, or `{"problem": kind, "text": …, "near":
[…]}`. Then for each line `[[receiver, arguments], …]` in, one out: a list of `[outcome, reached,
distance, covered, seconds, other, raised]`; the last is what a condition raised at each visit, or
null.

This process imports nothing of the user's. A forked worker does; it executes many calls, and is
replaced when one kills it or does not end: what was not answered is executed again, one by one, so
that the right call is to blame.

PYTEST_DONT_REWRITE: this is no test code.
"""

import json
import os
import select
import shutil
import signal
import sys
import time

import ndbg_execute_chance
import ndbg_execute_worker
import ndbg_process

# What is ours may be kept compiled; beside the user's files nothing is written.
sys.dont_write_bytecode = True

STALL = 1.0
# Beyond what an import may take, which its own process looks after.
LOADING = 10.0
# The part of its memory with which a worker that does not answer is looking for more.
FULL = 0.5


class Child:
    """A worker and the ends of its pipes."""

    def __init__(self, settings):
        out, answers = os.pipe()
        requests, into = os.pipe()
        owner = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(out)
                os.close(into)
                os.setsid()
                ndbg_process.die_with_parent()
                if os.getppid() == owner:
                    ndbg_execute_worker.work(settings, requests, answers)
            except BaseException:
                pass
            finally:
                os._exit(0)
        os.close(answers)
        os.close(requests)
        self.out, self.into = out, into
        self.rest = b""

    def send(self, line):
        try:
            data = line
            while data:
                data = data[os.write(self.into, data) :]
        except OSError:
            pass

    def lines(self, seconds):
        """The next lines; an empty list after `seconds` without any, None when it ended."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.out], [], [], left)[0]:
                return []
            part = os.read(self.out, 1 << 18)
            if not part:
                return None
            *whole, self.rest = (self.rest + part).split(b"\n")
            if whole:
                return whole

    def size(self):
        """Bytes of its address space, at their most."""
        try:
            with open(f"/proc/{self.pid}/status", "rb") as file:
                for line in file:
                    if line.startswith(b"VmPeak:"):
                        return 1024 * int(line.split()[1])
        except (OSError, ValueError):
            pass
        return 0

    def end(self):
        for kill, pid in ((os.killpg, self.pid), (os.kill, self.pid)):
            try:
                kill(pid, signal.SIGKILL)
            except OSError:
                pass
        os.close(self.out)
        os.close(self.into)
        try:
            os.waitpid(self.pid, 0)
        except OSError:
            pass


def empty(folder):
    """Takes away what calls wrote."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            try:
                os.unlink(path)
            except OSError:
                pass


def _unanswered(how, seconds):
    return [[how], False, None, [], seconds, None, None]


class Server:
    def __init__(self, settings):
        self.settings = settings
        self.stall = max(STALL, 10 * settings["each"])
        self.child = None
        self.begun = 0

    def start(self):
        """A worker that is ready; what it said first."""
        self.stop()
        empty(self.settings["folder"])
        self.child = Child(self.settings)
        self.begun = self.child.size()
        patience = self.settings.get("patience", ndbg_execute_worker.PATIENCE)
        lines = self.child.lines(patience + LOADING)
        if not lines:
            self.stop()
            why = "ends its process" if lines is None else "does not end"
            return {"problem": "import", "text": "the import " + why, "near": []}
        return json.loads(lines[0].decode("utf-8"))

    def stop(self):
        if self.child is not None:
            self.child.end()
            self.child = None

    def is_full(self):
        """Whether what does not answer has taken most of the memory that it may have."""
        memory = self.settings["memory"]
        return bool(memory) and self.child.size() - self.begun > FULL * memory

    def run(self, calls):
        """A result for each call."""
        results = []
        careful = False
        while len(results) < len(calls):
            if self.child is None:
                said = self.start()
                if "ready" not in said:
                    dead = _unanswered("killed", 0.0)
                    return results + [dead] * (len(calls) - len(results))
            left = calls[len(results) :]
            # One that kills is found among few.
            if careful:
                left = left[:64]
            self.child.send(json.dumps([careful, left]).encode("utf-8") + b"\n")
            wanted = len(results) + len(left)
            while len(results) < wanted:
                lines = self.child.lines(self.stall)
                if lines:
                    answers = [json.loads(line.decode("utf-8")) for line in lines]
                    anew = answers[-1] == "anew"
                    results += answers[:-1] if anew else answers
                    if not anew:
                        continue
                    self.stop()
                    break
                out_of_memory = lines is None or self.is_full()
                self.stop()
                if careful:
                    how = "killed" if out_of_memory else "long"
                    results.append(_unanswered(how, self.stall))
                careful = True
                break
            else:
                careful = False
        return results


def main():
    ndbg_process.leave_when_orphaned()
    settings = json.loads(sys.stdin.buffer.readline().decode("utf-8"))
    os.makedirs(settings["folder"], exist_ok=True)
    ndbg_execute_chance.shift_ids(settings.get("chance", 0))
    server = Server(settings)
    out = os.fdopen(os.dup(1), "wb")

    def say(value):
        out.write(json.dumps(value).encode("utf-8") + b"\n")
        out.flush()

    first = server.start()
    say(first)
    if "ready" in first:
        for line in sys.stdin.buffer:
            say(server.run(json.loads(line.decode("utf-8"))))
    server.stop()
    empty(settings["folder"])


if __name__ == "__main__":
    main()
