"""The difference of two texts, line by line."""

import difflib

from actors.tools.tool import tool
from protocol.errors import ToolError

MOST_LINES = 3_000
MOST_CHARACTERS = 200_000


@tool
def diff_texts(before: str, after: str) -> str:
    """Compare two texts line by line: lines that went begin with -, lines that came with +.

    Args:
        before: the old text
        after: the new text
    """
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES or max(len(before), len(after)) > MOST_CHARACTERS:
        raise ToolError(f"each text may have {MOST_LINES:,} lines and {MOST_CHARACTERS:,} characters: compare parts")
    lines = list(difflib.unified_diff(old, new, "before", "after", lineterm="", n=2))
    if not lines:
        return "The texts are the same." if before == after else "The texts differ in line endings only."
    came = sum(line.startswith("+") for line in lines[2:])
    went = sum(line.startswith("-") for line in lines[2:])
    return "\n".join([f"{came:,} lines came, {went:,} went.", *lines])
