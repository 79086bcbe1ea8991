"""Fits the weights that order candidate edits, and says whether they are better than the product.

    for each program P of tasks/examples, with its reference patch applied, in FIXED:
    ndbg-agent bench seed --repo FIXED/P --count 5 --seed 1 --out SEEDED/P
    ndbg-agent bench ranks --tasks SEEDED/P --limit 2500 --features ROWS/P.jsonl
    ndbg-agent bench ranks --features ROWS/bundled.jsonl
    ndbg-agent bench ranks --simulator embedded --limit 2500 --features ROWS/walk.jsonl
    python tools/python/fit_ranking.py ROWS/*.jsonl [--write agent/src/plan/search/weights.toml]

Needs numpy. Rows are development tasks alone, never a benchmark's.

The model is a conditional logistic regression: in each task, one edit among all is the one that
repairs, and its odds are log-linear in the features. A ridge pulls the weights to the product that
was used before (`PRODUCT`), because there are few tasks. How strong it is, is chosen without the
program that is held out; where nothing is surely gained, the product is written. Figures are for
programs that were held out: all bugs of one program, seeded or not, are left out together.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

NAMES = (
    "suspicion",
    "smell",
    "prior",
    "fit",
    "better",
    "earlier",
    "alternatives",
    "added",
    "needed",
)
PRODUCT = np.array([1.0, -0.5, 1.0, 1.0, -1.0, -1.0, 0.0, 0.0, 1.0])
# As in weights.rs.
NODE_DECAY, STATEMENT_DECAY, MEETS, LEAST = 0.12, 0.03, 4.0, 1e-9
STRENGTHS = (10.0, 30.0, 100.0, 300.0)
FOLDS = 4
# Fitted weights are kept when they gain in this share of samples of programs.
SAMPLES, SURE = 10_000, 0.95
# Edits of a task's head whose scores keep their mean: they are compared with other planners'.
HEAD = 20


class Task:
    """The edits of a task."""

    def __init__(self, name, rows):
        self.name = name
        self.program = rows[0]["program"]
        self.is_seeded = self.program != rows[0]["task"]
        rows.sort(key=lambda row: row["rank"])
        self.features = np.array([logarithms(row) for row in rows])
        self.nothing = np.array([row["nothing"] for row in rows])
        found = [at for at, row in enumerate(rows) if row["reference"]]
        self.reference = found[0] if found else None

    def rank(self, weights):
        """Where the reference stands; none where it is not among the edits."""
        if self.reference is None:
            return None
        # What is foreseen to do nothing goes last, and ties stay as they are.
        score = self.features @ weights - 1e6 * self.nothing
        own = score[self.reference]
        before = np.arange(len(score)) < self.reference
        return 1 + int((score > own + 1e-9).sum() + ((abs(score - own) <= 1e-9) & before).sum())


def logarithms(row):
    suspicion = np.log(max(row["suspicion"], LEAST))
    return (
        suspicion,
        suspicion if row["prior"] > 1.0 else 0.0,
        np.log(max(row["prior"], LEAST)),
        np.log(max(row["fit"], LEAST)),
        np.log1p(NODE_DECAY * row["better"]),
        np.log1p(STATEMENT_DECAY * row["earlier"]),
        np.log(row["alternatives"]),
        np.log1p(row["added"]),
        np.log1p(MEETS * row["needed"]),
    )


def read(paths):
    tasks = []
    for path in paths:
        rows = defaultdict(list)
        with path.open() as file:
            for line in file:
                row = json.loads(line)
                rows[row["task"]].append(row)
        tasks += [Task(f"{path.stem}:{name}", of) for name, of in sorted(rows.items())]
    return tasks


def fit(tasks, strength):
    """The weights of least penalised log loss, by Newton's method.

    They are a multiple of the product's, which costs nothing since it changes no order, and what
    the ridge holds down. What is returned is divided by that multiple.
    """
    tasks = [task for task in tasks if task.reference is not None]
    ridge = np.diag([1e-6] + [strength] * len(PRODUCT))
    weights = np.array([1.0] + [0.0] * len(PRODUCT))
    for _ in range(30):
        gradient, hessian = ridge @ weights, ridge.copy()
        for task in tasks:
            features = np.column_stack((task.features @ PRODUCT, task.features))
            score = features @ weights - 1e6 * task.nothing
            odds = np.exp(score - score.max())
            odds /= odds.sum()
            mean = odds @ features
            gradient += mean - features[task.reference]
            hessian += (features * odds[:, None]).T @ features - np.outer(mean, mean)
        step = np.linalg.solve(hessian, gradient)
        # The first steps of a distant start overshoot.
        weights -= step / max(1.0, abs(step).max())
        if abs(step).max() < 1e-6:
            break
    return PRODUCT + weights[1:] / max(weights[0], LEAST)


def reciprocal(ranks):
    return float(np.mean([1.0 / rank if rank else 0.0 for rank in ranks]))


def strongest(tasks):
    """The strength whose weights do best on programs that they have not seen."""
    programs = sorted({task.program for task in tasks})
    best = {}
    for strength in STRENGTHS:
        ranks = []
        for fold in range(FOLDS):
            held = set(programs[fold::FOLDS])
            weights = fit([task for task in tasks if task.program not in held], strength)
            ranks += [task.rank(weights) for task in tasks if task.program in held]
        best[strength] = reciprocal(ranks)
    return max(STRENGTHS, key=lambda strength: best[strength])


def line(what, ranks):
    found = [rank for rank in ranks if rank]
    tops = " / ".join(str(sum(rank <= top for rank in found)) for top in (1, 5, 20))
    typical = float(np.exp(np.mean(np.log(found)))) if found else float("nan")
    return (
        f"{what:34} MRR {reciprocal(ranks):.3f}  top 1/5/20 {tops:>12}"
        f"  of {len(ranks)} ({len(found)} listed)  geometric mean rank {typical:.1f}"
    )


def gaining(tasks, held):
    """The share of bootstrap samples of programs in which ranks that were held out gain MRR."""
    gains = defaultdict(float)
    for task in tasks:
        gains[task.program] += reciprocal([held[task.name]]) - reciprocal([task.rank(PRODUCT)])
    values = np.array([gains[program] for program in sorted(gains)])
    drawn = np.random.default_rng(0).integers(len(values), size=(SAMPLES, len(values)))
    return float((values[drawn].sum(axis=1) > 0).mean())


def constant(tasks, weights):
    """What keeps the mean score of the head of each task."""
    shifts = []
    for task in tasks:
        before, after = task.features @ PRODUCT, task.features @ weights
        shifts.append(np.sort(before)[-HEAD:].mean() - np.sort(after)[-HEAD:].mean())
    return float(np.mean(shifts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="+", type=Path, help="output of `bench ranks --features`")
    parser.add_argument("--write", type=Path, help="weights.toml to write: fitted, or the product")
    arguments = parser.parse_args()
    tasks = read(arguments.rows)
    held = {}
    for program in sorted({task.program for task in tasks}):
        others = [task for task in tasks if task.program != program]
        weights = fit(others, strongest(others))
        for task in tasks:
            if task.program == program:
                held[task.name] = task.rank(weights)
    strength = strongest(tasks)
    fitted = fit(tasks, strength)
    kinds = [("all", tasks)]
    for path in arguments.rows:
        of = [task for task in tasks if task.name.startswith(f"{path.stem}:")]
        if not of[0].is_seeded:
            kinds.append((path.stem, of))
    kinds.append(("seeded", [task for task in tasks if task.is_seeded]))
    for kind, of in kinds:
        if of:
            print(line(f"{kind}: product", [task.rank(PRODUCT) for task in of]))
            print(line(f"{kind}: fitted, program held out", [held[task.name] for task in of]))
            print(line(f"{kind}: fitted on all", [task.rank(fitted) for task in of]))
    for task in tasks:
        before, after = task.rank(PRODUCT), held[task.name]
        if before != after:
            print(f"    {task.name:44} {before} -> {after}")
    share = gaining(tasks, held)
    is_better = share >= SURE
    verdict = "better" if is_better else "not surely better"
    print(f"ridge {strength:g}; MRR gains in {share:.1%} of samples of programs: {verdict}")
    for name, weight in zip(NAMES, fitted):
        print(f"    {name:14} {weight:7.3f}")
    if arguments.write:
        stored = fitted if is_better else PRODUCT
        rows = [("constant", constant(tasks, stored)), *zip(NAMES, stored)]
        text = "# Written by tools/python/fit_ranking.py; weights.rs says what each one means.\n"
        arguments.write.write_text(
            text + "".join(f"{name} = {round(float(value), 3)}\n" for name, value in rows)
        )


if __name__ == "__main__":
    main()
