/* The features of a link, and sums and steps over them: the same numbers as the reference in features.py.

Features are 32-bit numbers below the size of the tables, one after another in bytes. A table holds the numbers of all
models for a feature side by side, so that one look at memory serves them all. Sums are in double precision, in the
order of the features; tables hold single precision. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define MASK ((1u << 18) - 1)
#define MODELS 4
#define MOST 80 /* features of a link: the hints of a hostile log are cut */

enum { WANTED, NAMES, TEXT, BYTES }; /* the models */
enum { HOST = 101, DOMAIN, SUFFIX, LABEL, PREFIX, FOLDER, ENDING, WORD, FORM, NAME, VALUE };

static uint32_t table[256];

static void
make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        table[byte] = crc;
    }
}

static uint32_t
hash(const unsigned char *text, Py_ssize_t length, uint32_t seed)
{
    uint32_t crc = ~seed;
    for (Py_ssize_t i = 0; i < length; i++)
        crc = table[(crc ^ text[i]) & 255] ^ crc >> 8;
    return ~crc;
}

typedef struct {
    uint32_t numbers[MOST];
    int count;
} Found;

static void
add(Found *found, uint32_t number)
{
    if (found->count < MOST)
        found->numbers[found->count++] = number & MASK;
}

static void
of_query(Found *found, const unsigned char *query, const unsigned char *end, uint32_t own)
{
    for (int part = 0; part < 4 && query <= end; part++) {
        const unsigned char *stop = memchr(query, '&', end - query);
        if (stop == NULL)
            stop = end;
        const unsigned char *equals = memchr(query, '=', stop - query);
        const unsigned char *name_end = equals == NULL ? stop : equals;
        const unsigned char *value = equals == NULL ? stop : equals + 1;
        add(found, hash(query, name_end - query, NAME));
        add(found, hash(query, name_end - query, own ^ NAME));
        if (stop - value <= 5)
            add(found, hash(value, stop - value, hash(query, name_end - query, VALUE)));
        query = stop + 1;
    }
}

static int
is_letter(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || byte >= 0x80;
}

static void
of_name(Found *found, const unsigned char *name, const unsigned char *end, uint32_t own)
{
    const unsigned char *stem_end = memchr(name, '.', end - name);
    if (stem_end == NULL)
        stem_end = end;
    const unsigned char *starts[3] = {end, end, end}; /* of the last two endings, and the end of the last */
    int endings = 0;
    for (const unsigned char *at = end; at > stem_end && endings < 2; at--)
        if (at[-1] == '.')
            starts[endings++] = at;
    for (int i = endings - 1; i >= 0; i--) {
        const unsigned char *stop = i ? starts[i - 1] - 1 : end;
        add(found, hash(starts[i], stop - starts[i], ENDING));
        add(found, hash(starts[i], stop - starts[i], own ^ ENDING));
    }
    int words = 0;
    for (const unsigned char *at = name; at < stem_end && words < 6;) {
        if (!is_letter(*at)) {
            at++;
            continue;
        }
        const unsigned char *start = at;
        while (at < stem_end && is_letter(*at))
            at++;
        add(found, hash(start, at - start, WORD));
        words++;
    }
}

static void
of_path(Found *found, const unsigned char *path, const unsigned char *end, uint32_t own, int with_query)
{
    char form[32];
    const unsigned char *name = path;
    int folders = 0;
    for (const unsigned char *at = path; at < end; at++)
        if (*at == '/') {
            folders++;
            name = at + 1;
        }
    int length = snprintf(form, sizeof form, "%d %d %d", folders, name < end, with_query);
    add(found, hash((unsigned char *)form, length, FORM));
    for (int pass = 0; pass < 2; pass++) {
        uint32_t prefix = own;
        const unsigned char *start = path;
        for (int number = 0; number < folders && number < (pass ? 6 : 4); number++) {
            const unsigned char *stop = memchr(start, '/', end - start);
            if (pass)
                add(found, hash(start, stop - start, FOLDER));
            else
                add(found, prefix = hash(start, stop - start, prefix));
            start = stop + 1;
        }
    }
    of_name(found, name, end, own);
}

/* Find the features of a link; return 0 if there is no memory. */
static int
of_link(Found *found, const char *text, Py_ssize_t length, const char *host, Py_ssize_t host_length,
        const Py_buffer *hints)
{
    unsigned char small[512], *lower = length <= (Py_ssize_t)sizeof small ? small : PyMem_Malloc(length);
    if (lower == NULL)
        return 0;
    for (Py_ssize_t i = 0; i < length; i++)
        lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : (unsigned char)text[i];
    found->count = 0;
    uint32_t own = hash((const unsigned char *)host, host_length, PREFIX);
    const unsigned char *end = lower + length;
    const unsigned char *slash = length > 8 ? memchr(lower + 8, '/', length - 8) : NULL;
    const unsigned char *path = slash == NULL ? end : slash + 1;
    const unsigned char *mark = memchr(path, '?', end - path);
    const unsigned char *path_end = mark == NULL ? end : mark;
    int with_query = mark != NULL && mark + 1 < end;
    of_path(found, path, path_end, own, with_query);
    if (with_query)
        of_query(found, mark + 1, end, own);
    const unsigned char *data = hints->buf;
    for (Py_ssize_t at = hints->len & 1 ? 3 : 0; at + 1 < hints->len; at += 2)
        add(found, (uint32_t)data[at] << 8 | data[at + 1]);
    if (lower != small)
        PyMem_Free(lower);
    return 1;
}

static PyObject *
of_page(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *text, *host;
    Py_buffer hints;
    Py_ssize_t length, host_length;
    if (!PyArg_ParseTuple(args, "s#s#y*", &text, &length, &host, &host_length, &hints))
        return NULL;
    Found found;
    int good = of_link(&found, text, length, host, host_length, &hints);
    PyBuffer_Release(&hints);
    if (!good)
        return PyErr_NoMemory();
    return PyBytes_FromStringAndSize((char *)found.numbers, found.count * sizeof(uint32_t));
}

/* Check that a table has its size. */
static int
is_table(const Py_buffer *weights)
{
    if (weights->len == (Py_ssize_t)(MASK + 1) * MODELS * (Py_ssize_t)sizeof(float))
        return 1;
    PyErr_SetString(PyExc_ValueError, "this is no table of weights");
    return 0;
}

/* Check that features and tables fit each other. */
static int
fits(const Py_buffer *weights, const Py_buffer *features)
{
    if (!is_table(weights))
        return 0;
    const uint32_t *numbers = features->buf;
    Py_ssize_t at = 0, count = features->len / 4;
    while (at < count && numbers[at] <= MASK)
        at++;
    if (at == count && features->len % 4 == 0)
        return 1;
    PyErr_SetString(PyExc_ValueError, "these features do not belong to this table");
    return 0;
}

static void
sum(double sums[MODELS], const float *weights, const uint32_t *numbers, Py_ssize_t count)
{
    for (int model = 0; model < MODELS; model++)
        sums[model] = 0.0;
    for (Py_ssize_t at = 0; at < count; at++) {
        const float *weight = weights + MODELS * (size_t)numbers[at];
        for (int model = 0; model < MODELS; model++)
            sums[model] += weight[model];
    }
}

static PyObject *
totals(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer weights, features;
    if (!PyArg_ParseTuple(args, "y*y*", &weights, &features))
        return NULL;
    PyObject *result = NULL;
    double sums[MODELS];
    if (fits(&weights, &features)) {
        sum(sums, weights.buf, features.buf, features.len / 4);
        result = Py_BuildValue("dddd", sums[WANTED], sums[NAMES], sums[TEXT], sums[BYTES]);
    }
    PyBuffer_Release(&weights);
    PyBuffer_Release(&features);
    return result;
}

static double
chance(double logit)
{
    return logit > -30.0 ? 1.0 / (1.0 + exp(-logit)) : exp(logit);
}

static double
within(double least, double number, double most)
{
    return number < least ? least : number > most ? most : number;
}

static PyObject *
expect(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *text, *host;
    Py_buffer weights, shared, hints;
    Py_ssize_t length, host_length;
    double least, most, widest;
    if (!PyArg_ParseTuple(args, "y*y*s#s#y*(ddd)", &weights, &shared, &text, &length, &host, &host_length, &hints,
                          &least, &most, &widest))
        return NULL;
    PyObject *result = NULL;
    Found found;
    if (!fits(&weights, &shared))
        ;
    else if (of_link(&found, text, length, host, host_length, &hints)) {
        double all[MODELS], own[MODELS];
        sum(all, weights.buf, shared.buf, shared.len / 4);
        sum(own, weights.buf, found.numbers, found.count);
        result = Py_BuildValue("ddddd", chance(all[WANTED] + own[WANTED]), chance(all[NAMES] + own[NAMES]),
                               exp(within(least, all[TEXT] + own[TEXT], most)), all[WANTED],
                               within(-widest, own[TEXT] - own[BYTES], widest));
    } else
        PyErr_NoMemory();
    PyBuffer_Release(&weights);
    PyBuffer_Release(&shared);
    PyBuffer_Release(&hints);
    return result;
}

static PyObject *
step(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer weights, squares, features;
    int model;
    double error, rate, ease;
    if (!PyArg_ParseTuple(args, "w*w*y*iddd", &weights, &squares, &features, &model, &error, &rate, &ease))
        return NULL;
    int good = fits(&weights, &features) && fits(&squares, &features);
    if (good && (model < 0 || model >= MODELS)) {
        PyErr_SetString(PyExc_ValueError, "there is no such model");
        good = 0;
    }
    if (good) {
        float *weight = (float *)weights.buf + model, *square = (float *)squares.buf + model;
        const uint32_t *numbers = features.buf;
        double move = rate * error, more = error * error;
        for (Py_ssize_t at = 0; at < features.len / 4; at++) {
            size_t place = MODELS * (size_t)numbers[at];
            double sum = (double)square[place] + more;
            square[place] = (float)sum;
            weight[place] = (float)((double)weight[place] - move / sqrt(sum + ease));
        }
    }
    PyBuffer_Release(&weights);
    PyBuffer_Release(&squares);
    PyBuffer_Release(&features);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

#define ROW (MODELS * (Py_ssize_t)sizeof(float))
#define SAVED ((Py_ssize_t)sizeof(uint32_t) + 2 * ROW) /* a feature with its weights and squares */

static int
is_zero(const char *row)
{
    static const char zeros[ROW];
    return memcmp(row, zeros, ROW) == 0;
}

/* Return the features that have a weight or a square other than 0, each with these numbers. */
static PyObject *
save(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer weights, squares;
    if (!PyArg_ParseTuple(args, "y*y*", &weights, &squares))
        return NULL;
    PyObject *result = NULL;
    if (is_table(&weights) && is_table(&squares)) {
        const char *weight = weights.buf, *square = squares.buf;
        Py_ssize_t count = 0;
        for (Py_ssize_t at = 0; at <= MASK; at++)
            count += !is_zero(weight + at * ROW) || !is_zero(square + at * ROW);
        result = PyBytes_FromStringAndSize(NULL, count * SAVED);
        char *to = result == NULL ? NULL : PyBytes_AS_STRING(result);
        for (Py_ssize_t at = 0; to != NULL && at <= MASK; at++)
            if (!is_zero(weight + at * ROW) || !is_zero(square + at * ROW)) {
                uint32_t number = (uint32_t)at;
                memcpy(to, &number, sizeof number);
                memcpy(to + sizeof number, weight + at * ROW, ROW);
                memcpy(to + sizeof number + ROW, square + at * ROW, ROW);
                to += SAVED;
            }
    }
    PyBuffer_Release(&weights);
    PyBuffer_Release(&squares);
    return result;
}

static PyMethodDef methods[] = {
    {"of_page", of_page, METH_VARARGS, NULL},
    {"totals", totals, METH_VARARGS, NULL},
    {"expect", expect, METH_VARARGS, NULL},
    {"save", save, METH_VARARGS, NULL},
    {"step", step, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_features", .m_size = 0, .m_methods = methods};

PyMODINIT_FUNC
PyInit__features(void)
{
    make_table();
    return PyModule_Create(&definition);
}
