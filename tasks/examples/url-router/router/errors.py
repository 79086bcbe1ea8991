"""Requests that no route takes."""


class NotFound(Exception):
    """No route has the requested path (status 404)."""

    def __init__(self, path):
        super().__init__(f"nothing at {path}")
        self.path = path


class MethodNotAllowed(Exception):
    """The path exists, but not for the requested method (status 405).

    ``allowed`` lists the methods that can be used instead, sorted.
    """

    def __init__(self, path, allowed):
        self.path = path
        self.allowed = sorted(allowed)
        super().__init__(f"{path} only takes {', '.join(self.allowed)}")
