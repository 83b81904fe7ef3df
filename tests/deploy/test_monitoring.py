"""The dashboard and the alerts name only metrics, labels and values that exist."""

import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from windrow.log.meter import KINDS
from windrow.metrics import METRICS
from windrow.records import Reason

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus" / "rules.yml"
PROMTOOL = shutil.which("promtool")

# What an expression may consist of, besides metrics and labels.
FUNCTIONS = {"sum", "min", "count", "rate", "increase", "time", "topk", "changes", "predict_linear"}
FUNCTIONS |= {"histogram_quantile", "by", "and", "on", "unless"}
OTHERS = {"up"}  # of Prometheus itself
VALUES = {  # what a label may be compared with; a label that is missing here may have any value
    "reason": {reason.value for reason in Reason},
    "kind": set(KINDS.values()),
    "status_class": {"none", *(f"{first}xx" for first in range(1, 10))},
    "cause": {"order", "disk", "network"},
}


def labels_of(name: str) -> set[str]:
    """Return the labels that a sample of this name can have; none: there is no such sample."""
    if name in OTHERS:
        return {"job", "instance"}
    family = re.sub(r"_(?:bucket|sum|count)$", "", name)
    if name in METRICS and METRICS[name].kind != "histogram":
        return {"crawl", "shard", *METRICS[name].labels}
    if family != name and family in METRICS and METRICS[family].kind == "histogram":
        return {"crawl", "shard", "le"}
    return set()


def problems(expression: str) -> list[str]:
    """Return what an expression names that does not exist."""
    found = []
    rest = re.sub(r"\[[^]]*\]", "", expression)
    for name, matchers in re.findall(r"([a-z_]+)\{([^}]*)\}", rest):
        known = labels_of(name)
        for label, _, value in re.findall(r'(\w+)\s*(=~|!=|=)\s*"([^"]*)"', matchers):
            if label not in known:
                found.append(f"{name} has no label {label}")
            if label in VALUES and not set(value.split("|")) <= VALUES[label]:
                found.append(f"{label} is never {value}")
    names = set(re.findall(r"[a-zA-Z_]\w*", re.sub(r'"[^"]*"|\{[^}]*\}', "", rest)))
    grouped = {label for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", rest) for label in re.findall(r"\w+", group)}
    metrics = {name for name in names - FUNCTIONS - grouped}
    found += [f"there is no metric {name}" for name in sorted(metrics) if not labels_of(name)]
    known = {label for name in metrics for label in labels_of(name)}
    return found + [f"no metric here has the label {label}" for label in sorted(grouped - known)]


def dashboard() -> dict[str, Any]:
    return json.loads((DEPLOY / "grafana" / "windrow.json").read_text("utf-8"))  # type: ignore[no-any-return]


def queries() -> Iterator[tuple[str, str]]:
    for panel in dashboard()["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel.get("targets", ()))


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return group["rules"]  # type: ignore[no-any-return]


def test_every_expression_of_the_dashboard_names_what_exists() -> None:
    found = {title: problems(expression) for title, expression in queries()}
    assert {title: wrong for title, wrong in found.items() if wrong} == {} and len(found) > 20


def test_every_expression_of_the_alerts_names_what_exists() -> None:
    found = {rule["alert"]: problems(rule["expr"]) for rule in rules()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {} and len(found) >= 8


@pytest.mark.parametrize(
    "expression",
    [
        "rate(windrow_urls_waitng[5m])",
        "rate(windrow_request_duration_seconds[5m])",
        "windrow_running_bucket",
        'windrow_running{state="x"}',
        'windrow_urls_finished_total{reason="bored"}',
        "sum by (reason) (windrow_running)",
        'rate(windrow_requests_total{status_class=~"none|6x"}[5m])',
    ],
)
def test_a_wrong_expression_would_be_found(expression: str) -> None:
    assert problems(expression)


def test_every_metric_is_shown() -> None:
    shown = " ".join(expression for _, expression in queries())
    assert [name for name in METRICS if not re.search(rf"\b{name}(?:_bucket)?\b", shown)] == []


def test_the_dashboard_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("dashboard", ROOT / "tools" / "dashboard.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PLACE.read_text("utf-8") == module.text(), "run python tools/dashboard.py"


def test_the_dashboard_has_the_shape_that_grafana_reads() -> None:
    found = dashboard()
    assert found["schemaVersion"] >= 39 and found["uid"] and found["title"]
    panels = found["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, f"{panel['title']} lies on another panel"
        taken |= cells
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"
            chosen = set(re.findall(r"\$(\w+)", target["expr"])) - {"__rate_interval"}
            assert chosen <= {one["name"] for one in found["templating"]["list"]}
    variables = [one["definition"] for one in found["templating"]["list"] if one["type"] == "query"]
    for definition in variables:
        name, label = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", definition).groups()  # type: ignore[union-attr]
        assert label in labels_of(name)


def test_every_alert_says_what_it_means_and_has_a_test() -> None:
    tests = (DEPLOY / "prometheus" / "tests.yml").read_text("utf-8")
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["description"].endswith((".", "?"))
        assert rule["alert"] in tests, f"{rule['alert']} has no test"
        named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        metrics = re.findall(r"\b(?:windrow|process)_\w+|\bup\b", rule["expr"])
        assert named <= {label for name in metrics for label in labels_of(name)}


@pytest.mark.skipif(PROMTOOL is None, reason="needs promtool: apt install prometheus")
def test_promtool_accepts_rules_and_configuration_and_the_alerts_fire_when_they_should(tmp_path: Path) -> None:
    place = DEPLOY / "prometheus"
    from_dashboard = [
        {"record": f"q:{i}", "expr": re.sub(r"\$__rate_interval", "1m", expression)}
        for i, (_, expression) in enumerate(queries())
    ]
    (tmp_path / "dashboard.yml").write_text(yaml.safe_dump({"groups": [{"name": "d", "rules": from_dashboard}]}))
    for arguments in (
        ["check", "rules", str(place / "rules.yml")],
        ["test", "rules", str(place / "tests.yml")],
        ["check", "config", str(place / "prometheus.yml")],
        ["check", "rules", str(tmp_path / "dashboard.yml")],
    ):
        done = subprocess.run([str(PROMTOOL), *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0 and "FAILED" not in done.stdout, (arguments, done.stdout, done.stderr)
