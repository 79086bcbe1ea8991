"""An expected end of a training run: what is wrong, and what to do about it."""


class Stop(Exception):
    """Carries a message and a hint; the command line prints both and exits with 2."""

    def __init__(self, problem, hint):
        super().__init__(problem)
        self.hint = hint
