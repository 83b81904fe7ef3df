"""What goes to a worker: the bytes that reading needs, and nothing else."""

import msgspec

from tests.crawler.workers.test_pool import capture
from windrow.crawler.workers import wire
from windrow.crawler.workers.wire import ReadRequest
from windrow.records import Rendered


def test_a_page_is_sent_without_its_request_and_without_its_rendered_form() -> None:
    page = capture(b"<p>as the server sent it")
    assert page.rendered is None
    shown = Rendered(html=b"<p>as a browser shows it", time=1.0, software="Browser 1.0")
    more = msgspec.structs.replace(page, request=b"GET /", cipher="tls/1.3", rendered=shown)
    assert wire.sent([ReadRequest(more)]) == wire.sent([ReadRequest(page)])
