"""Who wants to know: whether the environment names a collector, in OpenTelemetry's own words, and who we are to it."""

from collections.abc import Mapping
from typing import Literal

import msgspec

Signal = Literal["TRACES", "METRICS"]


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """What this process is called, and what is asked of it. With `content`, what was said is told too."""

    service: str
    instance: str
    metrics_port: int = 0
    content: bool = False


def collector(environment: Mapping[str, str], signal: Signal) -> str:
    """The address for a signal; empty if there is none, or telling is switched off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ""
    if environment.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() == "none":
        return ""
    own = environment.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "")
    return own or environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")


def is_wanted(environment: Mapping[str, str], process: Process) -> bool:
    """Whether anybody wants to know anything of this process."""
    return bool(process.metrics_port or collector(environment, "TRACES") or collector(environment, "METRICS"))
