"""Deliberate bugs in the bus, in the settling of deliveries, and in the clocks."""

from mutants.mutant import Mutant

OUTBOX = "actors/bus/jetstream/outbox.py"
OUTBOX_TESTS = "tests/bus/test_outbox.py"
RUNNER = "actors/runner.py"
RUNNER_TESTS = "tests/test_runner.py"

MUTANTS = (
    Mutant(
        name="the outbox drops a publish after a timeout",
        file=OUTBOX,
        old="                if entry.sent_at < late:\n                    await self._try(key, entry)\n",
        new="                if entry.sent_at < late:\n                    self._entries.pop(key, None)\n",
        tests=(OUTBOX_TESTS,),
    ),
    Mutant(
        name="the outbox drops what was not answered when the connection comes back",
        file=OUTBOX,
        old="        for key, entry in list(self._entries.items()):\n            await self._try(key, entry)\n\n    def deny",
        new="        self._entries.clear()\n\n    def deny",
        tests=(OUTBOX_TESTS,),
    ),
    Mutant(
        name="a message that is sent again is stored twice",
        file=OUTBOX,
        old='            own.setdefault(wire.MESSAGE_ID, f"{self._nonce}-{key}")\n',
        new="            pass\n",
        tests=(OUTBOX_TESTS,),
    ),
    Mutant(
        name="a message that was sent twice takes itself for another one (error 10071)",
        file=OUTBOX,
        old="            if entry.sends > 1:\n",
        new="            if False:\n",
        tests=(OUTBOX_TESTS,),
    ),
    Mutant(
        name="a message of another process is taken for one's own",
        file=OUTBOX,
        old="        return found.headers.get(wire.NONCE) == entry.headers[wire.NONCE]",
        new="        return True",
        tests=(OUTBOX_TESTS,),
    ),
    Mutant(
        name="the bus in memory drops a publish after a timeout",
        file="actors/bus/memory/outbox.py",
        old="call_later(self._server.clock, RESEND_S, lambda: self._transmit(entry))",
        new="pass",
        tests=("tests/bus/test_memory_faults.py",),
    ),
    Mutant(
        name="a process acknowledges a delivery that another one has",
        file="actors/verdict.py",
        old="        case FencedError():\n            return Drop()\n",
        new="        case FencedError():\n            return Ack()\n",
        tests=("tests/test_verdict.py",),
    ),
    Mutant(
        name="a refused message is acknowledged before it is among the dead letters",
        file=RUNNER,
        old="                await bury(self._bus, delivery.message, refusal)\n                await delivery.ack(sure=True)\n",
        new="                await delivery.ack(sure=True)\n                await bury(self._bus, delivery.message, refusal)\n",
        tests=(f"{RUNNER_TESTS}::test_what_cannot_be_settled_now_is_settled_when_it_comes_again",),
    ),
    Mutant(
        name="an error in settling one delivery ends the others",
        file=RUNNER,
        old='            log.error("delivery.unsettled", subject=lease.delivery.message.subject, error=_text(error))\n',
        new="            raise error\n",
        tests=(f"{RUNNER_TESTS}::test_what_cannot_be_settled_now_is_settled_when_it_comes_again",),
    ),
    Mutant(
        name="a process that slept through its ack wait takes the message from its new holder",
        file=RUNNER,
        old="            case Retry(after_s) if not lease.lapsed:  # after that another may have it: a nak would take it away\n",
        new="            case Retry(after_s):\n",
        tests=("tests/supervisor/test_live_runs.py::test_a_lapsed_lease_gives_nothing_back",),
    ),
    Mutant(
        name="a process that slept through its ack wait keeps the lease of the new holder alive",
        file="actors/lease.py",
        old="        if not self.lapsed:\n            now",
        new="        if True:\n            now",
        tests=("tests/test_lease.py",),
    ),
    Mutant(
        name="work that takes long is not kept alive",
        file=RUNNER,
        old="                await lease.beat()\n",
        new="                pass\n",
        tests=(f"{RUNNER_TESTS}::test_work_that_takes_long_is_kept_alive",),
    ),
    Mutant(
        name="a lease is as fresh as the answer instead of the question",
        file="actors/lease.py",
        old="        self._proved_at = max(self._proved_at, sent_at)\n",
        new="        self._proved_at = self._clock.monotonic()\n",
        tests=("tests/test_lease.py",),
    ),
    Mutant(
        name="a deadline is compared with the wall clock of the process",
        file="actors/server_time.py",
        old="        if self._stored is None:\n            return self._clock.now()\n",
        new="        if True:\n            return self._clock.now()\n",
        tests=("tests/test_server_time.py",),
    ),
    Mutant(
        name="a client trusts what is republished after a reconnect",
        file="actors/remote_run.py",
        old="        forget = self._bus.on_reconnect(lambda: news.put_nowait(None))\n",
        new="        forget = self._bus.on_reconnect(lambda: None)\n",
        tests=("tests/test_client.py::test_an_answer_that_was_missed_while_the_connection_was_lost_is_read_at_once",),
    ),
    Mutant(
        name="the heartbeat does not write its card again after a reconnect",
        file="actors/heartbeat.py",
        old="        self._forget = self._bus.on_reconnect(self._soon)\n",
        new="        self._forget = self._bus.on_reconnect(lambda: None)\n",
        tests=("tests/test_heartbeat.py::test_a_card_is_written_at_once_when_the_connection_is_back",),
    ),
)
