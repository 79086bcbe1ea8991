"""Undo and redo."""


class History:
    """Runs commands on a sheet and takes them back in reverse order.

    Only the latest ``limit`` commands can be undone. Running a new command
    makes it impossible to redo the ones that were undone before.
    """

    def __init__(self, sheet, limit=50):
        self.sheet = sheet
        self.limit = limit
        self._done = []
        self._undone = []

    def run(self, command):
        """Apply a command and remember it."""
        self._done.append(command)
        del self._done[: -self.limit]
        command.apply(self.sheet)
        self._undone.clear()

    def undo(self):
        """Take the latest command back. Returns false if there is none."""
        if not self._done:
            return False
        command = self._done.pop()
        command.revert(self.sheet)
        self._undone.append(command)
        return True

    def redo(self):
        """Repeat the command that was undone last, if there is one."""
        if not self._undone:
            return False
        command = self._undone.pop()
        command.apply(self.sheet)
        self._done.append(command)
        return True

    def labels(self):
        """Describe the commands that can be undone, the latest one first."""
        return [command.label for command in reversed(self._done)]
