"""Pack src/windrow/extraction/main/justext/stoplists/lists.zip.

It holds jusText's stop lists, and lists of characters for languages without blanks between words.

    python tools/make_stoplists.py JUSTEXT_DIRECTORY JIEBA_DICTIONARY

The first is the directory `stoplists` of the package jusText 3.0.2, the second the file dict.txt of the package jieba
0.42.1. The order by frequency is kept: the first words distinguish languages.
"""

import collections
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from windrow.extraction.main.justext import stoplists

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "windrow" / "extract" / "justext" / "stoplists"
FIRST = 80  # words of a language that identify it
EXCLUDED = ("zho", "jpn", "simple")  # the first two are identified by characters; the third is English
CHARACTERS = 160  # of Chinese: they make half of any text
# Simplified characters -> the traditional ones of Taiwan and Hong Kong.
TRADITIONAL = dict(
    zip(
        "这个们来时会对说国为过还后发动现开经学问长样点无见没两关进实应员间东车马书话语让给请认谁当么将从种头变战与业产电总结条处难务机门场资达运别",
        "這個們來時會對說國為過還後發動現開經學問長樣點無見沒兩關進實應員間東車馬書話語讓給請認誰當麼將從種頭變戰與業產電總結條處難務機門場資達運別",
        strict=True,
    )
)


def main(justext: Path, jieba: Path) -> None:
    lists = {
        code: words((justext / f"{name}.txt").read_text("utf-8").splitlines())
        for code, _, name in stoplists.languages()
    }
    lists["zho"] = chinese(jieba)
    sample = (ROOT / "src/windrow/demo/texts/ja.txt").read_text("utf-8")
    lists["jpn"] = [character for character in stoplists.make(sample, 1) if "\u3041" <= character <= "\u3096"]
    first = "".join(f"{code} {' '.join(found[:FIRST])}\n" for code, found in lists.items() if code not in EXCLUDED)
    members = {f"{code}.txt": "\n".join(found) + "\n" for code, found in lists.items()} | {"first.txt": first}
    with zipfile.ZipFile(TARGET / "lists.zip", "w", zipfile.ZIP_LZMA) as archive:
        for name, text in sorted(members.items()):
            # ZipInfo has no date, so that equal lists make an equal file.
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_LZMA)


def words(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for line in lines if (word := line.strip().lower())))


def chinese(dictionary: Path) -> list[str]:
    counts: collections.Counter[str] = collections.Counter()
    for line in dictionary.read_text("utf-8").splitlines():
        word, count, _ = line.split(" ")
        for character in word:
            if "\u4e00" <= character <= "\u9fff":
                counts[character] += int(count)
    common = [character for character, _ in counts.most_common(CHARACTERS)]
    return common + [
        TRADITIONAL[character] for character in common if TRADITIONAL.get(character, character) != character
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
