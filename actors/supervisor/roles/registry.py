"""The registry of roles: which role carries out which kind of decision."""

from collections.abc import Iterable, Mapping

from actors.run.decisions import ModelCall
from actors.run.state import RunState
from actors.supervisor.roles.condenser import Condenser
from actors.supervisor.roles.judge import Judge
from actors.supervisor.roles.planner import Planner
from actors.supervisor.roles.refiner import Refiner
from actors.supervisor.roles.replanner import Replanner
from actors.supervisor.roles.report import Reporter
from actors.supervisor.roles.role import AnyRole, PendingCall, RoleKit
from actors.supervisor.roles.synthesizer import Synthesizer

ROLES = (Planner, Replanner, Refiner, Condenser, Synthesizer, Reporter, Judge)
"""A new role is one more module with its prompt, listed here."""


class Roles:
    """The roles of one supervisor, by the kind of decision that they carry out."""

    def __init__(self, roles: Iterable[AnyRole]) -> None:
        self._by_decision: Mapping[type[ModelCall], AnyRole] = {role.decision: role for role in roles}

    def bind(self, decision: ModelCall, state: RunState) -> PendingCall:
        """The decision, bound to the role that carries it out; KeyError if no role does."""
        return self._by_decision[type(decision)].bind(decision, state)

    @property
    def all(self) -> tuple[AnyRole, ...]:
        """Every role."""
        return tuple(self._by_decision.values())


def make_roles(kit: RoleKit) -> Roles:
    """All roles of a supervisor."""
    return Roles(role(kit) for role in ROLES)
