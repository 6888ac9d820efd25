"""Who wants to know: whether the environment names a collector, in OpenTelemetry's own words, and who we are to it."""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote

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


def header_secrets(environment: Mapping[str, str]) -> list[str]:
    """What the headers for a collector say: who may write there is nobody else's business."""
    said = [value for name, value in environment.items() if name.startswith("OTEL_EXPORTER_OTLP") and "HEADERS" in name]
    return [unquote(pair.partition("=")[2].strip()) for value in said for pair in value.split(",")]


def is_wanted(environment: Mapping[str, str], process: Process) -> bool:
    """Whether anybody wants to know anything of this process."""
    return bool(process.metrics_port or collector(environment, "TRACES") or collector(environment, "METRICS"))
