/* The structure of blocks in C: same input and same output as `reference` in structure.py, which gives the reasons.

   Two passes over the containers, whose parents come before them, decide which tables are tables and number everything. A
   structure is written for the blocks that are kept, once for each element that gives one. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { CHARS = 0, CONTAINER = 13, BLOCK_COLUMNS = 17 };
enum { C_PARENT, C_TAG, C_DEPTH, C_FIRST, C_END, C_HINTS, C_FLAGS, C_ORDINAL, CONTAINER_COLUMNS };
enum { NO_ROLE, LIST, ITEM, TERMS, TERM, TABLE, ROW, CELL, CAPTION, FIGURE, LEGEND, QUOTE, CODE, HEADING, ROLES };

#define MAX_PARTS 16
#define PART 64 /* characters of the longest part: three names and three numbers */
#define MAX_NAME 16

typedef struct {
    int32_t first_row, last_row, first_column, last_column;
    int64_t cells, blocks, chars;
    int layout, marked;
} Table;

typedef struct {
    Py_ssize_t blocks, containers, tables;
    const int32_t *block[BLOCK_COLUMNS], *container[CONTAINER_COLUMNS];
    const uint8_t *roles; /* by tag */
    const char *names[256];
    long long cell_chars, cell_blocks;

    Table *table;
    int32_t *table_of; /* of each container the table around it, itself included; -1: none */
    int32_t *number;   /* of a list, table, quotation, figure or piece of code */
    int32_t *holder;   /* list, table, row or figure that still waits for its part; -1: none */
    int32_t *part;     /* innermost part at or above the container; -1: none */
    int32_t *above;    /* of a part: the part around it */
    int32_t *held;     /* of a part: its holder */
    uint8_t *parts;    /* number of parts up to here */
    uint8_t *closed;   /* no part may follow */
    PyObject **made;   /* of a part: its structure */
    char *arena;
} Page;

static int
read_columns(Page *self, const Py_buffer *blocks, const Py_buffer *containers, Py_ssize_t tags)
{
    self->blocks = blocks->len / (Py_ssize_t)(BLOCK_COLUMNS * sizeof(int32_t));
    self->containers = containers->len / (Py_ssize_t)(CONTAINER_COLUMNS * sizeof(int32_t));
    for (int i = 0; i < BLOCK_COLUMNS; i++)
        self->block[i] = (const int32_t *)blocks->buf + i * self->blocks;
    for (int i = 0; i < CONTAINER_COLUMNS; i++)
        self->container[i] = (const int32_t *)containers->buf + i * self->containers;
    for (Py_ssize_t i = 0; i < self->blocks; i++)
        if (self->block[CONTAINER][i] < 0 || self->block[CONTAINER][i] >= self->containers)
            return -1;
    for (Py_ssize_t i = 0; i < self->containers; i++) {
        int32_t parent = self->container[C_PARENT][i], tag = self->container[C_TAG][i];
        if (parent < -1 || parent >= i || tag < 0 || tag >= tags)
            return -1;
        self->tables += self->roles[tag] == TABLE;
    }
    return 0;
}

static int
reserve(Page *self)
{
    size_t c = (size_t)self->containers, t = (size_t)self->tables;
    size_t total = t * sizeof(Table) + c * (sizeof(PyObject *) + 6 * sizeof(int32_t) + 2);
    self->arena = PyMem_Calloc(total ? total : 1, 1);
    if (self->arena == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->made = (PyObject **)self->arena;
    self->table = (Table *)(self->made + c);
    self->table_of = (int32_t *)(self->table + t);
    self->number = self->table_of + c;
    self->holder = self->number + c;
    self->part = self->holder + c;
    self->above = self->part + c;
    self->held = self->above + c;
    self->parts = (uint8_t *)(self->held + c);
    self->closed = self->parts + c;
    return 0;
}

static void
extend(int32_t *first, int32_t *last, int32_t number)
{
    if (*first == 0 || number < *first)
        *first = number;
    if (number > *last)
        *last = number;
}

/* Find out which tables hold data. */
static void
measure_tables(Page *self)
{
    int32_t next = 0;
    for (Py_ssize_t i = 0; i < self->containers; i++) {
        int role = self->roles[self->container[C_TAG][i]];
        int32_t parent = self->container[C_PARENT][i], ordinal = self->container[C_ORDINAL][i];
        int32_t around = parent >= 0 ? self->table_of[parent] : -1;
        Table *table = around >= 0 ? &self->table[around] : NULL;
        self->table_of[i] = around;
        if (role == TABLE) {
            if (table != NULL)
                table->layout = 1;
            self->table_of[i] = next;
            self->table[next++].layout = ordinal < 0;
        }
        else if (table == NULL)
            continue;
        else if (role == HEADING)
            table->layout = 1;
        else if (role == CAPTION)
            table->marked = 1;
        else if (role == ROW && ordinal > 0)
            extend(&table->first_row, &table->last_row, ordinal);
        else if (role == CELL && ordinal > 0) {
            table->cells++;
            table->marked |= self->names[self->container[C_TAG][i]][1] == 'h';
            extend(&table->first_column, &table->last_column, ordinal);
        }
    }
    for (Py_ssize_t i = 0; i < self->blocks; i++) {
        int32_t around = self->table_of[self->block[CONTAINER][i]];
        if (around >= 0) {
            self->table[around].blocks++;
            self->table[around].chars += self->block[CHARS][i];
        }
    }
    for (Py_ssize_t i = 0; i < self->tables; i++) {
        Table *table = &self->table[i];
        int full = table->chars > self->cell_chars * table->cells || table->blocks > self->cell_blocks * table->cells;
        if (table->first_row == table->last_row || table->first_column == table->last_column || (full && !table->marked))
            table->layout = 1;
    }
}

static void
add_part(Page *self, Py_ssize_t i, int32_t above, int32_t held)
{
    uint8_t parts = above >= 0 ? self->parts[above] : 0;
    self->holder[i] = -1;
    if (parts == MAX_PARTS) {
        self->closed[i] = 1;
        return;
    }
    self->part[i] = (int32_t)i;
    self->above[i] = above;
    self->held[i] = held;
    self->parts[i] = parts + 1;
}

static int
role_at(const Page *self, int32_t container)
{
    return container >= 0 ? self->roles[self->container[C_TAG][container]] : NO_ROLE;
}

/* Number everything, and find the parts of the structure of each container. */
static void
find_parts(Page *self)
{
    int32_t count[ROLES] = {0};
    for (Py_ssize_t i = 0; i < self->containers; i++) {
        int32_t parent = self->container[C_PARENT][i], ordinal = self->container[C_ORDINAL][i];
        int role = self->roles[self->container[C_TAG][i]];
        int32_t part = parent >= 0 ? self->part[parent] : -1, holder = parent >= 0 ? self->holder[parent] : -1;
        int around = role_at(self, holder);
        self->part[i] = part;
        self->holder[i] = holder;
        self->closed[i] = parent >= 0 && self->closed[parent];
        int drawn = role != TABLE || !self->table[self->table_of[i]].layout;
        if (role == LIST || role == TERMS || role == QUOTE || role == FIGURE || role == CODE || (role == TABLE && drawn))
            self->number[i] = ++count[role == TERMS ? LIST : role];
        if (self->closed[i])
            continue;
        switch (role) {
        case LIST:
        case TERMS:
            if (around == LIST && ordinal > 0)
                add_part(self, i, self->part[holder], holder);
            self->holder[i] = (int32_t)i;
            break;
        case ITEM:
        case TERM:
            if (around == (role == ITEM ? LIST : TERMS) && ordinal > 0)
                add_part(self, i, self->part[holder], holder);
            break;
        case TABLE:
            self->holder[i] = drawn ? (int32_t)i : -1;
            break;
        case ROW:
            self->held[i] = holder;
            self->holder[i] = around == TABLE && ordinal > 0 ? (int32_t)i : -1;
            break;
        case CELL:
            self->holder[i] = -1;
            if (around == ROW && ordinal > 0)
                add_part(self, i, self->part[holder], holder);
            break;
        case CAPTION:
            self->holder[i] = -1;
            if (around == TABLE)
                add_part(self, i, self->part[holder], holder);
            break;
        case LEGEND:
            if (around == FIGURE)
                add_part(self, i, self->part[holder], holder);
            break;
        case FIGURE:
            add_part(self, i, part, -1);
            self->holder[i] = (int32_t)i;
            break;
        case QUOTE:
            add_part(self, i, part, -1);
            break;
        case CODE:
        case HEADING:
            add_part(self, i, part, -1);
            self->closed[i] = 1;
            break;
        }
    }
}

static char *
put(char *to, const char *name, int32_t number)
{
    size_t length = strlen(name);
    char digits[12];
    int count = 0;
    memcpy(to, name, length);
    to += length;
    if (number < 0)
        return to;
    *to++ = ':';
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

static char *
put_part(const Page *self, char *to, int32_t part)
{
    int role = role_at(self, part);
    int32_t held = self->held[part], ordinal = self->container[C_ORDINAL][part];
    const char *name = self->names[self->container[C_TAG][part]];
    switch (role) {
    case LIST: /* inside another list */
    case TERMS:
        name = "li";
        /* fall through */
    case ITEM:
    case TERM:
        to = put(to, self->names[self->container[C_TAG][held]], self->number[held]);
        *to++ = ' ';
        return put(to, name, ordinal);
    case CELL:
        to = put(to, "table", self->number[self->held[held]]);
        *to++ = ' ';
        to = put(to, "tr", self->container[C_ORDINAL][held]);
        *to++ = ' ';
        return put(to, name, ordinal);
    case CAPTION:
        to = put(to, "table", self->number[held]);
        *to++ = ' ';
        return put(to, name, -1);
    case LEGEND:
    case HEADING:
        return put(to, name, -1);
    default:
        return put(to, name, self->number[part]);
    }
}

/* Return the structure of a part; NULL: an error. */
static PyObject *
written(Page *self, int32_t part)
{
    int32_t chain[MAX_PARTS];
    int count = 0;
    char text[MAX_PARTS * PART], *end = text;
    if (self->made[part] != NULL)
        return self->made[part];
    for (int32_t one = part; one >= 0; one = self->above[one])
        chain[count++] = one;
    while (count > 0) {
        if (end > text)
            *end++ = ' ';
        end = put_part(self, end, chain[--count]);
    }
    self->made[part] = PyUnicode_FromStringAndSize(text, end - text);
    return self->made[part];
}

static PyObject *
write_all(Page *self, const uint16_t *scores, int least)
{
    PyObject *result = PyList_New(self->blocks), *none = PyUnicode_New(0, 0);
    for (Py_ssize_t i = 0; result != NULL && none != NULL && i < self->blocks; i++) {
        int32_t part = self->part[self->block[CONTAINER][i]];
        PyObject *found = part >= 0 && scores[i] >= least ? written(self, part) : none;
        if (found == NULL)
            Py_CLEAR(result);
        else
            PyList_SET_ITEM(result, i, Py_NewRef(found));
    }
    if (none == NULL)
        Py_CLEAR(result);
    Py_XDECREF(none);
    for (Py_ssize_t i = 0; i < self->containers; i++)
        Py_XDECREF(self->made[i]);
    return result;
}

static int
read_names(Page *self, PyObject *names, Py_ssize_t tags)
{
    if (tags > 256 || PyTuple_GET_SIZE(names) != tags)
        return -1;
    for (Py_ssize_t i = 0; i < tags; i++) {
        Py_ssize_t length;
        self->names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(names, i), &length);
        if (self->names[i] == NULL || length > MAX_NAME || self->roles[i] >= ROLES)
            return -1;
    }
    return 0;
}

static PyObject *
structures(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *names, *result = NULL;
    Py_buffer blocks, containers, scores, roles;
    int least;
    Page self = {0};
    if (!PyArg_ParseTuple(arguments, "y*y*(y*i)(y*O!)(LL):structures", &blocks, &containers, &scores, &least, &roles, &PyTuple_Type, &names,
                          &self.cell_chars, &self.cell_blocks))
        return NULL;
    self.roles = roles.buf;
    if (read_names(&self, names, roles.len) < 0 || read_columns(&self, &blocks, &containers, roles.len) < 0 ||
        scores.len != self.blocks * 2) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "the blocks, the containers and the tables of tags do not fit together");
    }
    else if (reserve(&self) == 0) {
        if (self.tables > 0)
            measure_tables(&self);
        find_parts(&self);
        result = write_all(&self, scores.buf, least);
    }
    PyMem_Free(self.arena);
    PyBuffer_Release(&blocks);
    PyBuffer_Release(&containers);
    PyBuffer_Release(&scores);
    PyBuffer_Release(&roles);
    return result;
}

static PyMethodDef methods[] = {
    {"structures", structures, METH_VARARGS,
     "structures(blocks, containers, (scores, least), (roles, names), (cell_chars, cell_blocks)) -> the result of structure.reference"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_structure", "The kernel of the structure of blocks.", 0, methods,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__structure(void)
{
    return PyModuleDef_Init(&definition);
}
