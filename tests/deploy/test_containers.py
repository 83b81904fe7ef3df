"""The files for containers: their schemas, the rules of secure pods, and commands that the program has."""

import functools
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from windrow import cli, config

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
LAYERS = ("base", "overlays/small", "overlays/large")
KUBECTL = shutil.which("kubectl")


def tool(name: str) -> list[str]:
    """Return the command of a wheel with a program in it; skip the test if it is not installed."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        pytest.skip(f"needs {name}, which the extra dev installs")
    return [str(path)]


def documents(path: Path) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(path.read_text("utf-8")) if one]


@functools.cache
def built(layer: str) -> list[dict[str, Any]]:
    """Return the objects that kustomize makes."""
    if KUBECTL is None:
        pytest.skip("needs kubectl")
    done = subprocess.run(
        [KUBECTL, "kustomize", str(KUBERNETES / layer)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def of_kind(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    (found,) = [one for one in objects if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return found


def pods(objects: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in objects:
        if one["kind"] in ("Deployment", "StatefulSet", "Job"):
            yield one["metadata"]["name"], one["spec"]["template"]["spec"]


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Containerfile, without comments and line ends."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Containerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines if line.strip())]


def commands() -> list[list[str]]:
    """Return every command of Windrow in the files, as words."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    found = [service["command"] for service in compose["services"].values() if service.get("image") == "windrow"]
    for path in KUBERNETES.rglob("*.yaml"):
        for one in documents(path):
            for _, pod in pods([one]) if "template" in one.get("spec", {}) else ():
                found += [box["args"] for box in pod["containers"] if box["name"] != "redis" and "args" in box]
    return found


def problem(words: list[str]) -> str:
    """Return what is wrong with a command; "" if the command line of this version takes it."""
    command: Any = get_command(cli.app)
    rest = list(words)
    while getattr(command, "commands", {}):
        if rest[0] not in command.commands:
            return f"there is no command {rest[0]}"
        command, rest = command.commands[rest[0]], rest[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    unknown = [word for word in rest if word.startswith("--") and word not in known]
    if unknown:
        return f"{words[0]} has no option {unknown}"
    try:
        command.make_context("windrow", [word.replace("$(POD_NAME)", "node-0") for word in rest])
    except Exception as error:  # a usage error of typer's own copy of click
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    return ""


@pytest.mark.parametrize("words", commands(), ids=lambda words: f"{words[0]} {words[1]}")
def test_the_command_line_takes_every_command(words: list[str]) -> None:
    known = get_command(cli.app).commands  # type: ignore[attr-defined]
    if words[0] not in known:
        pytest.skip(f"this version has no windrow {words[0]}")
    assert problem(words) == ""


def test_the_files_have_the_commands_that_they_are_for() -> None:
    assert {words[0] for words in commands()} == {"node", "cluster"} and len(commands()) == 5


def test_a_wrong_command_would_be_found() -> None:
    assert problem(["crawl", "DIR", "--metrics", "0.0.0.0:9464", "--log-json"]) == ""
    assert "no option" in problem(["crawl", "DIR", "--metrix", "1"])
    assert "no command" in problem(["crwl", "DIR"])
    assert problem(["crawl", "DIR", "--max-pages", "many"])


def test_hadolint_finds_nothing_in_the_containerfile() -> None:
    done = subprocess.run(
        [*tool("hadolint"), "--failure-threshold", "style", str(DEPLOY / "Containerfile")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_the_image_runs_as_a_fixed_user_ends_cleanly_and_is_watched() -> None:
    found = dict(instructions())
    assert found["USER"] == "10001:10001"
    assert found["STOPSIGNAL"] == "SIGTERM"
    assert found["VOLUME"] == found["WORKDIR"] == "/data"
    assert json.loads(found["ENTRYPOINT"]) == ["/usr/bin/tini", "--", "windrow"]
    health = json.loads(found["HEALTHCHECK"].partition("CMD ")[2])
    assert health[:2] == ["python", "-c"] and f":{found['EXPOSE']}/healthz" in health[2]
    compile(health[2], "HEALTHCHECK", "exec")


def test_the_image_is_built_from_files_and_extras_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    copied = [rest.split()[:-1] for word, rest in instructions() if word == "COPY"]
    assert [name for names in copied for name in names if not (ROOT / name).exists()] == []
    needed = {project["readme"], "LICENSE", "pyproject.toml", "hatch_build.py", "constraints.txt", "src"}
    assert needed <= {name for names in copied for name in names}
    (extras,) = re.findall(r"'\.\[([^]]+)\]'", (DEPLOY / "Containerfile").read_text("utf-8"))
    assert set(extras.split(",")) <= set(project["optional-dependencies"]) and "cluster" in extras


def test_the_compose_file_follows_the_specification() -> None:
    command = [*tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout


def assert_redis(words: list[str]) -> None:
    """Redis keeps nothing on disk and never drops a key by itself."""
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert options["--save"] == "" and options["--appendonly"] == "no"
    assert options["--maxmemory-policy"] == "noeviction" and options["--maxmemory"].endswith("mb")


def test_compose_starts_redis_without_persistence_and_nodes_on_a_shared_volume() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    services = compose["services"]
    assert_redis(services["redis"]["command"])
    assert services["node"]["deploy"]["replicas"] >= 2
    assert services["node"]["volumes"] == ["data:/data"] and "data" in compose["volumes"]
    for name in ("redis", "create", "node"):
        assert services[name]["read_only"] and services[name]["cap_drop"] == ["ALL"], name
    mounted = [word.split(":")[0] for one in services.values() for word in one.get("volumes", ())]
    assert [name for name in mounted if name.startswith(".") and not (DEPLOY / name).exists()] == []


@pytest.mark.parametrize("layer", LAYERS)
def test_every_object_of_kubernetes_follows_its_schema(layer: str) -> None:
    if importlib.util.find_spec("kubernetes_validate") is None:
        pytest.skip("needs kubernetes-validate, which the extra dev installs")
    import kubernetes_validate

    objects = built(layer)
    for one in objects:
        kubernetes_validate.validate(one, "1.32", strict=True)
    wrong = json.loads(json.dumps(of_kind(objects, "StatefulSet", "node")).replace('"replicas"', '"replicsa"'))
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, "1.32", strict=True)


@pytest.mark.parametrize("layer", LAYERS)
def test_no_pod_is_root_writes_its_image_or_gains_rights(layer: str) -> None:
    found = dict(pods(built(layer)))
    assert found.keys() == {"redis", "node", "create"}
    for pod in found.values():
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for box in pod["containers"]:
            rights = box["securityContext"]
            assert rights["readOnlyRootFilesystem"] and rights["allowPrivilegeEscalation"] is False
            assert rights["capabilities"] == {"drop": ["ALL"]}
            assert box["resources"]["requests"] and box["resources"]["limits"]["memory"]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_node_has_a_disk_of_its_own_a_name_and_time_for_a_clean_end(layer: str) -> None:
    objects = built(layer)
    node = of_kind(objects, "StatefulSet", "node")["spec"]
    pod = node["template"]["spec"]
    (box,) = pod["containers"]
    assert pod["terminationGracePeriodSeconds"] >= 60
    assert [claim["metadata"]["name"] for claim in node["volumeClaimTemplates"]] == ["data"]
    assert {"name": "data", "mountPath": "/data"} in box["volumeMounts"]
    arguments = box["args"]
    assert arguments[arguments.index("--name") + 1] == "$(POD_NAME)"
    assert [one["name"] for one in box["env"]] == ["POD_NAME"]
    (port,) = box["ports"]
    assert arguments[arguments.index("--metrics") + 1] == f"0.0.0.0:{port['containerPort']}"
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert box[name]["httpGet"] == {"path": "/healthz", "port": port["name"]}
    labels = node["template"]["metadata"]["labels"]
    assert of_kind(objects, "PodDisruptionBudget", "node")["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert of_kind(objects, "Service", node["serviceName"])["spec"]["clusterIP"] == "None"


@pytest.mark.parametrize("layer", LAYERS)
def test_redis_is_reached_by_pods_of_windrow_only_and_keeps_nothing(layer: str) -> None:
    objects = built(layer)
    pod = of_kind(objects, "Deployment", "redis")["spec"]["template"]["spec"]
    assert_redis(pod["containers"][0]["args"])
    assert pod["volumes"] == [{"name": "scratch", "emptyDir": {}}]
    policy = of_kind(objects, "NetworkPolicy", "redis")["spec"]
    (allowed,) = policy["ingress"][0]["from"]
    for kind, name in (("StatefulSet", "node"), ("Job", "create")):
        labels = of_kind(objects, kind, name)["spec"]["template"]["metadata"]["labels"]
        assert allowed["podSelector"]["matchLabels"].items() <= labels.items()
    (port,) = of_kind(objects, "Service", "redis")["spec"]["ports"]
    for words in commands():
        assert f"redis://redis:{port['port']}" in words


def after(words: list[str], option: str) -> int:
    return int(words[words.index(option) + 1])


def test_a_shared_volume_needs_one_node_for_all_shards_and_own_disks_need_all_nodes() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    assert after(services["node"]["command"], "--slots") >= after(services["create"]["command"], "--shards")
    for layer in LAYERS:
        objects = built(layer)
        node = of_kind(objects, "StatefulSet", "node")["spec"]
        slots = after(node["template"]["spec"]["containers"][0]["args"], "--slots")
        job = of_kind(objects, "Job", "create")["spec"]["template"]["spec"]["containers"][0]["args"]
        assert slots * node["replicas"] >= after(job, "--shards"), layer


def test_the_options_and_seeds_of_both_ways_are_the_same_and_can_be_read() -> None:
    for name in ("crawl.toml", "seeds.txt"):
        assert (DEPLOY / "crawl" / name).read_bytes() == (KUBERNETES / "base" / name).read_bytes()
    assert config.load(DEPLOY / "crawl" / "crawl.toml", []).identity.contact == "", "the operator has to write it"
