"""The private names of nats-py that the adapter uses.

A new version may rename them without a word: pyproject.toml allows one minor version, and to allow another one, this
list must hold for it, too.
"""

import ast
import inspect
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.aio.subscription import Subscription
from nats.aio.transport import TcpTransport

from actors.bus.jetstream.lean_client import LeanClient

ADAPTER = Path(__file__).parents[2] / "actors" / "bus" / "jetstream"

OVERRIDDEN = {"_parse_header_lines", "_process_msg", "_remove_sub", "_send_publish"}
OF_THE_CLIENT = OVERRIDDEN | {
    "_build_message",
    "_error_cb",
    "_flush_pending",
    "_flush_queue",
    "_pending",
    "_pending_data_size",
    "_process_headers",
    "_send_command",
    "_send_unsubscribe",
    "_transport",
}
OF_A_SUBSCRIPTION = {"_id"}
OF_A_TRANSPORT = {"_io_writer"}
OURS = {"_is_cut", "_open_socket", "_straight", "_wrote_at"}
"""Names that LeanClient adds."""


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def used() -> set[str]:
    """Private names of other classes in the adapter, and all of LeanClient, which shares its names with nats-py."""
    found: set[str] = set()
    for path in ADAPTER.glob("*.py"):
        lean = path.name == "lean_client.py"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and private(node.attr):
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                found |= {node.attr} if lean or not own else set()
            elif lean and isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
                found |= {method.name for method in methods if private(method.name)}
    return found


def test_the_adapter_uses_the_listed_private_names_and_no_others() -> None:
    assert used() == OF_THE_CLIENT | OF_A_SUBSCRIPTION | OF_A_TRANSPORT | OURS


@pytest.mark.parametrize("name", sorted(OF_THE_CLIENT))
def test_the_client_has_the_name(name: str) -> None:
    assert hasattr(Client(), name)


def test_a_subscription_and_a_transport_have_theirs() -> None:
    subscription = Subscription(Client(), 1, "subject")
    assert all(hasattr(subscription, name) for name in OF_A_SUBSCRIPTION)
    assert all(hasattr(TcpTransport(), name) for name in OF_A_TRANSPORT)


@pytest.mark.parametrize("name", sorted(OVERRIDDEN))
def test_an_overridden_method_takes_what_the_original_takes(name: str) -> None:
    ours, original = (inspect.signature(getattr(client, name)).parameters for client in (LeanClient, Client))
    assert list(ours) == list(original)


@pytest.mark.parametrize("name", sorted(OURS))
def test_what_we_add_overrides_nothing(name: str) -> None:
    assert not hasattr(Client(), name)
