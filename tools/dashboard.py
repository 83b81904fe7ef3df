"""Write deploy/grafana/windrow.json, the dashboard of Grafana: `python tools/dashboard.py`.

A list of panels is easier to review than the JSON that Grafana exports. A test checks that each expression names
only metrics that exist, and that the file is up to date.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

PLACE = Path(__file__).resolve().parents[1] / "deploy" / "grafana" / "windrow.json"
SCHEMA = 41  # of dashboards, since Grafana 12; later ones read it too
OF = '{crawl=~"$crawl",shard=~"$shard"}'
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Panel(NamedTuple):
    title: str
    unit: str  # as Grafana names it
    queries: tuple[tuple[str, str], ...]  # expression, legend
    help: str
    kind: str = "timeseries"
    stacked: bool = False
    width: int = 12  # of 24 columns


def of(name: str, *more: str) -> str:
    """Return a metric of the chosen crawls and shards."""
    return f"{name}{OF[:-1]}{''.join(f',{one}' for one in more)}}}"


def rate(name: str, *labels: str) -> str:
    return f"sum by ({', '.join(labels)}) (rate({of(name)}[$__rate_interval]))"


def quantile(name: str, part: float) -> str:
    return f"histogram_quantile({part}, sum by (le) (rate({of(f'{name}_bucket')}[$__rate_interval])))"


ROWS: dict[str, tuple[Panel, ...]] = {
    "Now": (
        Panel(
            "Running", "none", ((f"sum({of('windrow_running')})", ""),), "Crawls or shards that run.", "stat", width=4
        ),
        Panel(
            "Requests per second",
            "reqps",
            ((rate("windrow_requests_total"), ""),),
            "Of every kind: pages, well-known files.",
            "stat",
            width=4,
        ),
        Panel("URLs waiting", "short", ((f"sum({of('windrow_urls_waiting')})", ""),), "", "stat", width=4),
        Panel(
            "Documents", "short", ((f"sum({of('windrow_corpus_documents')})", ""),), "Over all runs.", "stat", width=4
        ),
        Panel("Tokens", "short", ((f"sum({of('windrow_corpus_tokens')})", ""),), "Over all runs.", "stat", width=4),
        Panel(
            "Waits for",
            "none",
            ((f"sum by (cause) ({of('windrow_paused')})", "{{cause}}"),),
            "Crawls or shards that wait for an order, for disk space or for the network.",
            "stat",
            width=4,
        ),
    ),
    "URLs and requests": (
        Panel(
            "Finished URLs by reason",
            "ops",
            ((rate("windrow_urls_finished_total", "reason"), "{{reason}}"),),
            "",
            stacked=True,
        ),
        Panel(
            "Requests by status",
            "reqps",
            ((rate("windrow_requests_total", "kind", "status_class"), "{{kind}} {{status_class}}"),),
            "none: no answer.",
            stacked=True,
        ),
        Panel(
            "Duration of a request",
            "s",
            tuple((quantile("windrow_request_duration_seconds", part), f"{part:.0%}") for part in (0.5, 0.9, 0.99)),
            "From the request to the end of the response.",
        ),
        Panel(
            "Failed attempts by reason",
            "ops",
            ((rate("windrow_attempts_failed_total", "reason"), "{{reason}}"),),
            "They put their URL back into its queue.",
            stacked=True,
        ),
        Panel(
            "URLs",
            "short",
            (
                (f"sum({of('windrow_urls_waiting')})", "waiting"),
                (f"sum({of('windrow_urls_in_hand')})", "in flight"),
                (rate("windrow_urls_seen_total"), "admitted per second"),
            ),
            "",
        ),
        Panel(
            "Refused links by rule",
            "ops",
            ((rate("windrow_links_refused_total", "rule"), "{{rule}}"),),
            "",
            stacked=True,
        ),
        Panel("Hosts", "short", ((f"sum by (state) ({of('windrow_hosts')})", "{{state}}"),), "", stacked=True),
        Panel(
            "Retired domains",
            "short",
            ((f"sum by (reason) (increase({of('windrow_domains_retired_total')}[1h]))", "{{reason}}"),),
            "In the last hour.",
        ),
    ),
    "Text": (
        Panel(
            "Bytes per second",
            "Bps",
            (
                (rate("windrow_downloaded_bytes_total"), "downloaded"),
                (rate("windrow_text_found_bytes_total"), "text found"),
                (rate("windrow_text_kept_bytes_total"), "text kept"),
            ),
            "",
        ),
        Panel(
            "Yield",
            "percentunit",
            ((f"{rate('windrow_text_kept_bytes_total')} / {rate('windrow_downloaded_bytes_total')}", "yield"),),
            "Bytes of text kept per byte downloaded.",
        ),
        Panel(
            "Documents by language",
            "ops",
            ((f"topk(12, {rate('windrow_documents_total', 'language')})", "{{language}}"),),
            "",
            stacked=True,
        ),
        Panel(
            "Size of the archive",
            "bytes",
            ((f"sum by (subset) ({of('windrow_archive_bytes')})", "{{subset}}"),),
            "Committed bytes.",
            stacked=True,
        ),
    ),
    "Machine": (
        Panel(
            "Commits",
            "s",
            (
                (quantile("windrow_commit_duration_seconds", 0.9), "90% take at most"),
                (f"time() - min({of('windrow_last_commit_timestamp_seconds')})", "oldest last commit"),
            ),
            "",
        ),
        Panel("Frames per second", "ops", ((rate("windrow_frames_total"), "frames"),), "A frame is a group commit."),
        Panel("Workers", "short", ((f"sum by (state) ({of('windrow_workers')})", "{{state}}"),), "", stacked=True),
        Panel("Free disk space", "bytes", ((f"min by (crawl) ({of('windrow_disk_free_bytes')})", "{{crawl}}"),), ""),
        Panel(
            "CPU of the crawl's process",
            "percentunit",
            ((rate("process_cpu_seconds_total", "crawl", "shard"), "{{crawl}} {{shard}}"),),
            "Without its workers; 100% is one core.",
        ),
        Panel(
            "Memory and open files of the crawl's process",
            "bytes",
            (
                (f"sum({of('process_resident_memory_bytes')})", "resident memory"),
                (f"sum({of('process_open_fds')})", "open files"),
            ),
            "",
        ),
        Panel(
            "Versions and age",
            "s",
            (
                (f"time() - {of('process_start_time_seconds')}", "{{crawl}} {{shard}}"),
                (f"count by (version) ({of('windrow_build_info')})", "{{version}}"),
            ),
            "Seconds since each process was started; how many run each version.",
        ),
    ),
}


def dashboard() -> dict[str, Any]:
    panels: list[dict[str, Any]] = []
    y = 0
    for title, members in ROWS.items():
        panels.append(_row(title, y, len(panels) + 1))
        y, x, height = y + 1, 0, 0
        for panel in members:
            if x + panel.width > 24:
                y, x = y + height, 0
            height = 4 if panel.kind == "stat" else 8
            panels.append(_panel(panel, {"x": x, "y": y, "w": panel.width, "h": height}, len(panels) + 1))
            x += panel.width
        y += height
    return {
        "title": "Windrow",
        "uid": "windrow",
        "tags": ["windrow"],
        "schemaVersion": SCHEMA,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "timezone": "browser",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_source(), _choice("crawl", ""), _choice("shard", '{crawl=~"$crawl"}')]},
        "annotations": {"list": []},
        "links": [],
        "panels": panels,
    }


def _row(title: str, y: int, number: int) -> dict[str, Any]:
    place = {"x": 0, "y": y, "w": 24, "h": 1}
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}


def _panel(panel: Panel, place: dict[str, int], number: int) -> dict[str, Any]:
    custom: dict[str, Any] = {"fillOpacity": 20 if panel.stacked else 0, "showPoints": "never"}
    if panel.stacked:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    options: dict[str, Any] = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
    if panel.kind == "stat":
        custom, options = {}, {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "none", "graphMode": "area"}
    targets = [
        {"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression, "legendFormat": legend or "__auto"}
        for i, (expression, legend) in enumerate(panel.queries)
    ]
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.help,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, "custom": custom}, "overrides": []},
        "options": options,
        "targets": targets,
    }


def _source() -> dict[str, Any]:
    return {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source", "hide": 0}


def _choice(label: str, within: str) -> dict[str, Any]:
    query = f"label_values(windrow_build_info{within}, {label})"
    return {
        "name": label,
        "label": label.capitalize(),
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": query, "refId": label},
        "definition": query,
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",  # also series without this label
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def text() -> str:
    return json.dumps(dashboard(), indent=1) + "\n"


if __name__ == "__main__":
    PLACE.write_text(text(), "utf-8")
    print(f"{PLACE} written")
