"""Measure extractors, ours and other people's, on pages whose main text is known.

    gold       data sets of pages with gold text, as Samples
    evaluate   precision, recall and F1 of a text against the gold text
    landmarks  headlines and readers' comments of a page
    facts      title, author and date against those of the gold
    score      one extractor on one page, as a PageScore
    peers      other people's extractors behind one signature
    run        all extractors over all pages, in one or several processes
    bootstrap  confidence intervals
    summary    rows of means and differences by data set, page type, language and length
    table      the rows as text
    losses     a site that shows the pages on which the most is lost
    files      what `windrow extract` does: one file, an evaluation, a training

Data flows down this list. Nothing here runs in a crawl. The floors of tests/quality are measured with it.
"""

# Other people's extractors -> the packages that pip must install. jieba is for Chinese only.
PEERS = {
    "trafilatura": "trafilatura",
    "readability": "readability-lxml lxml_html_clean",
    "resiliparse": "resiliparse",
    "justext": "justext lxml_html_clean",
    "newspaper": "newspaper4k jieba",
    "goose3": "goose3 jieba",
    "boilerpy3": "boilerpy3",
}
