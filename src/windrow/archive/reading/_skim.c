/* Find the next record that an index needs, and what a line of the index says of it. `skim.py` and `cdxj.py` have the
   references. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "_inflate.h"

enum {
    SMALL = 2048,     /* bytes of a member that is unpacked whole: its checksum is compared */
    FIRST = 512,      /* bytes that are unpacked at first */
    SNIFFED = 1024,   /* bytes of a body by which its type is identified, if the header does not state it */
    DIGITS = 18,
    SMALLEST = 18,    /* bytes of a gzip member */
};

static struct unpacking unpacking, probe; /* one thread at a time: the interpreter's lock is held */

static const char *
past_blank_line(const char *from, const char *end)
{
    while (end - from >= 4 && (from = memchr(from, '\r', (size_t)(end - from - 3))) != NULL) {
        if (memcmp(from, "\r\n\r\n", 4) == 0)
            return from + 4;
        from++;
    }
    return NULL;
}

/* Unpack up to the end of the first empty line behind `from`. Return where that is; 0 if there is none. */
static size_t
unpack_past_blank_line(struct unpacking *s, size_t from, size_t wanted)
{
    const char *data = (const char *)s->data;
    for (size_t searched = from;;) {
        const char *found = s->made > searched ? past_blank_line(data + searched, data + s->made) : NULL;
        if (found != NULL)
            return (size_t)(found - data);
        if (s->ended || s->made >= MOST)
            return 0;
        searched = s->made > from + 3 ? s->made - 3 : from;
        wanted = wanted > s->made ? wanted : 2 * s->made;
        if (!unpack_upto(s, wanted))
            return 0;
    }
}

/* Return the value of a field whose name is spelled as usual, and its length; NULL if it is not there. */
static const char *
value_of(const char *data, size_t header, const char *name, size_t *length)
{
    size_t size = strlen(name);
    const char *line = data, *end = data + header;
    while ((line = memchr(line, '\n', (size_t)(end - line))) != NULL && (size_t)(end - ++line) > size) {
        if (line[-2] == '\r' && memcmp(line, name, size) == 0) {
            const char *stop = memchr(line + size, '\r', (size_t)(end - line) - size);
            *length = stop == NULL ? 0 : (size_t)(stop - line) - size;
            return line + size;
        }
    }
    return NULL;
}

static int
is_kind(const char *found, size_t length, const char *kind)
{
    if (strlen(kind) != length)
        return 0;
    for (size_t at = 0; at < length; at++)
        if ((found[at] >= 'A' && found[at] <= 'Z' ? found[at] + 32 : found[at]) != kind[at])
            return 0;
    return 1;
}

static Py_ssize_t
digits_of(const char *found, size_t length)
{
    Py_ssize_t number = 0;
    if (length < 1 || length > DIGITS)
        return -1;
    for (size_t at = 0; at < length; at++) {
        if (found[at] < '0' || found[at] > '9')
            return -1;
        number = 10 * number + (found[at] - '0');
    }
    return number;
}

/* Return whether a record may begin with the gzip magic number that is here. By chance it is in 16 MB once. */
static int
may_begin(const unsigned char *data, size_t size)
{
    if (size > 3 && data[3] != 0)
        return data[3] < 32; /* a header with more fields */
    return begin_member(&probe, data, size) && unpack_upto(&probe, 5) && probe.made >= 5
           && memcmp(probe.data, "WARC/", 5) == 0;
}

/* Return the length of the member at `at` that unpacks to `whole` bytes; 0 if its end is not found, or a record begins
   before it: then the end is damaged, and what was found is the end of another record of the same length. */
static Py_ssize_t
member_length(const unsigned char *data, Py_ssize_t size, Py_ssize_t at, Py_ssize_t whole)
{
    Py_ssize_t most = whole + whole / 1000 + 1024; /* deflate never makes data longer than that */
    Py_ssize_t last = size - at < most ? size : at + most;
    const unsigned char *from = data + at + SMALLEST, *end = data + last;
    while (from <= end && data + size - from >= 3) {
        size_t rest = (size_t)((end + 1 < data + size - 2 ? end + 1 : data + size - 2) - from);
        from = memchr(from, 0x1f, rest);
        if (from == NULL)
            break;
        if (from[1] == 0x8b && from[2] == 8) {
            if (number_at(from - 4) == (uint32_t)whole)
                return from - data - at;
            if (may_begin(from, (size_t)(data + size - from)))
                return 0;
        }
        from++;
    }
    return last == size && size - at >= SMALLEST && number_at(data + size - 4) == (uint32_t)whole ? size - at : 0;
}

struct head {
    size_t header;   /* bytes, with the empty line */
    size_t kept;     /* bytes that the caller gets */
    Py_ssize_t size; /* of the block */
    Py_ssize_t length;
    PyObject *texts; /* of its type; NULL: nobody wants it */
};

static int
has_text(const char *data, size_t size, PyObject *texts)
{
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(texts); number++) {
        const char *text = PyBytes_AS_STRING(PyTuple_GET_ITEM(texts, number)), *end = data + size;
        size_t length = (size_t)PyBytes_GET_SIZE(PyTuple_GET_ITEM(texts, number));
        for (const char *from = data; (size_t)(end - from) >= length; from++) {
            from = memchr(from, text[0], (size_t)(end - from) - length + 1);
            if (from == NULL)
                break;
            if (memcmp(from, text, length) == 0)
                return 1;
        }
    }
    return PyTuple_GET_SIZE(texts) == 0;
}

/* Unpack what is wanted of the block of a record. Return 0 if it is too long. */
static int
unpack_block(struct unpacking *s, struct head *head, int exchange)
{
    size_t upto = head->header + (size_t)head->size;
    const char *data = (const char *)s->data;
    head->kept = upto;
    if (exchange) {
        size_t length, past = unpack_past_blank_line(s, head->header, head->header + FIRST);
        if (past > 0 && past < upto) {
            const char *stated = value_of(data, head->header, "WARC-Identified-Payload-Type: ", &length);
            head->kept = stated == NULL && past + SNIFFED < upto ? past + SNIFFED : stated == NULL ? upto : past;
        }
    }
    return head->kept <= MOST && unpack_upto(s, head->kept) && s->made >= head->kept;
}

/* Read the head of the record at `at`. Return 0 if it must be read by other means. */
static int
read_head(const Py_buffer *packed, Py_ssize_t at, PyObject *wanted, struct head *head)
{
    struct unpacking *s = &unpacking;
    const char *data = (const char *)s->data;
    size_t length;
    if (!begin_member(s, (const unsigned char *)packed->buf + at, (size_t)(packed->len - at)))
        return 0;
    head->header = unpack_past_blank_line(s, 0, FIRST);
    if (head->header < 10 || (memcmp(data, "WARC/1.0\r\n", 10) != 0 && memcmp(data, "WARC/1.1\r\n", 10) != 0))
        return 0;
    const char *stated = value_of(data, head->header, "Content-Length: ", &length);
    head->size = stated == NULL ? -1 : digits_of(stated, length);
    const char *kind = value_of(data, head->header, "WARC-Type: ", &length);
    if (head->size < 0 || kind == NULL || length == 0)
        return 0;
    Py_ssize_t whole = (Py_ssize_t)head->header + head->size + 4;
    if (whole <= SMALL) {
        if (!unpack_upto(s, SMALL + 1) || !s->ended || (Py_ssize_t)s->made != whole
            || memcmp(data + whole - 4, "\r\n\r\n", 4) != 0)
            return 0;
        head->length = (const char *)s->bits.next - (const char *)packed->buf - at;
    }
    else
        head->length = member_length(packed->buf, packed->len, at, whole);
    if (head->length == 0)
        return 0;
    head->texts = NULL;
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(wanted) && head->texts == NULL; number++) {
        PyObject *pair = PyTuple_GET_ITEM(wanted, number);
        if (is_kind(kind, length, PyBytes_AS_STRING(PyTuple_GET_ITEM(pair, 0))))
            head->texts = PyTuple_GET_ITEM(pair, 1);
    }
    if (head->texts == NULL)
        return 1;
    if (!unpack_block(s, head, is_kind(kind, length, "response") || is_kind(kind, length, "revisit")))
        return 0;
    if (!has_text(data, head->kept, head->texts))
        head->texts = NULL;
    return 1;
}

static int
is_wanted_tuple(PyObject *wanted)
{
    if (!PyTuple_Check(wanted))
        return 0;
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(wanted); number++) {
        PyObject *pair = PyTuple_GET_ITEM(wanted, number);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyBytes_Check(PyTuple_GET_ITEM(pair, 0))
            || !PyTuple_Check(PyTuple_GET_ITEM(pair, 1)))
            return 0;
        PyObject *texts = PyTuple_GET_ITEM(pair, 1);
        for (Py_ssize_t text = 0; text < PyTuple_GET_SIZE(texts); text++)
            if (!PyBytes_Check(PyTuple_GET_ITEM(texts, text)) || PyBytes_GET_SIZE(PyTuple_GET_ITEM(texts, text)) < 1)
                return 0;
    }
    return 1;
}

/* find(packed, at, stop, wanted) -> (offset, length, unpacked bytes, where the block begins, its size) of the first
   wanted record; or the offset of a record that must be read by other means, or one from `stop` on: there is none. */
static PyObject *
find(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 4 || !is_wanted_tuple(arguments[3]))
        return PyErr_Format(PyExc_TypeError, "find(packed: buffer, at: int, stop: int, wanted: tuple) is expected");
    Py_ssize_t at = PyLong_AsSsize_t(arguments[1]), stop = PyLong_AsSsize_t(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    Py_buffer packed;
    if (PyObject_GetBuffer(arguments[0], &packed, PyBUF_SIMPLE) < 0)
        return NULL;
    stop = stop < packed.len ? stop : packed.len;
    PyObject *found = NULL;
    struct head head;
    while (found == NULL && at >= 0 && at < stop && read_head(&packed, at, arguments[3], &head)) {
        if (head.texts != NULL)
            found = Py_BuildValue("(nny#nn)", at, head.length, (const char *)unpacking.data, (Py_ssize_t)head.kept,
                                  (Py_ssize_t)head.header, head.size);
        at += head.length;
        if (head.texts != NULL)
            break;
    }
    PyBuffer_Release(&packed);
    return found != NULL || PyErr_Occurred() ? found : PyLong_FromSsize_t(at);
}

enum { TYPE, TARGET, DATE, ID, CONCURRENT, CONTENT_TYPE, IDENTIFIED, DIGEST, TRUNCATED };
enum { STATUS = TRUNCATED + 1, MIME, LOCATION, FIELDS }; /* of the http head */

static const char *const NAMES[] = {
    "warc-type",    "warc-target-uri",      "warc-date",      "warc-record-id", "warc-concurrent-to", "content-type",
    "warc-identified-payload-type", "warc-payload-digest", "warc-truncated",
};

struct span {
    const char *start, *end; /* start is NULL: there is none */
};

static int
is_visible(char byte)
{
    return byte > ' ' && byte < 127;
}

/* Find the fields of a header by their names. Return 0 if it is not written as usual, or has one of them twice. */
static int
read_fields(const char *line, const char *end, struct span *found)
{
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL || stop - line < 5 || memchr(line, '\r', (size_t)(stop - line)) != stop - 1)
            return 0;
        const char *colon = memchr(line, ':', (size_t)(stop - 1 - line));
        if (colon == NULL || !is_visible(*line) || !is_visible(colon[-1]) || colon[1] != ' ' || !is_visible(colon[2])
            || !is_visible(stop[-2]))
            return 0;
        for (int name = 0; name < STATUS; name++) {
            if (!is_kind(line, (size_t)(colon - line), NAMES[name]))
                continue;
            if (found[name].start != NULL)
                return 0;
            found[name].start = colon + 2;
            found[name].end = stop - 1;
        }
        line = stop + 1;
    }
    return 1;
}

/* Find status, media type and location in an http head. Return 0 if it is not written as usual. */
static int
read_http(const char *line, const char *end, struct span *found)
{
    const char *past = past_blank_line(line, end), *at = line;
    if (past == NULL)
        return 0;
    end = past - 2;
    while (at < end && *at != ' ' && *at != '\r' && *at != '\n')
        at++;
    if (at == line)
        return 0;
    while (at < end && *at == ' ')
        at++;
    if (end - at < 5 || at[-1] != ' ' || digits_of(at, 3) < 0 || (at[3] != ' ' && at[3] != '\r'))
        return 0;
    found[STATUS].start = at;
    found[STATUS].end = at + 3;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL || stop == line || memchr(line, '\r', (size_t)(stop - line)) != stop - 1)
            return 0;
        const char *colon = memchr(line, ':', (size_t)(stop - line));
        int name = colon == NULL                                        ? FIELDS
                   : is_kind(line, (size_t)(colon - line), "content-type") ? MIME
                   : is_kind(line, (size_t)(colon - line), "location")     ? LOCATION
                                                                           : FIELDS;
        if (name < FIELDS && found[name].start == NULL) {
            const char *value = colon + 1, *last = stop - 1;
            while (value < last && (*value == ' ' || *value == '\t'))
                value++;
            if (name == MIME) {
                last = value;
                while (is_visible(*last) && *last != ';' && *last != ',')
                    last++;
                if (last == value || memchr(" \t\r\f\v;,", *last, 7) == NULL) /* nothing, or an odd byte */
                    return 0;
            }
            found[name].start = value;
            found[name].end = last;
        }
        line = stop + 1;
    }
    return 1;
}

static PyObject *
lower_text(struct span span)
{
    PyObject *made = PyUnicode_New(span.end - span.start, 127);
    for (Py_ssize_t at = 0; made != NULL && at < span.end - span.start; at++) {
        char byte = span.start[at];
        PyUnicode_1BYTE_DATA(made)[at] = (Py_UCS1)(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
    }
    return made;
}

static PyObject *
text_of(int name, struct span span)
{
    if (span.start == NULL) {
        if (name == LOCATION)
            Py_RETURN_NONE;
        return name == STATUS ? PyLong_FromLong(0) : PyUnicode_FromString("");
    }
    if (name == STATUS)
        return PyLong_FromSsize_t(digits_of(span.start, 3));
    if (name == LOCATION)
        return PyUnicode_DecodeLatin1(span.start, span.end - span.start, NULL);
    if (name == TYPE || name == MIME)
        return lower_text(span);
    return PyUnicode_DecodeUTF8(span.start, span.end - span.start, "replace");
}

/* describe(data, start) -> what a line of the index says of a record; None if it is not written as usual. */
static PyObject *
describe(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_Check(arguments[0]))
        return PyErr_Format(PyExc_TypeError, "describe(data: bytes, start: int) is expected");
    Py_ssize_t start = PyLong_AsSsize_t(arguments[1]), size = PyBytes_GET_SIZE(arguments[0]);
    if (start == -1 && PyErr_Occurred())
        return NULL;
    const char *data = PyBytes_AS_STRING(arguments[0]);
    struct span found[FIELDS];
    memset(found, 0, sizeof found);
    if (start < 12 || start > size || !read_fields(data + 10, data + start - 2, found) || found[TYPE].start == NULL)
        Py_RETURN_NONE;
    for (const char *at = found[TYPE].start; at < found[TYPE].end; at++)
        if (!is_visible(*at))
            Py_RETURN_NONE;
    if (found[TARGET].start != NULL && (*found[TARGET].start == '<' || found[TARGET].end[-1] == '>'))
        Py_RETURN_NONE;
    size_t length = (size_t)(found[TYPE].end - found[TYPE].start);
    int exchange = is_kind(found[TYPE].start, length, "response") || is_kind(found[TYPE].start, length, "revisit");
    if (exchange && !read_http(data + start, data + size, found))
        Py_RETURN_NONE;
    PyObject *made = PyTuple_New(FIELDS);
    for (int name = 0; made != NULL && name < FIELDS; name++) {
        PyObject *value = text_of(name, found[name]);
        if (value == NULL)
            Py_CLEAR(made);
        else
            PyTuple_SET_ITEM(made, name, value);
    }
    return made;
}

static PyMethodDef methods[] = {
    {"find", (PyCFunction)(void (*)(void))find, METH_FASTCALL, NULL},
    {"describe", (PyCFunction)(void (*)(void))describe, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_skim", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC
PyInit__skim(void)
{
    prepare_tables();
    return PyModule_Create(&definition);
}
