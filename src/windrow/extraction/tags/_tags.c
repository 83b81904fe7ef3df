/* The reader of tags in C: same input and same output as reference.py, which gives the reasons; its tables and limits are used.

   One pass over the source in UTF-8. Every character that has a meaning in markup is ASCII, so bytes are compared. Time and memory are
   linear: an end tag that was looked for in vain is not looked for again, and each byte of the text belongs to at most one anchor. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 1, SPACE = 2, PRE = 4, HEAD = 8, BODY = 16, TITLE = 32, SVG = 64, RAW = 128, STYLE = 256, PLAIN = 512, ANCHOR = 1024, CLICK = 2048 };
enum { LINKS, RELATIONS, SCRIPTS, BASE, METAS, HTML, LISTS };
enum { GLOBALS = 3, META_COUNT = 5 }; /* the first attributes: those of every tag, those of meta elements, then lang, xml:lang, onclick */
enum { LANG = GLOBALS + META_COUNT, XML_LANG, ONCLICK };
enum { CONTENT = GLOBALS + 2 };

#define NAME_LENGTH 16
#define SLOTS 512      /* of the hash tables: a power of two, several times the number of names */
#define MOST_NAMES 128
#define MOST_URLS 4
#define MOST_OTHERS 8
#define LEGACY 6 /* characters of the longest reference that needs no semicolon */
#define CAPSULE "windrow.extraction.tags._tags.rules"

typedef struct {
    int number, count, others[MOST_OTHERS];
    PyObject *path;
} UrlAttribute;

typedef struct {
    char name[NAME_LENGTH];
    int length, flags, where, url_count;
    UrlAttribute urls[MOST_URLS];
} Tag;

typedef struct {
    char name[NAME_LENGTH];
    int length, number;
} Name;

typedef struct {
    Tag tags[MOST_NAMES];
    int tag_count, attribute_count;
    Name tag_slots[SLOTS], attribute_slots[SLOTS];
    PyObject *attributes[MOST_NAMES];
    PyObject *entities, *of_style, *of_click;
    PyObject *path, *url, *text, *name, *content, *lang, *xml_lang;
    int anchor, title, longest;
    Py_UCS4 windows[32];
} Rules;

typedef struct {
    const char *start;
    Py_ssize_t length; /* -1: none */
} Span;

typedef struct {
    Span values[MOST_NAMES];
    int found[MOST_NAMES], count;
    char name[NAME_LENGTH];
    int length; /* of the name; 0: longer than any known */
    Span written; /* the name in the page */
    int empty, whole;
} FoundTag;

typedef struct {
    const Rules *rules;
    const char *at, *end;
    Py_ssize_t room;
    char *text;
    Py_ssize_t length, capacity;
    int pending, pre, head, svg;
    PyObject *lists[LISTS - 1]; /* links, relations, scripts; at METAS the metas */
    PyObject *title, *base, *open;
    Py_ssize_t start; /* of the text of the open anchor */
    char unclosed[MOST_NAMES];
    char *scratch;
    Py_ssize_t scratch_room;
    FoundTag tag;
} Page;

/* 0: a character of a word, 1: blank or control, 2: "<", 3: "&", 4: the first byte of a character that may be a blank */
static unsigned char class_of[256];
static unsigned char lower_of[256];
static unsigned char name_end[256]; /* 1: ends the name of a tag, 2: of an attribute too */

static void
set_tables(void)
{
    for (int i = 0; i < 256; i++) {
        class_of[i] = i <= ' ' || i == 127 ? 1 : i == '<' ? 2 : i == '&' ? 3 : i == 0xc2 || i == 0xe1 || i == 0xe2 || i == 0xe3 ? 4 : 0;
        lower_of[i] = (unsigned char)(i >= 'A' && i <= 'Z' ? i + 32 : i);
        name_end[i] = i == '\t' || i == '\n' || i == '\f' || i == '\r' || i == ' ' || i == '/' || i == '>' ? 1 : i == '=' ? 2 : 0;
    }
}

static inline int
is_white(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\f' || letter == '\r';
}

static inline int
is_letter(char letter)
{
    return (letter | 32) >= 'a' && (letter | 32) <= 'z';
}

static inline int
is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Return the number of bytes of the blank at this place that is not ASCII; 0 if there is none. */
static inline int
wide_blank(const unsigned char *at, const unsigned char *end)
{
    if (at[0] == 0xc2)
        return end - at >= 2 && at[1] <= 0xa0 ? 2 : 0;
    if (end - at < 3)
        return 0;
    if (at[0] == 0xe1)
        return at[1] == 0x9a && at[2] == 0x80 ? 3 : 0;
    if (at[0] == 0xe2) {
        if (at[1] == 0x80)
            return at[2] <= 0x8a || at[2] == 0xa8 || at[2] == 0xa9 || at[2] == 0xaf ? 3 : 0;
        return at[1] == 0x81 && at[2] == 0x9f ? 3 : 0;
    }
    return at[0] == 0xe3 && at[1] == 0x80 && at[2] == 0x80 ? 3 : 0;
}

static unsigned
hash_of(const char *name, int length)
{
    const unsigned char *letters = (const unsigned char *)name;
    return (unsigned)(letters[0] * 131u + letters[length > 1] * 31u + letters[length - 1] * 7u + (unsigned)length) % SLOTS;
}

static int
find_name(const Name *slots, const char *name, int length)
{
    for (unsigned slot = hash_of(name, length); slots[slot].length; slot = (slot + 1) % SLOTS)
        if (slots[slot].length == length && memcmp(slots[slot].name, name, (size_t)length) == 0)
            return slots[slot].number;
    return -1;
}

/* Text */

static int
reserve(Page *self, Py_ssize_t more)
{
    if (self->length + more <= self->capacity)
        return 0;
    Py_ssize_t larger = (self->length + more) * 3 / 2 + 256;
    char *moved = PyMem_Realloc(self->text, (size_t)larger);
    if (moved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->text = moved;
    self->capacity = larger;
    return 0;
}

/* Write the blank that is due; none at the start of a line. There is room for it. */
static inline void
flush(Page *self)
{
    if (self->pending && self->length && self->text[self->length - 1] != '\n')
        self->text[self->length++] = ' ';
    self->pending = 0;
}

static int
encode(Py_UCS4 letter, char *out)
{
    if (letter < 0x80) {
        out[0] = (char)letter;
        return 1;
    }
    if (letter < 0x800) {
        out[0] = (char)(0xc0 | letter >> 6);
        out[1] = (char)(0x80 | (letter & 63));
        return 2;
    }
    if (letter < 0x10000) {
        out[0] = (char)(0xe0 | letter >> 12);
        out[1] = (char)(0x80 | (letter >> 6 & 63));
        out[2] = (char)(0x80 | (letter & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | letter >> 18);
    out[1] = (char)(0x80 | (letter >> 12 & 63));
    out[2] = (char)(0x80 | (letter >> 6 & 63));
    out[3] = (char)(0x80 | (letter & 63));
    return 4;
}

static const char *
read_number(const Rules *rules, const char *at, const char *end, char *out, int *length)
{
    const char *start = at;
    int hex = at < end && (*at | 32) == 'x';
    uint64_t number = 0;
    int digits = 0;
    at += hex;
    const char *first = at;
    for (; at < end; at++) {
        int digit = is_digit(*at) ? *at - '0' : hex && (*at | 32) >= 'a' && (*at | 32) <= 'f' ? (*at | 32) - 'a' + 10 : -1;
        if (digit < 0)
            break;
        digits += digits > 0 || digit > 0;
        if (digits <= 8)
            number = number * (hex ? 16 : 10) + (uint64_t)digit;
    }
    if (at == first)
        return start; /* no digits: not a reference */
    if (digits > 8 || number == 0 || (number >= 0xd800 && number <= 0xdfff) || number > 0x10ffff)
        number = 0xfffd;
    else if (number >= 0x80 && number < 0xa0)
        number = rules->windows[number - 0x80];
    *length = encode((Py_UCS4)number, out);
    return at + (at < end && *at == ';');
}

/* Put what a name stands for into `out`, which has room for 16 bytes; return its length, 0 if the name is unknown, -1 on error. */
static int
look_up(const Rules *rules, const char *name, Py_ssize_t length, char *out)
{
    PyObject *key = PyUnicode_FromStringAndSize(name, length);
    if (key == NULL)
        return -1;
    PyObject *value = PyDict_GetItemWithError(rules->entities, key);
    Py_DECREF(key);
    if (value == NULL)
        return PyErr_Occurred() ? -1 : 0;
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == NULL || size > 16)
        return -1;
    memcpy(out, text, (size_t)size);
    return (int)size;
}

/* Read the reference that may begin at "&". Return the place behind it, and put into `out` what it stands for: "&" if it is none.
   NULL on error. */
static const char *
read_reference(const Rules *rules, const char *at, const char *end, int attribute, char *out, int *length)
{
    const char *name = at + 1, *stop = name;
    out[0] = '&';
    *length = 1;
    if (name < end && *name == '#') {
        const char *behind = read_number(rules, name + 1, end, out, length);
        return behind == name + 1 ? name : behind;
    }
    while (stop < end && stop - name < 32 && (is_letter(*stop) || is_digit(*stop)))
        stop++;
    int found = 0;
    if (stop < end && *stop == ';' && stop > name && (found = look_up(rules, name, stop - name + 1, out)) != 0) {
        *length = found;
        return found < 0 ? NULL : stop + 1;
    }
    for (Py_ssize_t size = stop - name < LEGACY ? stop - name : LEGACY; size > 1; size--) {
        found = look_up(rules, name, size, out);
        if (found < 0)
            return NULL;
        if (found == 0)
            continue;
        const char *next = name + size;
        if (attribute && next < end && (*next == '=' || is_letter(*next) || is_digit(*next)))
            break;
        *length = found;
        return next;
    }
    out[0] = '&';
    *length = 1;
    return name;
}

static int
add_preformatted(Page *self, const char *at, const char *end)
{
    while (at < end) {
        const unsigned char letter = (unsigned char)*at;
        int wide;
        if (letter == '\n' || letter == '\t' || letter == ' ') {
            flush(self);
            self->text[self->length++] = *at++;
        } else if (letter == '\r') {
            at++;
        } else if (class_of[letter] == 1) {
            self->pending = 1;
            at++;
        } else if (class_of[letter] == 4 && (wide = wide_blank((const unsigned char *)at, (const unsigned char *)end))) {
            self->pending = 1;
            at += wide;
        } else {
            flush(self);
            do
                self->text[self->length++] = *at++;
            while (at < end && ((unsigned char)*at & 0xc0) == 0x80);
        }
    }
    return 0;
}

/* Add text without references. */
static int
add_plain(Page *self, const char *at, const char *end)
{
    if (reserve(self, 2 * (end - at) + 8) < 0)
        return -1;
    if (self->pre)
        return add_preformatted(self, at, end);
    char *text = self->text;
    Py_ssize_t length = self->length;
    int pending = self->pending;
    while (at < end) {
        const int class = class_of[(unsigned char)*at];
        int wide;
        if (class == 1) {
            pending = 1;
            at++;
            continue;
        }
        if (class == 4 && (wide = wide_blank((const unsigned char *)at, (const unsigned char *)end))) {
            pending = 1;
            at += wide;
            continue;
        }
        if (pending && length && text[length - 1] != '\n')
            text[length++] = ' ';
        pending = 0;
        text[length++] = *at++;
        while (at < end && (class_of[(unsigned char)*at] & 5) == 0)
            text[length++] = *at++;
    }
    self->length = length;
    self->pending = pending;
    return 0;
}

static int
add_text(Page *self, const char *at, const char *end)
{
    while (at < end) {
        const char *found = memchr(at, '&', (size_t)(end - at)), *stop = found == NULL ? end : found;
        if (stop > at && add_plain(self, at, stop) < 0)
            return -1;
        if (found == NULL)
            return 0;
        char letters[16];
        int length;
        at = read_reference(self->rules, found, end, 0, letters, &length);
        if (at == NULL || add_plain(self, letters, letters + length) < 0)
            return -1;
    }
    return 0;
}

static int
separate(Page *self, int flags)
{
    if (flags & BLOCK) {
        self->pending = 0;
        if (self->length && self->text[self->length - 1] != '\n') {
            if (reserve(self, 1) < 0)
                return -1;
            self->text[self->length++] = '\n';
        }
    } else if (flags & SPACE) {
        self->pending = 1;
    }
    return 0;
}

/* Strings */

static int
scratch(Page *self, Py_ssize_t wanted)
{
    if (wanted <= self->scratch_room)
        return 0;
    char *moved = PyMem_Realloc(self->scratch, (size_t)wanted);
    if (moved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->scratch = moved;
    self->scratch_room = wanted;
    return 0;
}

static PyObject *
string_of(Page *self, Span span)
{
    const char *at = span.start, *end = at + span.length;
    if (memchr(at, '&', (size_t)span.length) == NULL)
        return PyUnicode_DecodeUTF8(at, span.length, "replace");
    if (scratch(self, 2 * span.length + 32) < 0)
        return NULL;
    Py_ssize_t length = 0;
    while (at < end) {
        if (*at != '&') {
            self->scratch[length++] = *at++;
            continue;
        }
        int written;
        char letters[16];
        at = read_reference(self->rules, at, end, 1, letters, &written);
        if (at == NULL)
            return NULL;
        memcpy(self->scratch + length, letters, (size_t)written);
        length += written;
    }
    return PyUnicode_DecodeUTF8(self->scratch, length, "replace");
}

/* The same of a value of any length, cut to the longest allowed between two characters. */
static PyObject *
cut_string_of(Page *self, Span span)
{
    if (span.length > self->rules->longest) {
        span.length = self->rules->longest;
        while (span.length && ((unsigned char)span.start[span.length] & 0xc0) == 0x80)
            span.length--;
    }
    return string_of(self, span);
}

/* Return the text from `start` on as one line of at most so many characters; NULL on error. */
static PyObject *
line_of(Page *self, Py_ssize_t start, int most)
{
    if (scratch(self, 4 * (Py_ssize_t)most + 8) < 0)
        return NULL;
    Py_ssize_t length = 0;
    int pending = 0, count = 0;
    for (Py_ssize_t place = start; place < self->length && count < most; ) {
        const char letter = self->text[place];
        if (letter == ' ' || letter == '\n' || letter == '\t') {
            pending = length > 0;
            place++;
            continue;
        }
        if (pending) {
            self->scratch[length++] = ' ';
            count++;
            pending = 0;
            if (count == most)
                break;
        }
        do
            self->scratch[length++] = self->text[place++];
        while (place < self->length && ((unsigned char)self->text[place] & 0xc0) == 0x80);
        count++;
    }
    while (length && self->scratch[length - 1] == ' ')
        length--;
    return PyUnicode_DecodeUTF8(self->scratch, length, "replace");
}

/* Records */

static int
set(PyObject *record, PyObject *name, PyObject *value)
{
    if (value == NULL)
        return -1;
    int failed = PyDict_SetItem(record, name, value);
    Py_DECREF(value);
    return failed;
}

static int
add(Page *self, int where, PyObject *record)
{
    if (record == NULL)
        return -1;
    int failed = self->room > 0 ? PyList_Append(self->lists[where == METAS ? SCRIPTS + 1 : where], record) : 0;
    self->room -= self->room > 0;
    Py_DECREF(record);
    return failed;
}

static PyObject *
record_of(Page *self, PyObject *path, PyObject *url)
{
    PyObject *record = url == NULL || path == NULL ? NULL : PyDict_New();
    if (record != NULL && PyDict_SetItem(record, self->rules->path, path) < 0)
        Py_CLEAR(record);
    if (record != NULL && PyDict_SetItem(record, self->rules->url, url) < 0)
        Py_CLEAR(record);
    Py_XDECREF(url);
    return record;
}

static int
end_anchor(Page *self)
{
    if (self->open == NULL)
        return 0;
    PyObject *text = line_of(self, self->start < self->length ? self->start : self->length, self->rules->anchor);
    if (text == NULL)
        return -1;
    int failed = PyUnicode_GET_LENGTH(text) ? PyDict_SetItem(self->open, self->rules->text, text) : 0;
    Py_DECREF(text);
    if (failed < 0 || PyList_Append(self->lists[LINKS], self->open) < 0)
        return -1;
    Py_CLEAR(self->open);
    return 0;
}

/* Return TAG@/attribute, for the tags and attributes that have no path in the table. */
static PyObject *
path_of(const FoundTag *tag, PyObject *attribute)
{
    PyObject *written = PyUnicode_DecodeUTF8(tag->written.start, tag->written.length, "replace");
    PyObject *name = written == NULL ? NULL : PyObject_CallMethod(written, "upper", NULL);
    PyObject *path = name == NULL ? NULL : PyUnicode_FromFormat("%U@/%U", name, attribute);
    Py_XDECREF(written);
    Py_XDECREF(name);
    return path;
}

static int
add_global(Page *self, int number)
{
    const FoundTag *tag = &self->tag;
    if (tag->values[number].length > self->rules->longest || self->room <= 0)
        return 0;
    PyObject *path = path_of(tag, self->rules->attributes[number]);
    PyObject *record = record_of(self, path, path == NULL ? NULL : string_of(self, tag->values[number]));
    Py_XDECREF(path);
    return add(self, LINKS, record);
}

static int
add_click(Page *self)
{
    PyObject *script = cut_string_of(self, self->tag.values[ONCLICK]);
    PyObject *url = script == NULL ? NULL : PyObject_CallOneArg(self->rules->of_click, script);
    Py_XDECREF(script);
    if (url == NULL)
        return -1;
    if (!PyUnicode_Check(url) || !PyUnicode_GET_LENGTH(url)) {
        Py_DECREF(url);
        return 0;
    }
    PyObject *path = path_of(&self->tag, self->rules->attributes[ONCLICK]);
    PyObject *record = record_of(self, path, url);
    Py_XDECREF(path);
    return add(self, LINKS, record);
}

static int
add_meta(Page *self)
{
    int named = 0;
    for (int i = GLOBALS; i < LANG; i++)
        named |= i != CONTENT && self->tag.values[i].length >= 0;
    if (!named || self->room <= 0)
        return 0;
    PyObject *record = PyDict_New();
    for (int i = GLOBALS; record != NULL && i < LANG; i++)
        if (self->tag.values[i].length >= 0 && set(record, self->rules->attributes[i], cut_string_of(self, self->tag.values[i])) < 0)
            Py_CLEAR(record);
    return add(self, METAS, record);
}

static int
add_language(Page *self, int number, PyObject *name)
{
    if (self->tag.values[number].length < 0 || self->room <= 0)
        return 0;
    PyObject *record = PyDict_New();
    if (record != NULL && (PyDict_SetItem(record, self->rules->name, name) < 0 ||
                           set(record, self->rules->content, cut_string_of(self, self->tag.values[number])) < 0))
        Py_CLEAR(record);
    return add(self, METAS, record);
}

static int
add_urls(Page *self, const Tag *rule)
{
    const FoundTag *tag = &self->tag;
    for (int i = 0; i < rule->url_count; i++) {
        const UrlAttribute *attribute = &rule->urls[i];
        const Span value = tag->values[attribute->number];
        if (value.length < 0 || value.length > self->rules->longest || self->room <= 0)
            continue;
        PyObject *record = record_of(self, attribute->path, string_of(self, value));
        for (int j = 0; record != NULL && j < attribute->count; j++) {
            const int other = attribute->others[j];
            if (tag->values[other].length >= 0 && set(record, self->rules->attributes[other], cut_string_of(self, tag->values[other])) < 0)
                Py_CLEAR(record);
        }
        if (record != NULL && rule->flags & ANCHOR && !tag->empty) {
            self->open = record;
            self->start = self->length;
            self->room--;
        } else if (add(self, rule->where, record) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
add_records(Page *self, const Tag *rule)
{
    const FoundTag *tag = &self->tag;
    if (rule != NULL && rule->flags & ANCHOR && end_anchor(self) < 0)
        return -1;
    for (int i = 0; i < tag->count; i++)
        if (tag->found[i] < GLOBALS && add_global(self, tag->found[i]) < 0)
            return -1;
    if (rule == NULL || !tag->count)
        return 0;
    if (rule->flags & CLICK && tag->values[ONCLICK].length >= 0 && add_click(self) < 0)
        return -1;
    switch (rule->where) {
    case METAS:
        return add_meta(self);
    case HTML:
        return add_language(self, LANG, self->rules->lang) < 0 ? -1 : add_language(self, XML_LANG, self->rules->xml_lang);
    case BASE:
        if (self->base == NULL && tag->values[rule->urls[0].number].length >= 0)
            return (self->base = cut_string_of(self, tag->values[rule->urls[0].number])) == NULL ? -1 : 0;
        return 0;
    default:
        return add_urls(self, rule);
    }
}

/* Tags */

/* Read a tag from its name on, with the known attributes that have a value. If the page ends in it, it does not count. */
static void
read_tag(Page *self, const char *at)
{
    FoundTag *tag = &self->tag;
    const Rules *rules = self->rules;
    const char *end = self->end;
    while (tag->count)
        tag->values[tag->found[--tag->count]].length = -1;
    tag->written.start = at;
    while (at < end && name_end[(unsigned char)*at] != 1)
        at++;
    tag->written.length = at - tag->written.start;
    tag->length = tag->written.length < NAME_LENGTH ? (int)tag->written.length : 0;
    for (int i = 0; i < tag->length; i++)
        tag->name[i] = (char)lower_of[(unsigned char)tag->written.start[i]];
    tag->empty = tag->whole = 0;
    for (;;) {
        int slash = 0;
        for (; at < end && (is_white(*at) || *at == '/'); at++)
            slash = *at == '/';
        if (at >= end)
            break;
        if (*at == '>') {
            tag->empty = slash;
            tag->whole = 1;
            at++;
            break;
        }
        const char *name = at;
        at += *at == '=';
        while (at < end && !name_end[(unsigned char)*at])
            at++;
        const Py_ssize_t length = at - name;
        const char *equals = at;
        while (equals < end && is_white(*equals))
            equals++;
        if (equals >= end || *equals != '=')
            continue;
        at = equals + 1;
        while (at < end && is_white(*at))
            at++;
        Span value = {at, 0};
        if (at < end && (*at == '"' || *at == '\'')) {
            const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
            if (close == NULL) {
                at = end;
                break;
            }
            value.start = at + 1;
            value.length = close - at - 1;
            at = close + 1;
        } else {
            while (at < end && !is_white(*at) && *at != '>')
                at++;
            value.length = at - value.start;
        }
        if (length >= NAME_LENGTH || length < 1)
            continue;
        char small[NAME_LENGTH];
        for (Py_ssize_t i = 0; i < length; i++)
            small[i] = (char)lower_of[(unsigned char)name[i]];
        const int number = find_name(rules->attribute_slots, small, (int)length);
        if (number >= 0 && tag->values[number].length < 0) {
            tag->values[number] = value;
            tag->found[tag->count++] = number;
        }
    }
    self->at = at;
}

static const Tag *
rule_of(const Page *self)
{
    const int number = self->tag.whole && self->tag.length ? find_name(self->rules->tag_slots, self->tag.name, self->tag.length) : -1;
    return number < 0 ? NULL : &self->rules->tags[number];
}

/* Return the place of the end tag; NULL if there is none. */
static const char *
find_end(Page *self, const Tag *rule)
{
    const Py_ssize_t number = rule - self->rules->tags;
    if (self->unclosed[number])
        return NULL;
    for (const char *at = self->at; (at = memchr(at, '<', (size_t)(self->end - at))) != NULL; at++) {
        if (self->end - at < 2 + rule->length || at[1] != '/')
            continue;
        int same = 1;
        for (int i = 0; same && i < rule->length; i++)
            same = lower_of[(unsigned char)at[2 + i]] == (unsigned char)rule->name[i];
        const char *behind = at + 2 + rule->length;
        if (same && (behind == self->end || name_end[(unsigned char)*behind] == 1))
            return at;
    }
    self->unclosed[number] = 1;
    return NULL;
}

static int
contains(const char *at, const char *end, const char *wanted, Py_ssize_t length)
{
    for (; (at = memchr(at, wanted[0], (size_t)(end - at))) != NULL; at++) {
        if (end - at < length)
            return 0;
        if (memcmp(at, wanted, (size_t)length) == 0)
            return 1;
    }
    return 0;
}

static int
read_style(Page *self, const char *at, const char *end)
{
    if (!contains(at, end, "url", 3) && !contains(at, end, "@import", 7))
        return 0;
    PyObject *text = PyUnicode_DecodeUTF8(at, end - at, "replace");
    PyObject *records = text == NULL ? NULL : PyObject_CallOneArg(self->rules->of_style, text);
    Py_XDECREF(text);
    if (records == NULL)
        return -1;
    int failed = !PyList_Check(records);
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(records); i++) {
        Py_INCREF(PyList_GET_ITEM(records, i));
        failed = add(self, LINKS, PyList_GET_ITEM(records, i));
    }
    Py_DECREF(records);
    return failed ? -1 : 0;
}

static int
read_content(Page *self, const Tag *rule)
{
    const char *start = self->at, *end = find_end(self, rule);
    if (end == NULL && !(rule->flags & RAW))
        end = memchr(start, '<', (size_t)(self->end - start));
    end = end == NULL ? self->end : end;
    self->at = end;
    if (rule->flags & STYLE)
        return read_style(self, start, end);
    if (rule->flags & RAW)
        return 0;
    const Py_ssize_t before = self->length;
    if (add_text(self, start, end) < 0)
        return -1;
    if (rule->flags & TITLE && (self->head || self->title == NULL)) {
        PyObject *title = line_of(self, before, self->rules->title);
        if (title == NULL)
            return -1;
        if (PyUnicode_GET_LENGTH(title))
            Py_XSETREF(self->title, title);
        else
            Py_DECREF(title);
    }
    return 0;
}

static int
read_start(Page *self)
{
    read_tag(self, self->at + 1);
    if (!self->tag.whole)
        return 0;
    const Tag *rule = rule_of(self);
    if (rule == NULL)
        return self->tag.count ? add_records(self, NULL) : 0;
    const int flags = rule->flags;
    if (flags & HEAD)
        self->head = 1;
    if (flags & BODY)
        self->head = 0;
    if (flags & SVG)
        self->svg = !self->tag.empty;
    if (separate(self, flags) < 0)
        return -1;
    if (flags & PRE)
        self->pre = !self->tag.empty;
    if (add_records(self, rule) < 0)
        return -1;
    if (flags & (RAW | PLAIN) && !self->tag.empty && !(self->svg && flags & TITLE))
        return read_content(self, rule);
    return 0;
}

static int
read_end(Page *self)
{
    read_tag(self, self->at + 2);
    const Tag *rule = rule_of(self);
    if (rule == NULL)
        return 0;
    if (rule->flags & ANCHOR && end_anchor(self) < 0)
        return -1;
    if (rule->flags & HEAD)
        self->head = 0;
    if (rule->flags & SVG)
        self->svg = 0;
    if (rule->flags & PRE)
        self->pre = 0;
    return separate(self, rule->flags);
}

static void
skip_comment(Page *self)
{
    const char *at = self->at + 4, *end = self->end;
    if (at < end && *at == '>') {
        self->at = at + 1;
        return;
    }
    if (end - at >= 2 && at[0] == '-' && at[1] == '>') {
        self->at = at + 2;
        return;
    }
    for (; (at = memchr(at, '-', (size_t)(end - at))) != NULL; at++) {
        if (end - at < 3)
            break;
        if (at[1] != '-')
            continue;
        if (at[2] == '>' || (at[2] == '!' && end - at > 3 && at[3] == '>')) {
            self->at = at + 3 + (at[2] == '!');
            return;
        }
    }
    self->at = end;
}

static int
read_markup(Page *self)
{
    const char *at = self->at, *end = self->end;
    const char first = end - at > 1 ? at[1] : 0;
    if (is_letter(first))
        return read_start(self);
    if (first == '/' && end - at > 2 && is_letter(at[2]))
        return read_end(self);
    if (first == '!' && end - at >= 4 && at[2] == '-' && at[3] == '-') {
        skip_comment(self);
        return 0;
    }
    if (first == '!' || first == '?' || first == '/') {
        const char *close = at + 2 < end ? memchr(at + (first == '/' ? 2 : 1), '>', (size_t)(end - at - (first == '/' ? 2 : 1))) : NULL;
        self->at = close == NULL ? end : close + 1;
        return 0;
    }
    self->at = at + 1;
    return add_plain(self, at, at + 1);
}

static int
run(Page *self)
{
    while (self->at < self->end) {
        const char *tag = memchr(self->at, '<', (size_t)(self->end - self->at));
        const char *stop = tag == NULL ? self->end : tag;
        if (stop > self->at && add_text(self, self->at, stop) < 0)
            return -1;
        self->at = stop;
        if (tag != NULL && read_markup(self) < 0)
            return -1;
    }
    return end_anchor(self);
}

static PyObject *
or_none(PyObject *value)
{
    PyObject *found = value == NULL ? Py_None : value;
    Py_INCREF(found);
    return found;
}

static PyObject *
read_page(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *source, *capsule, *found = NULL;
    Page self = {0};
    if (!PyArg_ParseTuple(arguments, "SOn:read", &source, &capsule, &self.room))
        return NULL;
    self.rules = PyCapsule_GetPointer(capsule, CAPSULE);
    if (self.rules == NULL)
        return NULL;
    self.at = PyBytes_AS_STRING(source);
    self.end = self.at + PyBytes_GET_SIZE(source);
    for (int i = 0; i < MOST_NAMES; i++)
        self.tag.values[i].length = -1;
    int failed = 0;
    for (int i = 0; i <= SCRIPTS + 1; i++)
        failed |= (self.lists[i] = PyList_New(0)) == NULL;
    if (!failed && run(&self) == 0)
        found = Py_BuildValue("NNOOOOy#", or_none(self.title), or_none(self.base), self.lists[SCRIPTS + 1], self.lists[RELATIONS],
                              self.lists[SCRIPTS], self.lists[LINKS], self.length ? self.text : "", self.length);
    for (int i = 0; i <= SCRIPTS + 1; i++)
        Py_XDECREF(self.lists[i]);
    Py_XDECREF(self.title);
    Py_XDECREF(self.base);
    Py_XDECREF(self.open);
    PyMem_Free(self.text);
    PyMem_Free(self.scratch);
    return found;
}

/* Rules */

static void
free_rules(PyObject *capsule)
{
    Rules *rules = PyCapsule_GetPointer(capsule, CAPSULE);
    for (int i = 0; i < rules->tag_count; i++)
        for (int j = 0; j < rules->tags[i].url_count; j++)
            Py_XDECREF(rules->tags[i].urls[j].path);
    for (int i = 0; i < rules->attribute_count; i++)
        Py_XDECREF(rules->attributes[i]);
    PyObject *held[] = {rules->entities, rules->of_style, rules->of_click, rules->path, rules->url, rules->text,
                        rules->name, rules->content, rules->lang, rules->xml_lang};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        Py_XDECREF(held[i]);
    PyMem_Free(rules);
}

static int
set_name(Name *slots, const char *name, Py_ssize_t length, int number)
{
    if (length < 1 || length >= NAME_LENGTH || number >= MOST_NAMES) {
        PyErr_SetString(PyExc_ValueError, "a name is empty or too long, or there are too many");
        return -1;
    }
    unsigned slot = hash_of(name, (int)length);
    while (slots[slot].length)
        slot = (slot + 1) % SLOTS;
    memcpy(slots[slot].name, name, (size_t)length);
    slots[slot].length = (int)length;
    slots[slot].number = number;
    return 0;
}

static int
set_url(UrlAttribute *attribute, PyObject *written)
{
    PyObject *path, *others;
    if (!PyArg_ParseTuple(written, "iUO!:url", &attribute->number, &path, &PyList_Type, &others))
        return -1;
    Py_INCREF(path);
    attribute->path = path;
    attribute->count = (int)PyList_GET_SIZE(others);
    if (attribute->count > MOST_OTHERS) {
        PyErr_SetString(PyExc_ValueError, "too many attributes go with one URL");
        return -1;
    }
    for (int i = 0; i < attribute->count; i++)
        attribute->others[i] = (int)PyLong_AsLong(PyList_GET_ITEM(others, i));
    return 0;
}

static int
set_tag(Rules *rules, PyObject *written)
{
    const char *name;
    Py_ssize_t length;
    PyObject *urls;
    if (rules->tag_count >= MOST_NAMES) {
        PyErr_SetString(PyExc_ValueError, "too many tags");
        return -1;
    }
    Tag *tag = &rules->tags[rules->tag_count];
    if (!PyArg_ParseTuple(written, "s#iiO!:tag", &name, &length, &tag->flags, &tag->where, &PyList_Type, &urls) ||
        set_name(rules->tag_slots, name, length, rules->tag_count) < 0)
        return -1;
    memcpy(tag->name, name, (size_t)length);
    tag->length = (int)length;
    rules->tag_count++;
    if (PyList_GET_SIZE(urls) > MOST_URLS) {
        PyErr_SetString(PyExc_ValueError, "too many URLs of one tag");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(urls); i++) {
        tag->url_count++;
        if (set_url(&tag->urls[i], PyList_GET_ITEM(urls, i)) < 0)
            return -1;
    }
    return 0;
}

static int
set_rules(Rules *rules, PyObject *arguments)
{
    PyObject *tags, *attributes, *windows;
    if (!PyArg_ParseTuple(arguments, "O!O!O!(OO)(iii)U:compile", &PyList_Type, &tags, &PyList_Type, &attributes, &PyDict_Type,
                          &rules->entities, &rules->of_style, &rules->of_click, &rules->anchor, &rules->title, &rules->longest, &windows)) {
        rules->entities = rules->of_style = rules->of_click = NULL;
        return -1;
    }
    Py_INCREF(rules->entities);
    Py_INCREF(rules->of_style);
    Py_INCREF(rules->of_click);
    for (int i = 0; i < 32; i++)
        rules->windows[i] = PyUnicode_ReadChar(windows, i);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(attributes); i++) {
        Py_ssize_t length;
        PyObject *attribute = PyList_GET_ITEM(attributes, i);
        const char *name = PyUnicode_AsUTF8AndSize(attribute, &length);
        if (name == NULL || set_name(rules->attribute_slots, name, length, (int)i) < 0)
            return -1;
        Py_INCREF(attribute);
        rules->attributes[rules->attribute_count++] = attribute;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tags); i++)
        if (set_tag(rules, PyList_GET_ITEM(tags, i)) < 0)
            return -1;
    rules->path = PyUnicode_InternFromString("path");
    rules->url = PyUnicode_InternFromString("url");
    rules->text = PyUnicode_InternFromString("text");
    rules->name = PyUnicode_InternFromString("name");
    rules->content = PyUnicode_InternFromString("content");
    rules->lang = PyUnicode_InternFromString("HTML@/lang");
    rules->xml_lang = PyUnicode_InternFromString("HTML@/xml:lang");
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *
compile_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Rules *rules = PyMem_Calloc(1, sizeof(Rules));
    if (rules == NULL)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(rules, CAPSULE, free_rules);
    if (capsule == NULL) {
        PyMem_Free(rules);
        return NULL;
    }
    if (set_rules(rules, arguments) < 0)
        Py_CLEAR(capsule);
    return capsule;
}

static PyMethodDef methods[] = {
    {"compile", compile_rules, METH_VARARGS, "compile(tags, attributes, entities, (of_style, of_click), (anchor, title, longest), windows) -> rules"},
    {"read", read_page, METH_VARARGS, "read(source, rules, most) -> title, base, metas, relations, scripts, links, text"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_tags", "The kernel of the reader of tags.", 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__tags(void)
{
    set_tables();
    return PyModuleDef_Init(&definition);
}
