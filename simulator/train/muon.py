"""Muon for the hidden matrices, AdamW for embeddings and gains, as one optimiser.

Muon (Keller Jordan, 2024): the momentum of a matrix is replaced by the nearest orthogonal one
before it is applied, found by five Newton-Schulz steps. Matrices of one shape are stacked, so that
a small model pays for a few products and not for hundreds. Where weights are sharded, each process
orthogonalises whole matrices and applies its part.
"""

import torch

from workers import local, part, rejoin, whole

MOMENTUM = 0.95
# Coefficients of the quintic that pushes singular values towards one.
A, B, C = 3.4445, -4.7750, 2.0315
STEPS = 5
BETAS = (0.9, 0.95)
EPSILON = 1e-10
# Numbers that AdamW treats together: enough to pay for a call, few enough for its temporary copies.
BUCKET = 1 << 22


def orthogonalise(stack):
    """The nearest orthogonal matrices to a stack (n, rows, columns), roughly."""
    tall = stack.shape[-2] > stack.shape[-1]
    x = stack.bfloat16()
    if tall:
        x = x.transpose(-1, -2).contiguous()
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).bfloat16()
    for _ in range(STEPS):
        square = x @ x.transpose(-1, -2)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=B, alpha=C), x, beta=A)
    x = x.float()
    return x.transpose(-1, -2) if tall else x


class Optimiser:
    """`step(factor)` applies the gradients with learning rates times `factor`."""

    def __init__(self, parameters, kind, matrix_rate, other_rate, decay):
        self.matrix_rate = matrix_rate
        self.other_rate = other_rate
        self.decay = decay
        self.steps = 0
        hidden, self.other = split_parameters(parameters, kind)
        groups = {}
        for weight in hidden:
            groups.setdefault(tuple(weight.shape), []).append(weight)
        self.groups = list(groups.values())
        self.momentum = [
            torch.zeros(len(group), *group[0].shape, device=group[0].device)
            for group in self.groups
        ]
        self.mean = [torch.zeros_like(local(weight)) for weight in self.other]
        self.square = [torch.zeros_like(local(weight)) for weight in self.other]
        self.buckets = bucket([mean.numel() for mean in self.mean])

    @torch.no_grad()
    def step(self, factor):
        self.steps += 1
        for group, momentum in zip(self.groups, self.momentum, strict=True):
            gradient = torch.stack([whole(weight.grad) for weight in group])
            momentum.lerp_(gradient, 1 - MOMENTUM)
            update = orthogonalise(gradient.lerp(momentum, MOMENTUM))
            rate = self.matrix_rate * factor
            rows, columns = group[0].shape
            weights = [local(weight) for weight in group]
            pieces = [part(own, weight) for own, weight in zip(update, group, strict=True)]
            torch._foreach_mul_(weights, 1 - rate * self.decay)
            torch._foreach_add_(weights, pieces, alpha=-rate * max(1, rows / columns) ** 0.5)
        for begin, end in self.buckets:
            self.step_adam(slice(begin, end), self.other_rate * factor)

    def step_adam(self, chosen, rate):
        weights = [local(weight) for weight in self.other[chosen]]
        gradients = [local(weight.grad) for weight in self.other[chosen]]
        mean, square = self.mean[chosen], self.square[chosen]
        first, second = BETAS
        torch._foreach_lerp_(mean, gradients, 1 - first)
        torch._foreach_mul_(square, second)
        torch._foreach_addcmul_(square, gradients, gradients, 1 - second)
        scale = torch._foreach_div(square, 1 - second**self.steps)
        torch._foreach_sqrt_(scale)
        torch._foreach_add_(scale, EPSILON)
        decayed = [
            weight
            for weight, kept in zip(weights, self.other[chosen], strict=True)
            if kept.dim() > 1
        ]
        if self.decay and decayed:
            torch._foreach_mul_(decayed, 1 - rate * self.decay)
        torch._foreach_addcdiv_(weights, mean, scale, value=-rate / (1 - first**self.steps))

    def state(self):
        """Whole tensors, to be saved."""
        moments = {
            name: [
                rejoin(own, weight)
                for own, weight in zip(getattr(self, name), self.other, strict=True)
            ]
            for name in ("mean", "square")
        }
        return {"steps": self.steps, "momentum": self.momentum, **moments}

    def restore(self, state):
        self.steps = state["steps"]
        for own, loaded in zip(self.momentum, state["momentum"], strict=True):
            own.copy_(loaded)
        for name in ("mean", "square"):
            rows = zip(getattr(self, name), state[name], self.other, strict=True)
            for own, loaded, weight in rows:
                own.copy_(part(loaded, weight))


def split_parameters(parameters, kind):
    """Parameters for Muon, and the others; `parameters` are pairs of a name and a parameter."""
    hidden, other = [], []
    for name, parameter in parameters:
        outer = "embed" in name or "lm_head" in name
        matrix = parameter.dim() == 2 and not outer
        (hidden if kind == "muon" and matrix else other).append(parameter)
    return hidden, other


def bucket(sizes):
    """Ranges of neighbours whose sizes add up to BUCKET, or that are larger alone."""
    ranges, begin, total = [], 0, 0
    for at, size in enumerate(sizes):
        if at > begin and total + size > BUCKET:
            ranges.append((begin, at))
            begin, total = at, 0
        total += size
    return [*ranges, (begin, len(sizes))]
