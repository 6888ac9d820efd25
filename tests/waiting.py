"""How long tests wait for what must happen."""

LIMIT_S = 180.0
"""A test waits for a condition, and gives up after this time. It is generous, because it is only reached by a failure:
a machine that is busy with other work may need ten times as long as an idle one."""
