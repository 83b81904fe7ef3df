/* Text -> the sums of query.sums, in one pass: words by the classes of tokens.py, look-ups in the block of layout.py.
   tokens.py and query.py have the reference. The look-ups of a sequence are made order by order, so that the processor
   fetches many rows at once: in a large model nearly every row is far from the last one. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The block of a model is little-endian; the reference reads it on this machine."
#endif

enum { OTHER, LETTER, ALONE, BLANK, LINE, DIGIT, STOP, MARK, CLOSER, END, SKIPPED }; /* as in tokens.py */
enum { UNKNOWN_WORD, START_WORD, END_WORD };                                         /* as in tables.py */
enum { MOST = 6, PLANNED = 3 };

typedef struct {
    const char *rows;
    uint64_t size, slots; /* rows; slots that keys name */
    size_t stride;        /* bytes of a row */
} Table;

typedef struct {
    uint64_t key;
    uint32_t word, slot;
    int length;            /* of the longest n-gram that ends here */
    float value;           /* its log10 */
    float backoff[MOST];   /* of the n-grams that end here, by length - 1 */
} Position;

typedef struct {
    Table index, levels[MOST];
    int order;
    uint64_t seed;
    const uint8_t *classes;
    size_t known;
    Py_ssize_t least;
    PyObject *found, *sequence; /* where words are wanted, not scores: all sequences, and the words of the current one */
    Position *positions;        /* of the current sequence, <s> first */
    size_t size, room;
    long long words, known_words, windows, ends;
    double log10, known_log10, windows_log10, ends_log10;
} Scorer;

static inline uint64_t
scramble(uint64_t key)
{
    key = (key ^ key >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    key = (key ^ key >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return key ^ key >> 33;
}

static inline uint64_t
wanted(const Table *table, uint64_t key)
{
    return (key >> 32) * table->slots >> 32;
}

static inline void
prefetch(const Table *table, uint64_t key)
{
    __builtin_prefetch(table->rows + wanted(table, key) * table->stride);
}

/* Return the row with this key, NULL if there is none. Rows are sorted, so a greater key ends the search. */
static inline const char *
find(const Table *table, uint64_t key, uint32_t *slot)
{
    for (uint64_t at = wanted(table, key); at < table->size; at++) {
        const char *row = table->rows + at * table->stride;
        uint64_t stored;
        memcpy(&stored, row, sizeof stored);
        if (stored == key) {
            *slot = (uint32_t)at;
            return row;
        }
        if (stored == 0 || stored > key)
            break;
    }
    return NULL;
}

static void
find_words(Scorer *self)
{
    const Table *singles = &self->levels[0];
    for (size_t at = 1; at < self->size; at++)
        prefetch(&self->index, self->positions[at].key);
    for (size_t at = 1; at < self->size; at++) {
        Position *here = &self->positions[at];
        uint32_t slot;
        const char *row = find(&self->index, here->key, &slot);
        here->word = UNKNOWN_WORD;
        if (row != NULL)
            memcpy(&here->word, row + 8, 4);
        if (here->word >= singles->size) /* only in a damaged file */
            here->word = UNKNOWN_WORD;
        __builtin_prefetch(singles->rows + here->word * singles->stride);
    }
    self->positions[0].word = START_WORD;
}

static void
find_singles(Scorer *self)
{
    const Table *singles = &self->levels[0];
    for (size_t at = 0; at < self->size; at++) {
        Position *here = &self->positions[at];
        const char *row = singles->rows + here->word * singles->stride;
        memset(here->backoff, 0, sizeof here->backoff);
        memcpy(&here->value, row, 4);
        memcpy(&here->backoff[0], row + 4, 4);
        here->slot = here->word;
        here->length = 1;
    }
}

static void
find_longer(Scorer *self, int order)
{
    const Table *table = &self->levels[order - 1];
    int highest = order == self->order;
    for (size_t at = (size_t)order - 1; at < self->size; at++) {
        Position *here = &self->positions[at];
        if (here->length != order - 1)
            continue;
        here->key = scramble(~((uint64_t)here->slot << 32 | self->positions[at - (size_t)order + 1].word));
        prefetch(table, here->key);
    }
    for (size_t at = (size_t)order - 1; at < self->size; at++) {
        Position *here = &self->positions[at];
        const char *row;
        if (here->length != order - 1 || (row = find(table, here->key, &here->slot)) == NULL)
            continue;
        here->length = order;
        memcpy(&here->value, row + 8, 4);
        if (!highest)
            memcpy(&here->backoff[order - 1], row + 12, 4);
    }
}

static void
add_up(Scorer *self)
{
    for (size_t at = 1; at < self->size; at++) {
        const Position *here = &self->positions[at];
        double value = here->value;
        for (int order = here->length; order < self->order && (size_t)order <= at; order++)
            value += here[-1].backoff[order - 1];
        if (at + 1 == self->size) {
            self->ends++;
            self->ends_log10 += value;
        } else {
            self->words++;
            self->log10 += value;
            if (here->word != UNKNOWN_WORD) {
                self->known_words++;
                self->known_log10 += value;
            }
        }
        if (at + 1 >= (size_t)self->order) {
            self->windows++;
            self->windows_log10 += value;
        }
    }
}

static int
add_position(Scorer *self, uint64_t key)
{
    if (self->size == self->room) {
        size_t room = self->room ? self->room * 2 : 256;
        Position *more = PyMem_Realloc(self->positions, room * sizeof *more);
        if (more == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->positions = more;
        self->room = room;
    }
    self->positions[self->size++].key = key;
    return 0;
}

static int
end_list(Scorer *self)
{
    if (PyList_GET_SIZE(self->sequence) < self->least || PyList_GET_SIZE(self->sequence) == 0)
        return PyList_SetSlice(self->sequence, 0, PyList_GET_SIZE(self->sequence), NULL);
    if (PyList_Append(self->found, self->sequence) < 0)
        return -1;
    Py_SETREF(self->sequence, PyList_New(0));
    return self->sequence == NULL ? -1 : 0;
}

static int
end_sequence(Scorer *self)
{
    if (self->found != NULL)
        return end_list(self);
    if ((Py_ssize_t)self->size - 1 >= self->least && self->size > 1) {
        if (add_position(self, 0) < 0)
            return -1;
        find_words(self);
        self->positions[self->size - 1].word = END_WORD;
        find_singles(self);
        for (int order = 2; order <= self->order; order++)
            find_longer(self, order);
        add_up(self);
    }
    self->size = 1; /* <s> stays */
    return 0;
}

/* Add a word whose characters are these, without the skipped ones. */
static inline __attribute__((always_inline)) int
add_word(Scorer *self, int kind, const char *data, Py_ssize_t length, Py_ssize_t letters, uint64_t hash)
{
    if (self->found == NULL)
        return add_position(self, scramble(hash));
    PyObject *word;
    if (letters == length)
        word = PyUnicode_FromKindAndData(kind, data, length);
    else {
        Py_UCS4 *kept = PyMem_New(Py_UCS4, letters);
        if (kept == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        for (Py_ssize_t place = 0, at = 0; place < length && at < letters; place++) {
            Py_UCS4 letter = PyUnicode_READ(kind, data, place);
            if (letter >= self->known || self->classes[letter] != SKIPPED)
                kept[at++] = letter;
        }
        word = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, kept, letters);
        PyMem_Free(kept);
    }
    int failed = word == NULL || PyList_Append(self->sequence, word) < 0;
    Py_XDECREF(word);
    return failed ? -1 : 0;
}

/* The states of tokens.divide. `pending`: a sentence ends if a blank follows. */
static inline __attribute__((always_inline)) int
read_kind(Scorer *self, int kind, const char *data, Py_ssize_t length)
{
    uint64_t word = 0;
    Py_ssize_t letters = 0, start = 0, end = 0; /* of the current word */
    int pending = 0, before = OTHER, single = 0;
    for (Py_ssize_t place = 0; place < length; place++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, place);
        int class = letter < self->known ? self->classes[letter] : OTHER;
        if (class == LETTER) {
            if (letters++ == 0) {
                word = self->seed;
                start = place;
            }
            end = place + 1;
            word = (word ^ ((uint64_t)letter + 1)) * UINT64_C(0xD6E8FEB86659FD93);
            pending = 0;
            before = LETTER;
            continue;
        }
        if (class == SKIPPED)
            continue;
        if (letters) {
            if (add_word(self, kind, data + start * kind, end - start, letters, word) < 0)
                return -1;
            single = letters == 1;
            letters = 0;
        }
        switch (class) {
        case ALONE:
            word = (self->seed ^ ((uint64_t)letter + 1)) * UINT64_C(0xD6E8FEB86659FD93);
            if (add_word(self, kind, data + place * kind, 1, 1, word) < 0)
                return -1;
            pending = 0;
            break;
        case BLANK:
            if (pending && end_sequence(self) < 0)
                return -1;
            pending = 0;
            break;
        case LINE:
        case END:
            if (end_sequence(self) < 0)
                return -1;
            pending = 0;
            break;
        case STOP:
            pending |= !(before == DIGIT || (before == LETTER && single));
            break;
        case MARK:
            pending = 1;
            break;
        case CLOSER:
            break;
        default:
            pending = 0;
        }
        before = class;
    }
    if (letters && add_word(self, kind, data + start * kind, end - start, letters, word) < 0)
        return -1;
    return end_sequence(self);
}

static int
read_text(Scorer *self, PyObject *text)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const void *data = PyUnicode_DATA(text);
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        return read_kind(self, PyUnicode_1BYTE_KIND, data, length);
    case PyUnicode_2BYTE_KIND:
        return read_kind(self, PyUnicode_2BYTE_KIND, data, length);
    default:
        return read_kind(self, PyUnicode_4BYTE_KIND, data, length);
    }
}

static int
open_table(Table *table, const Py_buffer *data, const uint64_t *section, size_t stride)
{
    uint64_t offset = section[0], length = section[1];
    table->slots = section[2];
    table->stride = stride;
    table->size = length / stride;
    if (offset > (uint64_t)data->len || length > (uint64_t)data->len - offset || table->slots > UINT32_MAX ||
        table->slots > table->size || table->size == 0) {
        PyErr_SetString(PyExc_ValueError, "a section does not lie in the block");
        return -1;
    }
    table->rows = (const char *)data->buf + offset;
    return 0;
}

/* Find the tables in the block. `plan`: the seed, then offset, length and slots of the index of words and of each order, as 64-bit numbers. */
static int
open_block(Scorer *self, const Py_buffer *data, const Py_buffer *plan)
{
    uint64_t numbers[1 + PLANNED * (MOST + 1)];
    Py_ssize_t sections = (plan->len - 8) / (8 * PLANNED);
    if (plan->len < 8 + 2 * 8 * PLANNED || sections > MOST + 1 || plan->len != 8 + 8 * PLANNED * sections) {
        PyErr_SetString(PyExc_ValueError, "the plan does not fit an order from 1 to 6");
        return -1;
    }
    memcpy(numbers, plan->buf, (size_t)plan->len);
    self->seed = numbers[0];
    self->order = (int)sections - 1;
    if (open_table(&self->index, data, numbers + 1, 12) < 0)
        return -1;
    for (int order = 1; order <= self->order; order++) {
        size_t stride = order == 1 ? 8 : order == self->order ? 12 : 16;
        if (open_table(&self->levels[order - 1], data, numbers + 1 + PLANNED * order, stride) < 0)
            return -1;
    }
    if (self->levels[0].size <= END_WORD) {
        PyErr_SetString(PyExc_ValueError, "the block has fewer than three words");
        return -1;
    }
    return 0;
}

static int
read_texts(Scorer *self, PyObject *given)
{
    PyObject *texts = PySequence_Fast(given, "texts are expected in a sequence");
    int failed = texts == NULL;
    for (Py_ssize_t number = 0; !failed && number < PySequence_Fast_GET_SIZE(texts); number++) {
        PyObject *text = PySequence_Fast_GET_ITEM(texts, number);
        if (PyUnicode_Check(text))
            failed = read_text(self, text) < 0;
        else {
            PyErr_SetString(PyExc_TypeError, "a text is expected");
            failed = 1;
        }
    }
    Py_XDECREF(texts);
    return failed ? -1 : 0;
}

/* Return the number of words of some texts and the sum of their log10; then of the known words, windows and ends. */
static PyObject *
score(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *texts, *result = NULL;
    Py_buffer data, plan, classes;
    Py_ssize_t least;
    if (!PyArg_ParseTuple(arguments, "Oy*y*y*n:score", &texts, &data, &plan, &classes, &least))
        return NULL;
    Scorer self = {.classes = classes.buf, .known = (size_t)classes.len, .least = least};
    if (open_block(&self, &data, &plan) == 0 && add_position(&self, 0) == 0 && read_texts(&self, texts) == 0)
        result = Py_BuildValue(
            "LdLdLdLd", self.words, self.log10, self.known_words, self.known_log10, self.windows, self.windows_log10,
            self.ends, self.ends_log10);
    PyMem_Free(self.positions);
    PyBuffer_Release(&data);
    PyBuffer_Release(&plan);
    PyBuffer_Release(&classes);
    return result;
}

/* Return the words of each sequence of some texts. */
static PyObject *
sequences(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *texts;
    Py_buffer classes;
    Py_ssize_t least;
    if (!PyArg_ParseTuple(arguments, "Oy*n:sequences", &texts, &classes, &least))
        return NULL;
    Scorer self = {.classes = classes.buf, .known = (size_t)classes.len, .least = least};
    self.found = PyList_New(0);
    self.sequence = PyList_New(0);
    if (self.found == NULL || self.sequence == NULL || read_texts(&self, texts) < 0)
        Py_CLEAR(self.found);
    Py_XDECREF(self.sequence);
    PyBuffer_Release(&classes);
    return self.found;
}

static PyMethodDef methods[] = {
    {"score", score, METH_VARARGS, NULL},
    {"sequences", sequences, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_query", .m_size = 0, .m_methods = methods};

PyMODINIT_FUNC
PyInit__query(void)
{
    return PyModule_Create(&definition);
}
