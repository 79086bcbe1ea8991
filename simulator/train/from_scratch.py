"""Trains a Llama from scratch on token shards, and writes it with a temperature."""

import contextlib

import numpy as np
import torch

import calibrate
import fused
import operations
from average import Average
from evaluate import INVERSE, choose, describe, figures, step_kinds, trajectory_kinds
from export import end_ids, export
from llama import Llama, Shape
from loop import Job, log, open_run, run, say, validate
from muon import Optimiser
from shards import largest_id, read_samples
from stop import Stop
from tokenizer import added_ids, dialect_of, read_tokenizer, texts_by_id, vocabulary_size
from workers import join, leave, spread, whole

COMPUTE = {"f32": torch.float32, "bf16": torch.bfloat16}


def train(options):
    """Runs the command; its exit code."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    workers = join()
    tokenizer = read_tokenizer(options.data)
    samples = read_samples(options.data, "train", options.max_length)
    held_out = read_samples(options.data, "validation", options.max_length)
    shape = shape_of(options, vocabulary_size(tokenizer))
    check_vocabulary(shape, samples, held_out)
    dialect = dialect_of(tokenizer)
    if options.dialect not in (None, dialect):
        raise Stop(
            f"the data is of the `{dialect}` grammar, not `{options.dialect}`",
            "leave `--dialect` out, or give the data set of that grammar",
        )
    steps, notice = steps_of(options, shape, workers.device)
    model = Llama(shape, COMPUTE[options.compute], steps)
    forward = spread(model, workers)
    job = Job(
        options=options,
        workers=workers,
        model=model,
        forward=forward,
        samples=samples,
        held_out=held_out,
        chosen=choose(held_out, options.validation_samples, options.seed),
        kinds=step_kinds(held_out, texts_by_id(tokenizer))
        if dialect == "step"
        else trajectory_kinds(held_out, added_ids(tokenizer)),
        identity={"dialect": dialect, **shape.as_dict()},
        optimiser=Optimiser(
            model.named_parameters(),
            options.optimizer,
            options.matrix_rate,
            options.rate,
            options.weight_decay,
        ),
        average=Average(list(model.parameters()), options.ema),
    )
    if notice:
        say(job, notice)
    open_run(job)
    say(
        job,
        f"{sum(weight.numel() for weight in model.parameters())} parameters, vocabulary "
        f"{shape.vocabulary}; {len(samples)} samples of {int(samples.length.sum())} tokens "
        f"({samples.dropped} dropped), {len(held_out)} for validation",
    )
    ended = run(job)
    if ended:
        with exactly(model):
            finish(job, shape, tokenizer, dialect)
    leave(workers)
    return 0 if ended else 130


def finish(job, shape, tokenizer, dialect):
    """Measures, calibrates and writes the model."""
    report = validate(job)
    for kind, (count, right) in list(report.kinds.items())[:40]:
        say(job, f"  {right / count:6.1%} of {count:6}  {kind}")
    job.average.swap()
    fitted = None
    if dialect == "step":
        # What a backwards question wants has often many answers, of which the sample holds one.
        asked = [one for one in job.chosen if not job.kinds(one, 0).startswith(INVERSE)]
        end = end_ids(tokenizer)["end"]
        kept = calibrate.answers(
            job.model, job.held_out, np.array(asked), job.options.micro_tokens, end
        )
        fitted = calibrate.fit(kept)
        shares = ", ".join(
            f"{share:.1%} at {precision:.0%} precision"
            for precision, share in fitted.coverage.items()
        )
        say(
            job,
            f"temperature {fitted.temperature:.3f} (exactness loss {fitted.loss_before:.4f} -> "
            f"{fitted.loss_after:.4f}); coverage {shares}",
        )
    temperature = fitted.temperature if fitted else 1.0
    weights = {name: whole(value) for name, value in job.model.state_dict().items()}
    if job.workers.first:
        out = job.options.out
        export(out, shape, weights, tokenizer, dialect, temperature, job.options.half)
    summary = {"event": "end", **vars(job.position), **figures(report)}
    summary["temperature"] = temperature
    summary["coverage"] = fitted.coverage if fitted else None
    log(job, summary)
    say(job, f"{describe(report)}; model in `{job.options.out}`")


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


def steps_of(options, shape, device):
    """The module with the steps between matrix products, and why it is not the fast one."""
    if options.fused is False or device.type != "cpu":
        return operations, None
    if fused.fits(shape):
        problem = fused.prepare(COMPUTE[options.compute]) or fused.prepare(torch.float32)
    else:
        problem = f"widths are no multiples of {fused.LANES}, heads' of {fused.HEAD_LANES}"
    if problem is None:
        return fused, None
    if options.fused:
        raise Stop(f"`--fused` is not possible: {problem}", "leave it out: PyTorch does it slower")
    return operations, f"slower without fused steps: {problem}"


@contextlib.contextmanager
def exactly(model):
    """Computes in f32, as whoever uses the model will."""
    compute, model.compute = model.compute, torch.float32
    yield
    model.compute = compute


def check_vocabulary(shape, *splits):
    largest = max(largest_id(samples) for samples in splits)
    if largest >= shape.vocabulary:
        raise Stop(
            f"the shards have token {largest}, the tokenizer ends at {shape.vocabulary - 1}",
            "the shards and the tokenizer come from different data sets: merge again",
        )
