"""Thai, Lao, Khmer and Burmese without a dictionary: split text into clusters that no word boundary ever divides.

These scripts have no spaces between words, and only a dictionary shows where a word ends (see `icu`). Their spelling
shows smaller units: in Thai and Lao a consonant with the vowels and tones around it, in Khmer a consonant with the
signs stacked below and around it, in Burmese a syllable. Every word begins and ends at the border of such a unit, so
words can be joined from them later. Where a writer marks words with zero-width spaces, the text is split there.
"""

import re

SPACE = "\u200b"  # the zero-width space between words
_MARKED = 24  # longest word, in characters, between two such spaces; a longer run is split as usual

_THAI = (
    r"ก็"
    r"|เ[ก-ฮ][ีื][่-๋]?[ยอ]ะ?|เ[ก-ฮ](?:ิ[่-๋]?|็)[ก-ฮ](?![ะ-ฺ็-๎])"
    r"|[ก-ฮ](?:ั[่-๋]?(?:วะ|[ก-ฮ](?![ะ-ฺ็-๎]))|ื[่-๋]?อ(?![ะ-ฺ็-๎]))"
    r"|[เ-ไ]?[ก-ฮ][ัิ-ฺ็-๎]*+[ะาำๅ]{0,2}"
)
_LAO = (
    r"ເ[ກ-ຮໜໝ][ີື][່-໋]?(?:[ຍອ](?![ະ-ຽ່-ໍ]))?|ເ[ກ-ຮໜໝ](?:ິ[່-໋]?|ັ[່-໋]?)[ກ-ຮ](?![ະ-ຽ່-ໍ])"
    r"|[ກ-ຮໜໝ](?:[ັົ][່-໋]?[ກ-ຮຽ](?![ະ-ຼ່-ໍ])|ື[່-໋]?ອ(?![ະ-ຽ່-ໍ]))"
    r"|[ເ-ໄ]?[ກ-ຮໜໝ][ັິ-ຼ່-ໍ]*+[ະາຳຽ]{0,2}"
)
_KHMER = r"[ក-ឳ](?:្[ក-ឳ]|[឴-៑៓៝])*+"
_BURMESE = (
    r"[\u1000-\u102a\u103f\u1050-\u1055]"
    r"(?:[\u102b-\u1038\u103a-\u103e\u1056-\u1059\u105e-\u1060]|\u1039[\u1000-\u1021]|[\u1000-\u1021](?=\u1037?[\u103a\u1039]))*+"
)
_SILENT = r"(?:[ก-ฮ][ิุ]?์)*+"  # a Thai consonant that is written but not spoken
_MARKS = "[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebd\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3\u17dd\u200b-\u200d]"
# A mark that fits no rule stays with the character before it.
_CLUSTER = re.compile(rf"(?:(?:{_THAI}){_SILENT}|{_LAO}|{_KHMER}|{_BURMESE}|.){_MARKS}*+", re.DOTALL)


def cut(run: str, language: str = "") -> list[str]:
    """Return the clusters of a run of such letters; joined, they are the run."""
    if SPACE not in run:
        return _CLUSTER.findall(run)
    clusters: list[str] = []
    for part in re.findall(rf"[^{SPACE}]*+{SPACE}++|[^{SPACE}]++", run):
        clusters += [part] if len(part) <= _MARKED else _CLUSTER.findall(part)
    return clusters
