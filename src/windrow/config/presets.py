"""Presets: sets of options for a purpose, which `windrow init --preset` writes into crawl.toml with their reasons."""

from typing import NamedTuple


class PresetOption(NamedTuple):
    setting: str  # section.option=value, as for --set
    reason: str  # the comment in crawl.toml


PRESETS: dict[str, tuple[PresetOption, ...]] = {
    "archive": (
        PresetOption("extract.extractor=none", "No text is extracted: the WARC files are the result."),
        PresetOption("scope.requisites=true", "Images, styles, scripts, fonts and frames of each page, on any host."),
        PresetOption("scope.skip_suffixes=[]", "Files of every type, also where a link leads to one."),
        PresetOption("scope.homepages=false", "No home pages of sites that are only linked."),
        PresetOption("fetch.raw_bodies=true", "Bodies as they were sent, in their content coding."),
        PresetOption("fetch.accept=*/*", "Ask for whatever the server would send to any client."),
        PresetOption("fetch.max_bytes=67108864", "64 MiB of a body; longer ones are cut off and marked."),
        PresetOption("fetch.max_decoded=134217728", "128 MiB after decoding, for the search for links."),
        PresetOption("fetch.timeout=600", "Large files take their time."),
        PresetOption("frontier.order=breadth", "Hosts in turn: there is no text whose yield could steer."),
        PresetOption("frontier.yield_threshold=off", "No site is dropped for giving little text."),
        PresetOption("quality.soft_404=0", "No requests for pages that cannot exist."),
    ),
}
