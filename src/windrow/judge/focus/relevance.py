"""How probably a page is on the topic, from its perplexity and the ratio of its words.

Neither score is enough. The perplexity recognises another language and text that is no prose, but fluent text on
another topic is hardly worse than text on the topic. The words separate topics, but know nothing of fluency. Both are
measured from text that is surely on the topic: parts of the sample that were left out (see `boundaries`).

    ln odds = 3 · d + 0.8 · ln(perplexity / typical perplexity) - 2.4
    d       = ln(ratio / typical ratio) / ln(worst ratio / typical ratio)
    relevance = 1 / (1 + odds)

The three numbers are those of a logistic regression over topics of a web with as many pages on the topic as off it
(docs/focus.md, decision 25). Nothing in them depends on the language or on the size of the sample.
"""

import math

import msgspec

PERPLEXITY, RELEVANCE = "perplexity", "relevance"  # names of scores
_BOTH = (3.0, 0.8, 2.4)  # weight of d, weight of ln perplexity, and what typical text gets
_MODEL_ONLY = (0.0, 1.2, 1.4)
_LEAST, _MOST = 1e-4, 1e6  # scores are written with four decimals


class Typical(msgspec.Struct, frozen=True):
    """The scores of text that is surely on the topic."""

    perplexity: float
    ratio: float = 0.0  # 0: there are no words with weights
    worst_ratio: float = 0.0  # of text in the same language without a word of the topic


def odds(perplexity: float, ratio: float | None, typical: Typical) -> float:
    """Return the odds against the topic: 1 is undecided, lower is better."""
    worse = math.log(max(perplexity, 1.0) / typical.perplexity)
    if ratio is None or not typical.ratio < typical.worst_ratio or not typical.ratio:
        _, steep, held = _MODEL_ONLY
        exponent = steep * worse - held
    else:
        distance = math.log(max(ratio, 1e-9) / typical.ratio) / math.log(typical.worst_ratio / typical.ratio)
        of_words, steep, held = _BOTH
        exponent = of_words * distance + steep * worse - held
    return min(max(math.exp(min(exponent, 50.0)), _LEAST), _MOST)


def probability(against: float) -> float:
    """Return the probability of being on the topic."""
    return 1 / (1 + against)
