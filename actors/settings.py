"""Settings: one frozen Struct, read once from mappings that are passed in; every fault is told at once."""

import tomllib
from collections.abc import Mapping
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any, Literal

import msgspec

from actors.secret_values import bus_secrets, webhook_secrets
from actors.setting_rules import (
    DAY_S,
    ENVIRONMENT,
    GIB,
    HARMLESS,
    LOG_LEVELS,
    MAY_BE_ZERO,
    TRUST,
    Effort,
)
from protocol import streams
from protocol.errors import InvalidError
from protocol.messages import Budget


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration file as it was read once. Unless it is trusted, only its harmless settings count."""

    path: Path
    data: bytes
    trusted: bool = False

    def values(self) -> dict[str, Any]:
        """What it says, known or not; InvalidError if it is not TOML."""
        try:
            return tomllib.loads(self.data.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidError([f"{self.path}: {error}"]) from error

    def ignored(self) -> list[str]:
        """The settings in it that do not count because it is not trusted."""
        return [] if self.trusted else self.sensitive()

    def sensitive(self) -> list[str]:
        """The settings in it that count only in a trusted file."""
        return [name for name in self.values() if name in Settings.__struct_fields__ and name not in HARMLESS]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set: flags first, then the environment, the team, `handoff.toml`, and these defaults."""

    nats_url: str = ""
    nats_creds: str = ""
    anthropic_api_key: str = ""
    anthropic_base_url: str = ""
    model_provider: Literal["anthropic", "bedrock", "vertex"] = "anthropic"
    home: str = ""
    team: str = "default"
    team_source: str = ""
    data: str = ""
    port: int = 0
    model_planner: str = "claude-sonnet-5-5"
    model_synthesizer: str = "claude-sonnet-5-5"
    model_worker: str = "claude-haiku-5-5"
    model_judge: str = ""
    effort_planner: Effort = "high"
    effort_synthesizer: Effort = "medium"
    effort_worker: Effort = "medium"
    effort_refiner: Effort = "low"
    effort_condenser: Effort = "low"
    effort_judge: Effort = "low"
    effort_report: Effort = "low"
    ack_wait_s: float = 5.0
    heartbeat_s: float = 2.0
    card_ttl_s: float = 6.0
    poll_s: float = 2.0
    attempts: int = 3
    deliveries: int = 10
    plan_tries: int = 3
    planner_tasks: int = 32
    request_tasks: int = 1000
    depth: int = 3
    revisions: int = 3
    reading: int = 120_000
    breaker_failures: int = 3
    breaker_cool_s: float = 30.0
    deadline_s: float = 600.0
    budget_tokens: int = 0
    budget_steps: int = 0
    budget_usd: float = 1.0
    review_s: float = 86_400.0
    message_bytes: int = 256 * 1024
    keep_days: float = 7.0
    runs_bytes: int = 4 * GIB
    artifacts_bytes: int = 4 * GIB
    requests_bytes: int = GIB // 4
    index_bytes: int = GIB // 4
    dead_bytes: int = GIB // 4
    concurrency: int = 4
    runs: int = 512
    grace_s: float = 10.0
    max_tokens: int = 0
    max_turns: int = 12
    tool_output: int = 50_000
    fetch_pages: bool = False
    outbox: str = ""
    webhook_url: str = ""
    context_tokens: int = 0
    confirm_s: float = 120.0
    stuck_s: float = 60.0
    model_retries: int = 4
    model_patience_s: float = 300.0
    model_timeout_s: float = 120.0
    offline_delay_s: float = 0.0
    offline_url: str = ""
    replicas: int = 1
    sync_always: bool = False
    log_level: str = "info"
    metrics_port: int = 0
    card_file: str = ""
    trace_content: bool = False

    @property
    def ack_wait(self) -> timedelta:
        """How long a delivery may go without a sign of life."""
        return timedelta(seconds=self.ack_wait_s)

    @property
    def keep(self) -> timedelta:
        """How long runs are kept."""
        return timedelta(days=self.keep_days)

    @property
    def store_limits(self) -> dict[str, int]:
        """The most bytes that each stream may hold."""
        return {
            streams.REQUESTS: self.requests_bytes,
            streams.RUNS: self.runs_bytes,
            streams.INDEX: self.index_bytes,
            streams.DEAD: self.dead_bytes,
            streams.OBJECTS: self.artifacts_bytes,
        }

    @property
    def budget(self) -> Budget:
        """What a run may spend where its request does not say."""
        return Budget(tokens=self.budget_tokens or None, steps=self.budget_steps or None, usd=self.budget_usd or None)

    @property
    def offline(self) -> bool:
        """True if no model is configured: no key, no address, and no cloud that has credentials of its own."""
        return not (self.anthropic_api_key or self.anthropic_base_url or self.model_provider != "anthropic")

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that no log may show: the key, the password or token of a bus address, and the webhook."""
        found = [self.anthropic_api_key, *bus_secrets(self.nats_url), *webhook_secrets(self.webhook_url)]
        return tuple(secret for secret in found if secret)

    @property
    def home_dir(self) -> Path:
        """Where the embedded bus keeps its store, and where a second terminal finds it."""
        return Path(self.home).expanduser() if self.home else Path("~/.local/share/handoff").expanduser()

    @property
    def outlet(self) -> tuple[Path, str]:
        """Where tools put the messages that they send, and the address they post them to, if any."""
        return Path(self.outbox).expanduser() if self.outbox else self.home_dir / "outbox", self.webhook_url


def read_settings(
    environment: Mapping[str, str],
    *,
    file: ConfigFile | None = None,
    team: Mapping[str, Any] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Settings from a file, a team, the environment and flags, the later winning; or InvalidError with every fault."""
    faults: list[str] = []
    values = _from_file(file, faults) | dict(team or {}) | _from_environment(environment, faults)
    values |= {name: value for name, value in (flags or {}).items() if value is not None}
    good: dict[str, Any] = {}
    for name, value in values.items():
        if name not in Settings.__struct_fields__:
            faults.append(f"there is no setting {name!r}")
            continue
        try:
            good[name] = msgspec.convert(value, Settings.__annotations__[name], strict=False)
        except msgspec.ValidationError as error:
            faults.append(f"{name}: {error} (got {value!r})")
    faults += _out_of_range(good) or _too_short_kept(good)
    if faults:
        raise InvalidError(faults)
    return Settings(**good)


def _from_file(file: ConfigFile | None, faults: list[str]) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        found, ignored = file.values(), file.ignored()
    except InvalidError as error:
        faults += error.faults
        return {}
    faults += [f"{file.path}: unknown setting {name!r}" for name in found if name not in Settings.__struct_fields__]
    return {name: found[name] for name in found if name in Settings.__struct_fields__ and name not in ignored}


def _from_environment(environment: Mapping[str, str], faults: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for variable, name in ENVIRONMENT.items():
        if value := environment.get(variable, "").strip():  # a blank key is none
            values.setdefault(name, value)
    for variable, value in environment.items():
        if not value.strip() or variable == TRUST:
            continue
        if variable.startswith("HANDOFF_"):
            name = variable.removeprefix("HANDOFF_").lower()
            if name in Settings.__struct_fields__:
                values[name] = value
            else:
                faults.append(f"{variable}: there is no such setting")
    return values


def _out_of_range(values: Mapping[str, Any]) -> list[str]:
    faults: list[str] = []
    for name, value in values.items():
        if isinstance(value, int | float) and not (0 < value < inf or (value == 0 and name in MAY_BE_ZERO)):
            faults.append(f"{name}: must be above 0 (got {value!r})")
    if (level := values.get("log_level", "info")) not in LOG_LEVELS:
        faults.append(f"log_level: must be one of {', '.join(LOG_LEVELS)} (got {level!r})")
    if (url := values.get("anthropic_base_url")) and not url.startswith(("http://", "https://")):
        faults.append(f"anthropic_base_url: must begin with http:// or https:// (got {url!r})")
    return faults


def _too_short_kept(values: Mapping[str, Any]) -> list[str]:
    """A run that outlasts its own messages would begin again without them, and pay again."""
    all_values = {name: getattr(Settings(), name) for name in ("keep_days", "review_s", "deadline_s")} | dict(values)
    kept_s, needed_s = all_values["keep_days"] * DAY_S, all_values["review_s"] + all_values["deadline_s"]
    if kept_s >= needed_s:
        return []
    fault = (
        f"keep_days: {kept_s:,.0f} s are shorter than review_s and deadline_s together ({needed_s:,.0f} s): "
        "keep runs longer, or shorten these two"
    )
    return [fault]
