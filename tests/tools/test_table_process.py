"""Calls on tables run in a child process: what a call may take, and what is left when it is killed."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from actors.tools import claims, tables
from actors.tools.table_process import TableProcess, process_of
from protocol.errors import ToolError

BOMB = (
    "WITH s AS (SELECT hex(zeroblob(490000)) z) SELECT "
    + ", ".join(f"instr(z, substr(z, 1, {400_000 + n}) || 'x')" for n in range(200))
    + " FROM s"
)
"""200 steps of about 2.5 s each; SQLite looks at the clock only between them."""
WAIT_S = 30.0

KILLED_WORKER = """
import asyncio, sys
from pathlib import Path
from actors.tools import table_process

async def main():
    table_process.TIME_S = 0.5
    process = table_process.process_of(Path(sys.argv[1]))
    await process.query("SELECT 1")
    print(process.pid, flush=True)
    await process.query(sys.argv[2])

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "numbers.csv").write_text("n\n1\n2\n")
    return tmp_path


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.tools.table_process.TIME_S", 0.5)


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # A zombie has ended, too: it waits for its parent, here perhaps a process that reaps late.
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def wait_until_ended(pid: int) -> None:
    until = time.monotonic() + WAIT_S
    while not has_ended(pid):
        assert time.monotonic() < until, f"process {pid} still runs after {WAIT_S:g} s"
        time.sleep(0.02)


def wait_until_busy(pid: int) -> None:
    """Until the process has used CPU time beyond what it had used when it was idle."""
    idle, until = cpu_ticks(pid), time.monotonic() + WAIT_S
    while cpu_ticks(pid) < idle + 10:
        assert time.monotonic() < until, f"process {pid} does nothing"
        time.sleep(0.02)


def cpu_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


async def test_a_query_of_long_steps_ends_at_its_limit_and_the_next_one_answers(folder: Path, short: None) -> None:
    _, ask = tables.build(folder)
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"took longer than 0\.5 s and was stopped"):
        await ask.call({"sql": BOMB})
    assert time.monotonic() - began < WAIT_S / 2  # it would take minutes
    assert await ask.call({"sql": "SELECT SUM(n) s FROM numbers"}) == "s\n3"


async def test_a_query_of_short_steps_stops_by_itself_and_keeps_the_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.tools.table_process.TIME_S", 0.1)
    monkeypatch.setattr("actors.tools.table_process.GRACE_S", WAIT_S)
    (folder / "many.csv").write_text("n\n" + "\n".join(map(str, range(1000))))
    process = process_of(folder)
    assert await process.query("SELECT COUNT(*) c FROM many") == "c\n1000"
    before = process.pid
    with pytest.raises(ToolError, match=r"took longer than 0\.1 s"):
        await process.query("SELECT SUM(a.n * b.n * c.n * d.n) FROM many a, many b, many c, many d")
    assert await process.query("SELECT COUNT(*) c FROM many") == "c\n1000"
    assert process.pid == before


async def test_sixty_four_queries_at_once_all_get_their_own_answer_from_one_process(folder: Path) -> None:
    _, ask = tables.build(folder)
    found = await asyncio.gather(*(ask.call({"sql": f"SELECT {number} AS n"}) for number in range(64)))
    assert found == [f"n\n{number}" for number in range(64)]


async def test_the_clock_of_a_query_starts_when_it_is_its_turn(folder: Path, short: None) -> None:
    process = process_of(folder)
    bombs = [asyncio.create_task(process.query(BOMB)) for _ in range(2)]
    await asyncio.sleep(0)
    assert await process.query("SELECT SUM(n) s FROM numbers") == "s\n3"
    outcomes = await asyncio.gather(*bombs, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ToolError, ToolError]


async def test_a_cancelled_query_ends_its_process_and_the_next_one_answers(folder: Path) -> None:
    process = process_of(folder)
    await process.query("SELECT 1")
    pid = process.pid
    assert pid
    bomb = asyncio.create_task(process.query(BOMB))
    await asyncio.sleep(0.1)
    bomb.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await bomb
    assert await process.query("SELECT SUM(n) s FROM numbers") == "s\n3"
    assert process.pid != pid
    wait_until_ended(pid)


def test_the_process_ends_with_the_tools(folder: Path) -> None:
    process = process_of(folder)
    asyncio.run(process.query("SELECT 1"))
    pid = process.pid
    assert pid
    del process
    wait_until_ended(pid)


@pytest.mark.process
@pytest.mark.parametrize("sql", [BOMB, "SELECT 1"], ids=["in a query", "idle"])
def test_the_process_ends_if_the_worker_is_killed(folder: Path, sql: str) -> None:
    command = [sys.executable, "-c", KILLED_WORKER + "\ninput()", str(folder), sql]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout
        pid = int(worker.stdout.readline())
        if sql == BOMB:
            wait_until_busy(pid)
        worker.send_signal(signal.SIGKILL)
        wait_until_ended(pid)


@pytest.mark.process
def test_files_of_the_current_folder_are_not_taken_for_modules(folder: Path, tmp_path: Path) -> None:
    for name in ("random.py", "pickle.py", "msgspec.py", "csv.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the current folder')")
    code = f"import sys; sys.path.remove(''); {KILLED_WORKER}"
    command = [sys.executable, "-c", code, str(folder), "SELECT 1"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr


async def test_a_process_that_was_killed_from_outside_is_replaced(folder: Path) -> None:
    process = process_of(folder)
    await process.query("SELECT 1")
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    wait_until_ended(process.pid)
    assert await process.query("SELECT SUM(n) s FROM numbers") == "s\n3"


async def test_a_process_that_dies_in_a_call_is_an_error_the_model_reads(folder: Path) -> None:
    process = process_of(folder)
    await process.query("SELECT 1")
    assert process.pid
    os.kill(process.pid, signal.SIGSTOP)
    call = asyncio.create_task(process.query("SELECT 1"))
    await asyncio.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(ToolError, match="ended during this call"):
        await call
    assert await process.query("SELECT SUM(n) s FROM numbers") == "s\n3"


async def test_tools_of_one_folder_share_a_process(folder: Path) -> None:
    assert process_of(folder) is process_of(folder)
    assert process_of(folder) is not process_of(folder.parent)


def test_one_tool_serves_one_event_loop_after_the_other(folder: Path) -> None:
    process = TableProcess(folder)

    async def several() -> list[str]:
        return await asyncio.gather(*(process.query("SELECT 1 AS n") for _ in range(3)))

    assert asyncio.run(several()) == asyncio.run(several()) == ["n\n1"] * 3


async def test_a_file_of_megabytes_takes_none_of_the_memory_of_the_worker(tmp_path: Path) -> None:
    rows = "".join(f"{n},customer {n},Region{n % 7},{n * 1.37:.2f}\n" for n in range(40_000))
    (tmp_path / "sales.csv").write_text("id,name,region,value_eur\n" + rows)
    _, ask = tables.build(tmp_path)
    (check,) = claims.build(tmp_path)
    tracemalloc.start()
    try:
        assert await ask.call({"sql": "SELECT COUNT(*) c FROM sales"}) == "c\n40000"
        verdict = await check.call({"claim": "The sales value in Region3 was 500 euros"})
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert verdict.startswith("contradicted\nagainst: [sales.csv] sum of value_eur where region = Region3")
    assert (held < len(rows) / 2, most < len(rows)) == (True, True)


def test_a_model_reads_what_a_folder_that_takes_too_long_needs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.tools.table_process.LOAD_S", 0.0)
    monkeypatch.setattr("actors.tools.table_process.GRACE_S", 0.0)
    (folder / "big.json").write_text(json.dumps([{"n": n} for n in range(100_000)]))
    with pytest.raises(ToolError, match="to read: keep fewer there"):
        asyncio.run(TableProcess(folder).query("SELECT 1"))
