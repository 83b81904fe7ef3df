import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.shared import shared
from windrow.io import coding
from windrow.io.coding import Decoded

TEXT = b"".join(b"Line %d of a text that can be packed.\n" % number for number in range(400))
LIMIT = 1 << 20


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def streamed_zstd(data: bytes) -> bytes:
    """Compress without the size in the header, as a server does that compresses while it sends."""
    packer = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "streamed zstd": ("zstd", streamed_zstd),
}
every_packer = pytest.mark.parametrize("packer", PACKERS)


@every_packer
def test_each_coding_is_decoded(packer: str) -> None:
    name, pack = PACKERS[packer]
    assert coding.decode(pack(TEXT), name, LIMIT) == Decoded(TEXT, True, False)
    assert coding.decode(pack(TEXT), f" {name.upper()} ", LIMIT) == Decoded(TEXT, True, False)


@every_packer
def test_a_body_as_long_as_the_limit_is_complete_and_one_byte_more_is_cut(packer: str) -> None:
    name, pack = PACKERS[packer]
    assert coding.decode(pack(TEXT), name, len(TEXT)) == Decoded(TEXT, True, False)
    assert coding.decode(pack(TEXT), name, len(TEXT) - 1) == Decoded(TEXT[:-1], True, True)


@every_packer
def test_a_stream_that_stops_early_gives_its_part_and_is_incomplete(packer: str) -> None:
    name, pack = PACKERS[packer]
    packed = pack(TEXT * 20)
    body, complete, cut = coding.decode(packed[: len(packed) // 2], name, 1 << 24)
    assert (TEXT * 20).startswith(body)
    assert (complete, cut) == (False, False)


@every_packer
def test_every_cut_of_a_stream_is_detected(packer: str) -> None:
    name, pack = PACKERS[packer]
    packed, trailer = (
        pack(TEXT),
        {"gzip": 8, "x-gzip": 8, "deflate": 4}.get(packer, 0),
    )  # checksums, which are not verified
    for size in range(1, len(packed) - trailer):
        body, complete, _ = coding.decode(packed[:size], name, LIMIT)
        assert not complete and TEXT.startswith(body), size


@every_packer
@given(data=st.binary(max_size=300), at=st.integers(0, 100), noise=st.binary(min_size=1, max_size=8))
def test_noise_never_raises(packer: str, data: bytes, at: int, noise: bytes) -> None:
    name, pack = PACKERS[packer]
    packed = pack(data)
    coding.decode(packed[:at] + noise + packed[at:], name, 1000)
    coding.decode(noise + data, name, 1000)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_wrong_coding_name_is_detected(name: str) -> None:
    assert coding.decode(b"<html><p>This was never packed.", name, LIMIT) == Decoded(b"", False, False)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "", "identity", "compress"])
def test_an_empty_body_needs_no_decoding(name: str) -> None:
    assert coding.decode(b"", name, LIMIT) == Decoded(b"", True, False)


@pytest.mark.parametrize(
    "name", ["", "identity", "none", "UTF-8", "iso-8859-1", "windows-1252", "binary", "identity, utf-8", " , "]
)
def test_names_that_are_not_codings_change_nothing(name: str) -> None:
    assert coding.decode(TEXT, name, LIMIT) == Decoded(TEXT, True, False)
    assert coding.decode(TEXT, name, 10) == Decoded(TEXT[:10], True, True)


@pytest.mark.parametrize("name", ["compress", "x-compress", "exi", "sdch", "bzip2", "gzip, compress", "gzipped"])
def test_an_unknown_coding_is_not_guessed(name: str) -> None:
    assert coding.decode(gzip.compress(TEXT), name, LIMIT) == Decoded(b"", False, False)


def test_two_codings_are_decoded_in_reverse_order() -> None:
    assert coding.decode(brotli.compress(gzip.compress(TEXT)), "gzip, br", LIMIT) == Decoded(TEXT, True, False)
    assert coding.decode(gzip.compress(gzip.compress(TEXT)), "identity, gzip, gzip", LIMIT) == Decoded(
        TEXT, True, False
    )


def test_three_codings_are_refused() -> None:
    packed = gzip.compress(gzip.compress(gzip.compress(TEXT)))
    assert coding.decode(packed, "gzip, gzip, gzip", LIMIT) == Decoded(b"", False, False)


def test_a_cut_outer_coding_gives_the_inner_one_as_far_as_possible() -> None:
    inner = gzip.compress(TEXT, 0)
    body, complete, cut = coding.decode(gzip.compress(inner), "gzip, gzip", 5000)
    assert (complete, cut) == (True, True)
    assert len(body) > 4000 and TEXT.startswith(body)


def test_several_gzip_members_are_one_body() -> None:
    packed = gzip.compress(TEXT[:5000]) + gzip.compress(TEXT[5000:])
    assert coding.decode(packed, "gzip", LIMIT) == Decoded(TEXT, True, False)
    assert coding.decode(packed, "gzip", 6000) == Decoded(TEXT[:6000], True, True)


def test_several_zstd_frames_are_one_body() -> None:
    skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    packed = zstandard.compress(TEXT[:5000]) + skippable + streamed_zstd(TEXT[5000:])
    assert coding.decode(packed, "zstd", LIMIT) == Decoded(TEXT, True, False)


def test_a_gzip_header_may_hold_a_name_a_comment_and_more() -> None:
    plain = gzip.compress(TEXT, mtime=0)
    header = plain[:3] + bytes([2 | 4 | 8 | 16]) + plain[4:10] + b"\x05\0extra" + b"name\0" + b"comment\0" + b"\x12\x34"
    assert coding.decode(header + plain[10:], "gzip", LIMIT) == Decoded(TEXT, True, False)
    for size in range(len(header)):
        assert coding.decode(header[:size] or b"\x1f", "gzip", LIMIT) == Decoded(b"", False, False)


def test_checksums_and_bytes_after_the_last_member_are_ignored() -> None:
    packed = gzip.compress(TEXT)
    assert coding.decode(packed[:-8], "gzip", LIMIT) == Decoded(TEXT, True, False)
    assert coding.decode(packed[:-8] + b"\0" * 8, "gzip", LIMIT) == Decoded(TEXT, True, False)
    assert coding.decode(packed + b"\r\n<!-- cached -->", "gzip", LIMIT) == Decoded(TEXT, True, False)


def test_the_number_of_gzip_members_is_limited() -> None:
    empty = gzip.compress(b"")
    assert not coding.decode(empty * 50_000, "gzip", LIMIT).complete


def test_a_large_zstd_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=24)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(TEXT) + packer.flush()
    assert coding.decode(packed, "zstd", LIMIT) == Decoded(b"", False, False)


BOMB = """
import json, resource, sys
from windrow.io import coding
data = open(sys.argv[1], "rb").read()
coding.decode(data[:1], sys.argv[2], 1000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
body, complete, cut = coding.decode(data, sys.argv[2], 8 << 20)
print(json.dumps([len(body), complete, cut, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before]))
"""


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_cut_and_needs_memory_for_only_a_few_limits(name: str, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    bomb.write_bytes(PACKERS[name][1](b"0" * (64 << 20)))
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", BOMB, str(bomb), name], capture_output=True, check=True, env=paths)
    size, complete, cut, kilobytes = json.loads(result.stdout)
    assert (size, complete, cut) == (8 << 20, True, True)
    assert kilobytes < 48 << 10


@pytest.mark.parametrize(("file", "name"), [("br", "br"), ("deflate", "deflate"), ("gzip", "gzip"), ("zstd", "zstd")])
def test_bombs_that_broke_other_programs_are_cut(file: str, name: str) -> None:
    data = shared(f"conformance/scrapy-compressed/bomb-{file}.bin").read_bytes()
    assert coding.decode(data, name, LIMIT)[1:] == (True, True)
    assert len(coding.decode(data, name, LIMIT).body) == LIMIT


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("html-gzip.bin", "gzip"),
        ("html-gzip-deflate.bin", "gzip, deflate"),
        ("html-zlibdeflate.bin", "deflate"),
        ("html-rawdeflate.bin", "deflate"),
        ("html-br.bin", "br"),
        ("html-zstd-static-content-size.bin", "zstd"),
        ("html-zstd-static-no-content-size.bin", "zstd"),
        ("html-zstd-streaming-no-content-size.bin", "zstd"),
    ],
)
def test_one_page_is_decoded_from_many_codings(file: str, name: str) -> None:
    data = shared(f"conformance/scrapy-compressed/{file}").read_bytes()
    body, complete, cut = coding.decode(data, name, LIMIT)
    assert (complete, cut) == (True, False)
    assert body.rstrip().endswith(b"</html>") and abs(len(body) - 74_838) < 3


def test_a_stream_without_its_trailer_is_complete_and_without_its_end_is_not() -> None:
    folder = shared("conformance/scrapy-compressed")
    assert coding.decode((folder / "unexpected-eof.gz").read_bytes(), "gzip", LIMIT).complete
    for file in ("truncated-crc-error.gz", "truncated-crc-error-short.gz"):
        body, complete, _ = coding.decode((folder / file).read_bytes(), "gzip", LIMIT)
        assert body and not complete


def test_bodies_from_browser_tests_are_decoded() -> None:
    for file in sorted(shared("conformance/wpt-fetch/content-encoding").glob("*/resources/*")):
        name = {".gz": "gzip", ".br": "br", ".zst": "zstd"}.get(file.suffix)
        if name is None:
            continue
        body, complete, cut = coding.decode(file.read_bytes(), name, LIMIT)
        assert complete == (file.name != "big.window.zst"), file.name
        assert cut == file.name.startswith("big.text"), file.name
        assert len(body) == (LIMIT if cut else 11 if "hello" in file.name else 10_500 if complete else 0), file.name
