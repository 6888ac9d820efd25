"""Why a tool server ended: its exit code, and the line that tells most."""

import pytest

from actors.toolservers.exit_reason import exit_reason

TRACEBACK = """Traceback (most recent call last):
  File "server.py", line 1, in <module>
ModuleNotFoundError: No module named 'ledger'
"""
NODE = """node:internal/modules/cjs/loader:1228
  throw err;
Error: Cannot find module '/srv/desk.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v24.19.0
"""


@pytest.mark.parametrize(
    ("exit_code", "errors", "expected"),
    [
        (1, TRACEBACK, "it ended with exit code 1: ModuleNotFoundError: No module named 'ledger'"),
        (1, NODE, "it ended with exit code 1: Error: Cannot find module '/srv/desk.js'"),
        (1, "no licence found\n", "it ended with exit code 1: no licence found"),
        (2, "no licence found\n[info] bye\n", "it ended with exit code 2: no licence found"),
        (2, "INFO: started\nWARNING: old API\n", "it ended with exit code 2"),
        (0, "Listening on stdio\n", "it ended with exit code 0"),
        (0, "", "it ended with exit code 0"),
        (
            0,
            "INFO: 0 failed\nERROR: database is locked\nINFO: bye\n",
            "it ended with exit code 0: ERROR: database is locked",
        ),
        (-9, "Listening on stdio\n", "it was ended by SIGKILL"),
        (-11, "fatal: bad index\nbye\n", "it was ended by SIGSEGV: fatal: bad index"),
        (-64, "", "it was ended by SIGRTMAX"),
        (-99, "", "it was ended by signal 99"),
        (None, "", "the connection broke off"),
        (None, "IOError: disk full", "the connection broke off: IOError: disk full"),
    ],
)
def test_the_reason_has_the_exit_code_and_no_noise(exit_code: int | None, errors: str, expected: str) -> None:
    assert exit_reason(exit_code, errors) == expected
