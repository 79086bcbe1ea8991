"""Lines that calls pass, by Python's own tracing: `python passed.py`.

JSON lines, in and out. First in: `plugin`, `file`, `root`, `function`, `memory`, `folder`,
`seconds`; first out: `{}`, or a `problem`. Then for each `[form, call]` in, one out: the lines of
the file that the call passes. Forms: `call`, as a person writes it, and `unbound`, a method's name
with its object as the first argument. Each call has a process of its own.
"""

import builtins
import inspect
import itertools
import json
import os
import select
import signal
import sys
import time

MOST_ITEMS = 10_000


def unbound(module, name):
    """The plain function of a name, with `self` or `cls` as its first parameter."""
    held, raw = module, None
    for part in name.split("."):
        raw = inspect.getattr_static(held, part, None)
        held = getattr(held, part, None)
    if isinstance(raw, (staticmethod, classmethod)):
        return raw.__func__
    return raw.fget if isinstance(raw, property) else raw


async def collected(items):
    return [item async for item in items]


def rebuilt(cls, **attributes):
    made = cls.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


def passing(call, names, path, write):
    """Evaluates a call, and says each line of the file once."""
    seen = set()

    def in_frame(frame, event, _):
        line = frame.f_lineno
        if event == "line" and line not in seen:
            seen.add(line)
            write(line)
        return in_frame

    def trace(frame, _, __):
        return in_frame if frame.f_code.co_filename == path else None

    chance = sys.modules.get("random")
    if chance is not None:
        chance.seed(0)
    code = compile(call, "<call>", "eval")
    sys.settrace(trace)
    value = eval(code, names)
    if inspect.iscoroutine(value):
        sys.modules["asyncio"].run(value)
    elif inspect.isgenerator(value):
        list(itertools.islice(value, MOST_ITEMS))


def child(settings, call, names, out):
    """Runs in a process of its own."""
    import ndbg_execute_guard
    import ndbg_process

    os.setsid()
    ndbg_process.die_with_parent()
    os.chdir(settings["folder"])
    ndbg_process.limit_memory(settings["memory"])
    ndbg_process.limit_file_size()
    guard = ndbg_execute_guard.Guard(settings["folder"])
    guard.install()
    guard.close()
    passing(call, names, settings["file"], lambda line: os.write(out, b"%d\n" % line))


def lines(settings, call, names):
    """The lines that a call passes within its time."""
    into, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(into)
            child(settings, call, names, out)
        except BaseException:
            pass
        finally:
            os._exit(0)
    os.close(out)
    data, end = b"", time.monotonic() + settings["seconds"]
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([into], [], [], left)[0]:
            break
        part = os.read(into, 1 << 16)
        if not part:
            break
        data += part
    os.close(into)
    for kill, target in ((os.killpg, pid), (os.kill, pid)):
        try:
            kill(target, signal.SIGKILL)
        except OSError:
            pass
    os.waitpid(pid, 0)
    return sorted({int(line) for line in data.split()})


def main():
    settings = json.loads(sys.stdin.buffer.readline().decode("utf-8"))
    sys.path.insert(0, settings["plugin"])
    import asyncio  # a call has little time for it

    import ndbg_execute_guard
    import ndbg_execute_module as modules
    import ndbg_process
    from ndbg_execute_problem import Problem

    ndbg_process.leave_when_orphaned()
    out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)

    def say(value):
        out.write(json.dumps(value).encode("utf-8") + b"\n")
        out.flush()

    try:
        path = settings["file"]
        guard = ndbg_execute_guard.Guard(settings["folder"])
        module = modules.load(path, settings["root"], modules.parse(path), {}, guard)
    except Problem as problem:
        say({"problem": str(problem)})
        return
    say({})
    # What written calls use besides the names of the module.
    plain = {"asyncio": asyncio, "itertools": itertools, "collected": collected, "rebuilt": rebuilt}
    plain.update(vars(module))
    plain["__builtins__"] = vars(builtins)
    method = dict(plain)
    name = settings["function"]
    method[name.rpartition(".")[2]] = unbound(module, name)
    for line in sys.stdin.buffer:
        form, call = json.loads(line.decode("utf-8"))
        say(lines(settings, call, method if form == "unbound" else plain))


if __name__ == "__main__":
    main()
