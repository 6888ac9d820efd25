"""What roles need to be tried alone: a model, settings, and no prices."""

from typing import Any

from actors.model.port import Model
from actors.settings import Settings
from actors.supervisor.pricing import Pricing, nobody_knows
from actors.supervisor.roles.role import RoleKit


def kit(model: Model, **settings: Any) -> RoleKit:
    chosen = Settings(**settings)
    return RoleKit(model=model, settings=chosen, pricing=Pricing(nobody_knows, chosen))
