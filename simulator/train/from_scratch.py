"""Trains a Llama from scratch on token shards: the loop, its log, its checkpoints and its end."""

import contextlib
import json
import os
import signal
import sys
import time

import numpy as np
import torch

import calibrate
import checkpoint
import fused
import operations
from batches import collate, plan_epoch
from evaluate import INVERSE, choose, evaluate, step_kinds
from export import end_ids, export
from llama import Llama, Shape
from muon import Optimiser
from schedule import Budget, rate_factor
from shards import largest_id, read_samples
from stop import Stop
from tokenizer import dialect_of, read_tokenizer, texts_by_id, vocabulary_size

COMPUTE = {"f32": torch.float32, "bf16": torch.bfloat16}


class Run:
    """What changes while training: everything here is in a checkpoint."""

    def __init__(self):
        self.steps = 0
        self.tokens = 0
        self.seconds = 0.0
        self.epoch = 0
        self.batch = 0

    def state(self):
        return dict(vars(self))

    def restore(self, state):
        vars(self).update(state)


def feed_forward_width(width):
    """About 8/3 of the width, a multiple of 32."""
    return -(-width * 8 // 3 // 32) * 32


def shape_of(options, vocabulary):
    heads = options.heads or max(1, options.width // 32)
    shape = Shape(
        vocabulary=vocabulary,
        width=options.width,
        layers=options.layers,
        heads=heads,
        kv_heads=options.kv_heads or heads,
        feed_forward=options.feed_forward or feed_forward_width(options.width),
        context=options.max_length,
    )
    if shape.width % (2 * heads) or heads % shape.kv_heads:
        raise Stop(
            f"width {shape.width}, {heads} heads and {shape.kv_heads} key heads do not divide",
            "heads divide the width into even parts, key heads divide the heads",
        )
    return shape


def train(options):
    """Runs the command; its exit code."""
    torch.manual_seed(options.seed)
    if options.threads:
        torch.set_num_threads(options.threads)
    tokenizer = read_tokenizer(options.data)
    samples = read_samples(options.data, "train", options.max_length)
    held_out = read_samples(options.data, "validation", options.max_length)
    shape = shape_of(options, vocabulary_size(tokenizer))
    check_vocabulary(shape, samples, held_out)
    model = Llama(shape, COMPUTE[options.compute], steps_of(options, shape))
    optimiser = Optimiser(
        model, options.optimizer, options.matrix_rate, options.rate, options.weight_decay
    )
    run = Run()
    average = [parameter.detach().clone() for parameter in model.parameters()]
    os.makedirs(options.out, exist_ok=True)
    latest = os.path.join(options.out, checkpoint.LATEST)
    if options.resume:
        state = checkpoint.load(
            os.path.join(options.out, checkpoint.BEFORE_DECAY)
            if options.resume == "before-decay"
            else latest
        )
        restore(state, shape, len(samples), model, optimiser, average, run)
    elif os.path.exists(latest):
        raise Stop(
            f"`{options.out}` holds a run already",
            "`--resume` goes on with it; another `--out` starts afresh",
        )
    budget = Budget(
        seconds=options.hours * 3600 if options.hours else None,
        tokens=options.tokens,
        steps=options.steps,
    )
    texts = texts_by_id(tokenizer)
    dialect = options.dialect or dialect_of(tokenizer)
    kinds = step_kinds(held_out, texts) if dialect == "step" else None
    chosen = choose(held_out, options.validation_samples, options.seed)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    say(
        f"{parameters} parameters, vocabulary {shape.vocabulary}; {len(samples)} samples of "
        f"{int(samples.length.sum())} tokens ({samples.dropped} dropped), "
        f"{len(held_out)} for validation"
    )

    def snapshot():
        return {
            "shape": shape.as_dict(),
            "data_samples": len(samples),
            "model": model.state_dict(),
            "optimiser": optimiser.state_dict(),
            "average": average,
            "run": run.state(),
            "random": torch.get_rng_state(),
        }

    def validate():
        swap(model, average, options.ema)
        with exactly(model):
            report = evaluate(model, held_out, chosen, kinds, options.batch_tokens)
        swap(model, average, options.ema)
        return report

    stopped = Interruption()
    ended = loop(
        options, budget, run, samples, model, optimiser, average, stopped, snapshot, validate
    )
    checkpoint.save(latest, snapshot())
    if not ended:
        say(f"stopped; `{latest}` is written, `--resume` goes on")
        return 130
    report = validate()
    show_kinds(report)
    swap(model, average, options.ema)
    end = end_ids(tokenizer)["end"]
    fitted = None
    if dialect == "step":
        with exactly(model):
            # What a backwards question wants has often many answers, of which the sample holds one.
            asked = [sample for sample in chosen if not kinds(sample).startswith(INVERSE)]
            kept = calibrate.answers(model, held_out, np.array(asked), options.batch_tokens, end)
        fitted = calibrate.fit(kept)
        shares = ", ".join(
            f"{share:.1%} at {precision:.0%} precision"
            for precision, share in fitted.coverage.items()
        )
        say(
            f"temperature {fitted.temperature:.3f} (exactness loss {fitted.loss_before:.4f} -> "
            f"{fitted.loss_after:.4f}); coverage {shares}"
        )
    temperature = fitted.temperature if fitted else 1.0
    export(options.out, shape, model.state_dict(), tokenizer, dialect, temperature, options.half)
    log(
        options,
        {
            "event": "end",
            **run.state(),
            **figures(report),
            "temperature": temperature,
            "coverage": fitted.coverage if fitted else None,
        },
    )
    say(f"{describe(report)}; model in `{options.out}`")
    return 0


def loop(options, budget, run, samples, model, optimiser, average, stopped, snapshot, validate):
    """Trains until the budget is spent (True) or a signal comes (False)."""
    latest = os.path.join(options.out, checkpoint.LATEST)
    weights = list(model.parameters())
    last_saved = last_shown = last_validated = clock = time.monotonic()
    before = run.seconds
    shown_tokens, shown_loss, shown_places = run.tokens, 0.0, 0
    decaying = False
    plan, planned = [], -1
    while True:
        progress = budget.progress(run.seconds, run.tokens, run.steps)
        if progress >= 1.0:
            return True
        if stopped.happened:
            return False
        if not decaying and progress >= 1.0 - options.decay:
            decaying = True
            checkpoint.save(os.path.join(options.out, checkpoint.BEFORE_DECAY), snapshot())
        if run.epoch != planned:
            plan = plan_epoch(
                samples, options.seed, run.epoch, options.micro_tokens, options.round_to
            )
            planned = run.epoch
        count = max(1, options.batch_tokens // options.micro_tokens)
        group = [
            collate(samples, chosen, options.round_to)
            for chosen in plan[run.batch : run.batch + count]
        ]
        places = sum(int((batch.targets >= 0).sum()) for batch in group)
        total = 0.0
        for batch in group:
            loss = model(batch.ids, batch.at, batch.targets, 1 / places)
            loss.backward()
            total += float(loss.detach()) * places
        torch.nn.utils.clip_grad_norm_(weights, options.clip, foreach=True)
        factor = rate_factor(progress, run.steps, options.warmup, options.decay)
        optimiser.step(factor)
        for weight in weights:
            weight.grad.zero_()
        if options.ema:
            torch._foreach_lerp_(
                average,
                [weight.detach() for weight in weights],
                1 - min(options.ema, (run.steps + 1) / (run.steps + 10)),
            )
        run.steps += 1
        run.tokens += sum(batch.tokens for batch in group)
        run.batch += len(group)
        if run.batch >= len(plan):
            run.epoch, run.batch = run.epoch + 1, 0
        now = time.monotonic()
        run.seconds = before + now - clock
        shown_loss += total
        shown_places += places
        if now - last_shown >= options.log_seconds:
            speed = (run.tokens - shown_tokens) / (now - last_shown)
            record = {
                "event": "train",
                "loss": shown_loss / shown_places,
                "rate": factor,
                **run.state(),
                "tokens_per_second": round(speed),
            }
            log(options, record)
            say(
                f"{progress:6.1%}  step {run.steps}  loss {record['loss']:.4f}  rate {factor:.2f}  "
                f"{run.tokens / 1e6:.1f}M tokens  {speed:.0f}/s"
            )
            shown_tokens, shown_loss, shown_places, last_shown = run.tokens, 0.0, 0, now
        if now - last_validated >= options.validate_minutes * 60:
            report = validate()
            log(options, {"event": "validation", **run.state(), **figures(report)})
            say(f"validation: {describe(report)}")
            last_validated = time.monotonic()
        if now - last_saved >= options.checkpoint_minutes * 60:
            checkpoint.save(latest, snapshot())
            last_saved = time.monotonic()


def steps_of(options, shape):
    """The module with the steps between matrix products."""
    if options.fused is False:
        return operations
    problem = (
        fused.prepare(COMPUTE[options.compute]) or fused.prepare(torch.float32)
        if fused.fits(shape)
        else f"widths are no multiples of {fused.LANES}, heads' of {fused.HEAD_LANES}"
    )
    if problem is None:
        return fused
    if options.fused:
        raise Stop(f"`--fused` is not possible: {problem}", "leave it out: PyTorch does it slower")
    say(f"slower without fused steps: {problem}")
    return operations


@contextlib.contextmanager
def exactly(model):
    """Computes in f32, as whoever uses the model will."""
    compute, model.compute = model.compute, torch.float32
    yield
    model.compute = compute


def swap(model, average, ema):
    """Exchanges the weights with their average, if one is kept."""
    if not ema:
        return
    with torch.no_grad():
        for weight, mean in zip(model.parameters(), average, strict=True):
            kept = weight.clone()
            weight.copy_(mean)
            mean.copy_(kept)


def restore(state, shape, count, model, optimiser, average, run):
    if state["shape"] != shape.as_dict():
        differ = [name for name, value in shape.as_dict().items() if state["shape"][name] != value]
        pairs = ", ".join(
            f"{name} {state['shape'][name]} not {getattr(shape, name)}" for name in differ
        )
        raise Stop(
            f"the checkpoint has {pairs}",
            "resume with the sizes and the data set's vocabulary that the run began with",
        )
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    for own, loaded in zip(average, state["average"], strict=True):
        own.copy_(loaded)
    run.restore(state["run"])
    torch.set_rng_state(state["random"])
    if state["data_samples"] != count:
        say(f"the data has {count} samples, not {state['data_samples']}: a new epoch begins")
        run.epoch, run.batch = run.epoch + 1, 0


def check_vocabulary(shape, *splits):
    largest = max(largest_id(samples) for samples in splits)
    if largest >= shape.vocabulary:
        raise Stop(
            f"the shards have token {largest}, the tokenizer ends at {shape.vocabulary - 1}",
            "the shards and the tokenizer come from different data sets: merge again",
        )


class Interruption:
    """Remembers that a signal asked to stop; a second one ends at once."""

    def __init__(self):
        self.happened = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.note)

    def note(self, number, frame):
        if self.happened:
            raise KeyboardInterrupt
        self.happened = True


def describe(report):
    counts = list(report.kinds.items())
    parts = [f"loss {report.loss:.4f}", f"exact {report.exact:.1%}"]
    for name, side in (("forwards", False), ("backwards", True)):
        own = [count for kind, count in counts if kind.startswith(INVERSE) == side]
        if own and len(own) < len(counts):
            share = sum(right for _, right in own) / sum(count for count, _ in own)
            parts.append(f"{name} {share:.1%}")
    return ", ".join(parts)


def figures(report):
    kinds = {kind: [count, right] for kind, (count, right) in report.kinds.items()}
    return {
        "validation_loss": report.loss,
        "exact": report.exact,
        "samples": report.samples,
        "kinds": dict(list(kinds.items())[:200]),
    }


def show_kinds(report, most=40):
    for kind, (count, right) in list(report.kinds.items())[:most]:
        say(f"  {right / count:6.1%} of {count:6}  {kind}")


def log(options, record):
    with open(os.path.join(options.out, "log.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def say(text):
    print(text, file=sys.stderr, flush=True)
