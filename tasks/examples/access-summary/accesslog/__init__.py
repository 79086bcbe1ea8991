"""Summaries of web server access logs."""

from accesslog.parser import Hit, parse_lines
from accesslog.summary import Summary, render, summarise

__all__ = ["Hit", "Summary", "parse_lines", "render", "summarise"]
