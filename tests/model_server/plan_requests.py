"""Requests for a plan as the supervisor makes them, for the tests of the offline rules."""

from collections.abc import Mapping, Sequence

from actors.model.port import Call, Format, Turn
from actors.model_server.conversation import Body
from actors.model_server.format_requests import for_rules
from actors.model_server.offline.request import Asked
from actors.supervisor.roles.plan_schema import plan_schema
from actors.supervisor.roles.planning import planning
from protocol.messages import Card, Request
from tests.model.asking import RUN


def plan_request(text: str, workers: Mapping[str, Sequence[Card]], faults: Sequence[str] = ()) -> Asked:
    """The request for a plan, as the rules see it."""
    body: Body = {
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": planning(Request(text=text), workers, faults, 32)}],
        "output_config": {"format": {"type": "json_schema", "schema": plan_schema(list(workers))}},
    }
    return for_rules(body)


def plan_call(text: str, workers: Mapping[str, Sequence[Card]]) -> Call:
    """The same, as a call of the model port."""
    turns = [Turn(role="user", content=planning(Request(text=text), workers, (), 32))]
    schema = plan_schema(list(workers))
    return Call(run=RUN, role="planner", system="", turns=turns, format=Format(name="plan", schema=schema))
