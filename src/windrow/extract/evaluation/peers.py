"""Other people's extractors behind one signature, to compare ours with. Windrow runs without them."""

from collections.abc import Callable
from typing import Any

from windrow.config import ConfigError

Peer = Callable[[str, str], str]  # markup, language -> text

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


def peer(name: str) -> Peer:
    """Import the extractor of this name and return it."""
    makers = {"trafilatura": _trafilatura, "resiliparse": _resiliparse, "justext": _justext}
    if name not in makers:
        raise ConfigError(f"there is no peer '{name}'; the peers are {', '.join(makers)}")
    try:
        return makers[name]()
    except ImportError as error:
        raise ConfigError(f"{error.name or name} is not installed; try: pip install {name}") from None


def _trafilatura() -> Peer:
    import trafilatura

    return lambda markup, language: trafilatura.extract(markup) or ""


def _resiliparse() -> Peer:
    from resiliparse.extract import html2text

    extract: Callable[..., str] = html2text.extract_plain_text
    return lambda markup, language: extract(markup, main_content=True)


def _justext() -> Peer:
    import justext

    lists: dict[str, Any] = {}

    def text(markup: str, language: str) -> str:
        if language not in lists:
            lists[language] = justext.get_stoplist(_STOPLISTS[language]) if language in _STOPLISTS else frozenset()
        options = {} if lists[language] else {"stopwords_low": 0, "stopwords_high": 0}
        try:
            found = justext.justext(markup, lists[language], **options)
        except Exception:  # it raises lxml's errors on pages without elements; a peer's failure is an empty text here
            return ""
        return "\n".join(one.text for one in found if not one.is_boilerplate)

    return text
