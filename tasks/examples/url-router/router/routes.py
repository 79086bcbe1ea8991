"""The table of routes."""

from collections import namedtuple

from router.errors import MethodNotAllowed, NotFound
from router.patterns import Pattern

Route = namedtuple("Route", "pattern methods handler")


class Router:
    """Finds the handler of a request.

    Routes are tried in the order in which they were added; the first one
    that takes both the path and the method wins. A route for GET takes HEAD
    requests as well.
    """

    def __init__(self):
        self._routes = []

    def add(self, text, handler, methods=("GET",)):
        """Add a route for a pattern and one or more methods."""
        names = {method.upper() for method in methods}
        if "GET" in names:
            names.add("HEAD")
        self._routes.append(Route(Pattern(text), frozenset(names), handler))

    def route(self, text, methods=("GET",)):
        """Decorator form of :meth:`add`."""

        def register(handler):
            self.add(text, handler, methods)
            return handler

        return register

    def include(self, prefix, other):
        """Add all routes of another router below a path prefix."""
        for route in other._routes:
            pattern = Pattern(prefix.rstrip("/") + route.pattern.text)
            self._routes.append(route._replace(pattern=pattern))

    def find(self, method, path):
        """Return the handler for a request and the fields of its path.

        Raises NotFound if no route has the path, and MethodNotAllowed if
        there are such routes but none of them takes the method.
        """
        for route in self._routes:
            fields = route.pattern.match(path)
            if fields is None:
                continue
            if method.upper() not in route.methods:
                raise MethodNotAllowed(path, route.methods)
            return route.handler, fields
        raise NotFound(path)

    def handle(self, method, path):
        """Call the handler of a request with the fields of its path."""
        handler, fields = self.find(method, path)
        return handler(**fields)
