"""Makes a data set on a Ray cluster: one task a shard, then the merge.

    python ray_dataset.py --shards 8 \\
        --command "ndbg-agent dataset make --config d.toml --parts parts --shard {shard}" \\
        --merge "ndbg-agent dataset merge --config d.toml --parts parts --out out"

`{shard}` becomes `i/n`, `{index}` becomes i and `{count}` n. The command is the one that a person
runs on one machine; it must be safe to run twice and to run again after it was killed, which a
shard is.
Tasks that die with their node are run again by Ray, commands that fail are run again here.
`--parts` and `--out` lie on storage that every node sees.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time


class ShardFailed(Exception):
    """A command failed as often as it was allowed to."""


def fill(template, index, count):
    """The words of a command for one shard."""
    values = {"shard": f"{index}/{count}", "index": str(index), "count": str(count)}
    words = []
    for word in shlex.split(template):
        for name, value in values.items():
            word = word.replace("{" + name + "}", value)
        words.append(word)
    return words


def run_command(words, environment=None, log=None):
    """Runs a command in a process group that is killed with the task; its exit code."""
    with open(log, "ab") if log else open(os.devnull, "wb") as output:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output if log else None,
            stderr=subprocess.STDOUT if log else None,
            env=environment,
            start_new_session=True,
        )
        try:
            return process.wait()
        except BaseException:
            # A cancelled task must not leave its command behind: two would share one shard.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass
            process.wait()
            raise


def run_shard(template, index, count, attempts, pause, log_folder):
    """Runs one shard until it succeeds; the number of attempts that it took."""
    log = os.path.join(log_folder, f"shard-{index:05d}.log") if log_folder else None
    for attempt in range(1, attempts + 1):
        code = run_command(fill(template, index, count), log=log)
        if code == 0:
            return attempt
        print(f"shard {index}/{count}: attempt {attempt} ended with {code}", file=sys.stderr)
        time.sleep(pause * attempt)
    raise ShardFailed(f"shard {index}/{count} failed {attempts} times")


def make(options):
    """Runs every shard and the merge; the exit code."""
    import ray

    ray.init(address=options.address, log_to_driver=True, include_dashboard=False)
    # max_retries is for tasks that die with their worker or node; a command that fails raises, and
    # was tried again in the task already.
    task = ray.remote(run_shard).options(num_cpus=options.cpus, max_retries=options.task_retries)
    if options.logs:
        os.makedirs(options.logs, exist_ok=True)
    waiting = {
        task.remote(
            options.command, index, options.shards, options.attempts, options.pause, options.logs
        ): index
        for index in range(options.shards)
    }
    failed = []
    total = len(waiting)
    while waiting:
        (done,), _ = ray.wait(list(waiting), num_returns=1)
        index = waiting.pop(done)
        try:
            attempts = ray.get(done)
        except Exception as error:  # what a task raises comes wrapped in Ray's own types
            failed.append(index)
            print(f"shard {index}: {error}", file=sys.stderr)
        else:
            print(
                f"shard {index} done, attempt {attempts}; {total - len(waiting)} of {total}",
                file=sys.stderr,
            )
    if failed:
        print(f"not merged: shards {sorted(failed)} failed", file=sys.stderr)
        return 1
    if not options.merge:
        return 0
    return run_command(fill(options.merge, 0, options.shards))


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--command", required=True, help="command of a shard, with {shard}")
    parser.add_argument("--merge", help="command that merges")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--address", help="a running cluster; without it one is started here")
    parser.add_argument("--cpus", type=float, default=1, help="cores a shard")
    parser.add_argument("--attempts", type=int, default=3, help="runs of a command that fails")
    parser.add_argument(
        "--task-retries", type=int, default=5, help="runs of a task whose worker dies"
    )
    parser.add_argument("--pause", type=float, default=2.0, help="seconds before another attempt")
    parser.add_argument("--logs", help="folder for the output of the shards")
    options = parser.parse_args(arguments)
    if options.shards < 1:
        parser.error("--shards is at least 1")
    if not any(mark in options.command for mark in ("{shard}", "{index}")):
        parser.error("--command needs {shard}, else every task does the same")
    return options


if __name__ == "__main__":
    sys.exit(make(parse()))
