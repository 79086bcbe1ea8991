"""Map request methods and paths to handlers."""

from router.errors import MethodNotAllowed, NotFound
from router.patterns import Pattern
from router.routes import Router

__all__ = ["MethodNotAllowed", "NotFound", "Pattern", "Router"]
