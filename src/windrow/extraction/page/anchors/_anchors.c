/* The descriptions of links in C: same input and same output as reference.py, which gives the reasons; its table of tags and its
   limits are used.

   One pass over the markup, in the form in which Python stores it: one, two or four bytes per character, and the reader is compiled
   once for each. Time and memory are linear in its length: a link is described by spans of the text, and what is looked up for it
   when the page has ended has a fixed length. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { INLINE, VOID, BREAK, IMAGE, LINK, BLOCK, VOID_BLOCK, HEADING, ROW, ROOT };
enum { HREF, HREFLANG, LANG, TITLE, LABEL, ALT, ATTRIBUTES };

static const char *const NAMES[] = {" href=\"", " hreflang=\"", " lang=\"", " title=\"", " aria-label=\"", " alt=\""};

#define NAME_LENGTH 16
#define SLOTS 512 /* of the hash table of tags: a power of two, several times their number */
#define CAPSULE "windrow.extraction.page.anchors._anchors.rules"

typedef struct {
    char name[NAME_LENGTH];
    int length, kind; /* length 0: the slot is free */
} Tag;

typedef struct {
    Tag tags[SLOTS];
    int anchor, side, language, behind; /* limits */
} Rules;

typedef struct {
    Py_ssize_t start, end;
} Span;

typedef struct {
    Span span;
    int heading;
} Block;

typedef struct {
    Py_ssize_t depth;
    Span value;
} Language;

typedef struct {
    PyObject *href;
    Span span;                  /* of its text */
    Py_ssize_t opened, closed;  /* numbers of blocks */
    Py_ssize_t row, heading;    /* -1: none */
    Span label, language;       /* in the markup */
} Anchor;

typedef struct {
    const Rules *rules;
    const void *data;
    Py_ssize_t length, most;

    char *text; /* of the page, with characters as wide as in the markup; never longer than the markup */
    Py_ssize_t text_length;
    int pending; /* a blank precedes the next character */

    Block *blocks;
    Span *rows;
    Py_ssize_t *open_rows;
    Language *languages;
    Anchor *anchors;
    Py_ssize_t block_count, block_room, row_count, row_room, open_count, open_room, language_count, language_room, anchor_count, anchor_room;
    Py_ssize_t start;   /* of the current block */
    Py_ssize_t heading; /* number of the last block that is a heading with text */
    Py_ssize_t depth, next_lang;
    Py_ssize_t last_closed; /* number of the block in which the last new href ended */
    int in_heading, in_link;
    Anchor open;
    Span own_language; /* primary subtag of the page's */
    Span href, labels[3]; /* of the open link: alternative text, title, label */
    PyObject *found;      /* href -> number of the anchor; then -> its description */

    char *line; /* for what is put together */
    Py_ssize_t line_room;
} Page;

#define READ(place) PyUnicode_READ(kind, self->data, place)
#define TEXT(place) PyUnicode_READ(kind, self->text, place)
#define FOR_EACH_KIND static inline __attribute__((always_inline))

static int
reserve(void *vector, Py_ssize_t *room, Py_ssize_t wanted, size_t size)
{
    if (wanted <= *room)
        return 0;
    Py_ssize_t larger = *room ? *room : 64;
    while (larger < wanted)
        larger *= 2;
    void *moved = PyMem_Realloc(*(void **)vector, (size_t)larger * size);
    if (moved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *(void **)vector = moved;
    *room = larger;
    return 0;
}

static unsigned
hash_of(Py_UCS4 first, Py_UCS4 second, Py_UCS4 last, Py_ssize_t length)
{
    return (unsigned)(first * 131u + second * 31u + last * 7u + (unsigned)length) % SLOTS;
}

/* White space as str.split has it. */
static inline int
is_space(Py_UCS4 letter)
{
    if (letter < 128)
        return letter <= ' ' && (letter == ' ' || (letter >= 9 && letter <= 13) || (letter >= 28 && letter <= 31));
    if (letter < 0x1680)
        return letter == 0x85 || letter == 0xa0;
    return letter == 0x1680 || letter == 0x3000 || (letter >> 8 == 0x20 && Py_UNICODE_ISSPACE(letter));
}

/* Whether a character is one of a word and begins neither a tag nor a reference: with few comparisons for most letters. */
static inline int
is_plain(Py_UCS4 letter)
{
    if (letter > '<')
        return letter < 0x85 || (letter > 0xa0 && letter < 0x1680) || !is_space(letter);
    return letter > ' ' && letter != '&' && letter != '<';
}

FOR_EACH_KIND int
stands_at(const Page *self, const int kind, Py_ssize_t place, Py_ssize_t end, const char *text)
{
    for (; *text; text++, place++)
        if (place >= end || READ(place) != (Py_UCS4)(unsigned char)*text)
            return 0;
    return 1;
}

/* Return the place of a character from `place` on; `end` if there is none. Its byte is searched, which is fast, and the character
   that has it examined. */
FOR_EACH_KIND Py_ssize_t
find(const Page *self, const int kind, Py_ssize_t place, Py_ssize_t end, char wanted)
{
    const char *start = self->data;
    while (place < end) {
        const char *found = memchr(start + place * kind, wanted, (size_t)((end - place) * kind));
        if (found == NULL)
            return end;
        place = (found - start) / kind;
        if (kind == PyUnicode_1BYTE_KIND || READ(place) == (Py_UCS4)wanted)
            return place;
        place++;
    }
    return end;
}

/* Return the place of the next ` lang="`; the end of the markup if there is none. Most pages have one, in the first tag. */
FOR_EACH_KIND Py_ssize_t
find_lang(const Page *self, const int kind, Py_ssize_t place)
{
    while ((place = find(self, kind, place, self->length, '=')) < self->length) {
        if (place >= 5 && stands_at(self, kind, place - 5, self->length, NAMES[LANG]))
            return place - 5;
        place++;
    }
    return place;
}

/* Read the character at this place of the markup, or the reference that stands for one. Return the place behind it. */
FOR_EACH_KIND Py_ssize_t
read_letter(const Page *self, const int kind, Py_ssize_t place, Py_ssize_t end, Py_UCS4 *letter)
{
    static const struct {
        const char *text;
        int length;
        Py_UCS4 letter;
    } references[] = {{"&nbsp;", 6, 0xa0}, {"&lt;", 4, '<'}, {"&gt;", 4, '>'}, {"&quot;", 6, '"'}, {"&amp;", 5, '&'}};
    *letter = READ(place);
    if (*letter == '&')
        for (int i = 0; i < 5; i++)
            if (stands_at(self, kind, place, end, references[i].text)) {
                *letter = references[i].letter;
                return place + references[i].length;
            }
    return place + 1;
}

/* Add the text up to the next tag. Return the place of the tag. */
FOR_EACH_KIND Py_ssize_t
read_text(Page *self, const int kind, Py_ssize_t place)
{
    const Py_ssize_t end = self->length;
    Py_ssize_t length = self->text_length; /* a copy: the compiler must expect that writing the text changes the original */
    int pending = self->pending;
    char *text = self->text;
    while (place < end) {
        Py_UCS4 letter = READ(place);
        if (letter == '<')
            break;
        Py_ssize_t next = place + 1;
        if (letter == '&')
            next = read_letter(self, kind, place, end, &letter);
        place = next;
        if (is_space(letter)) {
            pending = 1;
            continue;
        }
        if (pending && length) {
            PyUnicode_WRITE(kind, text, length, ' ');
            length++;
        }
        pending = 0;
        PyUnicode_WRITE(kind, text, length, letter);
        length++;
        while (place < end && is_plain(letter = READ(place))) {
            PyUnicode_WRITE(kind, text, length, letter);
            length++;
            place++;
        }
    }
    self->text_length = length;
    self->pending = pending;
    return place;
}

/* Set the spans of the known attributes of a tag; start -1: it has none of this name. */
FOR_EACH_KIND void
read_attributes(const Page *self, const int kind, Span all, Span *values)
{
    for (int i = 0; i < ATTRIBUTES; i++)
        values[i].start = values[i].end = -1;
    Py_ssize_t place = all.start;
    while ((place = find(self, kind, place, all.end, ' ')) < all.end) {
        Py_ssize_t behind = place + 1;
        for (int i = 0; i < ATTRIBUTES; i++) {
            if (!stands_at(self, kind, place, all.end, NAMES[i]))
                continue;
            Py_ssize_t start = place + (Py_ssize_t)strlen(NAMES[i]), end = find(self, kind, start, all.end, '"');
            if (end < all.end) {
                values[i].start = start;
                values[i].end = end;
                behind = end + 1;
            }
            break;
        }
        place = behind;
    }
}

static inline int
is_blank_letter(Py_UCS4 letter)
{
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r' || letter == '\f';
}

FOR_EACH_KIND int
is_blank(const Page *self, const int kind, Span span)
{
    for (Py_ssize_t place = span.start; place < span.end; place++) {
        if (!is_blank_letter(READ(place)))
            return 0;
    }
    return 1;
}

FOR_EACH_KIND PyObject *
new_string(const int kind, const char *data, Py_ssize_t start, Py_ssize_t length)
{
    return PyUnicode_FromKindAndData(kind, data + start * kind, length);
}

FOR_EACH_KIND PyObject *
href_of(Page *self, const int kind)
{
    Span span = self->href;
    span.end = find(self, kind, span.start, span.end, '#');
    if (find(self, kind, span.start, span.end, '&') == span.end)
        return new_string(kind, self->data, span.start, span.end - span.start);
    if (reserve(&self->line, &self->line_room, (span.end - span.start) * kind, 1) < 0)
        return NULL;
    Py_ssize_t length = 0;
    for (Py_ssize_t place = span.start; place < span.end; length++) {
        Py_UCS4 letter;
        place = read_letter(self, kind, place, span.end, &letter);
        PyUnicode_WRITE(kind, self->line, length, letter);
    }
    return new_string(kind, self->line, 0, length);
}

static int
is_empty(const Anchor *anchor)
{
    return anchor->span.start == anchor->span.end && anchor->label.start < 0;
}

FOR_EACH_KIND int
end_link(Page *self, const int kind)
{
    if (!self->in_link)
        return 0;
    self->in_link = 0;
    Anchor *open = &self->open;
    open->span.end = self->text_length;
    open->closed = self->block_count;
    for (int i = 0; i < 3 && open->span.start == open->span.end && open->label.start < 0; i++)
        if (!is_blank(self, kind, self->labels[i]))
            open->label = self->labels[i];
    PyObject *href = href_of(self, kind);
    if (href == NULL)
        return -1;
    PyObject *known = PyDict_GetItemWithError(self->found, href);
    if (known != NULL) {
        Anchor *before = &self->anchors[PyLong_AsSsize_t(known)];
        Py_DECREF(href);
        if (is_empty(before) && !is_empty(open)) {
            open->href = before->href;
            *before = *open;
        }
        return 0;
    }
    if (PyErr_Occurred() || self->anchor_count >= self->most) {
        Py_DECREF(href);
        return PyErr_Occurred() ? -1 : 0;
    }
    PyObject *number = PyLong_FromSsize_t(self->anchor_count);
    int failed = number == NULL || PyDict_SetItem(self->found, href, number) < 0 ||
                 reserve(&self->anchors, &self->anchor_room, self->anchor_count + 1, sizeof(Anchor)) < 0;
    Py_XDECREF(number);
    Py_DECREF(href); /* the dictionary holds it */
    if (failed)
        return -1;
    open->href = href;
    self->last_closed = open->closed;
    self->anchors[self->anchor_count++] = *open;
    return 0;
}

FOR_EACH_KIND void
start_link(Page *self, const int kind, Span attributes)
{
    Span values[ATTRIBUTES];
    read_attributes(self, kind, attributes, values);
    if (values[HREF].start < 0)
        return;
    self->in_link = 1;
    self->href = values[HREF];
    self->labels[0].start = self->labels[0].end = -1;
    self->labels[1] = values[TITLE];
    self->labels[2] = values[LABEL];
    Anchor *open = &self->open;
    open->span.start = self->text_length;
    open->opened = self->block_count;
    open->row = self->open_count ? self->open_rows[self->open_count - 1] : -1;
    open->heading = self->heading;
    open->label.start = open->label.end = -1;
    open->language = values[HREFLANG];
    if (is_blank(self, kind, open->language)) {
        open->language.end = open->language.start;
        if (self->language_count)
            open->language = self->languages[self->language_count - 1].value;
    }
}

static int
end_block(Page *self)
{
    if (reserve(&self->blocks, &self->block_room, self->block_count + 1, sizeof(Block)) < 0)
        return -1;
    if (self->in_heading && self->text_length > self->start)
        self->heading = self->block_count;
    Block *block = &self->blocks[self->block_count++];
    block->span.start = self->start;
    block->span.end = self->text_length;
    block->heading = self->in_heading;
    self->start = self->text_length;
    self->pending = 1;
    return 0;
}

FOR_EACH_KIND Span
primary(const Page *self, const int kind, Span language)
{
    Span found = language;
    while (found.start < language.end && is_blank_letter(READ(found.start)))
        found.start++;
    for (found.end = found.start; found.end < language.end; found.end++) {
        Py_UCS4 letter = READ(found.end);
        if (letter == '-' || letter == '_' || is_blank_letter(letter))
            break;
    }
    return found;
}

FOR_EACH_KIND int
is_same(const Page *self, const int kind, Span one, Span other)
{
    if (one.end - one.start != other.end - other.start)
        return 0;
    for (Py_ssize_t i = 0; i < one.end - one.start; i++) {
        Py_UCS4 a = READ(one.start + i), b = READ(other.start + i);
        a += a >= 'A' && a <= 'Z' ? 32 : 0;
        b += b >= 'A' && b <= 'Z' ? 32 : 0;
        if (a != b)
            return 0;
    }
    return 1;
}

FOR_EACH_KIND int
enter_language(Page *self, const int kind, int tag, Span attributes)
{
    Span values[ATTRIBUTES];
    read_attributes(self, kind, attributes, values);
    Span own = primary(self, kind, values[LANG]);
    if (tag == ROOT) {
        self->own_language = own;
        return 0;
    }
    if (reserve(&self->languages, &self->language_room, self->language_count + 1, sizeof(Language)) < 0)
        return -1;
    Language *language = &self->languages[self->language_count++];
    language->depth = self->depth;
    language->value = values[LANG];
    if (is_same(self, kind, own, self->own_language))
        language->value.end = language->value.start;
    return 0;
}

FOR_EACH_KIND int
enter(Page *self, const int kind, int tag, Span attributes)
{
    Span values[ATTRIBUTES];
    if (tag == BREAK)
        self->pending = 1;
    else if (tag == IMAGE && self->in_link && is_blank(self, kind, self->labels[0])) {
        read_attributes(self, kind, attributes, values);
        self->labels[0] = values[ALT];
    }
    else if (tag == HEADING)
        self->in_heading = 1;
    else if (tag == ROW) {
        if (reserve(&self->rows, &self->row_room, self->row_count + 1, sizeof(Span)) < 0 ||
            reserve(&self->open_rows, &self->open_room, self->open_count + 1, sizeof(Py_ssize_t)) < 0)
            return -1;
        self->open_rows[self->open_count++] = self->row_count;
        self->rows[self->row_count].start = self->rows[self->row_count].end = self->text_length;
        self->row_count++;
    }
    if (tag == VOID || tag == BREAK || tag == IMAGE || tag == VOID_BLOCK)
        return 0;
    self->depth++;
    if (self->next_lang < attributes.start)
        self->next_lang = find_lang(self, kind, attributes.start);
    if (self->next_lang < attributes.end && enter_language(self, kind, tag, attributes) < 0)
        return -1;
    if (tag == LINK) {
        if (end_link(self, kind) < 0)
            return -1;
        start_link(self, kind, attributes);
    }
    return 0;
}

FOR_EACH_KIND int
leave(Page *self, const int kind, int tag)
{
    if (tag == HEADING)
        self->in_heading = 0;
    else if (tag == ROW && self->open_count)
        self->rows[self->open_rows[--self->open_count]].end = self->text_length;
    else if (tag == LINK && end_link(self, kind) < 0)
        return -1;
    self->depth -= self->depth > 0;
    while (self->language_count && self->languages[self->language_count - 1].depth > self->depth)
        self->language_count--;
    return 0;
}

FOR_EACH_KIND int
kind_of(const Page *self, const int kind, Span name)
{
    Py_ssize_t length = name.end - name.start;
    if (length < 1 || length > NAME_LENGTH)
        return INLINE;
    Py_UCS4 first = READ(name.start), second = length > 1 ? READ(name.start + 1) : 0;
    unsigned slot = hash_of(first, second, READ(name.end - 1), length);
    for (const Tag *tag; (tag = &self->rules->tags[slot])->length; slot = (slot + 1) % SLOTS) {
        if (tag->length != length)
            continue;
        Py_ssize_t i = 0;
        while (i < length && READ(name.start + i) == (Py_UCS4)(unsigned char)tag->name[i])
            i++;
        if (i == length)
            return tag->kind;
    }
    return INLINE;
}

/* Read the tag or comment at this place. Return the place behind it; -1 if it failed. */
FOR_EACH_KIND Py_ssize_t
read_tag(Page *self, const int kind, Py_ssize_t place)
{
    if (stands_at(self, kind, place, self->length, "<!--")) {
        Py_ssize_t start = place + 4;
        for (place = start; (place = find(self, kind, place, self->length, '>')) < self->length; place++)
            if (place - 2 >= start && READ(place - 1) == '-' && READ(place - 2) == '-')
                return place + 1;
        return place;
    }
    Span name, attributes;
    int ends = place + 1 < self->length && READ(place + 1) == '/';
    name.start = place + 1 + ends;
    attributes.end = find(self, kind, name.start < self->length ? name.start : self->length, self->length, '>');
    name.end = name.start;
    while (name.end < attributes.end && READ(name.end) != ' ')
        name.end++;
    attributes.start = name.end;
    Py_UCS4 first = name.start < name.end ? READ(name.start) : 0;
    if (first != '!' && first != '?') {
        int tag = kind_of(self, kind, name);
        if (tag >= BLOCK && end_block(self) < 0)
            return -1;
        if ((ends ? leave(self, kind, tag) : enter(self, kind, tag, attributes)) < 0)
            return -1;
    }
    return attributes.end < self->length ? attributes.end + 1 : attributes.end;
}

/* Put together the words of a span on both sides of a link. Return their length in `line`. */
FOR_EACH_KIND Py_ssize_t
around(Page *self, const int kind, const Anchor *anchor, Span span)
{
    Py_ssize_t side = self->rules->side, start = anchor->span.start, end = anchor->span.end, length = 0;
    Py_ssize_t first = start - side > span.start ? start - side : span.start;
    Py_ssize_t last = end + side < span.end ? end + side : span.end;
    while (start > first && TEXT(start - 1) == ' ')
        start--;
    while (end < last && TEXT(end) == ' ')
        end++;
    if (first > span.start && TEXT(first - 1) != ' ') {
        Py_ssize_t blank = first;
        while (blank < start && TEXT(blank) != ' ')
            blank++;
        first = blank < start ? blank : first;
    }
    if (last < span.end && TEXT(last) != ' ') {
        Py_ssize_t blank = last - 1;
        while (blank >= end && TEXT(blank) != ' ')
            blank--;
        last = blank >= end ? blank : last;
    }
    while (first < start && TEXT(first) == ' ')
        first++;
    while (last > end && TEXT(last - 1) == ' ')
        last--;
    for (; first < start; first++, length++)
        PyUnicode_WRITE(kind, self->line, length, TEXT(first));
    if (length && end < last) {
        PyUnicode_WRITE(kind, self->line, length, ' ');
        length++;
    }
    for (; end < last; end++, length++)
        PyUnicode_WRITE(kind, self->line, length, TEXT(end));
    return length;
}

/* Copy the first words of a span. Return their length in `line`. */
FOR_EACH_KIND Py_ssize_t
opening(Page *self, const int kind, Span span)
{
    Py_ssize_t most = 2 * (Py_ssize_t)self->rules->side, first = span.start, length = 0;
    Py_ssize_t last = span.start + most < span.end ? span.start + most : span.end;
    while (first < last && TEXT(first) == ' ')
        first++;
    if (last < span.end && TEXT(last) != ' ') {
        Py_ssize_t blank = last - 1;
        while (blank >= first && TEXT(blank) != ' ')
            blank--;
        last = blank >= first ? blank : last;
    }
    for (; first < last; first++, length++)
        PyUnicode_WRITE(kind, self->line, length, TEXT(first));
    while (length && PyUnicode_READ(kind, self->line, length - 1) == ' ')
        length--;
    return length;
}

FOR_EACH_KIND int
has_word(const Page *self, const int kind, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++)
        if (Py_UNICODE_ISALNUM(PyUnicode_READ(kind, self->line, i)))
            return 1;
    return 0;
}

FOR_EACH_KIND PyObject *
context_of(Page *self, const int kind, const Anchor *anchor)
{
    const Block *own = &self->blocks[anchor->opened];
    Span block = {own->span.start, self->blocks[anchor->closed].span.end};
    Py_ssize_t length = around(self, kind, anchor, block);
    if (has_word(self, kind, length))
        return new_string(kind, self->line, 0, length);
    if (anchor->row >= 0) {
        length = around(self, kind, anchor, self->rows[anchor->row]);
        if (has_word(self, kind, length))
            return new_string(kind, self->line, 0, length);
    }
    length = 0;
    if (own->heading) {
        Py_ssize_t next = anchor->closed + 1, last = next + self->rules->behind;
        last = last < self->block_count ? last : self->block_count;
        while (next < last && self->blocks[next].span.start == self->blocks[next].span.end)
            next++;
        if (next < last && !self->blocks[next].heading)
            length = opening(self, kind, self->blocks[next].span);
    }
    else if (anchor->heading >= 0)
        length = opening(self, kind, self->blocks[anchor->heading].span);
    return new_string(kind, self->line, 0, has_word(self, kind, length) ? length : 0);
}

/* Return the first characters of an attribute, with single blanks. */
FOR_EACH_KIND PyObject *
line_of(Page *self, const int kind, Span span, Py_ssize_t most)
{
    Py_ssize_t length = 0;
    int pending = 0;
    for (Py_ssize_t place = span.start; place < span.end && length < most;) {
        Py_UCS4 letter;
        place = read_letter(self, kind, place, span.end, &letter);
        if (is_space(letter)) {
            pending = length > 0;
            continue;
        }
        if (pending) {
            pending = 0;
            PyUnicode_WRITE(kind, self->line, length, ' ');
            if (++length == most)
                break;
        }
        PyUnicode_WRITE(kind, self->line, length, letter);
        length++;
    }
    while (length && PyUnicode_READ(kind, self->line, length - 1) == ' ')
        length--;
    return new_string(kind, self->line, 0, length);
}

FOR_EACH_KIND PyObject *
anchor_of(Page *self, const int kind, const Anchor *anchor)
{
    Py_ssize_t start = anchor->span.start, end = anchor->span.end;
    if (start == end)
        return line_of(self, kind, anchor->label, self->rules->anchor);
    while (start < end && TEXT(start) == ' ')
        start++;
    end = end - start > self->rules->anchor ? start + self->rules->anchor : end;
    while (end > start && TEXT(end - 1) == ' ')
        end--;
    return new_string(kind, self->text, start, end - start);
}

FOR_EACH_KIND int
describe_all(Page *self, const int kind)
{
    Py_ssize_t longest = 2 * (Py_ssize_t)self->rules->side + 1;
    longest = longest > self->rules->anchor ? longest : self->rules->anchor;
    longest = longest > self->rules->language ? longest : self->rules->language;
    if (reserve(&self->line, &self->line_room, longest * kind, 1) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < self->anchor_count; i++) {
        const Anchor *anchor = &self->anchors[i];
        PyObject *text = anchor_of(self, kind, anchor), *context = text != NULL ? context_of(self, kind, anchor) : NULL;
        PyObject *language = context != NULL ? line_of(self, kind, anchor->language, self->rules->language) : NULL;
        PyObject *all = language != NULL ? PyTuple_Pack(3, text, context, language) : NULL;
        int failed = all == NULL || PyDict_SetItem(self->found, anchor->href, all) < 0;
        Py_XDECREF(text);
        Py_XDECREF(context);
        Py_XDECREF(language);
        Py_XDECREF(all);
        if (failed)
            return -1;
    }
    return 0;
}

/* Whether all links have been found, with the blocks behind the last one. */
static int
is_full(const Page *self)
{
    return self->anchor_count >= self->most && self->block_count > self->last_closed + self->rules->behind;
}

FOR_EACH_KIND int
run(Page *self, const int kind)
{
    Py_ssize_t place = 0;
    while (!is_full(self) && (place = read_text(self, kind, place)) < self->length)
        if ((place = read_tag(self, kind, place)) < 0)
            return -1;
    if (end_link(self, kind) < 0 || end_block(self) < 0)
        return -1;
    while (self->open_count)
        self->rows[self->open_rows[--self->open_count]].end = self->text_length;
    return describe_all(self, kind);
}

static int
run_any(Page *self, PyObject *markup)
{
    switch (PyUnicode_KIND(markup)) {
    case PyUnicode_1BYTE_KIND:
        return run(self, PyUnicode_1BYTE_KIND);
    case PyUnicode_2BYTE_KIND:
        return run(self, PyUnicode_2BYTE_KIND);
    default:
        return run(self, PyUnicode_4BYTE_KIND);
    }
}

static PyObject *
describe(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *markup, *capsule;
    Page self = {0};
    if (!PyArg_ParseTuple(arguments, "UOn:describe", &markup, &capsule, &self.most))
        return NULL;
    self.rules = PyCapsule_GetPointer(capsule, CAPSULE);
    if (self.rules == NULL)
        return NULL;
    self.data = PyUnicode_DATA(markup);
    self.length = PyUnicode_GET_LENGTH(markup);
    self.heading = self.next_lang = -1;
    self.found = PyDict_New();
    self.text = PyMem_Malloc((size_t)(self.length + 1) * (size_t)PyUnicode_KIND(markup));
    if (self.text == NULL)
        PyErr_NoMemory();
    if (self.found == NULL || self.text == NULL || run_any(&self, markup) < 0)
        Py_CLEAR(self.found);
    PyMem_Free(self.text);
    PyMem_Free(self.blocks);
    PyMem_Free(self.rows);
    PyMem_Free(self.open_rows);
    PyMem_Free(self.languages);
    PyMem_Free(self.anchors);
    PyMem_Free(self.line);
    return self.found;
}

static void
free_rules(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, CAPSULE));
}

static int
set_tags(Rules *rules, PyObject *tags)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tags); i++) {
        const char *name;
        Py_ssize_t length;
        int kind;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(tags, i), "s#i:tag", &name, &length, &kind))
            return -1;
        if (length < 1 || length > NAME_LENGTH || i >= SLOTS / 2) {
            PyErr_SetString(PyExc_ValueError, "a tag is empty or too long, or there are too many");
            return -1;
        }
        const unsigned char *letters = (const unsigned char *)name;
        unsigned slot = hash_of(letters[0], length > 1 ? letters[1] : 0, letters[length - 1], length);
        while (rules->tags[slot].length)
            slot = (slot + 1) % SLOTS;
        memcpy(rules->tags[slot].name, name, (size_t)length);
        rules->tags[slot].length = (int)length;
        rules->tags[slot].kind = kind;
    }
    return 0;
}

static PyObject *
compile_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *tags, *capsule;
    Rules *rules = PyMem_Calloc(1, sizeof(Rules));
    if (rules == NULL)
        return PyErr_NoMemory();
    capsule = PyCapsule_New(rules, CAPSULE, free_rules);
    if (capsule == NULL) {
        PyMem_Free(rules);
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "O!(iiii):compile", &PyList_Type, &tags, &rules->anchor, &rules->side, &rules->language, &rules->behind) ||
        set_tags(rules, tags) < 0)
        Py_CLEAR(capsule);
    return capsule;
}

static PyMethodDef methods[] = {
    {"compile", compile_rules, METH_VARARGS, "compile([(tag, kind)], (anchor, side, language, behind)) -> rules"},
    {"describe", describe, METH_VARARGS, "describe(markup, rules, most) -> the result of reference.describe"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_anchors", "The kernel of the descriptions of links.", 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__anchors(void)
{
    return PyModuleDef_Init(&definition);
}
