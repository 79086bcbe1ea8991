"""Layered configuration: defaults, a site file, and command-line values."""

from layers.config import Config
from layers.merge import flatten, merge, nest

__all__ = ["Config", "flatten", "merge", "nest"]
