/* The parts of reading records that are done for each of them: the headers of WARC and HTTP as almost all are written,
   and the search for the next gzip member. `heads.py` has the references. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { LINES = 64, LONGEST = 1 << 18, NAMES = 256, DIGITS = 18, LONG = 64 };

static PyObject *names[NAMES]; /* the names of headers that were seen last: there are about twenty in a file */
static PyObject *versions[2];

/* Return a new reference to the name. */
static PyObject *
name_of(const char *start, Py_ssize_t length)
{
    size_t slot = ((size_t)length * 31 + (unsigned char)start[length / 2] * 7 + (unsigned char)start[length - 1]) % NAMES;
    PyObject *known = names[slot];
    if (known != NULL && PyUnicode_GET_LENGTH(known) == length && PyUnicode_IS_COMPACT_ASCII(known)
        && memcmp(PyUnicode_1BYTE_DATA(known), start, (size_t)length) == 0)
        return Py_NewRef(known);
    PyObject *made = PyUnicode_DecodeUTF8(start, length, "replace");
    if (made != NULL && PyUnicode_IS_COMPACT_ASCII(made) && length < LONG)
        Py_XSETREF(names[slot], Py_NewRef(made));
    return made;
}

static int
is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Return the number that the digits are; -1 if they are none. */
static Py_ssize_t
number_of(const char *start, Py_ssize_t length)
{
    Py_ssize_t number = 0;
    if (length < 1 || length > DIGITS)
        return -1;
    for (Py_ssize_t place = 0; place < length; place++) {
        if (start[place] < '0' || start[place] > '9')
            return -1;
        number = number * 10 + (start[place] - '0');
    }
    return number;
}

/* head(data, at) -> (where the block begins, Content-Length, version, headers); None if it is not usual. */
static PyObject *
head(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_Check(arguments[0]))
        return PyErr_Format(PyExc_TypeError, "head(data: bytes, at: int) is expected");
    Py_ssize_t at = PyLong_AsSsize_t(arguments[1]), all = PyBytes_GET_SIZE(arguments[0]), size = -1, lines = 0;
    if (at == -1 && PyErr_Occurred())
        return NULL;
    const char *data = PyBytes_AS_STRING(arguments[0]);
    if (at < 0 || all - at < 14 || memcmp(data + at, "WARC/1.", 7) != 0 || (data[at + 7] != '0' && data[at + 7] != '1')
        || data[at + 8] != '\r' || data[at + 9] != '\n')
        Py_RETURN_NONE;
    PyObject *pairs[LINES];
    const char *line = data + at + 10, *end = data + (all - at > LONGEST ? at + LONGEST : all);
    PyObject *found = Py_None;
    for (;;) {
        const char *stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        if (stop == NULL || stop == line || stop[-1] != '\r')
            goto unusual;
        Py_ssize_t length = stop - 1 - line;
        if (length == 0) {
            line = stop + 1;
            break;
        }
        const char *colon = memchr(line, ':', (size_t)length);
        if (colon == NULL || colon == line || lines == LINES || is_blank(*line) || is_blank(colon[-1]))
            goto unusual;
        Py_ssize_t rest = length - (colon - line) - 2; /* of the value, behind the colon and a blank */
        if (rest < 1 || colon[1] != ' ' || is_blank(colon[2]) || is_blank(stop[-2]) || memchr(line, '\r', (size_t)length))
            goto unusual;
        if (colon - line == 14 && (line[0] | 32) == 'c' && (line[8] | 32) == 'l') {
            if (memcmp(line, "Content-Length", 14) != 0 || size >= 0)
                goto unusual;
            size = number_of(colon + 2, rest);
            if (size < 0)
                goto unusual;
        }
        PyObject *name = name_of(line, colon - line), *value = PyUnicode_DecodeUTF8(colon + 2, rest, "replace");
        PyObject *pair = name != NULL && value != NULL ? PyTuple_Pack(2, name, value) : NULL;
        Py_XDECREF(name);
        Py_XDECREF(value);
        if (pair == NULL) {
            found = NULL;
            goto unusual;
        }
        pairs[lines++] = pair;
        line = stop + 1;
    }
    if (size < 0)
        goto unusual;
    PyObject *headers = PyTuple_New(lines);
    if (headers == NULL) {
        found = NULL;
        goto unusual;
    }
    for (Py_ssize_t number = 0; number < lines; number++)
        PyTuple_SET_ITEM(headers, number, pairs[number]);
    return Py_BuildValue("(nnON)", (Py_ssize_t)(line - data), size, versions[data[at + 7] - '0'], headers);
unusual:
    while (lines > 0)
        Py_DECREF(pairs[--lines]);
    return Py_XNewRef(found);
}

/* Return a new reference to a name in lower case. */
static PyObject *
lower_name_of(const char *start, Py_ssize_t length)
{
    char lower[LONG];
    if (length > LONG)
        return NULL;
    for (Py_ssize_t place = 0; place < length; place++) {
        unsigned char byte = (unsigned char)start[place];
        if (byte >= 128)
            return NULL;
        lower[place] = (char)(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
    }
    return name_of(lower, length);
}

/* http(block) -> (where the payload begins, field by name in lower case); None if the header is not usual. */
static PyObject *
http(PyObject *Py_UNUSED(module), PyObject *block)
{
    if (!PyBytes_Check(block))
        return PyErr_Format(PyExc_TypeError, "http(block: bytes) is expected");
    const char *data = PyBytes_AS_STRING(block), *end = data + PyBytes_GET_SIZE(block);
    if (end - data > LONGEST)
        end = data + LONGEST;
    const char *line = memchr(data, '\n', (size_t)(end - data));
    if (line == NULL || line == data || line[-1] != '\r' || memchr(data, '\r', (size_t)(line - data)) != line - 1
        || line - data < 2)
        Py_RETURN_NONE;
    PyObject *found = PyDict_New();
    line++;
    while (found != NULL) {
        const char *stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        if (stop == NULL || stop == line || stop[-1] != '\r')
            break;
        Py_ssize_t length = stop - 1 - line;
        if (length == 0)
            return Py_BuildValue("(nN)", (Py_ssize_t)(stop + 1 - data), found);
        const char *colon = memchr(line, ':', (size_t)length);
        if (colon == NULL || colon == line || is_blank(*line) || is_blank(colon[-1]) || memchr(line, '\r', (size_t)length))
            break;
        const char *value = colon + 1, *last = stop - 1;
        while (value < last && is_blank(*value))
            value++;
        while (last > value && is_blank(last[-1]))
            last--;
        PyObject *name = lower_name_of(line, colon - line), *text = PyUnicode_DecodeLatin1(value, last - value, NULL);
        int known = name != NULL && text != NULL ? PyDict_Contains(found, name) : 1;
        int stored = known == 0 ? PyDict_SetItem(found, name, text) : -1;
        Py_XDECREF(name);
        Py_XDECREF(text);
        if (stored < 0)
            break;
        line = stop + 1;
    }
    Py_XDECREF(found);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* member(data, start, stop) -> where the first three bytes of a gzip member are; -1 if they are not there. */
static PyObject *
member(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3 || !PyBytes_Check(arguments[0]))
        return PyErr_Format(PyExc_TypeError, "member(data: bytes, start: int, stop: int) is expected");
    Py_ssize_t start = PyLong_AsSsize_t(arguments[1]), stop = PyLong_AsSsize_t(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    Py_ssize_t all = PyBytes_GET_SIZE(arguments[0]);
    const char *data = PyBytes_AS_STRING(arguments[0]);
    stop = stop > all ? all : stop;
    while (start >= 0 && stop - start >= 3) {
        const char *found = memchr(data + start, 0x1f, (size_t)(stop - start - 2));
        if (found == NULL)
            break;
        if ((unsigned char)found[1] == 0x8b && found[2] == 8)
            return PyLong_FromSsize_t(found - data);
        start = found - data + 1;
    }
    return PyLong_FromLong(-1);
}

static PyMethodDef methods[] = {
    {"head", (PyCFunction)(void (*)(void))head, METH_FASTCALL, NULL},
    {"http", http, METH_O, NULL},
    {"member", (PyCFunction)(void (*)(void))member, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_records", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC
PyInit__records(void)
{
    versions[0] = PyUnicode_InternFromString("WARC/1.0");
    versions[1] = PyUnicode_InternFromString("WARC/1.1");
    return versions[0] == NULL || versions[1] == NULL ? NULL : PyModule_Create(&definition);
}
