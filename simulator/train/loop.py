"""The training loop: batches, steps, the schedule, what is written on the way, and how it ends."""

import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field

import torch

import checkpoint
from batches import collate, plan_epoch
from evaluate import describe, evaluate, figures
from schedule import Budget, rate_factor
from stop import Stop
from workers import add_up, collect, local, part, whole


@dataclass
class Position:
    """How far a run is; with weights and optimiser, all that it needs to go on.

    `seconds` are those that were spent in the loop. `batch` counts within the epoch.
    """

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    epoch: int = 0
    batch: int = 0


@dataclass
class Job:
    """A model, how it is called for its loss, and what it learns from.

    `kinds` gives names to answers (see `evaluate.py`); `identity` is what a checkpoint must agree
    in.
    """

    options: object
    workers: object
    model: object
    forward: object
    samples: object
    held_out: object
    chosen: object
    kinds: object
    identity: dict
    optimiser: object
    average: object
    position: Position = field(default_factory=Position)

    def path(self, name):
        return os.path.join(self.options.out, name)


def budget_of(options, samples):
    tokens = [options.tokens] if options.tokens else []
    if options.epochs:
        tokens.append(int(options.epochs * int(samples.length.sum())))
    return Budget(
        seconds=options.hours * 3600 if options.hours else None,
        tokens=min(tokens, default=None),
        steps=options.steps,
    )


def open_run(job):
    """Makes the folder of a run, or goes on with the one that it holds."""
    options = job.options
    os.makedirs(options.out, exist_ok=True)
    latest = job.path(checkpoint.LATEST)
    if options.resume:
        early = options.resume == "before-decay"
        restore(job, checkpoint.load(job.path(checkpoint.BEFORE_DECAY) if early else latest))
    elif os.path.exists(latest):
        raise Stop(
            f"`{options.out}` holds a run already",
            "`--resume` goes on with it; another `--out` starts afresh",
        )


def run(job):
    """Trains until the budget is spent (True) or a signal comes (False), and saves the end."""
    with Interruption() as interruption:
        ended = steps(job, budget_of(job.options, job.samples), interruption)
        save(job, checkpoint.LATEST)
    if not ended:
        say(job, f"stopped; `{job.path(checkpoint.LATEST)}` is written, `--resume` goes on")
    return ended


def steps(job, budget, interruption):
    options, workers, position = job.options, job.workers, job.position
    weights = list(job.model.parameters())
    clock, before, first = time.monotonic(), position.seconds, position.steps
    window = Window(position)
    saved = validated = position.seconds
    decaying = False
    plan, planned = [], -1
    while True:
        progress = budget.progress(position.seconds, position.tokens, position.steps)
        if progress >= 1.0:
            return True
        if not decaying and progress >= 1.0 - options.decay:
            decaying = True
            if position.steps > first or not options.resume:
                save(job, checkpoint.BEFORE_DECAY)
        if position.epoch != planned:
            plan = plan_epoch(
                job.samples, options.seed, position.epoch, options.micro_tokens, options.round_to
            )
            planned = position.epoch
        group, places = next_group(job, plan)
        sums = add_up(workers, [places, sum(batch.tokens for batch in group)])
        total = backward(job, group, workers.count / max(1, sums[0]))
        norm = torch.nn.utils.clip_grad_norm_(weights, options.clip)
        factor = rate_factor(progress, position.steps, options.warmup, options.decay)
        job.optimiser.step(factor)
        for weight in weights:
            weight.grad = None
        job.average.follow(position.steps)
        position.steps += 1
        position.tokens += int(sums[1])
        paused = options.pause_after and position.steps - first >= options.pause_after
        now = before + time.monotonic() - clock if workers.first else 0.0
        loss, position.seconds, stopped = add_up(
            workers, [total / workers.count, now, float(interruption.happened or bool(paused))]
        )
        window.add(loss * sums[0], sums[0])
        if position.seconds - window.seconds >= options.log_seconds:
            window.show(job, progress, factor, float(whole(norm)))
            window = Window(position)
        if stopped:
            return False
        if position.seconds - validated >= options.validate_minutes * 60:
            report = validate(job)
            log(job, {"event": "validation", **vars(position), **figures(report)})
            say(job, f"validation: {describe(report)}")
            validated = position.seconds
        if position.seconds - saved >= options.checkpoint_minutes * 60:
            save(job, checkpoint.LATEST)
            saved = position.seconds


def next_group(job, plan):
    """This process's batches of the next step, and the number of places that they predict."""
    options, workers, position = job.options, job.workers, job.position
    share = max(1, options.batch_tokens // (options.micro_tokens * workers.count))
    need = share * workers.count
    # Where the plan is shorter than a step its batches come more than once.
    numbers = [(position.batch + at) % len(plan) for at in range(need)]
    position.batch += need
    if position.batch + need > len(plan):
        position.epoch, position.batch = position.epoch + 1, 0
    group = [
        collate(job.samples, plan[number], options.round_to)
        for number in numbers[workers.rank :: workers.count]
    ]
    return group, sum(int((batch.targets >= 0).sum()) for batch in group)


def backward(job, group, factor):
    """Adds the gradients of the group's loss times `factor`; this process's share of the loss."""
    total = 0.0
    for at, batch in enumerate(group):
        batch = batch.to(job.workers.device)
        last = at == len(group) - 1
        if job.workers.sharded:
            job.model.set_requires_gradient_sync(last)
        elif job.workers.count > 1:
            job.forward.require_backward_grad_sync = last
        loss = job.forward(batch.ids, batch.at, batch.targets, factor)
        loss.backward()
        total += float(loss.detach())
    return total


class Window:
    """The loss and speed since the last line of the log."""

    def __init__(self, position):
        self.tokens = position.tokens
        self.seconds = position.seconds
        self.loss = 0.0
        self.places = 0

    def add(self, loss, places):
        self.loss += loss
        self.places += places

    def show(self, job, progress, factor, norm):
        position = job.position
        speed = (position.tokens - self.tokens) / (position.seconds - self.seconds)
        loss = self.loss / max(1, self.places)
        record = {
            "event": "train",
            "loss": loss,
            "rate": factor,
            "gradient": norm,
            **vars(position),
            "tokens_per_second": round(speed),
        }
        log(job, record)
        say(
            job,
            f"{progress:6.1%}  step {position.steps}  loss {loss:.4f}  rate {factor:.2f}  "
            f"{position.tokens / 1e6:.1f}M tokens  {speed:.0f}/s",
        )


def validate(job):
    """A Report on the validation samples, with averaged weights if there are any."""
    job.average.swap()
    job.model.eval()
    report = evaluate(
        job.model, job.workers, job.held_out, job.chosen, job.kinds, job.options.micro_tokens
    )
    job.model.train()
    job.average.swap()
    return report


def save(job, name):
    """Writes a checkpoint; every process takes part, the first one writes."""
    state = {
        "identity": job.identity,
        "data_samples": len(job.samples),
        "model": {name: whole(value).cpu() for name, value in job.model.state_dict().items()},
        "optimiser": job.optimiser.state(),
        "average": job.average.state(),
        "position": vars(job.position),
        "random": collect(job.workers, torch.get_rng_state()),
    }
    if job.workers.first:
        checkpoint.save(job.path(name), state)


@torch.no_grad()
def restore(job, state):
    checkpoint.agree(state["identity"], job.identity)
    for name, own in job.model.state_dict().items():
        local(own).copy_(part(state["model"][name], own))
    job.optimiser.restore(state["optimiser"])
    job.average.restore(state["average"])
    vars(job.position).update(state["position"])
    if len(state["random"]) == job.workers.count:
        torch.set_rng_state(state["random"][job.workers.rank])
    if state["data_samples"] != len(job.samples):
        say(
            job,
            f"the data has {len(job.samples)} samples, not {state['data_samples']}: "
            "a new epoch begins",
        )
        job.position.epoch, job.position.batch = job.position.epoch + 1, 0


class Interruption:
    """Remembers that a signal asked to stop; a second Ctrl-C ends at once."""

    def __enter__(self):
        self.happened = False
        numbers = (signal.SIGINT, signal.SIGTERM)
        self.earlier = {number: signal.signal(number, self.note) for number in numbers}
        return self

    def __exit__(self, *error):
        for number, handler in self.earlier.items():
            signal.signal(number, handler)

    def note(self, number, frame):
        if self.happened and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.happened = True


def log(job, record):
    if job.workers.first:
        with open(job.path("log.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def say(job, text):
    if job.workers.first:
        print(text, file=sys.stderr, flush=True)
