"""A request of Scrapy, stored and read again: all of it, as data, and under one URL."""

import datetime
from typing import Any

import msgspec
import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from windrow import urls
from windrow.records import MOST_REQUEST, Task
from windrow.scrapy import requests
from windrow.scrapy.requests import TOKEN, Unwritable

URL = "https://example.org/a?b=c"


class Named(Spider):
    name = "named"

    def parse(self, response: Any) -> None: ...
    def other(self, response: Any) -> None: ...


SPIDER = Named()


def again(request: Request) -> Request:
    return requests.decode(requests.encode(request, SPIDER, URL), SPIDER, URL)


def test_every_field_comes_back() -> None:
    moment = datetime.datetime(2026, 11, 16, 12, 0, tzinfo=datetime.UTC)
    request = Request(
        URL,
        callback=SPIDER.parse,
        errback=SPIDER.other,
        method="PUT",
        headers={"A": ["1", "2"], b"B": b"\xff"},
        body=b"\0\xff",
        cookies={"a": "b"},
        meta={"a": [1, {"b": b"c"}], "d": moment, TOKEN: 3},
        cb_kwargs={"e": None},
        encoding="latin-1",
        priority=-5,
        dont_filter=True,
        flags=["f"],
    )
    found = again(request)
    expected = request.to_dict(spider=SPIDER)
    del expected["meta"][TOKEN]
    assert found.to_dict(spider=SPIDER) == expected
    assert found.callback == SPIDER.parse


def test_a_plain_request_takes_no_room() -> None:
    assert requests.encode(Request(URL), SPIDER, URL) == b""
    assert again(Request(URL)).url == URL
    assert again(Request(URL + "#part")).url == URL + "#part", "the spider gets its own spelling of a URL"


@pytest.mark.parametrize("kind", [FormRequest, JsonRequest])
def test_other_classes_of_requests_come_back(kind: type[Request]) -> None:
    request = kind(URL, formdata={"a": "b"}) if kind is FormRequest else kind(URL, data={"a": "b"})  # type: ignore[call-arg]
    found = again(request)
    assert type(found) is kind
    assert (found.method, found.body, found.headers) == (request.method, request.body, request.headers)


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (Request(URL, meta={"a": object()}), "use plain values"),
        (Request(URL, callback=lambda response: None), "is not an instance method"),
        (Request(URL, meta={"a": "b" * MOST_REQUEST}), "more than 49,152"),
        (Request(URL, cb_kwargs={"a": 1 << 70}), "cannot be stored"),
    ],
)
def test_a_request_that_cannot_be_stored_is_refused_with_the_reason(request_: Request, why: str) -> None:
    with pytest.raises(Unwritable, match=why):
        requests.encode(request_, SPIDER, URL)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"_class": "os.system"}, "has not imported"),
        ({"_class": "antigravity.Request"}, "has not imported"),
        ({"_class": "scrapy.Spider"}, "has not imported"),
        ({"callback": "no_such_method"}, "not found"),
        ({"headers": 3}, "damaged"),
        ([1, 2], "damaged"),
    ],
)
def test_stored_data_cannot_choose_code(fields: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        requests.decode(msgspec.msgpack.encode(fields), SPIDER, URL)


def test_bytes_that_are_no_request_are_refused() -> None:
    for data in (b"\xc1", b"\x80\x80", b"abc"):
        with pytest.raises(ValueError):
            requests.decode(data, SPIDER, URL)


def test_one_page_has_one_url_and_other_requests_have_their_own() -> None:
    def key(request: Request, again: bool = False) -> int:
        url = requests.address(request, again)
        assert url is not None
        assert urls.restored(url.text) == url, "the log gives it back"
        return url.key

    page = key(Request(URL))
    assert key(Request(URL + "#part")) == page == key(Request(URL, headers={"A": "b"}))
    posts = {key(Request(URL, method="POST", body=body)) for body in ("a", "b", "a")}
    assert len({page, key(Request(URL, method="HEAD")), *posts}) == 4
    assert len({page, key(Request(URL), again=True), key(Request(URL), again=True)}) == 3
    assert requests.address(Request("data:,a"), again=False) is None


def test_rules_and_the_archive_see_a_task_without_its_fragment() -> None:
    url = requests.address(Request(URL, method="POST"), again=False)
    assert url is not None and url.text.startswith(URL + "#post-")
    plain = requests.plain(Task(url, depth=3, request=b"x"))
    assert plain == Task(urls.restored(URL), depth=3)
    ordinary = Task(urls.restored(URL))
    assert requests.plain(ordinary) is ordinary


def test_a_higher_priority_is_a_lower_rank() -> None:
    assert [requests.rank(priority) for priority in (1000, 1, 0, -1, -1000)] == [0, 127, 128, 129, 255]
