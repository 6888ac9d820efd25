"""Sends packed OTLP requests over HTTP, configured by the same variables as OpenTelemetry's own exporter.

That exporter takes span objects only; its way to send bytes is private and differs between versions.
"""

import gzip
import threading
import time
import zlib
from collections.abc import Callable, Mapping

import requests
from opentelemetry.util.re import parse_env_headers

from observability.logger import get_logger

TIMEOUT_S = 10.0
TRIES = 6
FIRST_WAIT_S = 1.0
RETRYABLE = {429, 502, 503, 504}
CONTENT_TYPE = "application/x-protobuf"
PACK: Mapping[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}

log = get_logger()


class OtlpSender:
    """Sends ExportTraceServiceRequests to the collector that the environment names. For one thread."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        read = _Variables(environment)
        self._endpoint = read.endpoint()
        self._timeout_s = read.timeout_s()
        self._pack = PACK.get(compression := read.value("COMPRESSION").lower())
        self._session = requests.Session()
        self._session.headers.update(read.headers())
        self._session.headers["Content-Type"] = CONTENT_TYPE
        if self._pack:
            self._session.headers["Content-Encoding"] = compression
        # Per request: `verify` of a session gives way to REQUESTS_CA_BUNDLE.
        self._verify = read.value("CERTIFICATE") or True
        self._session.cert = read.client_certificate()
        self._closing = threading.Event()

    def send(self, request: bytes) -> bool:
        """Send one request, again after a passing failure; whether it arrived within the timeout."""
        body = self._pack(request) if self._pack else request
        ends = time.monotonic() + self._timeout_s
        for number in range(TRIES):
            left_s = ends - time.monotonic()
            if left_s <= 0 or self._closing.is_set():
                return False
            arrived, wait_s = self._try(body, left_s)
            if arrived is not None:
                return arrived
            wait_s = FIRST_WAIT_S * 2**number if wait_s is None else wait_s
            if wait_s > ends - time.monotonic() or self._closing.wait(wait_s):
                return False
        return False

    def close(self) -> None:
        """Try nothing again, and close the connections."""
        self._closing.set()
        self._session.close()

    def _try(self, body: bytes, timeout_s: float) -> tuple[bool | None, float | None]:
        """Whether it arrived, None if another try may help; and for how long the collector asks to wait."""
        try:
            answer = self._session.post(self._endpoint, data=body, timeout=timeout_s, verify=self._verify)
        except requests.ConnectionError:
            return None, None
        except requests.RequestException as error:
            log.debug("telemetry.send_failed", error=type(error).__name__)
            return False, None
        if answer.ok:
            return True, None
        return (None, _seconds(answer.headers.get("Retry-After"))) if answer.status_code in RETRYABLE else (False, None)


class _Variables:
    """The variables of OTLP; those for traces win over the general ones."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def value(self, name: str) -> str:
        """The value of a variable, empty if it is not set."""
        own = self._environment.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}")
        return (own or self._environment.get(f"OTEL_EXPORTER_OTLP_{name}", "")).strip()

    def endpoint(self) -> str:
        """The address for traces: the own variable as it is, the general one with the path of traces."""
        if own := self._environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
            return own
        return self.value("ENDPOINT").removesuffix("/") + "/v1/traces"

    def headers(self) -> Mapping[str, str]:
        """The headers, decoded."""
        return parse_env_headers(self.value("HEADERS"), liberal=True)

    def timeout_s(self) -> float:
        """How long one request may take, with all its tries."""
        return _seconds(self.value("TIMEOUT")) or TIMEOUT_S

    def client_certificate(self) -> str | tuple[str, str] | None:
        """The certificate of this client, with its key if that is in a file of its own."""
        certificate, key = self.value("CLIENT_CERTIFICATE"), self.value("CLIENT_KEY")
        return (certificate, key) if certificate and key else certificate or None


def _seconds(text: str | None) -> float | None:
    """A number of seconds; None if it is none. A date, which `Retry-After` may be, counts as none."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
