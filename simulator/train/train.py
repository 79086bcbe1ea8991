"""Trains a neural debugger's model: from scratch on token shards, or from a Hugging Face model on
text.

    python train.py from-scratch --data DATA --out MODEL --hours 4
    python train.py fine-tune --model FOLDER --data DATA --out MODEL --epochs 1
    accelerate launch --multi_gpu --num_processes 8 train.py fine-tune …
    accelerate launch --config_file accelerate_fsdp.yaml train.py fine-tune …
"""

import argparse
import sys

from stop import Stop


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    scratch = verbs.add_parser("from-scratch", help="a small Llama on token shards")
    add_common(scratch, data="folders with token shards and their tokenizer")
    add_shape(scratch)
    scratch.set_defaults(
        max_length=256, rate=4e-3, optimizer="muon", warmup=100, decay=0.45, weight_decay=0.0,
        batch_tokens=8192, micro_tokens=8192,
    )  # fmt: skip
    tune = verbs.add_parser("fine-tune", help="a causal language model of Hugging Face on text")
    add_common(tune, data="folders with JSON lines and `special_tokens.json`")
    add = tune.add_argument
    add("--model", required=True, help="folder of a Hugging Face model, or its name")
    add("--recompute", action="store_true", help="compute activations twice to save memory")
    tune.set_defaults(
        max_length=4096, rate=2e-5, optimizer="adamw", warmup=50, decay=0.9, weight_decay=0.01,
        batch_tokens=65536, micro_tokens=8192,
    )  # fmt: skip
    options = parser.parse_args(arguments)
    if options.minutes:
        options.hours = options.minutes / 60
    if not any((options.hours, options.tokens, options.steps, options.epochs)):
        parser.error("--hours, --minutes, --tokens, --steps or --epochs says when the run ends")
    if options.batch_tokens < options.micro_tokens:
        options.micro_tokens = options.batch_tokens
    return options


def add_common(parser, data):
    add = parser.add_argument
    add("--data", required=True, nargs="+", help=data)
    add("--out", required=True, help="folder for the model, its checkpoints and its log")
    add("--dialect", choices=("step", "nd", "cwm"), help="grammar; the data must be of it")
    add("--seed", type=int, default=1)
    add(
        "--resume",
        nargs="?",
        const="latest",
        choices=("latest", "before-decay"),
        help="go on from the last checkpoint, or from the one before the rate began to fall",
    )
    add("--threads", type=int, default=1, help="compute threads; never more than free cores")
    add("--max-length", type=int, help="tokens of a sample; longer ones are cut (%(default)s)")
    add("--half", action="store_true", help="write the weights as f16")
    length = parser.add_argument_group("length (the first that is reached)")
    add = length.add_argument
    add("--hours", type=float, help="in the loop, those before `--resume` included")
    add("--minutes", type=float)
    add("--tokens", type=int)
    add("--steps", type=int)
    add("--epochs", type=float, help="passes over the data")
    add("--pause-after", type=int, metavar="STEPS", help="end as if interrupted; --resume goes on")
    how = parser.add_argument_group("optimisation")
    add = how.add_argument
    add("--optimizer", choices=("muon", "adamw"), help="of hidden matrices (%(default)s)")
    add("--matrix-rate", type=float, default=0.02, help="learning rate of Muon (%(default)s)")
    add("--rate", type=float, help="learning rate of AdamW (%(default)s)")
    add("--weight-decay", type=float, help="of matrices (%(default)s)")
    add("--warmup", type=int, help="steps (%(default)s)")
    add("--decay", type=float, help="last share of the run, in which rates fall (%(default)s)")
    add("--clip", type=float, default=1.0, help="largest norm of the gradients (%(default)s)")
    add("--ema", type=float, default=0.0, help="decay of averaged weights; 0 keeps none")
    add("--batch-tokens", type=int, help="tokens a step, padding included (%(default)s)")
    add("--micro-tokens", type=int, help="tokens a forward pass (%(default)s)")
    add("--round-to", type=int, default=4, help="lengths are padded to multiples (%(default)s)")
    add("--compute", choices=("f32", "bf16"), default="bf16", help="matrix products (%(default)s)")
    watching = parser.add_argument_group("watching")
    add = watching.add_argument
    add("--validation-samples", type=int, default=4000)
    add("--validate-minutes", type=float, default=10)
    add("--checkpoint-minutes", type=float, default=10)
    add("--log-seconds", type=float, default=15)


def add_shape(parser):
    model = parser.add_argument_group("model")
    add = model.add_argument
    add("--width", type=int, default=128)
    add("--layers", type=int, default=4)
    add("--heads", type=int, help="default: width / 32")
    add("--kv-heads", type=int, help="default: as many as heads")
    add("--feed-forward", type=int, help="default: about 8/3 of the width")
    add(
        "--fused",
        action=argparse.BooleanOptionalAction,
        help="steps between matrix products in C; default: if they compile",
    )


def main(arguments=None):
    options = parse(arguments)
    try:
        if options.verb == "from-scratch":
            from from_scratch import train
        else:
            from fine_tune import train
        return train(options)
    except Stop as stop:
        print(f"error: {stop}\nhint: {stop.hint}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
