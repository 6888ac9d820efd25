"""Deliberate bugs in the supervisor: what it stores before it goes on, and when it lets go of a run."""

from mutants.mutant import Mutant

ENDS = "tests/simulation/test_ends_in_memory.py"

EXECUTOR = "actors/supervisor/executor.py"
GUARANTEES = "tests/supervisor/test_run_guarantees.py"
JOURNAL = "actors/supervisor/journal.py"
LIVE_RUN = "actors/supervisor/live_run.py"
REPLACED = "tests/supervisor/test_replaced_supervisor.py"

MUTANTS = (
    Mutant(
        name="the request is acknowledged before finished is stored",
        file=EXECUTOR,
        old="        event = Finished(answer=answer)\n        try:\n",
        new="        event = Finished(answer=answer)\n        await self._lease.delivery.ack(sure=True)\n        try:\n",
        tests=(f"{GUARANTEES}::test_a_request_is_acknowledged_only_after_finished_is_stored",),
    ),
    Mutant(
        name="the deadline starts anew on resume",
        file="actors/run/state.py",
        old="            self.started_at = at\n        self.epoch",
        new="        self.started_at = at\n        self.epoch",
        tests=(
            "tests/supervisor/test_server_clock.py::test_a_run_resumed_by_a_wrong_clock_expires_at_its_deadline",
            ENDS,
        ),
    ),
    Mutant(
        name="republished messages are trusted after a reconnect without reading the stream",
        file="actors/supervisor/supervisor.py",
        old="            forget = self._bus.on_reconnect(self._look)\n",
        new="            forget = self._bus.on_reconnect(lambda: None)\n",
        tests=(f"{GUARANTEES}::test_what_was_missed_while_the_connection_was_lost_is_read_at_once",),
    ),
    Mutant(
        name="a supervisor that takes over does not read the stream after its taking",
        file=LIVE_RUN,
        old="        self._alarm.heard()\n        await self._read_news()\n",
        new="        self._alarm.heard()\n",
        tests=(f"{GUARANTEES}::test_a_result_that_is_stored_while_a_run_is_taken_over_is_read",),
    ),
    Mutant(
        name="a silent run is never read again",
        file="actors/supervisor/alarm.py",
        old="        return self._clock.monotonic() >= self._look_at",
        new="        return False",
        tests=(f"{GUARANTEES}::test_a_run_goes_on_if_nothing_is_republished",),
    ),
    Mutant(
        name="a supervisor hands out a task on an old lease without reading the log",
        file=EXECUTOR,
        old="        if not self._lease.fresh:  # what came before in this round may have taken long\n",
        new="        if False:\n",
        tests=(f"{REPLACED}::test_a_replaced_supervisor_hands_out_nothing_after_the_end_of_the_run",),
    ),
    Mutant(
        name="a supervisor pays for a call without a check that the run is still its own",
        file=EXECUTOR,
        old="        if not self._lease.certain:\n            await self.journal.check()\n",
        new="",
        tests=(f"{GUARANTEES}::test_a_supervisor_that_was_replaced_pays_for_no_plan",),
    ),
    Mutant(
        name="a supervisor goes on with a run that another one took over",
        file=JOURNAL,
        old="        if seq > self._seq:\n",
        new="        if seq < 0:\n",
        tests=(f"{GUARANTEES}::test_a_supervisor_that_was_replaced_pays_for_no_plan",),
    ),
    Mutant(
        name="an event is stored behind the event of another supervisor",
        file=JOURNAL,
        old="await send(self._bus, subjects.log(self._run), event, self._seq)",
        new="await self._bus.send(subjects.log(self._run), codec.encode(event))",
        tests=(f"{GUARANTEES}::test_a_refused_event_is_a_takeover_and_the_request_is_not_acknowledged",),
    ),
    Mutant(
        name="a supervisor whose event is refused (error 10071) goes on",
        file=JOURNAL,
        old='            raise FencedError(f"run {self._run} was taken over") from conflict\n        except BusError:',
        new="            pass\n        except BusError:",
        tests=(f"{GUARANTEES}::test_a_refused_event_is_a_takeover_and_the_request_is_not_acknowledged",),
    ),
    Mutant(
        name="a task goes to its fallback before rerouted is stored",
        file=EXECUTOR,
        old="wait=isinstance(event, Judging | Rerouted | GaveUp)",
        new="wait=isinstance(event, Judging | GaveUp)",
        tests=(f"{REPLACED}::test_a_task_goes_to_its_fallback_only_after_rerouted_is_stored",),
    ),
    Mutant(
        name="what needs a lost task goes out before gave_up is stored",
        file=EXECUTOR,
        old="wait=isinstance(event, Judging | Rerouted | GaveUp)",
        new="wait=isinstance(event, Judging | Rerouted)",
        tests=(f"{REPLACED}::test_what_needs_a_lost_task_goes_out_only_after_gave_up_is_stored",),
    ),
    Mutant(
        name="a task is handed out a second time after a takeover",
        file="actors/supervisor/desk.py",
        old="codec.encode(handoff), expect=0, headers=headers)",
        new="codec.encode(handoff), headers=headers)",
        tests=(f"{GUARANTEES}::test_an_attempt_that_was_handed_out_before_is_not_handed_out_again",),
    ),
    Mutant(
        name="the breakers are empty while they are read",
        file="actors/supervisor/breakers.py",
        old="            self._read_at = self._clock.monotonic()\n            found =",
        new="            self._read_at = self._clock.monotonic()\n            self._known = {}\n            found =",
        tests=("tests/supervisor/test_breakers.py",),
    ),
    Mutant(
        name="a breaker overwrites what another supervisor wrote",
        file="actors/supervisor/breakers.py",
        old="codec.encode(breaker), expect=seq)",
        new="codec.encode(breaker))",
        tests=(
            "tests/supervisor/test_breakers.py::test_of_two_tasks_that_want_to_be_the_probe_at_once_one_is_admitted",
            "tests/supervisor/test_breakers.py",
        ),
    ),
    Mutant(
        name="every fault counts against the breaker of the worker",
        file="actors/supervisor/desk.py",
        old='return task.worker if task.status == "returned" and is_own_fault(task.result) else ""',
        new="return task.worker",
        tests=(
            "tests/supervisor/test_breaker_waits.py::test_three_hard_questions_do_not_fail_the_runs_of_everybody_else",
        ),
    ),
    Mutant(
        name="a supervisor that stops does not mark that it gives its run back",
        file=JOURNAL,
        old="            await self.append(RunGivenBack(supervisor=supervisor, reason=reason))",
        new="            pass",
        tests=(
            "tests/supervisor/test_takeover.py::test_more_deployments_than_losses_allowed_leave_a_run_under_review_alone",
        ),
    ),
    Mutant(
        name="a run that breaks the supervisor is taken for ever",
        file="actors/supervisor/takeover.py",
        old="    if past.lost >= most_lost:\n",
        new="    if False:\n",
        tests=(
            "tests/supervisor/test_takeover.py::test_a_run_that_kills_each_supervisor_ends_as_failed_before_the_next_one_takes_it",
        ),
    ),
    Mutant(
        name="a supervisor takes a run in whose log a newer version wrote",
        file="actors/supervisor/takeover.py",
        old="    if reading.unknown:\n",
        new="    if False:\n",
        tests=("tests/supervisor/test_takeover.py::test_an_unknown_event_makes_a_supervisor_leave_the_run_untouched",),
    ),
    Mutant(
        name="a control that is heard and read counts twice",
        file="actors/supervisor/inbox.py",
        old="        return not known",
        new="        return True",
        tests=(
            "tests/supervisor/test_live_runs.py::test_a_refusal_is_heard_and_read_but_refuses_only_the_plan_it_was_meant_for",
        ),
    ),
    Mutant(
        name="the end of a run does not stop what its workers do",
        file="actors/supervisor/desk.py",
        old='        await self.bus.emit(subjects.cancel(run), codec.encode(Stop(tasks=tasks)) if tasks else b"")',
        new="        pass",
        tests=(ENDS,),
    ),
    Mutant(
        name="two copies of a request are two runs",
        file="actors/supervisor/live_run.py",
        old="if await self._desk.is_copy(past.request_seq, self._lease.delivery.message.seq):",
        new="if False:",
        tests=("tests/supervisor/test_live_runs.py::test_a_request_stored_twice_is_one_run_and_paid_for_once",),
    ),
)
