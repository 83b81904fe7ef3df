"""Other names and codes of languages: what people, libraries and tools write instead of an ISO 639-3 code."""

# fmt: off
# ISO 639-2 has two codes for these languages; libraries write this one.
BIBLIOGRAPHIC = {
    "alb": "sqi", "arm": "hye", "baq": "eus", "bur": "mya", "chi": "zho", "cze": "ces", "dut": "nld", "fre": "fra",
    "geo": "kat", "ger": "deu", "gre": "ell", "ice": "isl", "mac": "mkd", "mao": "mri", "may": "msa", "per": "fas",
    "rum": "ron", "slo": "slk", "tib": "bod", "wel": "cym", "scr": "hrv", "scc": "srp",
}

RETIRED = {
    "in": "ind", "iw": "heb", "ji": "yid", "jw": "jav", "mo": "ron", "bh": "bho",
}

# Labels of CLD2 and py3langid that mean something else in ISO 639. Their "no" is Bokmål, because they also have "nn".
# Undetermined and invented languages are "und".
LABELS = {
    "no": "nob", "sr-ME": "cnr", "xx-Bugi": "bug", "xx-Goth": "got", "tw": "aka", "un": "und", "xxx": "und",
    "zxx": "und", "zzb": "und", "zze": "und", "zzh": "und", "zzp": "und", "tlh": "und",
}

REGIONS = {("sr", "me"): "cnr", ("srp", "me"): "cnr", ("zh", "mo"): "zho"}  # language and region -> language

# Common English names that the registry does not have, or gives to another language.
COMMON = {
    "bangla": "ben", "bokmal": "nob", "bokmål": "nob", "nynorsk": "nno", "burmese": "mya", "cantonese": "yue",
    "mandarin": "cmn", "farsi": "fas", "flemish": "nld", "frisian": "fry", "gaelic": "gla", "greek": "ell",
    "greenlandic": "kal", "malay": "msa", "kurmanji": "kmr", "sorani": "ckb", "myanmar": "mya", "nepali": "nep",
    "odia": "ori", "punjabi": "pan", "sami": "sme", "swahili": "swa", "tagalog": "tgl", "filipino": "fil",
    "occitan": "oci", "uyghur": "uig", "kyrgyz": "kir", "sinhalese": "sin",
}

# Names of languages in the language itself.
OWN = {
    "deutsch": "deu", "français": "fra", "francais": "fra", "español": "spa", "espanol": "spa", "italiano": "ita",
    "čeština": "ces", "česky": "ces", "polski": "pol", "português": "por", "portugues": "por", "nederlands": "nld",
    "svenska": "swe", "dansk": "dan", "norsk": "nor", "suomi": "fin", "magyar": "hun", "türkçe": "tur",
    "română": "ron", "hrvatski": "hrv", "slovenčina": "slk", "slovenščina": "slv", "eesti": "est",
    "latviešu": "lav", "lietuvių": "lit", "íslenska": "isl", "gaeilge": "gle", "cymraeg": "cym", "català": "cat",
    "euskara": "eus", "galego": "glg", "русский": "rus", "українська": "ukr", "български": "bul", "српски": "srp",
    "ελληνικά": "ell", "עברית": "heb", "العربية": "ara", "فارسی": "fas", "हिन्दी": "hin", "日本語": "jpn",
    "中文": "zho", "한국어": "kor", "tiếng việt": "vie", "bahasa indonesia": "ind", "bahasa melayu": "msa",
}

# Top-level domains and countries that users write instead of a language. Codes that are also a language (br, se, si)
# are not here: they mean that language.
COUNTRIES = {
    "at": "deu", "au": "eng", "cn": "zho", "cz": "ces", "dk": "dan", "eg": "ara", "ge": "kat", "gr": "ell",
    "il": "heb", "ir": "fas", "jp": "jpn", "kr": "kor", "mx": "spa", "pk": "urd", "rs": "srp", "tw": "zho",
    "ua": "ukr", "uk": "ukr", "us": "eng", "vn": "vie", "gb": "eng", "by": "bel", "kz": "kaz", "me": "cnr",
    "ba": "bos", "al": "sqi", "in": "hin", "ph": "fil", "tj": "tgk", "lk": "sin",
}

# The member that people mean by the name of a macrolanguage, if tools know only the macrolanguage.
STANDARD = {
    "als": "sqi", "arb": "ara", "azj": "aze", "cmn": "zho", "ekk": "est", "gug": "grn", "khk": "mon", "kmr": "kur",
    "lvs": "lav", "npi": "nep", "ory": "ori", "pes": "fas", "plt": "mlg", "swh": "swa", "uzn": "uzb", "ydd": "yid",
    "zsm": "msa", "gaz": "orm", "pbu": "pus", "knn": "kok", "fuv": "ful", "twi": "aka", "nob": "nor",
}

# In ISO 639-3 Indonesian is a member of Malay; a user who asks for Malay does not mean it.
APART = {("msa", "ind")}
# fmt: on
