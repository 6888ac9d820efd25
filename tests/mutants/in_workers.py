"""Deliberate bugs in the worker: what it acknowledges, looks up, stores and pays for."""

from mutants.mutant import Mutant

CHAOS = "tests/simulation/test_chaos_in_memory.py"
GUARANTEES = "tests/worker/test_task_guarantees.py"

PROCESS = "actors/worker/process.py"
LOGBOOK = "actors/worker/logbook.py"
AGENT = "actors/worker/agent.py"

MUTANTS = (
    Mutant(
        name="the worker acknowledges a task before its result is stored",
        file=PROCESS,
        old="        await self._results.store(self._results.of(outcome, address, usage), address)\n",
        new="        await logbook._lease.delivery.ack(sure=True)\n"
        "        await self._results.store(self._results.of(outcome, address, usage), address)\n",
        tests=(f"{GUARANTEES}::test_a_task_is_acknowledged_only_after_its_result_is_stored",),
    ),
    Mutant(
        name="the worker acknowledges an undecodable task before its failed result is stored",
        file=PROCESS,
        old="        await self._results.store(self._results.failed(address, Fault(kind=kind, message=reason)), address)\n",
        new="        self._storing = asyncio.ensure_future(\n"
        "            self._results.store(self._results.failed(address, Fault(kind=kind, message=reason)), address)\n"
        "        )\n",
        tests=(f"{GUARANTEES}::test_a_task_is_acknowledged_only_after_its_result_is_stored",),
    ),
    Mutant(
        name="the worker does not look before the first paid call of a redelivery",
        file=PROCESS,
        old="return self.worker.run is not None and count == 1 and young",
        new="return count > 1 or (self.worker.run is not None and young)",
        tests=(f"{GUARANTEES}::test_a_redelivered_task_pays_for_no_turn_that_is_stored",),
    ),
    Mutant(
        name="a function is run again at each redelivery without a look",
        file=PROCESS,
        old="return self.worker.run is not None and count == 1 and young",
        new="return self.worker.run is not None",
        tests=(f"{GUARANTEES}::test_a_redelivered_function_is_not_run_if_its_result_is_stored",),
    ),
    Mutant(
        name="a function is run without a look although its task has waited for long",
        file=PROCESS,
        old="return self.worker.run is not None and count == 1 and young",
        new="return self.worker.run is not None and count == 1",
        tests=(f"{GUARANTEES}::test_a_function_whose_task_waited_long_is_not_run_if_its_result_is_stored",),
    ),
    Mutant(
        name="a cancel that arrives during the look is lost",
        file="actors/worker/jobs.py",
        old="            if told.has(job.name):",
        new="            if told.has(job.name) and job.taken:",
        tests=(f"{GUARANTEES}::test_a_cancel_that_arrives_during_the_look_stops_the_task",),
    ),
    Mutant(
        name="a worker that takes a redelivered task does not claim it",
        file=PROCESS,
        old="                await logbook.claim(self._instance)\n",
        new="",
        tests=("tests/worker/test_given_back.py::test_a_task_that_all_its_workers_die_of_is_failed_after_ten_losses",),
    ),
    Mutant(
        name="a worker that stops does not mark that it gives its task back",
        file=PROCESS,
        old="                await logbook.give_back(self._instance, reason)",
        new="                pass",
        tests=("tests/worker/test_given_back.py::test_a_task_that_outlasts_eleven_deployments_is_completed",),
    ),
    Mutant(
        name="a task past its deadline is done all the same",
        file=PROCESS,
        old="if handoff.deadline is not None and self._bus.now() >= handoff.deadline:",
        new="if False:",
        tests=(
            "tests/worker/test_deadline.py::test_a_task_that_comes_too_late_is_not_begun_while_another_is_under_way",
        ),
    ),
    Mutant(
        name="a worker compares deadlines with its own wall clock",
        file=PROCESS,
        old="self._jobs = Jobs(clock, bus.now)",
        new="self._jobs = Jobs(clock, clock.now)",
        tests=("tests/worker/test_deadline.py::test_a_function_is_stopped_at_its_deadline",),
    ),
    Mutant(
        name="a result overwrites the one that is stored",
        file="actors/worker/results.py",
        old="await self._bus.publish(address.result, codec.encode(result), expect=0)",
        new="await self._bus.publish(address.result, codec.encode(result))",
        tests=(f"{GUARANTEES}::test_the_first_result_of_an_attempt_stays",),
    ),
    Mutant(
        name="the agent goes on without storing the turn that it paid for",
        file=AGENT,
        old="        await logbook.write(\n            ModelCalled(\n",
        new="        logbook.steps.append(\n            ModelCalled(\n",
        tests=(f"{GUARANTEES}::test_the_agent_goes_on_only_after_its_step_is_stored",),
    ),
    Mutant(
        name="a step is stored behind the step of another instance",
        file=LOGBOOK,
        old="await (await send(self._bus, self._address.steps, step, self._seq))",
        new="await self._bus.publish(self._address.steps, codec.encode(step))",
        tests=(CHAOS,),
    ),
    Mutant(
        name="a worker goes on with a task that another one took over",
        file=LOGBOOK,
        old="            if seq > self._seq:\n",
        new="            if seq < 0:\n",
        tests=(f"{GUARANTEES}::test_nothing_is_paid_for_on_a_proof_that_is_old",),
    ),
    Mutant(
        name="a worker takes an old proof that a task is its own for a new one",
        file="actors/lease.py",
        old="        return self._clock.monotonic() - self._proved_at < CERTAIN_S\n",
        new="        return self._proved_at > 0\n",
        tests=(
            f"{GUARANTEES}::test_nothing_is_paid_for_on_a_proof_that_is_old",
            "tests/test_lease.py",
        ),
    ),
    Mutant(
        name="the agent makes no check before it pays for a turn",
        file=AGENT,
        old="            if not await logbook.still_ours():\n                raise Over\n\n        await ready()",
        new="            pass\n\n        await ready()",
        tests=(f"{GUARANTEES}::test_nothing_is_paid_for_on_a_proof_that_is_old",),
    ),
    Mutant(
        name="the worker reads only the last event of a run to find its end",
        file="actors/worker/run_end.py",
        old="[found] if ends(found) else await self._bus.read(streams.RUNS, subject, after=before)",
        new="[found]",
        tests=("tests/worker/test_run_end.py",),
    ),
    Mutant(
        name="a cancel among the controls of a run does not stop its tasks",
        file="actors/worker/run_end.py",
        old="        return isinstance(codec.decode_control(stored.data), Cancel)",
        new="        return False",
        tests=("tests/worker/test_run_end.py",),
    ),
    Mutant(
        name="a return on purpose counts as a loss",
        file="actors/worker/takings.py",
        old="            held = False\n",
        new="            pass\n",
        tests=("tests/worker/test_takings.py",),
    ),
    Mutant(
        name="a tool is called again although its outcome is stored",
        file="actors/worker/moves.py",
        old="return CallTools(missing[:1] if losses_since_progress(steps) else missing,",
        new="return CallTools(reply.tool_uses,",
        tests=("tests/worker/test_moves.py",),
    ),
    Mutant(
        name="a tool that needs a person's yes runs while nobody has answered",
        file="actors/worker/gate.py",
        old="                if now >= question.asked.deadline:\n                    return unanswered(question.asked)\n",
        new="                if now >= question.asked.deadline:\n"
        "                    return Confirmed(call=question.asked.call, tool=question.asked.tool, granted=True)\n",
        tests=("tests/worker/test_gate.py::test_silence_means_no",),
    ),
    Mutant(
        name="a person is asked again after a takeover",
        file="actors/worker/gate.py",
        old='        found = standing(logbook.steps, use["id"])\n',
        new="        found = None\n",
        tests=("tests/worker/test_gate.py::test_a_worker_killed_while_it_waits_is_replaced_and_the_deadline_stays",),
    ),
)
