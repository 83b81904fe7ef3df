"""Count, for each host, the links to it from other hosts, and keep the longest anchor text; from WAT files.

windrow batch examples/links_by_host.py wat/ --output links.json

The value is a list, so the values of a key are not summed but reduced by our own function.
"""

from windrow import urls


def process(record):
    if record.type != "metadata" or "json" not in record.header("Content-Type"):
        return
    http = record.json()["Envelope"]["Payload-Metadata"].get("HTTP-Response-Metadata", {})
    links = http.get("HTML-Metadata", {}).get("Links", [])
    for link, url in zip(links, urls.join(record.url, [link.get("url", "") for link in links]), strict=True):
        if url is not None and url.host != urls.host_of(record.url):
            yield url.host, [1, link.get("text", "")]


def reduce(one, other):
    return [one[0] + other[0], max(one[1], other[1], key=lambda text: (len(text), text))]
