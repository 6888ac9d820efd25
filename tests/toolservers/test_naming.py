"""What a model calls the tools of a server."""

import re

from hypothesis import given
from hypothesis import strategies as st

from actors.toolservers.naming import public_name


def test_a_tool_is_called_by_its_server_and_its_name() -> None:
    assert public_name("files", "read_file", ()) == "files_read_file"


def test_a_name_that_had_to_be_changed_is_unlike_any_other() -> None:
    dotted, spaced = public_name("files", "read.file", ()), public_name("files", "read file", ())
    assert dotted.startswith("files_read_file_")
    assert spaced.startswith("files_read_file_")
    assert dotted != spaced


def test_a_name_that_is_taken_is_changed() -> None:
    one = public_name("a", "b_c", ())
    other = public_name("a_b", "c", {one})
    assert one == "a_b_c"
    assert other.startswith("a_b_c_")


@given(st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True), st.text(min_size=1, max_size=200))
def test_every_name_is_one_that_the_api_takes(server: str, tool: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", public_name(server, tool, ()))
