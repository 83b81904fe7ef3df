"""Other people's extractors behind one signature, to compare ours with. Windrow runs without them.

Each runs with its defaults. Those that use stop words get the language of the page if they know it; ours detects it.
"""

import importlib.metadata
import logging
import warnings
from collections.abc import Callable
from typing import Any

import msgspec

from windrow.config import ConfigError
from windrow.extraction import walk
from windrow.extraction.evaluation import PEERS
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.score import Tool
from windrow.extraction.readers import html
from windrow.records import Page, Paragraph

Read = Callable[[Sample, str], Page]  # a page and its decoded source; may raise what it likes


class Maker(msgspec.Struct, frozen=True):
    make: Callable[[], tuple[Read, Read | None]]  # reads text, and title, author and date where that is another call
    has_facts: bool = False  # the first also gives title, author and date


# jusText names its stop lists in English. A language without a list is read without stop words, as its manual advises.
_STOPLISTS = dict(
    pair.split(":")
    for pair in (
        "af:Afrikaans ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali ca:Catalan cs:Czech "
        "cy:Welsh da:Danish de:German el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque "
        "fa:Persian fi:Finnish fr:French ga:Irish gl:Galician he:Hebrew hi:Hindi hr:Croatian hu:Hungarian "
        "hy:Armenian id:Indonesian is:Icelandic it:Italian ka:Georgian kk:Kazakh ko:Korean la:Latin "
        "lt:Lithuanian lv:Latvian mk:Macedonian ms:Malay nl:Dutch no:Norwegian_Bokmal pl:Polish pt:Portuguese "
        "ro:Romanian ru:Russian sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish ta:Tamil te:Telugu "
        "tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese "
    ).split()
)


def peer(name: str) -> Tool:
    """Import the extractor of this name and return it."""
    if name not in PEERS:
        raise ConfigError(f"there is no peer '{name}'; the peers are {', '.join(PEERS)}")
    one, packages = _MAKERS[name], PEERS[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about their own optional parts
            read, facts = one.make()
    except ImportError as error:
        missing = (error.name or name).partition(".")[0]
        raise ConfigError(f"{missing} is not installed; try: pip install {packages}") from None
    logging.getLogger(name).setLevel(logging.CRITICAL)  # a page that it cannot read is counted, not announced
    return Tool(
        name=name,
        read=_safe(read),
        version=_version(packages.split()[0]),
        facts=_safe(facts) if facts else None,
        has_facts=one.has_facts or facts is not None,
    )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # on the path, but not installed by pip
        return ""


def installed() -> list[str]:
    """Return the peers that can be imported."""
    found = []
    for name in PEERS:
        try:
            peer(name)
        except ConfigError:
            continue
        found.append(name)
    return found


def _safe(read: Read) -> Callable[[Sample, str], Page | None]:
    """Return None for a page on which a peer raises an exception: its failure is a result of the measurement."""

    def safe(sample: Sample, markup: str) -> Page | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return read(sample, markup)
        except Exception:
            return None

    return safe


def _page(text: str | None, title: object = "", author: object = "", date: object = "") -> Page:
    return Page(
        paragraphs=(Paragraph(text),) if text else (),
        title=str(title or ""),
        author=str(author or ""),
        date=str(date or "")[:10],
    )


def _trafilatura() -> tuple[Read, Read]:
    import trafilatura

    def facts(sample: Sample, markup: str) -> Page:
        found = trafilatura.extract_metadata(markup, default_url=sample.url or None)
        return _page("", found.title, found.author, found.date)

    return lambda sample, markup: _page(trafilatura.extract(markup)), facts


def _resiliparse() -> tuple[Read, None]:
    from resiliparse.extract import html2text

    extract: Callable[..., str] = html2text.extract_plain_text
    return lambda sample, markup: _page(extract(markup, main_content=True)), None


def _readability() -> tuple[Read, None]:
    """readability-lxml returns HTML; all its blocks are the text."""
    import readability

    def read(sample: Sample, markup: str) -> Page:
        summary = readability.Document(markup).summary(html_partial=True)
        part = msgspec.structs.replace(sample, body=summary.encode("utf-8", "replace"), encoding="utf-8")
        tree = html.read(part.capture(), 0, details=False).tree
        return _page("\n".join(walk.walk(walk.markup(tree)).texts) if tree else "")

    return read, None


def _justext() -> tuple[Read, None]:
    import justext

    lists: dict[str, Any] = {}

    def read(sample: Sample, markup: str) -> Page:
        language = sample.language
        if language not in lists:
            lists[language] = justext.get_stoplist(_STOPLISTS[language]) if language in _STOPLISTS else frozenset()
        options = {} if lists[language] else {"stopwords_low": 0, "stopwords_high": 0}
        found = justext.justext(markup, lists[language], **options)
        return _page("\n".join(one.text for one in found if not one.is_boilerplate))

    return read, None


def _quiet_jieba() -> None:
    """jieba, which both use for Chinese if it is installed, announces on standard error what it loads."""
    try:
        import jieba
    except ImportError:
        return
    jieba.setLogLevel(logging.CRITICAL)


def _newspaper() -> tuple[Read, None]:
    import newspaper
    import tldextract.tldextract
    from newspaper import utils

    # It would fetch a list of suffixes from the network; the copy in the package is enough here.
    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())

    _quiet_jieba()
    known = frozenset(utils.get_available_languages())

    def read(sample: Sample, markup: str) -> Page:
        language = {"language": sample.language} if sample.language in known else {}
        article = newspaper.Article(sample.url or "http://page.invalid/page", fetch_images=False, **language)
        article.download(input_html=markup)
        article.parse()
        return _page(article.text, article.title, ", ".join(article.authors), article.publish_date)

    return read, None


def _goose() -> tuple[Read, None]:
    import goose3
    from goose3 import text

    _quiet_jieba()
    classes = {"zh": text.StopWordsChinese, "ar": text.StopWordsArabic, "ko": text.StopWordsKorean}

    def read(sample: Sample, markup: str) -> Page:
        words = {"stopwords_class": classes[sample.language]} if sample.language in classes else {}
        with goose3.Goose({"enable_image_fetching": False, **words}) as goose:
            article = goose.extract(raw_html=markup)
        return _page(article.cleaned_text, article.title, ", ".join(article.authors), article.publish_date)

    return read, None


def _boilerpy() -> tuple[Read, None]:
    from boilerpy3 import extractors

    article = extractors.ArticleExtractor()
    return lambda sample, markup: _page(article.get_content(markup)), None


_MAKERS = {
    "trafilatura": Maker(_trafilatura),
    "readability": Maker(_readability),
    "resiliparse": Maker(_resiliparse),
    "justext": Maker(_justext),
    "newspaper": Maker(_newspaper, has_facts=True),
    "goose3": Maker(_goose, has_facts=True),
    "boilerpy3": Maker(_boilerpy),
}
