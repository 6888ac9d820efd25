"""Wildcards in subjects: `*` is one token, `>` is one or more at the end."""

import re
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=4096)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a subject falls under the pattern."""
    if "*" not in pattern and not pattern.endswith(">"):
        return pattern.__eq__
    expression = re.escape(pattern).replace(r"\*", "[^.]+")
    found = re.compile(expression[:-1] + ".+" if expression.endswith(">") else expression)
    return lambda subject: found.fullmatch(subject) is not None
