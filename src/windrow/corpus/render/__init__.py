"""A page as people read it: paragraphs and metadata in, a text of some markup out.

`subject.PageText` is what every renderer draws: the paragraphs to show, in the order of the page, and what is known of
the page. The extractor and the corpus both have such paragraphs, so `windrow extract`, the Python API and the export
format markdown share these functions:

    markdown  CommonMark with the tables of GFM
    html      an HTML5 document, or one <article> of it
    tei       a TEI P5 document

All of them work in two steps. `tree` makes of the structure that each paragraph names ("ul:1 li:2") a tree of lists,
tables and quotations. `inline` makes of the text of a paragraph, its line ends and its marks a sequence of events that
are properly nested. A renderer walks both and escapes: whatever a page contains, the text that a parser reads back is
the text of the paragraph. Time is linear in the length of the page, and nesting is limited.
"""
