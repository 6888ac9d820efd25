"""docker-compose.yml: bus, model, actors and places to look, on loopback, without secrets; nothing in it is stale."""

import re
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from deploy.files import ACTORS, CLUSTER, COMPOSE, NODES, OURS, ROOT, SERVICES, compose_lines, parsed, with_cluster
from opentelemetry.sdk import environment_variables as otel

from actors import teams
from actors.setting_rules import ENVIRONMENT
from actors.settings import Settings
from observability import metrics

METRICS = "HANDOFF_METRICS_PORT"
PAGES = ["docker-compose.yml", "docs/DEPLOY.md", "deploy/cluster.yml"]
IMAGES = {
    "nats": r"2\.15-alpine",
    "jaegertracing/jaeger": r"2\.\d+\.\d+",
    "prom/prometheus": r"v3\.\d+\.\d+",
    "grafana/grafana": r"12\.\d+\.\d+",
}
SECRET = re.compile(r"pass|secret|token|key|cred|--user|//[^/\s]*@", re.IGNORECASE)


ALL = SERVICES | NODES


def published(service: str) -> dict[str, str]:
    """Which port of the container is reached at which address."""
    ports: list[str] = ALL[service].get("ports", [])
    return {port.rpartition(":")[2]: port.rpartition(":")[0] for port in ports}


def environment(service: str) -> dict[str, str | None]:
    return SERVICES[service].get("environment", {})


def test_the_bus_and_jaeger_are_where_everybody_expects_them() -> None:
    assert published("nats") == {"4222": "127.0.0.1:4222", "8222": "127.0.0.1:8222"}
    assert published("jaeger") == {port: f"127.0.0.1:{port}" for port in ("16686", "4317", "4318")}


def test_every_port_is_published_on_loopback_and_once() -> None:
    places = [place for name in ALL for place in published(name).values()]
    assert all(place.startswith("127.0.0.1:") for place in places)
    assert len(places) == len(set(places))


@pytest.mark.parametrize("name", sorted(ALL.keys() - OURS.keys()))
def test_every_foreign_image_has_a_version(name: str) -> None:
    image, _, tag = ALL[name]["image"].partition(":")
    assert re.fullmatch(IMAGES[image], tag)


def test_there_is_one_supervisor_service_and_one_for_each_worker_of_the_default_team() -> None:
    workers = {worker.name for worker in teams.find("default", None).workers}
    assert set(ACTORS) == {"supervisor"} | workers
    assert ACTORS["supervisor"]["command"] == ["supervisor"]
    assert {name: ACTORS[name]["command"] for name in workers} == {name: ["worker", name] for name in workers}


@pytest.mark.parametrize("name", OURS)
def test_its_command_is_one_of_ours_with_flags_that_exist(name: str) -> None:
    parsed(SERVICES[name]["command"])


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_can_be_scaled(name: str) -> None:
    assert "ports" not in SERVICES[name], "two containers cannot share a published port"
    assert "container_name" not in SERVICES[name]


@pytest.mark.parametrize("name", ACTORS)
def test_every_variable_is_one_that_the_code_reads(name: str) -> None:
    known = set(ENVIRONMENT) | {f"HANDOFF_{setting.upper()}" for setting in Settings.__struct_fields__}
    standard = {value for value in vars(otel).values() if isinstance(value, str)} | {metrics.HOST}
    assert environment(name).keys() <= known | standard


@pytest.mark.parametrize("name", ACTORS)
def test_every_address_leads_to_a_service_that_listens_there(name: str) -> None:
    listening = {"nats": 4222, "jaeger": 4318, "model": parsed(SERVICES["model"]["command"])["port"]}
    values = [value for value in environment(name).values() if value]
    addresses = [urlsplit(value) for value in values if "://" in value]
    assert {(address.hostname, address.port) for address in addresses} == set(listening.items())


def test_the_offline_model_is_reached_from_other_containers_and_checked_where_it_listens() -> None:
    given = parsed(SERVICES["model"]["command"])
    assert given["host"] == "0.0.0.0"
    assert f"http://127.0.0.1:{given['port']}/" in SERVICES["model"]["healthcheck"]["test"][-1]


def test_the_page_is_reached_from_the_machine_and_checked_where_it_listens() -> None:
    given = parsed(SERVICES["web"]["command"])
    assert given["host"] == "0.0.0.0"
    assert published("web") == {str(given["port"]): f"127.0.0.1:{given['port']}"}
    assert f"http://127.0.0.1:{given['port']}/health" in SERVICES["web"]["healthcheck"]["test"][-1]


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_waits_for_the_bus_and_is_given_time_to_stop(name: str) -> None:
    needed: dict[str, Any] = SERVICES[name]["depends_on"]
    assert set(needed) == {"nats", "model"}
    assert set(with_cluster(name)["depends_on"]) == {"nats", "model", *NODES}
    assert all("healthcheck" in ALL[other] for other in with_cluster(name)["depends_on"])
    assert int(SERVICES[name]["stop_grace_period"].rstrip("s")) > Settings().grace_s


def test_everything_that_keeps_something_keeps_it_in_a_volume_of_its_own() -> None:
    mounts = [mount for service in ALL.values() for mount in service.get("volumes", [])]
    named = [mount.partition(":")[0] for mount in mounts if not mount.startswith("./")]
    assert sorted(named) == sorted(COMPOSE["volumes"] | CLUSTER["volumes"])


def test_every_file_that_is_mounted_exists_and_cannot_be_written() -> None:
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", [])]
    files = [mount.split(":") for mount in mounts if mount.startswith("./")]
    assert files
    for source, _, mode in files:
        assert (ROOT / source).exists(), source
        assert mode == "ro"


def test_there_is_no_secret_in_it() -> None:
    both = [*SERVICES.values(), *CLUSTER["services"].values()]
    given = {name: value for service in both for name, value in service.get("environment", {}).items()}
    assert not [name for name, value in given.items() if SECRET.search(name) and value is not None]
    assert not [value for value in given.values() if value and SECRET.search(value)]
    rest = [{key: service[key] for key in service if key != "environment"} for service in both]
    assert not SECRET.search(yaml.safe_dump(rest))
    assert not [service for service in both if "env_file" in service]


@pytest.mark.parametrize("name", [*ACTORS, "web"])
def test_the_file_for_the_cluster_names_every_node_and_leaves_the_rest_of_a_service(name: str) -> None:
    own, merged = environment(name), with_cluster(name)["environment"]
    changed = {"NATS_URL": ",".join(f"nats://{node}:4222" for node in NODES), "HANDOFF_REPLICAS": str(len(NODES))}
    assert merged == own | changed
    assert set(CLUSTER["services"][name]) == {"environment", "depends_on"}


@pytest.mark.parametrize("page", PAGES)
def test_no_command_drops_the_file_with_the_keys(page: str) -> None:
    for words in compose_lines((ROOT / page).read_text()):
        assert "--env-file" not in words, "Compose then reads no .env, and the keys in it reach no actor"


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_gets_the_keys_of_the_shell_or_the_env_file(name: str) -> None:
    merged = with_cluster(name)["environment"]
    keys = [variable for variable in ENVIRONMENT if variable.startswith("ANTHROPIC_")]
    assert len(keys) == 3
    assert {key: merged.get(key, "missing") for key in keys} == dict.fromkeys(keys), "null passes a variable on"


def test_the_page_reads_only_and_gets_no_key() -> None:
    for variable in with_cluster("web")["environment"]:
        assert not SECRET.search(variable), variable
        assert not variable.startswith("ANTHROPIC_")


def test_prometheus_asks_every_actor_where_it_tells() -> None:
    (job,) = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    assert set(found["names"]) == set(ACTORS)
    assert {environment(name)[METRICS] for name in ACTORS} == {str(found["port"])}


def test_grafana_finds_prometheus_and_the_dashboards() -> None:
    provisioning = ROOT / "deploy" / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yml").read_text())["datasources"]
    url = urlsplit(str(source["url"]))
    assert url.hostname in SERVICES
    assert str(url.port) in published("prometheus")
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "handoff.yml").read_text())["providers"]
    mounts = dict(mount.split(":")[1::-1] for mount in SERVICES["grafana"]["volumes"])
    assert list((ROOT / mounts[provider["options"]["path"]]).glob("*.json"))


@pytest.mark.parametrize("page", PAGES)
def test_every_line_that_a_page_tells_to_type_can_be_typed(page: str) -> None:
    lines = compose_lines((ROOT / page).read_text())
    profiles = {profile for service in SERVICES.values() for profile in service.get("profiles", [])}
    assert lines
    for words in lines:
        options = dict(pairwise(words))
        assert options.get("--profile", "metrics") in profiles
        assert all((ROOT / file).exists() for word, file in pairwise(words) if word == "-f")
        assert options.get("--scale", "researcher=1").partition("=")[0] in ACTORS
        if "up" in words:
            named = {word for before, word in pairwise(words[words.index("up") :]) if before != "--scale"}
            assert {word for word in named if not word.startswith("-")} <= SERVICES.keys()
        if "run" in words:
            service = words.index("run") + 2
            assert words[service] in OURS
            parsed(words[service + 1 :])
