"""Muon for the hidden matrices, AdamW for embeddings and gains, as one optimiser.

Muon (Keller Jordan, 2024): the momentum of a matrix is replaced by the nearest orthogonal one
before it is applied, found by five Newton-Schulz steps. Matrices of one shape are stacked, so that
a small model pays for a few products and not for hundreds.
"""

import torch

MOMENTUM = 0.95
# Coefficients of the quintic that pushes singular values towards one.
A, B, C = 3.4445, -4.7750, 2.0315
STEPS = 5
BETAS = (0.9, 0.95)
EPSILON = 1e-10


def orthogonalise(stack):
    """The nearest orthogonal matrices to a stack (n, rows, columns), roughly."""
    tall = stack.shape[-2] > stack.shape[-1]
    x = stack.bfloat16()
    if tall:
        x = x.transpose(-1, -2).contiguous()
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).bfloat16()
    for _ in range(STEPS):
        square = x @ x.transpose(-1, -2)
        x = A * x + (B * square + C * (square @ square)) @ x
    x = x.float()
    return x.transpose(-1, -2) if tall else x


class Optimiser:
    """`step(factor)` applies the gradients with learning rates times `factor`."""

    def __init__(self, model, kind, matrix_rate, other_rate, decay):
        self.matrix_rate = matrix_rate
        self.other_rate = other_rate
        self.decay = decay
        self.steps = 0
        hidden, other = split_parameters(model, kind)
        groups = {}
        for name, parameter in hidden:
            groups.setdefault(tuple(parameter.shape), []).append((name, parameter))
        self.groups = list(groups.values())
        self.other = other
        self.momentum = [
            torch.zeros(len(group), *group[0][1].shape, device=group[0][1].device)
            for group in self.groups
        ]
        self.mean = [torch.zeros_like(parameter) for _, parameter in other]
        self.square = [torch.zeros_like(parameter) for _, parameter in other]

    @torch.no_grad()
    def step(self, factor):
        self.steps += 1
        for group, momentum in zip(self.groups, self.momentum, strict=True):
            weights = [parameter for _, parameter in group]
            gradient = torch.stack([weight.grad for weight in weights])
            momentum.lerp_(gradient, 1 - MOMENTUM)
            update = orthogonalise(gradient.lerp(momentum, MOMENTUM))
            rate = self.matrix_rate * factor
            rows, columns = weights[0].shape
            torch._foreach_mul_(weights, 1 - rate * self.decay)
            torch._foreach_add_(
                weights, list(update.unbind()), alpha=-rate * max(1, rows / columns) ** 0.5
            )
        self.step_adam(self.other_rate * factor)

    def step_adam(self, rate):
        weights = [parameter for _, parameter in self.other]
        gradients = [weight.grad for weight in weights]
        first, second = BETAS
        torch._foreach_lerp_(self.mean, gradients, 1 - first)
        torch._foreach_mul_(self.square, second)
        torch._foreach_addcmul_(self.square, gradients, gradients, 1 - second)
        scale = torch._foreach_div(self.square, 1 - second**self.steps)
        torch._foreach_sqrt_(scale)
        torch._foreach_add_(scale, EPSILON)
        torch._foreach_addcdiv_(weights, self.mean, scale, value=-rate / (1 - first**self.steps))

    def state_dict(self):
        return {
            "steps": self.steps,
            "momentum": self.momentum,
            "mean": self.mean,
            "square": self.square,
        }

    def load_state_dict(self, state):
        self.steps = state["steps"]
        for name in ("momentum", "mean", "square"):
            for own, loaded in zip(getattr(self, name), state[name], strict=True):
                own.copy_(loaded)


def split_parameters(model, kind):
    """Parameters for Muon, and the others, each with its name."""
    hidden, other = [], []
    for name, parameter in model.named_parameters():
        matrix = parameter.dim() == 2 and "embed_tokens" not in name
        (hidden if kind == "muon" and matrix else other).append((name, parameter))
    return hidden, other
