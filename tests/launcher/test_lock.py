import os
import subprocess
import sys
from pathlib import Path

import pytest

from actors.launcher.lock import FileLock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_only_one_can_hold_it_alone(path: Path) -> None:
    first, second = FileLock(path), FileLock(path)
    assert first.take()
    assert first.take()
    assert not second.take()
    assert not second.take(shared=True)
    first.release()
    assert second.take()
    second.release()


def test_many_can_share_it_and_then_nobody_has_it_alone(path: Path) -> None:
    first, second, third = FileLock(path), FileLock(path), FileLock(path)
    assert first.take(shared=True)
    assert second.take(shared=True)
    assert not third.take()
    first.release()
    assert not third.take()
    second.release()
    assert third.take()
    third.release()


def test_a_process_that_inherits_it_goes_on_holding_it(path: Path) -> None:
    lock, other = FileLock(path), FileLock(path)
    assert lock.take()
    heir = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock.fileno(),))
    lock.release()
    assert not lock.held
    assert not other.take()
    heir.communicate(b"\n")
    assert other.take()
    other.release()


def test_it_leaves_no_descriptor_behind(path: Path) -> None:
    lock, other = FileLock(path), FileLock(path)
    lock.take()
    before = os.dup(0)
    os.close(before)
    assert not other.take()
    lock.release()
    lock.release()
    after = os.dup(0)
    os.close(after)
    assert after <= before
    with pytest.raises(ValueError, match="not locked"):
        lock.fileno()
