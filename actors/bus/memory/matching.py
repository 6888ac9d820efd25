"""Wildcards in subjects: `*` is one token, `>` is one or more at the end."""

import re
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=4096)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a subject falls under the pattern."""
    if "*" in pattern:
        return _by_expression(pattern)
    if not pattern.endswith(">"):
        return pattern.__eq__
    prefix = pattern[:-1]  # compiling an expression for each run would cost more than all its matches
    return lambda subject: subject.startswith(prefix) and len(subject) > len(prefix)


def _by_expression(pattern: str) -> Callable[[str], bool]:
    expression = re.escape(pattern).replace(r"\*", "[^.]+")
    found = re.compile(expression[:-1] + ".+" if expression.endswith(">") else expression)
    return lambda subject: found.fullmatch(subject) is not None
