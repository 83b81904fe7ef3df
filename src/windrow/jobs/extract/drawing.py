"""`windrow extract FILE…`: the main text of every page of some files, in one of several forms."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from windrow import config, files, units
from windrow.config import Config, ConfigError
from windrow.corpus import document, sink
from windrow.corpus.render import html, markdown, subject, tei
from windrow.corpus.render.subject import PageText
from windrow.extraction.readers import ReaderTable
from windrow.io import streams
from windrow.jobs.extract import choice as choice
from windrow.jobs.inputs import pages
from windrow.jobs.inputs.pages import PageFile, Watch
from windrow.records import Capture, Mark

_SEVERAL = "Extracted pages"  # the title of a file of several pages

Draw = Callable[[PageText, "Shown"], str]
Note = Callable[[str], None]


class Shown(msgspec.Struct, frozen=True):
    """A page that is shown."""

    path: str  # of its file
    url: str
    time: str  # of the request, if an archive has it
    links: bool  # whether links are wanted

    @property
    def name(self) -> str:
        """What tells it from other pages: of an archive its URL, otherwise its file."""
        return self.url if self.time else self.path


class PageForm(msgspec.Struct, frozen=True):
    """How pages are written."""

    alone: Draw  # a page that is the only one
    among: Draw  # one of several
    start: str = ""  # before several
    between: str = ""
    end: str = ""
    marked: bool = True  # shows emphasis
    headed: bool = True  # shows the title of a page whose text has no headline
    blank: bool = True  # shows pages without text


class RowParagraph(msgspec.Struct, frozen=True, omit_defaults=True, rename={"kind": "class"}):
    """A paragraph in jsonl. Empty members are left out."""

    text: str
    kind: str
    heading: bool = False
    structure: str = ""
    lines: str = ""
    marks: tuple[Mark, ...] = ()


class PageRow(msgspec.Struct, frozen=True, kw_only=True):
    """A page in jsonl."""

    path: str
    url: str
    time: str  # of the request, if an archive has it
    title: str
    author: str
    date: str  # of publication: YYYY-MM-DD
    site: str
    description: str
    tags: tuple[str, ...]
    image: str
    language: str  # as declared
    licence: str
    doubtful: bool  # the page may have no main text
    text: str
    paragraphs: list[RowParagraph]


class DrawOptions(msgspec.Struct, frozen=True, kw_only=True):
    files: Sequence[str]
    form: str = "text"  # a key of FORMS
    url: str = ""  # of the page
    links: bool = False
    title: bool = True  # with the headline
    output: Path | None = None  # None: standard output


class Drawn(msgspec.Struct):
    """The result of a run."""

    pages: int = 0  # read
    blank: int = 0  # of these, pages without main text
    doubtful: int = 0  # and pages that may have none
    failed: int = 0  # files


def configured(options: DrawOptions, extractor: str, given: Sequence[str]) -> Config:
    """Return the options of the extractor: without the links around the text, with those within it if they are wanted.

    `given`: the user's own settings.
    """
    always = ["extract.max_links=0", *pages.marks(options.links or FORMS[options.form].marked)]
    return config.make([*always, f"extract.extractor={choice.chosen(extractor, given)}", *given], Path())


def check(options: DrawOptions) -> None:
    """Raise ConfigError for what can be wrong before a page is read."""
    if options.form not in FORMS:
        raise ConfigError(f"--format {options.form!r} is unknown; it must be one of {', '.join(FORMS)}")
    if options.url and len(options.files) > 1:
        raise ConfigError(f"--url {options.url} is the URL of one page; name one file, or leave out --url")
    pages.parsed(options.url)
    output = options.output
    if output is None:
        return
    streams.check_suffix(output)
    if output.is_dir():
        raise ConfigError(f"{output} is a directory; name a file with -o")
    if not output.absolute().parent.is_dir():
        raise ConfigError(f"there is no folder {output.parent} for the output; create it, or name another file with -o")
    if any(name != "-" and Path(name).exists() and output.exists() and output.samefile(name) for name in options.files):
        raise ConfigError(f"{output} is an input too; name another file with -o")


def size(options: DrawOptions) -> int:
    """Return the bytes to read, as far as they are known."""
    return sum(Path(name).stat().st_size for name in options.files if Path(name).is_file())


def run(options: DrawOptions, table: ReaderTable, watch: Watch, note: Note) -> Drawn:
    """Write every page. A file that cannot be read is noted and the others are written; alone it is an error."""
    if options.output is None:
        done = _Drawing(options, table, sink.write_out).run(watch, note)
        sink.flush_out()
        return done
    pack = streams.packer(options.output)
    with files.replacing(options.output) as plain:
        target = pack(plain) if pack else plain
        done = _Drawing(options, table, target.write).run(watch, note)
        if pack:
            target.close()
    return done


class _Drawing:
    def __init__(self, options: DrawOptions, table: ReaderTable, write: Callable[[bytes], object]) -> None:
        self._options, self._table, self._write = options, table, write
        self._form = FORMS[options.form]
        self._url = pages.parsed(options.url)
        self._alone = len(options.files) == 1  # one file of one page
        self._written = 0  # pages
        self._done = Drawn()

    def run(self, watch: Watch, note: Note) -> Drawn:
        for name in self._options.files:
            try:
                with pages.opened(name) as file:
                    self._file(file, watch, note)
            except ConfigError as error:
                if len(self._options.files) == 1 and not self._done.pages:
                    raise
                note(f"windrow: {error}")
                self._done.failed += 1
        if self._written and not self._alone:
            self._print(self._form.end)
        return self._done

    def _file(self, file: PageFile, watch: Watch, note: Note) -> None:
        if file.archive:
            if self._url:
                raise ConfigError(f"{file.name} is a WARC file, whose pages have URLs; leave out --url")
            self._alone = False
        before = msgspec.structs.replace(self._done)
        try:
            for capture in pages.captures(file, self._url, watch, self._table):
                self._page(file, capture)
        finally:
            read = units.count(self._done.pages - before.pages, "page")
            blank, doubtful = self._done.blank - before.blank, self._done.doubtful - before.doubtful
            for number, said in ((blank, "no main text"), (doubtful, "perhaps no main text")):
                if number:
                    note(f"{file.name}: {said}" + (f" in {number:,} of {read}" if file.archive else ""))

    def _page(self, file: PageFile, capture: Capture) -> None:
        page = self._shown(capture)
        self._done.pages += 1
        self._done.blank += not page.paragraphs
        self._done.doubtful += page.doubtful
        if not page.paragraphs and not self._form.blank:
            return
        time = document.moment(capture.time) if file.archive else ""
        shown = Shown(file.name, page.url, time, self._options.links)
        if self._alone:
            self._print(self._form.alone(page, shown))
        else:
            self._print((self._form.between if self._written else self._form.start) + self._form.among(page, shown))
        self._written += 1

    def _shown(self, capture: Capture) -> PageText:
        """Return what is shown of a page."""
        read = self._table.page(capture)
        if capture.task.url is pages.NOWHERE:
            page = subject.of_page(pages.relative(read), "")
        else:
            page = subject.of_page(read, capture.task.url.text)
        if not self._options.links:
            page = subject.without_links(page)
        if not self._options.title:
            return subject.headless(page)
        return subject.headed(page) if self._form.headed else page

    def _print(self, text: str) -> None:
        if text:
            self._write(text.encode("utf-8", "replace"))


def _text(page: PageText, shown: Shown) -> str:
    links = page.links if shown.links else []
    below = "".join([f"{link}\n" for link in ("", *links)]) if links else ""
    return f"{page.text}\n{below}"


def _row(page: PageText, shown: Shown) -> str:
    row = PageRow(
        path=shown.path,
        url=page.url,
        time=shown.time,
        title=page.title,
        author=page.author,
        date=page.date,
        site=page.site,
        description=page.description,
        tags=page.tags,
        image=page.image,
        language=page.language,
        licence=page.licence,
        doubtful=page.doubtful,
        text=page.text,
        paragraphs=[
            RowParagraph(
                text=paragraph.text,
                kind=paragraph.kind,
                heading=paragraph.heading,
                structure=paragraph.structure,
                lines=paragraph.lines,
                marks=paragraph.marks if shown.links else (),
            )
            for paragraph in page.paragraphs
        ],
    )
    return msgspec.json.encode(row).decode() + "\n"


def _comment(shown: Shown) -> str:
    """Return the name of a page as a comment, which ends where it ends."""
    return f"<!-- {shown.name.replace('--', '- -').replace('>', '&gt;')} -->\n\n"


# A new form is a line here.
FORMS = {
    "text": PageForm(
        alone=_text,
        among=lambda page, shown: f"==> {shown.name} <==\n{_text(page, shown)}",
        between="\n",
        marked=False,
        headed=False,
        blank=False,
    ),
    "markdown": PageForm(
        alone=lambda page, shown: markdown.markdown(page),
        among=lambda page, shown: _comment(shown) + markdown.markdown(page),
        between="\n",
        blank=False,
    ),
    "jsonl": PageForm(alone=_row, among=_row, marked=False, headed=False),
    "tei": PageForm(
        alone=lambda page, shown: tei.document(page),
        among=lambda page, shown: tei.element(page),
        start=tei.start(_SEVERAL),
        end=tei.END,
    ),
    "html": PageForm(
        alone=lambda page, shown: html.document(page),
        among=lambda page, shown: html.article(page, shown.path),
        start=html.start(_SEVERAL),
        end=html.END,
    ),
}
