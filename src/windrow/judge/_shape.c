/* The counts of shape.py in C, in one pass over the characters as Python stores them. shape.py has the reference. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { CLASSES = 8, MOST = 4000, SLOTS = 4096 }; /* MOST: characters counted; fewer than half of them begin a word */

typedef struct {
    const uint8_t *classes; /* of the first `known` characters; the others have class 0 */
    size_t known;
    Py_ssize_t counts[CLASSES], words, triples;
    uint64_t word, before, last; /* hashes: of the current word (0 between words), and of the two before it */
    uint64_t slots[SLOTS];       /* a set of the word triples so far */
} Shape;

static void
end_word(Shape *self)
{
    if (++self->words >= 3) {
        uint64_t triple = (self->before * 31 + self->last) * UINT64_C(0x9E3779B97F4A7C15) + self->word;
        triple = (triple ^ (triple >> 32)) | 1;
        size_t slot = (size_t)(triple >> 20) & (SLOTS - 1);
        while (self->slots[slot] && self->slots[slot] != triple)
            slot = (slot + 1) & (SLOTS - 1);
        self->triples += self->slots[slot] == 0;
        self->slots[slot] = triple;
    }
    self->before = self->last;
    self->last = self->word;
    self->word = 0;
}

static inline __attribute__((always_inline)) void
count_kind(Shape *self, int kind, const void *data, Py_ssize_t length)
{
    for (Py_ssize_t place = 0; place < length; place++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, place);
        self->counts[letter < self->known ? self->classes[letter] % CLASSES : 0]++;
        if (!Py_UNICODE_ISSPACE(letter))
            self->word = (self->word ^ (letter + 1)) * UINT64_C(0xD6E8FEB86659FD93);
        else if (self->word)
            end_word(self);
    }
}

static void
count_characters(Shape *self, PyObject *text, Py_ssize_t length)
{
    const void *data = PyUnicode_DATA(text);
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        count_kind(self, PyUnicode_1BYTE_KIND, data, length);
        break;
    case PyUnicode_2BYTE_KIND:
        count_kind(self, PyUnicode_2BYTE_KIND, data, length);
        break;
    default:
        count_kind(self, PyUnicode_4BYTE_KIND, data, length);
    }
}

static Py_ssize_t
spaces(PyObject *text)
{
    Py_ssize_t found = 0, length = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND) {
        for (Py_ssize_t place = 0; place < length; place++)
            found += PyUnicode_READ_CHAR(text, place) == ' ';
        return found;
    }
    const Py_UCS1 *data = PyUnicode_1BYTE_DATA(text);
    for (Py_ssize_t place = 0; place < length; place++)
        found += data[place] == ' ';
    return found;
}

static int
ends_sentence(PyObject *text, Py_ssize_t length, PyObject *ends)
{
    if (length == 0)
        return 0;
    return PyUnicode_FindChar(ends, PyUnicode_READ_CHAR(text, length - 1), 0, PyUnicode_GET_LENGTH(ends), 1) >= 0;
}

/* Of the first characters of these texts, joined by line ends: how many are of each class, the words, the different
   word triples. Of all characters: their number, the spaces, and the characters of those texts that are long or end
   with one of `ends`. */
static PyObject *
count(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *given, *ends;
    Py_buffer classes;
    int looked, least;
    if (!PyArg_ParseTuple(arguments, "Oy*iUi:count", &given, &classes, &looked, &ends, &least))
        return NULL;
    Shape self = {.classes = classes.buf, .known = (size_t)classes.len};
    Py_ssize_t left = looked < MOST ? looked : MOST, characters = 0, blanks = 0, sentences = 0;
    PyObject *texts = PySequence_Fast(given, "texts are expected in a sequence"), *result = NULL;
    for (Py_ssize_t number = 0; texts != NULL && number < PySequence_Fast_GET_SIZE(texts); number++) {
        PyObject *text = PySequence_Fast_GET_ITEM(texts, number);
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "a text is expected");
            goto done;
        }
        Py_ssize_t length = PyUnicode_GET_LENGTH(text);
        if (left > 0) {
            Py_ssize_t part = length < left ? length : left;
            count_characters(&self, text, part);
            left -= part;
            if (left > 0 && number + 1 < PySequence_Fast_GET_SIZE(texts)) {
                const char end = '\n';
                count_kind(&self, PyUnicode_1BYTE_KIND, &end, 1);
                left--;
            }
        }
        characters += length;
        blanks += spaces(text);
        if (length >= least || ends_sentence(text, length, ends))
            sentences += length;
    }
    if (self.word)
        end_word(&self);
    const Py_ssize_t *counts = self.counts;
    if (texts != NULL)
        result = Py_BuildValue(
            "(nnnnnn)nnnnn", counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], self.words, self.triples,
            characters, blanks, sentences);
done:
    Py_XDECREF(texts);
    PyBuffer_Release(&classes);
    return result;
}

/* Return the length of each text in UTF-8. */
static PyObject *
octets(PyObject *Py_UNUSED(module), PyObject *given)
{
    PyObject *texts = PySequence_Fast(given, "texts are expected in a sequence");
    PyObject *lengths = texts == NULL ? NULL : PyList_New(PySequence_Fast_GET_SIZE(texts));
    for (Py_ssize_t number = 0; lengths != NULL && number < PySequence_Fast_GET_SIZE(texts); number++) {
        PyObject *text = PySequence_Fast_GET_ITEM(texts, number), *size;
        Py_ssize_t length;
        if (PyUnicode_AsUTF8AndSize(text, &length) != NULL)
            size = PyLong_FromSsize_t(length);
        else {
            PyErr_Clear(); /* it holds half of a surrogate pair */
            PyObject *written = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
            size = written == NULL ? NULL : PyLong_FromSsize_t(PyBytes_GET_SIZE(written));
            Py_XDECREF(written);
        }
        if (size == NULL)
            Py_CLEAR(lengths);
        else
            PyList_SET_ITEM(lengths, number, size);
    }
    Py_XDECREF(texts);
    return lengths;
}

static PyMethodDef methods[] = {
    {"count", count, METH_VARARGS, NULL},
    {"octets", octets, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_shape", .m_size = 0, .m_methods = methods};

PyMODINIT_FUNC
PyInit__shape(void)
{
    return PyModule_Create(&definition);
}
