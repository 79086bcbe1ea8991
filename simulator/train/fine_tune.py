"""Goes on training a causal language model of Hugging Face on the text of trajectories."""

import json
import sys

import torch

import text_shards
from average import Average
from evaluate import choose, describe, figures, trajectory_kinds
from export import FORMAT
from hugging_face import CausalModel, load
from loop import Job, log, open_run, run, say, validate
from muon import Optimiser
from shards import read_samples
from stop import Stop
from tokenizer import find, quoted
from workers import join, leave, spread, wait, whole


def train(options):
    """Runs the command; its exit code."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    workers = join()
    dialect = dialect_of(options)
    specials = read_specials(options.data)
    inner, tokenizer = load(options.model, specials)
    room = getattr(inner.config, "max_position_embeddings", None)
    if room and options.max_length > room:
        raise Stop(
            f"`{options.model}` reads {room} tokens, `--max-length` is {options.max_length}",
            f"give `--max-length {room}` or less",
        )
    if options.recompute:
        inner.gradient_checkpointing_enable()
    half = options.compute == "bf16"
    model = CausalModel(inner, half)
    if workers.first:
        text_shards.make(options.data, tokenizer, options.out, tell)
    wait(workers)
    shards = [text_shards.make(options.data, tokenizer, options.out, tell)]
    samples = read_samples(shards, "train", options.max_length)
    held_out = read_samples(shards, "validation", options.max_length)
    forward = spread(model, workers, model.blocks(), half)
    ids = dict(zip(specials, tokenizer.convert_tokens_to_ids(specials), strict=True))
    job = Job(
        options=options,
        workers=workers,
        model=model,
        forward=forward,
        samples=samples,
        held_out=held_out,
        chosen=choose(held_out, options.validation_samples, options.seed),
        kinds=trajectory_kinds(held_out, ids),
        identity={
            "dialect": dialect,
            "model": type(inner).__name__,
            "vocabulary": len(tokenizer),
            "parameters": sum(weight.numel() for weight in model.parameters()),
        },
        optimiser=Optimiser(
            model.named_parameters(),
            options.optimizer,
            options.matrix_rate,
            options.rate,
            options.weight_decay,
        ),
        average=Average(list(model.parameters()), options.ema),
    )
    open_run(job)
    say(
        job,
        f"{job.identity['parameters']} parameters, vocabulary {len(tokenizer)}; {len(samples)} "
        f"samples of {int(samples.length.sum())} tokens ({samples.dropped} dropped), "
        f"{len(held_out)} for validation",
    )
    ended = run(job)
    if ended:
        finish(job, tokenizer, dialect)
    leave(workers)
    return 0 if ended else 130


def finish(job, tokenizer, dialect):
    """Measures and writes the model."""
    report = validate(job)
    for kind, (count, right) in report.kinds.items():
        say(job, f"  {right / count:6.1%} of {count:6}  {kind}")
    job.average.swap()
    inner, out = job.model.inner, job.options.out
    weights = {name: whole(value).cpu() for name, value in inner.state_dict().items()}
    if job.workers.first:
        inner.config.ndbg = {"dialect": dialect, "format": FORMAT, "temperature": 1.0}
        kind = torch.float16 if job.options.half else torch.float32
        try:
            inner.save_pretrained(
                out, state_dict={name: value.to(kind) for name, value in weights.items()}
            )
            tokenizer.save_pretrained(out)
        except OSError as error:
            raise Stop(f"cannot write the model to `{out}`: {error}", "free disk space") from None
    log(job, {"event": "end", **vars(job.position), **figures(report)})
    say(job, f"{describe(report)}; model in `{out}`")


def tell(text):
    print(text, file=sys.stderr, flush=True)


def dialect_of(options):
    """The grammar of the data, which must be one of trajectories."""
    dialect = text_shards.grammar_of(options.data)
    if dialect is None:
        raise Stop(
            f"no text `train-….jsonl.zst` below {quoted(options.data)}",
            "`--data` takes folders that `ndbg-agent dataset merge` wrote",
        )
    if dialect not in ("nd", "cwm"):
        raise Stop(
            f"the data is of the `{dialect}` grammar, which has a vocabulary of its own",
            "train it with `from-scratch`, or give data of the `nd` or `cwm` grammar",
        )
    if options.dialect not in (None, dialect):
        raise Stop(
            f"the data is of the `{dialect}` grammar, not `{options.dialect}`",
            "leave `--dialect` out, or give the data set of that grammar",
        )
    return dialect


def read_specials(folders):
    """The special tokens of the grammars, in order."""
    paths = sorted(find(folders, "special_tokens.json"))
    if not paths:
        raise Stop(
            f"no `special_tokens.json` below {quoted(folders)}",
            "`--data` takes folders that `ndbg-agent dataset merge` wrote",
        )
    with open(paths[0], encoding="utf-8") as file:
        table = json.load(file)
    return sorted(table, key=table.get)
