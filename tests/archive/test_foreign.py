"""Files that other programs wrote: every record of the whole ones, a clear message for the malformed ones."""

import contextlib
import io
import tarfile
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.shared import shared
from windrow import archive
from windrow.archive import ArchiveError, Damage

SUFFIXES = (".warc", ".arc", ".gz", ".open", ".lz4", ".wat", ".wet")
JWAT_ARC, JWAT_GZIP, JWAT_WARC = (f"jwat/jwat-{name}/src/test/resources/" for name in ("arc", "gzip", "warc"))
VALID = "toimik-warcprotocol/Valid/"

# Records of the whole files; all others have one. Counted by warcio; in the two files of gowarc, which warcio does not
# read, by FastWARC.
WHOLE = {
    "fastwarc/tests/data/block-sized-records.warc": 3,
    "fastwarc/tests/data/block-sized-records.warc.gz": 3,
    "fastwarc/tests/data/clueweb-quirk.warc.gz": 30,
    "fastwarc/tests/data/warcfile.warc": 50,
    "fastwarc/tests/data/warcfile.warc.gz": 50,
    "gowarc/testdata/warcs/empty.warc.gz.open": 0,
    "gowarc/testdata/warcs/good.warc.gz.open": 50,
    "gowarc/testdata/warcs/skip-non-open.warc.gz": 10,
    "gowarc/testdata/warcs/test.warc.gz": 3,
    f"{JWAT_ARC}1-1-20110922131213-00000-svc-VirtualBox.arc": 102,
    f"{JWAT_ARC}IAH-20080430204825-00000-blackbook.arc.gz": 300,
    f"{JWAT_ARC}small_BNF.arc": 6,
    f"{JWAT_GZIP}IAH-20080430204825-00000-blackbook.warc.gz": 822,
    f"{JWAT_WARC}IAH-20080430204825-00000-blackbook.warc.gz": 822,
    f"{JWAT_WARC}invalid-warcfile-contenttype-recommended.warc": 7,
    f"{JWAT_WARC}invalid-warcfile-digest-fields.warc": 4,
    f"{JWAT_WARC}invalid-warcfile-encoding-headers.warc.gz": 4,
    f"{JWAT_WARC}invalid-warcfile-segment-number-continuation.warc": 2,
    f"{JWAT_WARC}invalid-warcfile-segment-number-response.warc": 2,
    f"{JWAT_WARC}valid-warcfile-upper-lower-case.warc": 5,
    "whirlwind-python/whirlwind.warc": 4,
    "whirlwind-python/whirlwind.warc.gz": 4,
    "whirlwind-python/whirlwind.warc.wat": 2,
    "whirlwind-python/whirlwind.warc.wat.gz": 2,
    "whirlwind-python/whirlwind.warc.wet": 2,
    "whirlwind-python/whirlwind.warc.wet.gz": 2,
}

NONE, LENGTH, SHORT, GZIP = "expected a WARC or ARC record", "Content-Length", "ends inside the record", "gzip member"
WRONG = "the record says that it has"
# The other files: how many records can be read all the same, and what is said.
MALFORMED = {
    "fastwarc/tests/data/block-sized-records.warc.lz4": (0, "a file of lz4"),
    "fastwarc/tests/data/warcfile.warc.lz4": (0, "a file of lz4"),
    "fastwarc/tests/data/clipped.warc.gz": (1, SHORT),
    "gowarc/testdata/warcs/corrupted-mid-record.warc.gz.open": (12, "expected a gzip member here, found b'CORRUPTED"),
    "gowarc/testdata/warcs/corrupted-trailing-bytes.warc.gz.open": (30, "expected a gzip member here, found b'GARBAGE"),
    f"{JWAT_ARC}invalid-arcfile-record-then-garbage.arc": (1, WRONG),
    f"{JWAT_ARC}test-arc-1.0-dashed-fields.arc": (2, WRONG),
    f"{JWAT_ARC}test-arc-1.0-invalid-fields.arc": (2, "this line of an ARC record has no length"),
    f"{JWAT_GZIP}invalid-compression.gz": (0, GZIP),
    f"{JWAT_GZIP}invalid-entries.gz": (0, NONE),
    f"{JWAT_GZIP}invalid-magic.gz": (0, NONE),
    f"{JWAT_GZIP}invalid-truncated.gz": (0, NONE),
    f"{JWAT_GZIP}sample.txt.gz": (0, NONE),
    f"{JWAT_GZIP}three-files.gz": (0, NONE),
    f"{JWAT_WARC}invalid-warcfile-fields-empty.warc": (1, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-fields-invalidformat.warc": (1, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-fields-missing.warc": (1, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-lonely-continuation.warc": (1, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-lonely-monkeys.warc": (1, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-lonely-request-response-resource-conversion.warc": (4, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-lonely-revisit.warc": (1, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-lonely-warcinfo-metadata.warc": (2, LENGTH),
    f"{JWAT_WARC}invalid-warcfile-record-then-garbage.warc": (1, NONE),
    "toimik-warcprotocol/Invalid/incorrect_content_length.warc": (4, WRONG),
    "toimik-warcprotocol/Invalid/malformed_header.warc": (22, NONE),
    "toimik-warcprotocol/Invalid/missing_header_field.warc": (3, "is cut: the file ends inside it"),
    "toimik-warcprotocol/Invalid/multiline_header_values.warc": (1, LENGTH),
    "toimik-warcprotocol/Invalid/premature_w_trailing_newline.warc": (0, "is cut: the file ends inside it"),
    "toimik-warcprotocol/Invalid/premature_wo_trailing_newline.warc": (0, "is cut: the file ends inside it"),
    "toimik-warcprotocol/Invalid/short_content_block.warc": (1, SHORT),
    # Called valid there, but their line ends were changed after they were written, so their blocks are too short.
    **{
        f"{VALID}{version}/{folder}{name}.warc": (1, SHORT)
        for version in ("1.0", "1.1")
        for folder in ("", "without-block-digest/")
        for name in ("resource", "response", "revisit_unmodified")
    },
    f"{VALID}1.1/warcinfo.warc": (1, SHORT),
    f"{VALID}1.1/without-block-digest/warcinfo.warc": (1, SHORT),
    f"{VALID}1.1/misc/request_gemini_w_payload.warc": (1, SHORT),
    f"{VALID}1.1/misc/response_gemini_w_payload.warc": (1, SHORT),
    "whirlwind-python/CC-MAIN-2024-22.warc.paths.gz": (0, NONE),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The archive files by their names in the suite."""
    directory = tmp_path_factory.mktemp("suite")
    with tarfile.open(shared("conformance/warc.tar.xz")) as packed:
        packed.extractall(directory, filter="data")
    root = directory / "warc"
    return {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix in SUFFIXES
    }


def read(path: Path) -> tuple[int, list[Damage]]:
    damages: list[Damage] = []
    return sum(1 for _ in archive.records(path, report=damages.append)), damages


def test_every_record_of_the_whole_files_is_read(suite: dict[str, Path]) -> None:
    whole = {name: path for name, path in suite.items() if name not in MALFORMED}
    assert len(whole) > 50 and WHOLE.keys() <= whole.keys()
    assert {name: sum(1 for _ in archive.records(path)) for name, path in whole.items()} == {
        name: WHOLE.get(name, 1) for name in whole
    }
    assert {name: read(path) for name, path in whole.items()} == {name: (WHOLE.get(name, 1), []) for name in whole}


def test_a_malformed_file_gives_what_is_intact_and_a_message_that_names_it(suite: dict[str, Path]) -> None:
    for name, (count, said) in MALFORMED.items():
        found, damages = read(suite[name])
        assert (name, found) == (name, count)
        assert said in damages[0].what and damages[0].file == str(suite[name]), name
        for damage in damages:
            assert 0 <= damage.start <= damage.end <= suite[name].stat().st_size


def test_a_malformed_file_is_an_error_where_damage_is_not_wanted(suite: dict[str, Path]) -> None:
    for name in MALFORMED:
        with pytest.raises(ArchiveError, match=r".+, byte \d+: .+"):
            list(archive.records(suite[name]))


def test_damage_never_stops_the_captures(suite: dict[str, Path]) -> None:
    for path in suite.values():
        damages: list[Damage] = []
        found = list(archive.captures(path, archive.ReadOptions(resources=True, report=damages.append)))
        assert not any(stored.capture.encoded for stored in found)


@pytest.mark.parametrize(
    "name",
    ["1-1-20110922131213-00000-svc-VirtualBox.arc", "IAH-20080430204825-00000-blackbook.arc.gz", "small_BNF.arc"],
)
def test_records_of_arc_files_are_those_that_warcio_reads(suite: dict[str, Path], name: str) -> None:
    ours = [one for one in archive.records(suite[JWAT_ARC + name]) if one.type == "response"]
    theirs = []
    with open(suite[JWAT_ARC + name], "rb") as file, contextlib.redirect_stderr(io.StringIO()):
        for record in ArchiveIterator(file, no_record_parse=True):
            if record.rec_type == "response":
                headers = record.rec_headers
                fields = [headers.get_header(field) for field in ("uri", "ip-address", "archive-date")]
                theirs.append((*fields, record.raw_stream.read()))
    date = str.maketrans("", "", "-:TZ")
    assert [
        (one.target, one.header("WARC-IP-Address"), one.header("WARC-Date").translate(date), one.block) for one in ours
    ] == theirs
