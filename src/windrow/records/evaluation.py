"""A crawl measured by how well its text predicts held-out text."""

import msgspec


class HeldOutFit(msgspec.Struct, frozen=True):
    """How well a model predicts held-out text."""

    perplexity: float  # over all words
    perplexity_known: float  # over the words that the train text has, or without one the model; 0: it has none
    unknown: float  # share of the words that the model does not have
    words: int  # that the model was trained on, each sentence once
    sentences: int


class EvaluationRow(msgspec.Struct, frozen=True):
    """A crawl when it had downloaded so much text."""

    size: int  # tokens, the step of the table; 0: before the crawl
    tokens: int  # of all main text of its pages until then, in any language, duplicates included
    wanted: int  # of these, in the wanted language
    kept: int  # tokens of the corpus at that time
    pages: int  # with main text
    languages: dict[str, int]  # tokens by language of the page, most first
    fit: HeldOutFit | None  # of a model of the train text and all of this text; None: there was too little text
    fit_wanted: HeldOutFit | None  # the same with the text in the wanted language only


class CrawlEvaluation(msgspec.Struct, frozen=True):
    """A crawl measured by how well its text predicts held-out text, step by step (Remus and Biemann 2016)."""

    crawl: str  # name of its directory
    held_out: str  # name of the file
    held_out_words: int
    train: str  # name of the file; "": none
    language: str  # the wanted one, ISO 639-3
    order: int  # of the models
    unknown_log10: float  # of the probability of a word that a model does not have
    left_out: int  # sentences of the crawl that are in the held-out text: no model is trained on them
    shares: dict[str, dict[str, float]]  # languages of the held-out and of the train text
    rows: list[EvaluationRow]
    note: str = ""  # why the table ends before the crawl
