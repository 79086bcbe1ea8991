"""Executes calls of a user's function, thousands a second: `python ndbg_execute.py`.

JSON lines, in and out. First in: settings (`subject`, `goal`, `each`, `memory`, `folder`). First
out: `{"ready": description}`, or `{"problem": kind, "text": …, "near": […]}`. Then for each line
`[[receiver, arguments], …]` in, one out: a list of `[outcome, reached, distance, covered, seconds,
other]`.

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

import ndbg_process

STALL = 1.0
LOADING = 30.0


class Child:
    """A worker and the ends of its pipes."""

    def __init__(self, settings):
        import ndbg_execute_worker

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


class Server:
    def __init__(self, settings):
        self.settings = settings
        self.stall = max(STALL, 10 * settings["each"])
        self.child = None
        self.ready = None

    def start(self):
        """A worker that is ready; what it said first."""
        self.stop()
        empty(self.settings["folder"])
        self.child = Child(self.settings)
        lines = self.child.lines(LOADING)
        if not lines:
            self.stop()
            why = "ends its process" if lines is None else "does not end"
            return {"problem": "import", "text": "the import " + why, "near": []}
        return json.loads(lines[0].decode("utf-8"))

    def stop(self):
        if self.child is not None:
            self.child.end()
            self.child = None

    def run(self, calls):
        """A result for each call."""
        results = []
        careful = False
        while len(results) < len(calls):
            if self.child is None:
                said = self.start()
                if "ready" not in said:
                    dead = [["killed"], False, None, [], 0.0, None]
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
                    results += [json.loads(line.decode("utf-8")) for line in lines]
                    continue
                self.stop()
                if careful:
                    how = "killed" if lines is None else "long"
                    results.append([[how], False, None, [], self.stall, None])
                careful = True
                break
            else:
                careful = False
        return results


def main():
    ndbg_process.leave_when_orphaned()
    settings = json.loads(sys.stdin.buffer.readline().decode("utf-8"))
    os.makedirs(settings["folder"], exist_ok=True)
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
