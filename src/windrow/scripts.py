"""Scripts that change how text is counted: those without spaces between words, and those with few characters per word.

Each constant is the inside of a character class: `re.compile(f"[{scripts.UNSPACED}]")`. The ranges are whole blocks,
digits and signs included, except in CLUSTERED.
"""

THAI = "\u0e00-\u0e7f"
LAO = "\u0e80-\u0eff"
TIBETAN = "\u0f00-\u0fff"
BURMESE = "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # with Mon, Shan and Karen
KHMER = "\u1780-\u17ff"
KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HANGUL = "\uac00-\ud7af"

CHINESE_JAPANESE = KANA + HAN
UNSPACED = THAI + LAO + TIBETAN + BURMESE + KHMER + CHINESE_JAPANESE  # no spaces between words
DENSE = CHINESE_JAPANESE + HANGUL  # a word has one or two characters, so a character says as much as three letters

# Letters and marks, without digits and signs, of the scripts whose syllables show in their spelling.
CLUSTERED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf"  # Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17dc\u17dd"  # Khmer
)

FIRST = "\u0e00"  # every character of UNSPACED and of DENSE is this one or a later one

# UNSPACED by the first two octets in UTF-8, inclusive, for fast code on bytes. A pair stands for 64 characters, so this
# set is coarser: all of U+3000 to U+9FFF is in it, and Shan (U+1080), which shares its pair with Georgian, is not.
# Hashes on disk depend on this table, and dedup/_ngrams.c holds a copy of it.
UTF8_PAIRS = (
    (0xE0B8, 0xE0BF),  # Thai, Lao, Tibetan
    (0xE180, 0xE181),  # Burmese
    (0xE19E, 0xE19F),  # Khmer
    (0xE380, 0xE9BF),  # Chinese, Japanese
    (0xEFA4, 0xEFAB),
    (0xF0A0, 0xF0AF),
)
