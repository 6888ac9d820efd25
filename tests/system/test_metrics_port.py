"""Every actor shows its figures to Prometheus when it is told a port; several on one machine share a range of them."""

import asyncio
import json
import re
import urllib.request

from actor_processes import Actor, Stage, task, until
from servers import free_port
from waiting import LIMIT_S


def shown_by(actor: Actor) -> str:
    """Where an actor says that it shows its figures."""
    lines = [json.loads(line) for line in actor.log.read_text().splitlines() if '"metrics.shown"' in line]
    return str(lines[0]["url"])


async def figures(url: str) -> str:
    def read() -> str:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode()

    return await asyncio.to_thread(read)


async def test_prometheus_reads_what_happened(stage: Stage) -> None:
    stage.environment["HANDOFF_METRICS_PORT"] = str(free_port())
    supervisor, worker = await asyncio.gather(stage.supervisor(), stage.worker("echo", "fail"))
    assert shown_by(supervisor) != shown_by(worker)
    run = await stage.ask(task("a", "echo"), task("b", "fail"))
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "partial"

    async def counted() -> bool:
        return 'handoff_runs_total{handoff_status="partial"' in await figures(shown_by(supervisor))

    await until(counted)
    text = await figures(shown_by(supervisor))
    assert re.search(r'handoff_task_duration_seconds_count\{.*handoff_outcome="failed".*worker="fail".*\} [1-9]', text)
    assert re.search(r'handoff_task_queue_wait_seconds_count\{.*worker="echo".*\} 1', text)
    assert re.search(r'handoff_workers\{.*handoff_team="default".*worker="echo".*\} 1', text)


async def test_what_was_refused_is_counted(stage: Stage) -> None:
    stage.environment["HANDOFF_METRICS_PORT"] = str(free_port())
    supervisor = await stage.supervisor()
    await stage.bus.publish("handoff.request.default", b"not a request")

    async def counted() -> bool:
        text = await figures(shown_by(supervisor))
        return 'handoff_dead_letters_total{stream="HANDOFF_REQUESTS"} 1.0' in text

    await until(counted)
