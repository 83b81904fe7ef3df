"""The language of a page and of each of its paragraphs.

- `codes`: ISO 639-3 codes, and the names that people and tools write instead (`aliases`).
- `tools`: CLD2 and py3langid, each behind one function. `decoded`: the model of py3langid, which processes share.
- `trigrams`: models that the user trains for languages that no tool knows.
- `detect`: which language each paragraph and the page are in.
- `accept`: which paragraphs are in an accepted language; the judge `language`.
"""
