"""Pages for the tests of the walk: written out as the extractors do, read by the kernel or by its reference."""

import pytest
import turbohtml

from windrow.extraction import walk
from windrow.extraction.walk import Walk, elements, reference


def written(page: str, stock: bool = False) -> str:
    tree = turbohtml.parse(page, allow_declarative_shadow_roots=False)
    walk.strip(tree, stock)
    return walk.markup(tree)


def by_kernel(markup: str, stock: bool = False, marks: bool = False) -> Walk:
    if walk._walk is None:
        pytest.skip("needs the C kernel, which was not built")
    return walk.walk(markup, stock, marks)


def by_reference(markup: str, stock: bool = False, marks: bool = False) -> Walk:
    return Walk(*reference.scan(markup, elements.STOCK if stock else elements.PLAIN, marks and not stock))
