"""Sentences and tokens of a text in any language, for vertical files.

`sentences` splits a paragraph, `tokens` splits a sentence; joined again, sentences give the paragraph and tokens the
sentence, character for character. Both ask `abbreviations` (a short list per language) whether a full stop ends a
sentence. In scripts without spaces between words, `clusters` splits by spelling alone and `icu` by dictionary.
Everything here is a pure function of the text and its language code, and takes linear time on any text: the patterns
are possessive or bounded.
"""
