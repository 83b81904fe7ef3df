"""Every metric that Windrow gives: its name, its kind and its meaning. docs/metrics.md has the same list."""

from typing import NamedTuple


class Meaning(NamedTuple):
    kind: str  # "counter", "gauge", "histogram"
    help: str
    labels: tuple[str, ...] = ()  # besides `crawl` and `shard`, which every metric has
    log: bool = True  # known from the log alone, so that `windrow status` gives it


# No label is a host, a domain or a URL: a crawl has millions of them, and a series of each would break a server.
METRICS = {
    "windrow_build_info": Meaning("gauge", "Always 1; the label is the version of Windrow.", ("version",)),
    "windrow_running": Meaning("gauge", "1 while a process runs the crawl."),
    "windrow_paused": Meaning(
        "gauge", "1 while the crawl waits: for an order to resume, for disk space, for the network.", ("cause",), False
    ),
    "windrow_urls_seen_total": Meaning("counter", "URLs admitted."),
    "windrow_urls_waiting": Meaning("gauge", "URLs admitted and not yet requested."),
    "windrow_urls_in_hand": Meaning("gauge", "URLs in flight: leased or requested, and not finished."),
    "windrow_urls_finished_total": Meaning("counter", "URLs finished, by reason.", ("reason",)),
    "windrow_attempts_failed_total": Meaning(
        "counter", "Attempts that failed and put the URL back into its queue, by reason.", ("reason",)
    ),
    "windrow_links_refused_total": Meaning("counter", "Links not admitted, by rule.", ("rule",)),
    "windrow_requests_total": Meaning(
        "counter", "Requests by kind of task and class of status; none: no answer.", ("kind", "status_class")
    ),
    "windrow_request_duration_seconds": Meaning("histogram", "Time from the request to the end of the response."),
    "windrow_downloaded_bytes_total": Meaning("counter", "Bytes downloaded."),
    "windrow_text_found_bytes_total": Meaning("counter", "Bytes of main text found, duplicates included."),
    "windrow_text_kept_bytes_total": Meaning(
        "counter", "Bytes of text kept in the corpus, by language.", ("language",)
    ),
    "windrow_documents_total": Meaning("counter", "Documents in the corpus, by language.", ("language",)),
    "windrow_corpus_documents": Meaning("gauge", "Documents of the corpus, over all runs."),
    "windrow_corpus_tokens": Meaning("gauge", "Tokens of the corpus, over all runs."),
    "windrow_hosts": Meaning(
        "gauge",
        "Known hosts: ready, waiting for their delay, in the backlog; other: leased, or without work.",
        ("state",),
        False,
    ),
    "windrow_domains_retired_total": Meaning(
        "counter", "Domains of which URLs were dropped because the domain or a host of it was closed.", ("reason",)
    ),
    "windrow_archive_bytes": Meaning("gauge", "Committed bytes of the archive, by subset.", ("subset",)),
    "windrow_last_commit_timestamp_seconds": Meaning("gauge", "Time of the last commit, in seconds since 1970."),
    "windrow_commit_duration_seconds": Meaning("histogram", "Time that a commit took to become durable.", (), False),
    "windrow_frames_total": Meaning("counter", "Frames written to the log."),
    "windrow_disk_free_bytes": Meaning("gauge", "Free bytes of the disk with the crawl's directory."),
    "windrow_workers": Meaning("gauge", "Worker processes: starting, idle or busy.", ("state",), False),
    "process_cpu_seconds_total": Meaning("counter", "CPU time of the process of the crawl.", (), False),
    "process_resident_memory_bytes": Meaning("gauge", "Resident memory of the process of the crawl.", (), False),
    "process_open_fds": Meaning("gauge", "Open file descriptors of the process of the crawl.", (), False),
    "process_start_time_seconds": Meaning("gauge", "Start of the process, in seconds since 1970.", (), False),
}
