"""Measure extractors, ours and other people's, on pages whose main text is known.

    gold       data sets of pages with gold text, as Samples
    evaluate   precision, recall and F1 of a text against the gold text, and means over pages
    peers      other people's extractors behind one signature
    files      what `windrow extract` does: one file, an evaluation, a training

Nothing here runs in a crawl. The floors of tests/quality are measured with it.
"""
