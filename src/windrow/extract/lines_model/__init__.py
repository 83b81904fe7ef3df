"""What the extractor `lines` is made of: from the source of a page to its text lines, and from labelled lines to a model.

    source     the decoded source of a page -> its text lines, each with the six features of the paper, raw
    features   normalisation, and the discretisation into the scopes Low, Middle and High by cut points that a model holds
    svm, bayes, tree    three classifiers of one form: fit on discretised lines, decide on discretised lines, a plain record in between
    model      the record that unites cut points and classifier, and its file
    labels     which lines of a page are main text, by what of its text stands in the gold text
    measure    how much two texts have in common: bags of words, or of characters where a script has no words, weighed in bytes
    training   pages with gold text in, a model or a table of its quality out

Everything is deterministic: the same pages in the same order give the same model file. `lines` itself (extract/lines.py) needs the first
four alone; training imports `lines`, never the other way round.

The paper is DGWC, "A Distributed and Generic Web Identity". Its numbers are kept as constants where they are used, with its name for them.
"""
