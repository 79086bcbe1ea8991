"""Trains a neural debugger's model: from scratch on token shards, or from a Hugging Face model on
text.

    python train.py from-scratch --data DATA --out MODEL --hours 4
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
    add_from_scratch(scratch)
    options = parser.parse_args(arguments)
    if options.minutes:
        options.hours = options.minutes / 60
    if not any((options.hours, options.tokens, options.steps)):
        parser.error("one of --hours, --minutes, --tokens or --steps says when the run ends")
    return options


def add_from_scratch(parser):
    add = parser.add_argument
    add("--data", required=True, nargs="+", help="folders with token shards and their tokenizer")
    add("--out", required=True, help="folder for the model, its checkpoints and its log")
    add("--dialect", choices=("step", "nd", "cwm"), help="grammar; default: from the tokenizer")
    add("--seed", type=int, default=1)
    add(
        "--resume",
        nargs="?",
        const="latest",
        choices=("latest", "before-decay"),
        help="go on from the last checkpoint, or from the one before the rate began to fall",
    )
    add("--threads", type=int, default=1, help="compute threads; never more than free cores")
    model = parser.add_argument_group("model")
    add = model.add_argument
    add("--width", type=int, default=128)
    add("--layers", type=int, default=4)
    add("--heads", type=int, help="default: width / 32")
    add("--kv-heads", type=int, help="default: as many as heads")
    add("--feed-forward", type=int, help="default: about 8/3 of the width")
    add("--max-length", type=int, default=256, help="tokens of a sample; longer ones are cut")
    length = parser.add_argument_group("length (the first that is reached)")
    add = length.add_argument
    add("--hours", type=float)
    add("--minutes", type=float)
    add("--tokens", type=int)
    add("--steps", type=int)
    how = parser.add_argument_group("optimisation")
    add = how.add_argument
    add("--optimizer", choices=("muon", "adamw"), default="muon")
    add("--matrix-rate", type=float, default=0.02, help="learning rate of Muon")
    add("--rate", type=float, default=4e-3, help="learning rate of AdamW")
    add("--weight-decay", type=float, default=0.0, help="of Muon's matrices")
    add("--warmup", type=int, default=100, help="steps")
    add("--decay", type=float, default=0.45, help="share of the run over which the rate falls")
    add("--clip", type=float, default=1.0, help="largest norm of the gradients")
    add("--ema", type=float, default=0.0, help="decay of the averaged weights; 0 keeps none")
    add("--batch-tokens", type=int, default=8192, help="tokens a step, padding included")
    add("--micro-tokens", type=int, default=8192, help="tokens a forward pass")
    add("--round-to", type=int, default=4, help="lengths are padded to multiples of this")
    add("--compute", choices=("f32", "bf16"), default="bf16", help="of matrix products")
    add(
        "--fused",
        action=argparse.BooleanOptionalAction,
        help="steps between matrix products in C; default: if they compile",
    )
    watching = parser.add_argument_group("watching")
    add = watching.add_argument
    add("--validation-samples", type=int, default=4000)
    add("--validate-minutes", type=float, default=10)
    add("--checkpoint-minutes", type=float, default=10)
    add("--log-seconds", type=float, default=15)
    add("--half", action="store_true", help="write the weights as f16")


def main(arguments=None):
    options = parse(arguments)
    try:
        from from_scratch import train

        return train(options)
    except Stop as stop:
        print(f"error: {stop}\nhint: {stop.hint}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
