"""An exponential average of the weights, which is often better than the last ones while the rate is
high.
"""

import torch

from workers import local, part, rejoin


class Average:
    """Nothing at all with a `decay` of 0."""

    def __init__(self, weights, decay):
        self.decay = decay
        self.weights = weights
        self.mean = [local(weight).detach().clone() for weight in weights] if decay else []

    @torch.no_grad()
    def follow(self, steps):
        """Takes the weights after `steps` steps in; the first ones are forgotten soon."""
        if self.decay:
            share = 1 - min(self.decay, (steps + 1) / (steps + 10))
            torch._foreach_lerp_(self.mean, [local(weight) for weight in self.weights], share)

    @torch.no_grad()
    def swap(self):
        """Exchanges the weights with their average."""
        for weight, mean in zip(self.weights if self.decay else [], self.mean, strict=True):
            kept = local(weight).clone()
            local(weight).copy_(mean)
            mean.copy_(kept)

    def state(self):
        """Whole tensors, to be saved."""
        pairs = zip(self.mean, self.weights if self.decay else [], strict=True)
        return [rejoin(mean, weight) for mean, weight in pairs]

    @torch.no_grad()
    def restore(self, state):
        """Takes a saved average, or the weights where none was kept."""
        if not self.decay:
            return
        saved = state or [None] * len(self.mean)
        for mean, weight, loaded in zip(self.mean, self.weights, saved, strict=True):
            mean.copy_(local(weight) if loaded is None else part(loaded, weight))
