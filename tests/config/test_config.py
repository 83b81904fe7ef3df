"""The user's input becomes options, or one sentence that names the thing, the place and the fix."""

import dataclasses
import math
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import config
from windrow.config import Config, ConfigError, FetchOptions, IdentityOptions, ScopeOptions, kinds
from windrow.config.load import shapes
from windrow.config.schema import SECTIONS

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, text: str) -> Path:
    path = folder / "crawl.toml"
    path.write_text(text, "utf-8")
    return path


def complaint(folder: Path, text: str, *overrides: str) -> str:
    path = write(folder, text)
    with pytest.raises(ConfigError) as raised:
        config.load(path, overrides)
    message = str(raised.value)
    assert "\n" not in message
    return message.replace(str(path), "crawl.toml")


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, "")) == Config()


def test_written_options_are_taken_and_the_others_keep_their_defaults(tmp_path: Path) -> None:
    text = """
        [identity]
        contact = "https://example.org/crawler"
        [scope]
        tlds = ["cz", "sk"]
        ports = [80]
        [fetch]
        delay = 2
        http2 = true
    """
    loaded = config.load(write(tmp_path, text))
    assert loaded == Config(
        identity=IdentityOptions(contact="https://example.org/crawler"),
        scope=ScopeOptions(tlds=("cz", "sk"), ports=(80,)),
        fetch=FetchOptions(delay=2.0, http2=True),
    )
    assert type(loaded.fetch.delay) is float


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_bytes(b"\xef\xbb\xbf[fetch]\r\ndelay = 2\r\n")
    assert config.load(path).fetch.delay == 2


NAMES = {
    "[frontier]\ndely = 1": "unknown option 'frontier.dely' in crawl.toml; did you mean 'fetch.delay'?",
    "[fetch]\ndely = 1": "unknown option 'fetch.dely' in crawl.toml; did you mean 'fetch.delay'?",
    "[fetch]\nmax_pages = 1": "unknown option 'fetch.max_pages' in crawl.toml; did you mean 'crawl.max_pages'?",
    "[language]\naccept = 1": "unknown option 'language.accept' in crawl.toml; did you mean 'language.accepted'?",
    "[scope]\nmax-depth = 1": "unknown option 'scope.max-depth' in crawl.toml; did you mean 'scope.max_depth'?",
    "[identity]\nxyzzy = 1": "unknown option 'identity.xyzzy' in crawl.toml; windrow options lists them",
    "[fetch.hosts_file]\na = 1": "option 'fetch.hosts_file' in crawl.toml"
    " must be text in quotes, such as \"text\", not {'a': 1}",
    "[fech]\ndelay = 1": "unknown section [fech] in crawl.toml; did you mean [fetch]?",
    "delay = 1": "option 'delay' in crawl.toml stands outside a section; did you mean 'fetch.delay'?",
    "fetch = 1": "'fetch' in crawl.toml is a section; write [fetch] on a line of its own and its options below",
    "[[fetch]]\ndelay = 1": "'fetch' in crawl.toml is a section;"
    " write [fetch] on a line of its own and its options below",
}


@pytest.mark.parametrize("text", NAMES)
def test_an_unknown_name_is_refused_with_the_nearest_one(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, text) == NAMES[text]


def test_an_unknown_section_far_from_any_lists_them_all(tmp_path: Path) -> None:
    assert complaint(tmp_path, "[xyzzy]").endswith(
        "the sections are " + ", ".join(field.name for field in dataclasses.fields(Config))
    )


TYPES = {
    '[fetch]\ndelay = "5"': "option 'fetch.delay' in crawl.toml must be a number, such as 2.5, not '5'",
    "[fetch]\ndelay = true": "option 'fetch.delay' in crawl.toml must be a number, such as 2.5, not True",
    "[fetch]\nconnections = 2.0": "option 'fetch.connections' in crawl.toml"
    " must be a whole number, such as 10, not 2.0",
    "[fetch]\nconnections = true": "option 'fetch.connections' in crawl.toml"
    " must be a whole number, such as 10, not True",
    "[fetch]\nhttp2 = 1": "option 'fetch.http2' in crawl.toml must be true or false, without quotes, not 1",
    "[identity]\nname = 1": "option 'identity.name' in crawl.toml must be text in quotes, such as \"text\", not 1",
    '[scope]\ntlds = "cz"': "option 'scope.tlds' in crawl.toml must be a list, not 'cz'; write [\"cz\"]",
    "[scope]\ntlds = 1": "option 'scope.tlds' in crawl.toml must be a list, not 1; write […]",
    "[scope]\nports = [80, '443']": "an item of option 'scope.ports' in crawl.toml"
    " must be a whole number, such as 10, not '443'",
    "[scope]\nports = [[80]]": "an item of option 'scope.ports' in crawl.toml"
    " must be a whole number, such as 10, not [80]",
    "[identity]\nname = 2024-01-01": "option 'identity.name' in crawl.toml must be text in quotes, "
    'such as "text", not datetime.date(2024, 1, 1)',
}


@pytest.mark.parametrize("text", TYPES)
def test_a_value_of_another_type_is_refused(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, text) == TYPES[text]


RANGES = {
    "fetch.delay=-1": "at least 0, not -1.0",
    "fetch.delay=nan": "at least 0, not nan",
    "fetch.delay=inf": "at least 0 and finite, not inf",
    f"fetch.delay={10**400}": "at least 0 and finite, not inf",
    f"crawl.max_pages={2**63}": f"at least 0 and below 2^63, not {2**63}",
    "fetch.robots_ttl=86401": "from 0 to 86400, not 86401.0",
    "fetch.robots_max_bytes=1000": "at least 512000, not 1000",
    "archive.level=4": "from 0 to 3, not 4",
    "archive.level=-1": "from 0 to 3, not -1",
    "fetch.connections=0": "from 1 to 10000, not 0",
    "scope.max_distance=-2": "at least -1, not -2",
    "scope.max_depth=-1": "at least 0, not -1",
    "scope.ports=[80,0]": "from 1 to 65535, not 0",
    "scope.ports=[65536]": "from 1 to 65535, not 65536",
    "workers.count=0": "from 1 to 1024, not 0",
}


@pytest.mark.parametrize("override", RANGES)
def test_a_number_out_of_its_range_is_refused(tmp_path: Path, override: str) -> None:
    name = override.partition("=")[0]
    assert complaint(tmp_path, "", override) == f"option '{name}' in --set must be {RANGES[override]}"


@pytest.mark.parametrize(
    "override",
    ["fetch.delay=0", "fetch.robots_ttl=86400", "archive.level=0", "archive.level=3", "scope.max_distance=-1"],
)
def test_a_number_at_the_edge_of_its_range_is_accepted(tmp_path: Path, override: str) -> None:
    name, _, value = override.partition("=")
    section, option = name.split(".")
    assert getattr(getattr(config.load(write(tmp_path, ""), [override]), section), option) == float(value)


TEXTS = {
    "identity.name=wind row": "must be made of letters, _ and - only",
    "identity.name=": "must be made of letters, _ and - only",
    "identity.name=bot/1.0": "must be made of letters, _ and - only",
    "identity.contact=me": "must be a URL or an e-mail address",
    "identity.contact=ftp://example.org/": "must be a URL or an e-mail address",
    "identity.contact=http://": "must be a URL or an e-mail address",
    "identity.contact=mailto:me@example.org": "must be a URL or an e-mail address",
    "identity.contact=Me <me@example.org>": "must be a URL or an e-mail address",
    "identity.user_agent=é": "must be ASCII",
    'identity.user_agent="a\\r\\nX: b"': "holds a control character",
    'identity.description="a\\u2028b"': "holds a control character",
    "identity.description=a\udce9": "holds a control character",
    "frontier.store=sqlite": "must be 'lmdb' or 'memory'",
    "archive.prefix=a/b": "must be usable in file names",
    "archive.prefix=..": "must be usable in file names",
    "crawl.node=": "must be usable in file names",
    'scope.allow=["a", "("]': "holds '(', which is not a regular expression"
    " (missing ), unterminated subpattern at position 0)",
    'scope.deny=["*"]': "holds '*', which is not a regular expression",
    'scope.hosts=["*.example.org"]': "holds '*.example.org', which is not a name",
    'scope.domains=["https://example.org"]': "holds 'https://example.org', which is not a name",
    'scope.tlds=["straße"]': "holds 'straße', which is not a name",
    'scope.tlds=[""]': "holds '', which is not a name",
    'scope.hosts=["example.org:80"]': "holds 'example.org:80', which is not a name",
}


@pytest.mark.parametrize("override", TEXTS)
def test_an_unusable_text_is_refused(tmp_path: Path, override: str) -> None:
    name = override.partition("=")[0]
    assert complaint(tmp_path, "", override).startswith(f"option '{name}' in --set {TEXTS[override]}")


@pytest.mark.parametrize(
    "contact", ["", "https://example.org", "http://example.org/a?b", "http://127.0.0.1:80/", "me+crawl@example.org"]
)
def test_a_contact_is_a_url_an_e_mail_address_or_empty(tmp_path: Path, contact: str) -> None:
    assert config.load(write(tmp_path, ""), [f"identity.contact={contact}"]).identity.contact == contact


def test_names_are_converted_to_the_form_they_have_in_urls(tmp_path: Path) -> None:
    text = """
        [scope]
        tlds = [".CZ", "*.co.uk", "рф"]
        domains = ["Bücher.Example."]
        hosts = ["WWW.example.org.", "[::1]"]
        skip_suffixes = [".PDF", "zip"]
    """
    scope = config.load(write(tmp_path, text)).scope
    assert scope.tlds == ("cz", "co.uk", "xn--p1ai")
    assert scope.domains == ("xn--bcher-kva.example",)
    assert scope.hosts == ("www.example.org", "[::1]")
    assert scope.skip_suffixes == ("pdf", "zip")


def test_the_hosts_file_is_relative_to_crawl_toml(tmp_path: Path) -> None:
    path = write(tmp_path, '[fetch]\nhosts_file = "web/hosts.map"')
    assert config.load(path).fetch.hosts_file == str(tmp_path / "web/hosts.map")
    assert config.load(path, ["fetch.hosts_file=/etc/map"]).fetch.hosts_file == "/etc/map"
    assert config.load(path, ["fetch.hosts_file="]).fetch.hosts_file == ""


def test_a_language_model_is_relative_to_crawl_toml_and_not_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    path = write(tmp_path, '[language]\nmodels = ["hsb.json", "/models/dsb.json"]')
    assert config.load(path).language.models == (str(tmp_path / "hsb.json"), "/models/dsb.json")


PATH_OPTIONS = [
    name for name, shape in shapes().items() if any(isinstance(kind, kinds.InDirectory) for kind in shape.kinds)
]


def test_every_option_that_names_a_file_is_a_path() -> None:
    named = {
        option.name for option in config.options() if re.search(r"\b(File|Model)s? (of|with|made)", option.meaning)
    }
    assert named == set(PATH_OPTIONS)


@pytest.mark.parametrize("name", PATH_OPTIONS)
def test_a_path_starts_at_the_file_that_holds_it_and_in_set_in_the_current_directory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    section, _, option = name.partition(".")
    several = shapes()[name].several
    value = '["sub/file"]' if several else '"sub/file"'
    path = write(tmp_path, f"[{section}]\n{option} = {value}")

    def loaded(*overrides: str) -> object:
        found = getattr(getattr(config.load(path, overrides), section), option)
        return found[0] if several else found

    assert tmp_path / str(loaded()) == tmp_path / "sub/file"
    assert loaded(f"{name}={value}") == str(here / "sub/file")


def test_the_users_own_code_is_found_beside_crawl_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "mine.py").touch()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    text = '[judge]\njudges = ["mine:one", "package.inner:two", "installed.module:three"]'
    write(tmp_path, "")
    assert config.load(tmp_path / "crawl.toml", ['judge.judges=["mine:one"]']).judge.judges == (f"{tmp_path}/mine:one",)
    loaded = config.load(write(tmp_path, text), ["extract.extractor=../shared/mine:extract"])
    assert loaded.judge.judges == (f"{tmp_path}/mine:one", f"{tmp_path}/package.inner:two", "installed.module:three")
    assert loaded.extract.extractor == f"{tmp_path}/here/../shared/mine:extract"
    assert config.load(write(tmp_path, config.dump(loaded))) == loaded


@pytest.mark.parametrize("name", ["", "a b", "module:", ":name", "mod-ule:name", "module:na.me", "module.:name"])
def test_a_text_that_is_neither_a_name_nor_a_reference_is_refused(tmp_path: Path, name: str) -> None:
    assert complaint(tmp_path, "", f"extract.extractor={name}") == (
        f"option 'extract.extractor' in --set holds {name!r}, which is neither a built-in name nor a reference; "
        'write a name such as "blocks", or "package.module:name" for your own code'
    )


OVERRIDES: dict[str, tuple[str, str, object]] = {
    "fetch.delay=0.5": ("fetch", "delay", 0.5),
    " fetch.delay = 1 ": ("fetch", "delay", 1.0),
    "fetch.max_bytes=1_000": ("fetch", "max_bytes", 1000),
    "fetch.http2=true": ("fetch", "http2", True),
    "crawl.node=7": ("crawl", "node", "7"),
    "crawl.node=2024.1": ("crawl", "node", "2024.1"),
    'crawl.node="7"': ("crawl", "node", "7"),
    "identity.description=a # b = c": ("identity", "description", "a # b = c"),
    "identity.operator=true": ("identity", "operator", "true"),
    'scope.tlds=["cz", "sk"]': ("scope", "tlds", ("cz", "sk")),
    "scope.tlds=[]": ("scope", "tlds", ()),
}


@pytest.mark.parametrize("override", OVERRIDES)
def test_an_override_wins_over_the_file(tmp_path: Path, override: str) -> None:
    section, option, expected = OVERRIDES[override]
    value = getattr(getattr(config.load(write(tmp_path, "[fetch]\ndelay = 9"), [override]), section), option)
    assert (value, type(value)) == (expected, type(expected))


def test_the_last_of_two_overrides_wins(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, ""), ["fetch.delay=1", "fetch.delay=2"]).fetch.delay == 2


def test_an_override_must_name_an_option_and_a_value(tmp_path: Path) -> None:
    assert complaint(tmp_path, "", "fetch.delay") == (
        "--set 'fetch.delay' has no value; write section.option=value, such as fetch.delay=10"
    )
    assert complaint(tmp_path, "", "delay=1") == "unknown option 'delay' in --set; did you mean 'fetch.delay'?"
    assert (
        complaint(tmp_path, "", "fetch.dealy=1") == "unknown option 'fetch.dealy' in --set; did you mean 'fetch.delay'?"
    )
    assert complaint(tmp_path, "", "=1") == "unknown option '' in --set; windrow options lists them"


def test_an_override_cannot_smuggle_in_a_second_option(tmp_path: Path) -> None:
    assert "holds a control character" in complaint(tmp_path, "", "identity.operator='a'\ndelay=1")
    assert "must be a number" in complaint(tmp_path, "", "fetch.delay=1\nvalue2=2")


SYNTAX = {
    "[fetch]\ndelay 5\n": "crawl.toml, line 2: 'delay 5' is not TOML (Expected '=' after a key in a key/value pair); ",
    "[fetch]\ndelay = 5\ndelay = 6\n": "crawl.toml, line 3: 'delay = 6' is not TOML (Cannot overwrite a value); ",
    "\n\n[fetch": "crawl.toml, line 3: '[fetch' is not TOML (",
    "[fetch]\nhosts = hosts.map\n": "crawl.toml, line 2: 'hosts = hosts.map' is not TOML (Invalid value); ",
    "[fetch]\naccept = '": 'crawl.toml, line 2: "accept = \'" is not TOML (',
}


@pytest.mark.parametrize("text", SYNTAX)
def test_a_line_that_is_not_toml_is_named(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, text).startswith(SYNTAX[text])
    assert complaint(tmp_path, text).endswith("; an option is written as name = value, text in quotes")


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_bytes(b"[identity]\noperator = 'caf\xe9'\n")
    with pytest.raises(ConfigError, match=re.escape(f"{path}, line 2: not UTF-8; save the file as UTF-8")):
        config.load(path)


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=re.escape(f"there is no {tmp_path / 'crawl.toml'}; 'windrow init' writes one")
    ):
        config.load(tmp_path / "crawl.toml")
    with pytest.raises(ConfigError, match=re.escape(f"cannot read {tmp_path}: Is a directory; check")):
        config.load(tmp_path)


def test_the_defaults_load_back_equal(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, config.dump(Config()))) == Config()


def test_only_changed_options_can_be_written(tmp_path: Path) -> None:
    changed = Config(identity=IdentityOptions(contact="me@example.org"), fetch=FetchOptions(delay=0, http2=True))
    text = config.dump(changed, changed=True)
    assert text == '[identity]\ncontact = "me@example.org"\n\n[fetch]\ndelay = 0\nhttp2 = true\n'
    assert config.load(write(tmp_path, text)) == changed
    assert config.dump(Config(), changed=True) == ""


def test_a_new_crawl_is_made_from_the_defaults_and_overrides(tmp_path: Path) -> None:
    assert config.make([], tmp_path) == Config()
    made = config.make(["fetch.hosts_file=hosts.map", "scope.tlds=['CZ']"], tmp_path)
    assert (made.fetch.hosts_file, made.scope.tlds) == (str(tmp_path / "hosts.map"), ("cz",))
    with pytest.raises(
        ConfigError, match=re.escape("unknown option 'fetch.dely' in --set; did you mean 'fetch.delay'?")
    ):
        config.make(["fetch.dely=1"], tmp_path)


LINE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")))


@given(
    st.builds(IdentityOptions, operator=LINE, description=LINE),
    st.builds(
        ScopeOptions,
        deny=st.tuples(LINE.map(re.escape)),
        ports=st.lists(st.integers(1, 65535)).map(tuple),
        max_distance=st.integers(-1, 9),
    ),
    st.builds(FetchOptions, delay=st.floats(0, 1e18), max_bytes=st.integers(1, 2**63 - 1), http2=st.booleans()),
)
def test_any_options_load_back_equal(
    tmp_path_factory: pytest.TempPathFactory, identity: IdentityOptions, scope: ScopeOptions, fetch: FetchOptions
) -> None:
    options = Config(identity=identity, scope=scope, fetch=fetch)
    for changed in (False, True):
        assert config.load(write(tmp_path_factory.mktemp("options"), config.dump(options, changed))) == options


def options() -> dict[str, object]:
    """Return the default of every option by its full name."""
    defaults = Config()
    return {
        f"{section.name}.{option.name}": getattr(getattr(defaults, section.name), option.name)
        for section in SECTIONS
        for option in dataclasses.fields(getattr(defaults, section.name))
    }


def test_every_default_passes_the_checks_of_its_kind(tmp_path: Path) -> None:
    for name, default in options().items():
        if default is not None:
            section, option = name.split(".")
            loaded = config.make([f"{name}={config.toml(default)}"], tmp_path)
            assert getattr(getattr(loaded, section), option) == default, name


def test_every_option_has_a_type_that_toml_has_and_kinds_that_fit_it() -> None:
    assert set(shapes()) == set(options())
    for name, shape in shapes().items():
        assert shape.single in (bool, int, float, str), name
        numbers = [kind for kind in shape.kinds if isinstance(kind, kinds.Range)]
        assert bool(numbers) == (shape.single in (int, float)), name
        assert all(math.isfinite(kind.least) and kind.least < kind.greatest for kind in numbers), name
        values = options()[name] if shape.several else (options()[name],)
        assert not shape.choices or (shape.single is str and set(values) <= set(shape.choices)), name


def test_an_item_of_a_list_and_an_unset_number_are_checked_too(tmp_path: Path) -> None:
    assert "must be from 0 to 1, not 2" in complaint(tmp_path, "", "paragraphs.max_link_density=2")
    assert "must be at least 0, not -1" in complaint(tmp_path, "", "paragraphs.length_low=-1")
    assert "must be 'stock' or 'tuned', not 'other'" in complaint(tmp_path, "", "paragraphs.preset=other")
    assert "must be 'kept', 'clean' or 'primary', not ''" in complaint(tmp_path, "", "frontier.yield_text=")


def test_the_reference_names_every_option_with_its_default_and_meaning() -> None:
    text = config.reference()
    for section in SECTIONS:
        table = text.split(f"## [{section.name}]\n")[1].split("\n## ")[0]
        found = re.findall(r"^\| `(\w+)` \| (`.+`|not set) \| (.+) \|$", table, re.MULTILINE)
        assert [name for name, _, _ in found] == [
            option.name for option in dataclasses.fields(typing.cast(type, section.type))
        ]
    assert "| `delay` | `5.0` | Seconds between the end of a request" in text
    assert "| `level` | `2` | Compression level of isal's gzip. Allowed: from 0 to 3. |" in text
    assert "Allowed: at least 0" not in text.replace("at least 0.", "")


def test_every_meaning_is_a_sentence() -> None:
    for option in config.options():
        assert re.fullmatch(r"[A-Z\"].*\.", option.meaning), option.name


def test_the_documented_options_equal_those_of_the_code() -> None:
    written = (ROOT / "docs/configuration.md").read_text("utf-8")
    assert written == config.reference(), "run: python -m windrow.config > docs/configuration.md"


def test_the_module_prints_the_reference() -> None:
    done = subprocess.run([sys.executable, "-m", "windrow.config"], cwd=ROOT / "src", capture_output=True, check=True)
    assert done.stdout.decode("utf-8") == config.reference()
