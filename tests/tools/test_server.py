"""What may be said of a tool server, and what is refused."""

from typing import Any

import pytest

from actors import ToolServer, Worker
from protocol.errors import InvalidError


def test_a_server_is_a_command_or_a_url() -> None:
    assert ToolServer("files", command=("serve", "files")).command == ("serve", "files")
    assert ToolServer("files", url="http://127.0.0.1:9000/mcp").timeout_s == 30.0


def test_lists_are_taken_as_people_write_them() -> None:
    written: dict[str, Any] = {"command": ["serve", "files"], "tools": ["read"]}
    server = ToolServer("files", **written)
    assert (server.command, server.tools) == (("serve", "files"), ("read",))


def test_only_the_named_tools_are_wanted_if_any_is_named() -> None:
    assert ToolServer("files", command=("serve",)).wants("write")
    only = ToolServer("files", command=("serve",), tools=("read",))
    assert only.wants("read")
    assert not only.wants("write")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({}, "either a command"),
        ({"command": ("x",), "url": "http://h/mcp"}, "not both"),
        ({"url": "localhost:9000"}, "no address"),
        ({"url": "http://[::1"}, "no address"),
        ({"url": "file:///etc/passwd"}, "no address"),
        ({"command": "python -m my_server"}, "list of words"),
        ({"command": ("x",), "timeout_s": 0}, "timeout_s"),
        ({"command": ("x",), "timeout_s": float("nan")}, "timeout_s"),
        ({"command": ("x",), "headers": {"a": "b"}}, "a command takes env"),
        ({"url": "http://h/mcp", "env": {"a": "b"}}, "takes headers"),
        ({"url": "http://h/mcp", "cwd": "/tmp"}, "cwd is for a command"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidError, match=fault):
        ToolServer("files", **given)


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(InvalidError) as caught:
        ToolServer("my files", timeout_s=-1.0)
    assert len(caught.value.faults) == 3


def test_secrets_are_never_shown() -> None:
    server = ToolServer("files", command=("serve",), env={"TOKEN": "hush"})
    assert "hush" not in repr(server)
    assert "hush" not in repr(ToolServer("web", url="https://h/mcp", headers={"authorization": "hush"}))


def test_a_worker_has_each_server_once_and_a_function_has_none() -> None:
    server = ToolServer("files", command=("serve",))
    with pytest.raises(InvalidError, match="two tool servers named 'files'"):
        Worker("w", summary="Works.", mcp=[server, server])
    with pytest.raises(InvalidError, match="is a function"):
        Worker("w", summary="Works.", run=lambda _: "", mcp=[server])
