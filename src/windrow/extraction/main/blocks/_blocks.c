/* The features and forests of the extractor `blocks` in C: same input and same output as features.py and reference.py, which
   give the reasons.

   A few passes over the blocks and containers of a page compute its sums. The features of a block are written out when a
   forest needs them, some blocks at a time, so that memory does not grow with features times blocks. All sums are sums of
   whole numbers and each feature is one division, so that the reference computes the same bits. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { CHARS, WORDS, LINK_CHARS, LINKS, STOPS, COMMAS, DIGITS, TAGS, BREAKS, IMAGES, TAG, DEPTH, PATH, CONTAINER, HEADING, FLAGS, HINTS, BLOCK_COLUMNS };
enum { C_PARENT, C_TAG, C_DEPTH, C_FIRST, C_END, C_HINTS, C_FLAGS, C_ORDINAL, CONTAINER_COLUMNS };

#define LEVELS 5
#define NEAR 3
#define CORES 2
#define LIKELY_CORES 3
#define FIGURES 6 /* features of a container */
#define OWN 12
#define PATH_FIGURES 5
#define PLACES 10
#define COMMENTS 7
#define COMMENT_FIGURES 4 /* of the page */
#define PAGE 13
#define BUCKETS 1024
#define MAX_GRADES 64
#define MAX_BITS 32
#define MAX_TAGS 256
#define MAX_PATH (1 << 24)
#define MARKS 64
#define SECOND (13 + 2 * LEVELS + 3 * LIKELY_CORES + 2)
#define MAX_FIRST (OWN + MAX_BITS + FIGURES * LEVELS + 2 * NEAR + (5 + FIGURES) * CORES + PATH_FIGURES + PLACES + COMMENTS + PAGE)
#define LANES 16 /* blocks that go through a forest together, in the registers of the processor */
#define LEAVES 32
#define CAPSULE "windrow.extraction.main.blocks._blocks.model"

static const int cores[CORES] = {40, 80};
static const int likely_cores[LIKELY_CORES] = {50, 80, 95};

typedef struct {
    float *thresholds; /* per tree and question */
    uint16_t *features;
    uint32_t *masks; /* leaves that are out of reach if the feature is above the threshold */
    int16_t *values; /* per tree and leaf */
    int trees, questions, early;
    int32_t cut;
} Forest;

typedef struct {
    Forest forests[2];
    int skip, raise;
    int unit; /* of the sum of leaves, per bucket */
    int64_t likely[BUCKETS];
    int64_t whole; /* a probability of one */
    uint8_t groups[MAX_TAGS];
    int bits;
    uint8_t bit[MAX_BITS];
    int group_p, group_li, table;
    int32_t comment, forum; /* bits of hints */
    int64_t most_comments, cells, cell, cards, card, number;
    int grade, grades;
    int64_t words, few, sure; /* of a page without main text */
    int64_t likely_grade[MAX_GRADES];
    int scale; /* bits of a probability */
    uint8_t ascii[128]; /* classes of last characters */
    int marks;
    Py_UCS4 mark[MARKS];
    uint8_t mark_class[MARKS];
    int64_t prose, slight;
    int far_end, away;
    int width; /* features of the first stage */
} Model;

enum { GOES_ON = 1, ENDS = 2, CLOSES = 4 };

typedef struct {
    const Model *model;
    Py_ssize_t count, containers, paths;
    const int32_t *block[BLOCK_COLUMNS], *container[CONTAINER_COLUMNS];
    PyObject *texts;

    int64_t *lengths, *linked, *prose;          /* of each block */
    int64_t *lengths_sum, *linked_sum, *prose_sum; /* running, from 0 to the total */
    float *links;
    int32_t *since, *until;
    uint8_t *group, *ending, *commented;

    int32_t *above, *around; /* of each container, of each block */
    float *figures;          /* of each container */
    float *group_of;         /* of each container */
    int32_t *outside[CORES], *branch[CORES];
    int32_t core[CORES];
    uint8_t *lined;

    float *path_figures; /* five of each */
    float page[PAGE], comments[COMMENT_FIGURES];
    int64_t total, total_prose;
    Py_ssize_t first_h1; /* -1: none */

    uint16_t *buckets[2];
    int64_t *mass, *mass_sum;
    float *likely_figures; /* two of each container */
    float *likely_paths;   /* two of each path */
    int32_t likely_core[LIKELY_CORES];
    float likely_page[4];
    char *arena;
} Page;

static inline float
ratio(int64_t part, int64_t whole)
{
    return (float)((double)part / (double)whole);
}

static inline int64_t
most(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

static inline int64_t
least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int
read_columns(Page *self, const Py_buffer *blocks, const Py_buffer *containers)
{
    self->count = blocks->len / (Py_ssize_t)(BLOCK_COLUMNS * sizeof(int32_t));
    self->containers = containers->len / (Py_ssize_t)(CONTAINER_COLUMNS * sizeof(int32_t));
    for (int i = 0; i < BLOCK_COLUMNS; i++)
        self->block[i] = (const int32_t *)blocks->buf + i * self->count;
    for (int i = 0; i < CONTAINER_COLUMNS; i++)
        self->container[i] = (const int32_t *)containers->buf + i * self->containers;
    if (self->count < 1 || self->containers < 1 || PyList_GET_SIZE(self->texts) != self->count)
        goto broken;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        int32_t path = self->block[PATH][i], container = self->block[CONTAINER][i], tag = self->block[TAG][i];
        if (self->block[CHARS][i] < 1 || self->block[WORDS][i] < 1 || path < 0 || path >= MAX_PATH || container < 0 ||
            container >= self->containers || tag < 0 || tag >= MAX_TAGS || !PyUnicode_Check(PyList_GET_ITEM(self->texts, i)) ||
            PyUnicode_GET_LENGTH(PyList_GET_ITEM(self->texts, i)) < 1)
            goto broken;
        self->paths = most(self->paths, path + 1);
    }
    for (Py_ssize_t i = 0; i < self->containers; i++) {
        int32_t parent = self->container[C_PARENT][i], first = self->container[C_FIRST][i], end = self->container[C_END][i];
        int32_t tag = self->container[C_TAG][i];
        if (parent >= i || (parent < 0 && i > 0) || first < 0 || first > end || end > self->count || tag < 0 || tag >= MAX_TAGS)
            goto broken;
    }
    return 0;
broken:
    PyErr_SetString(PyExc_ValueError, "the blocks, the containers and the texts do not fit together");
    return -1;
}

/* Allocate all arrays at once. */
static int
reserve(Page *self)
{
    size_t n = (size_t)self->count, c = (size_t)self->containers, p = (size_t)self->paths;
    struct { void **to; size_t size; } parts[] = {
        {(void **)&self->lengths, n * 8}, {(void **)&self->linked, n * 8}, {(void **)&self->prose, n * 8},
        {(void **)&self->lengths_sum, (n + 1) * 8}, {(void **)&self->linked_sum, (n + 1) * 8}, {(void **)&self->prose_sum, (n + 1) * 8},
        {(void **)&self->mass, n * 8}, {(void **)&self->mass_sum, (n + 1) * 8},
        {(void **)&self->links, n * 4}, {(void **)&self->since, n * 4}, {(void **)&self->until, n * 4},
        {(void **)&self->around, n * 4}, {(void **)&self->above, c * 4}, {(void **)&self->figures, c * FIGURES * 4},
        {(void **)&self->group_of, c * 4}, {(void **)&self->likely_figures, c * 2 * 4},
        {(void **)&self->outside[0], c * CORES * 4}, {(void **)&self->branch[0], c * CORES * 4},
        {(void **)&self->path_figures, p * PATH_FIGURES * 4}, {(void **)&self->likely_paths, p * 2 * 4},
        {(void **)&self->buckets[0], n * 2}, {(void **)&self->buckets[1], n * 2},
        {(void **)&self->group, n}, {(void **)&self->ending, n}, {(void **)&self->commented, n}, {(void **)&self->lined, c},
    };
    size_t total = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        total += (parts[i].size + 7) / 8 * 8;
    self->arena = PyMem_Malloc(total);
    if (self->arena == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    char *next = self->arena;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        *parts[i].to = next;
        next += (parts[i].size + 7) / 8 * 8;
    }
    for (int i = 1; i < CORES; i++) {
        self->outside[i] = self->outside[0] + i * self->containers;
        self->branch[i] = self->branch[0] + i * self->containers;
    }
    return 0;
}

static int
class_of(const Model *model, Py_UCS4 letter)
{
    if (letter < 128)
        return model->ascii[letter];
    for (int i = 0; i < model->marks; i++)
        if (model->mark[i] == letter)
            return model->mark_class[i];
    return 0;
}

static uint8_t
ending_of(const Model *model, PyObject *text)
{
    Py_ssize_t last = PyUnicode_GET_LENGTH(text) - 1;
    int class = class_of(model, PyUnicode_READ_CHAR(text, last));
    if (class & CLOSES)
        class = last ? class_of(model, PyUnicode_READ_CHAR(text, last - 1)) : 0;
    return class & (GOES_ON | ENDS);
}

static void
measure_blocks(Page *self)
{
    const Model *model = self->model;
    self->lengths_sum[0] = self->linked_sum[0] = self->prose_sum[0] = 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        int64_t chars = self->block[CHARS][i], words = self->block[WORDS][i], linked = self->block[LINK_CHARS][i];
        int64_t length = words * 10;
        if (!PyUnicode_IS_ASCII(PyList_GET_ITEM(self->texts, i)))
            length = most(length, (chars - 15 * words) * 6);
        self->lengths[i] = length;
        self->linked[i] = length * linked / chars;
        self->prose[i] = length >= model->prose && 3 * linked < chars ? length - self->linked[i] : 0;
        self->lengths_sum[i + 1] = self->lengths_sum[i] + length;
        self->linked_sum[i + 1] = self->linked_sum[i] + self->linked[i];
        self->prose_sum[i + 1] = self->prose_sum[i] + self->prose[i];
        self->links[i] = ratio(linked, chars);
        self->group[i] = model->groups[self->block[TAG][i]];
        self->ending[i] = ending_of(model, PyList_GET_ITEM(self->texts, i));
    }
    self->total = most(self->lengths_sum[self->count], 1);
    self->total_prose = most(self->prose_sum[self->count], 1);
}

static void
measure_distances(Page *self)
{
    int32_t away = self->model->away, distance = away;
    self->first_h1 = -1;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        self->since[i] = distance;
        distance = self->prose[i] > 0 ? 1 : (int32_t)least(distance + 1, away);
        if (self->first_h1 < 0 && self->block[HEADING][i] == 1)
            self->first_h1 = i;
    }
    distance = away;
    for (Py_ssize_t i = self->count - 1; i >= 0; i--) {
        self->until[i] = distance;
        distance = self->prose[i] > 0 ? 1 : (int32_t)least(distance + 1, away);
    }
}

/* Return the smallest element with this percentage of the total: the last one in the order of the page. */
static int32_t
core_of(const Page *self, const int64_t *sums, int share, int64_t total)
{
    const int32_t *first = self->container[C_FIRST], *end = self->container[C_END];
    for (Py_ssize_t i = self->containers - 1; i > 0; i--)
        if ((sums[end[i]] - sums[first[i]]) * 100 >= share * total)
            return (int32_t)i;
    return 0;
}

static void
measure_containers(Page *self)
{
    const int32_t *parent = self->container[C_PARENT], *first = self->container[C_FIRST], *end = self->container[C_END];
    for (Py_ssize_t i = 0; i < self->containers; i++) {
        int64_t blocks = most(end[i] - first[i], 1), length = self->lengths_sum[end[i]] - self->lengths_sum[first[i]];
        int64_t linked = self->linked_sum[end[i]] - self->linked_sum[first[i]];
        int64_t prose = self->prose_sum[end[i]] - self->prose_sum[first[i]], some = most(length, 1);
        float *figures = &self->figures[i * FIGURES];
        figures[0] = (float)blocks;
        figures[1] = ratio(length, self->total);
        figures[2] = ratio(prose, self->total_prose);
        figures[3] = ratio(linked, some);
        figures[4] = ratio(length, blocks);
        figures[5] = ratio(prose, some);
        self->group_of[i] = self->model->groups[self->container[C_TAG][i]];
        if (i == 0)
            self->above[0] = 0;
        else if (first[i] == first[parent[i]] && end[i] == end[parent[i]])
            self->above[i] = self->above[parent[i]];
        else
            self->above[i] = parent[i];
    }
    for (Py_ssize_t i = 0; i < self->count; i++) {
        int32_t own = self->block[CONTAINER][i];
        self->around[i] = end[own] - first[own] < 2 ? self->above[own] : own;
    }
}

static void
measure_core(Page *self, int number)
{
    int32_t core = core_of(self, self->prose_sum, cores[number], self->total_prose), *outside = self->outside[number];
    int32_t *branch = self->branch[number], place = 0;
    self->core[number] = core;
    memset(self->lined, 0, (size_t)self->containers);
    for (int32_t i = core;; i = self->above[i]) {
        self->lined[i] = 1;
        outside[i] = place++;
        branch[i] = i;
        if (i == 0)
            break;
    }
    for (int32_t i = 1; i < self->containers; i++)
        if (!self->lined[i]) {
            int32_t above = self->above[i];
            outside[i] = outside[above];
            branch[i] = self->lined[above] ? i : branch[above];
        }
}

static int
measure_paths(Page *self)
{
    int64_t *sums = PyMem_Calloc((size_t)self->paths * 4, sizeof(int64_t)); /* blocks, length, linked, prose */
    if (sums == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->count; i++) {
        int64_t *sum = &sums[self->block[PATH][i] * 4];
        sum[0]++;
        sum[1] += self->lengths[i];
        sum[2] += self->linked[i];
        sum[3] += self->prose[i];
    }
    for (Py_ssize_t i = 0; i < self->paths; i++) {
        int64_t *sum = &sums[i * 4];
        float *figures = &self->path_figures[i * PATH_FIGURES];
        figures[0] = (float)most(sum[0], 1);
        figures[1] = ratio(sum[1], self->total);
        figures[2] = ratio(sum[3], self->total_prose);
        figures[3] = ratio(sum[2], most(sum[1], 1));
        figures[4] = ratio(sum[1], most(sum[0], 1));
    }
    PyMem_Free(sums);
    return 0;
}

static void
measure_comments(Page *self)
{
    const int32_t *first = self->container[C_FIRST], *end = self->container[C_END], *hints = self->container[C_HINTS];
    const int64_t *sums = self->prose_sum;
    int64_t elements = 0, prose = 0;
    int32_t reached = 0, start = (int32_t)self->count;
    memset(self->commented, 0, (size_t)self->count);
    for (Py_ssize_t i = 0; i < self->containers; i++) {
        if (!(hints[i] & self->model->comment) || end[i] <= reached ||
            (2 * (sums[end[i]] - sums[first[i]]) >= self->total_prose && 10 * sums[first[i]] < 3 * self->total_prose))
            continue;
        int32_t from = (int32_t)most(first[i], reached);
        elements += first[i] >= reached;
        start = (int32_t)least(start, first[i]);
        prose += sums[end[i]] - sums[from];
        memset(self->commented + from, 1, (size_t)(end[i] - from));
        reached = end[i];
    }
    self->comments[0] = (float)least(elements, self->model->most_comments);
    self->comments[1] = ratio(prose, self->total_prose);
    self->comments[2] = ratio(sums[start], self->total_prose);
    self->comments[3] = (float)(self->total_prose - prose);
}

static void
measure_page(Page *self)
{
    const Model *model = self->model;
    int64_t longest = 0, in_p = 0, in_li = 0, prose = 0, headings = 0, stops = 0, depth = 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        longest = most(longest, self->lengths[i]);
        in_p += self->group[i] == model->group_p ? self->lengths[i] : 0;
        in_li += self->group[i] == model->group_li ? self->lengths[i] : 0;
        prose += self->prose[i] > 0;
        headings += self->block[HEADING][i] != 0;
        stops += self->block[STOPS][i];
        depth = most(depth, self->block[DEPTH][i]);
    }
    int64_t all = self->prose_sum[self->count];
    float *page = self->page;
    *page++ = (float)self->count;
    *page++ = (float)self->total;
    *page++ = (float)all;
    *page++ = ratio(self->linked_sum[self->count], self->total);
    *page++ = ratio(all, self->total);
    *page++ = (float)longest;
    *page++ = ratio(in_p, self->total);
    *page++ = ratio(in_li, self->total);
    *page++ = ratio(all, most(prose, 1));
    *page++ = (float)prose;
    *page++ = (float)headings;
    *page++ = ratio(stops, self->total);
    *page++ = (float)depth;
}

static int
measure(Page *self)
{
    measure_blocks(self);
    if (measure_paths(self) < 0)
        return -1;
    measure_distances(self);
    measure_containers(self);
    for (int i = 0; i < CORES; i++)
        measure_core(self, i);
    measure_comments(self);
    measure_page(self);
    return 0;
}

static int64_t
offset_of(const Page *self, Py_ssize_t block, int32_t container)
{
    int32_t first = self->container[C_FIRST][container], end = self->container[C_END][container];
    return block < first ? block - first : most(block - end + 1, 0);
}

#define PUT(value) (*to = (value), to += LANES)

/* Write the features of a block for the first stage, LANES apart. Return where those of the second stage go. */
static float *
write_first(const Page *self, Py_ssize_t i, float *to)
{
    const Model *model = self->model;
    int64_t length = self->lengths[i], chars = self->block[CHARS][i];
    int32_t own = self->block[CONTAINER][i], flags = self->block[FLAGS][i];
    PUT((float)self->block[STOPS][i]);
    PUT((float)self->block[BREAKS][i]);
    PUT((float)self->block[IMAGES][i]);
    PUT((float)self->block[DEPTH][i]);
    PUT((float)self->block[HEADING][i]);
    PUT((float)length);
    PUT(self->group[i]);
    PUT(self->ending[i]);
    PUT(self->links[i]);
    PUT(ratio(self->block[DIGITS][i], chars));
    PUT(ratio(self->block[COMMAS][i], length));
    PUT(ratio(self->block[TAGS][i], length));
    for (int bit = 0; bit < model->bits; bit++)
        PUT((float)(flags >> model->bit[bit] & 1));
    int32_t around[LEVELS];
    for (int level = 0; level < LEVELS; level++)
        around[level] = level ? self->above[around[level - 1]] : self->around[i];
    for (int figure = 0; figure < FIGURES; figure++)
        for (int level = 0; level < LEVELS; level++)
            PUT(self->figures[around[level] * FIGURES + figure]);
    for (int level = 0; level < NEAR; level++)
        PUT(self->group_of[around[level]]);
    for (int level = 0; level < NEAR; level++) {
        int32_t first = self->container[C_FIRST][around[level]], end = self->container[C_END][around[level]];
        PUT(ratio(i - first, most(end - first, 1)));
    }
    for (int number = 0; number < CORES; number++) {
        int32_t core = self->core[number], branch = self->branch[number][own];
        int32_t first = self->container[C_FIRST][core], end = self->container[C_END][core];
        PUT((float)self->outside[number][own]);
        PUT((float)offset_of(self, i, core));
        PUT(ratio(i - first, most(end - first, 1)));
        PUT((float)(self->container[C_DEPTH][own] - self->container[C_DEPTH][core]));
        PUT(self->figures[core * FIGURES + 1]);
        for (int figure = 0; figure < FIGURES - 1; figure++)
            PUT(self->figures[branch * FIGURES + figure]);
        PUT(self->group_of[branch]);
    }
    for (int figure = 0; figure < PATH_FIGURES; figure++)
        PUT(self->path_figures[self->block[PATH][i] * PATH_FIGURES + figure]);
    PUT(ratio(i, self->count));
    PUT(ratio(self->lengths_sum[i], self->total));
    PUT(ratio(self->prose_sum[i], self->total_prose));
    PUT((float)self->since[i]);
    PUT((float)self->until[i]);
    PUT(self->first_h1 < 0 ? 0 : (float)most(least(i - self->first_h1, model->far_end), -model->far_end));
    PUT(i > 0 ? (float)self->lengths[i - 1] : 0);
    PUT(i + 1 < self->count ? (float)self->lengths[i + 1] : 0);
    PUT(i > 0 ? self->links[i - 1] : 0);
    PUT(i > 0 ? self->group[i - 1] : 0);
    PUT(self->commented[i]);
    for (int figure = 0; figure < COMMENT_FIGURES; figure++)
        PUT(self->comments[figure]);
    PUT((self->block[HINTS][i] & model->comment) != 0);
    PUT((self->block[HINTS][i] & model->forum) != 0);
    for (int figure = 0; figure < PAGE; figure++)
        PUT(self->page[figure]);
    return to;
}

/* Compute the sums of the second stage from the buckets of the first. */
static int
measure_likely(Page *self)
{
    const Model *model = self->model;
    int64_t sure = 0, decided = 0;
    self->mass_sum[0] = 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        int64_t likely = model->likely[self->buckets[0][i]];
        self->mass[i] = self->lengths[i] * likely;
        self->mass_sum[i + 1] = self->mass_sum[i] + self->mass[i];
        sure += self->buckets[0][i] >= BUCKETS / 2 ? self->mass[i] : 0;
        decided += self->lengths[i] * (likely > model->whole / 2 ? likely - model->whole / 2 : model->whole / 2 - likely);
    }
    int64_t all = self->mass_sum[self->count], total = most(all, 1), length = self->lengths_sum[self->count];
    self->likely_page[0] = (float)all;
    self->likely_page[1] = ratio(all, length);
    self->likely_page[2] = ratio(sure, total);
    self->likely_page[3] = ratio(decided, length);
    const int32_t *first = self->container[C_FIRST], *end = self->container[C_END];
    for (Py_ssize_t i = 0; i < self->containers; i++) {
        int64_t mass = self->mass_sum[end[i]] - self->mass_sum[first[i]];
        self->likely_figures[i * 2] = ratio(mass, most(self->lengths_sum[end[i]] - self->lengths_sum[first[i]], 1));
        self->likely_figures[i * 2 + 1] = ratio(mass, total);
    }
    for (int i = 0; i < LIKELY_CORES; i++)
        self->likely_core[i] = core_of(self, self->mass_sum, likely_cores[i], total);
    int64_t *sums = PyMem_Calloc((size_t)self->paths * 2, sizeof(int64_t));
    if (sums == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->count; i++) {
        sums[self->block[PATH][i] * 2] += self->mass[i];
        sums[self->block[PATH][i] * 2 + 1] += self->lengths[i];
    }
    for (Py_ssize_t i = 0; i < self->paths; i++) {
        self->likely_paths[i * 2] = ratio(sums[i * 2], most(sums[i * 2 + 1], 1));
        self->likely_paths[i * 2 + 1] = ratio(sums[i * 2], total);
    }
    PyMem_Free(sums);
    return 0;
}

/* Write the features that the second stage adds. */
static void
write_second(const Page *self, Py_ssize_t i, float *to)
{
    static const int beside[] = {0, -1, 1, -2, 2}, windows[] = {3, 8};
    int64_t total = most(self->mass_sum[self->count], 1);
    for (int j = 0; j < 5; j++)
        PUT(i + beside[j] >= 0 && i + beside[j] < self->count ? (float)self->buckets[0][i + beside[j]] : 0);
    for (int j = 0; j < 2; j++) {
        Py_ssize_t first = most(i - windows[j], 0), end = least(i + windows[j] + 1, self->count);
        PUT(ratio(self->mass_sum[end] - self->mass_sum[first], self->lengths_sum[end] - self->lengths_sum[first]));
    }
    PUT(ratio(self->mass_sum[i], total));
    PUT(ratio(self->mass[i], total));
    for (int figure = 0; figure < 2; figure++) {
        int32_t around = self->around[i];
        for (int level = 0; level < LEVELS; level++, around = self->above[around])
            PUT(self->likely_figures[around * 2 + figure]);
    }
    for (int j = 0; j < LIKELY_CORES; j++)
        PUT((float)offset_of(self, i, self->likely_core[j]));
    for (int j = 0; j < LIKELY_CORES; j++)
        PUT((float)(self->container[C_DEPTH][self->block[CONTAINER][i]] - self->container[C_DEPTH][self->likely_core[j]]));
    for (int j = 0; j < LIKELY_CORES; j++)
        PUT(self->likely_figures[self->likely_core[j] * 2]);
    for (int figure = 0; figure < 2; figure++)
        PUT(self->likely_paths[self->block[PATH][i] * 2 + figure]);
    for (int figure = 0; figure < 4; figure++)
        PUT(self->likely_page[figure]);
}

typedef float Floats __attribute__((vector_size(16), may_alias));
typedef int32_t Ints __attribute__((vector_size(16)));
#define VECTORS (LANES / 4)

/* Add the values of these trees for LANES blocks in the table: in each tree that of the first leaf in reach. */
static void
ask(const Forest *forest, int first, int end, const Floats *table, int32_t *sums)
{
    for (int tree = first; tree < end; tree++) {
        const int16_t *values = forest->values + tree * LEAVES;
        Ints out[VECTORS] = {{0}};
        for (int question = tree * forest->questions; question < (tree + 1) * forest->questions; question++) {
            const Floats *figures = table + forest->features[question] * VECTORS;
            const float threshold = forest->thresholds[question];
            const int32_t mask = (int32_t)forest->masks[question];
            const Floats thresholds = {threshold, threshold, threshold, threshold};
            const Ints masks = {mask, mask, mask, mask};
            for (int i = 0; i < VECTORS; i++)
                out[i] |= (figures[i] > thresholds) & masks;
        }
        for (int i = 0; i < LANES; i++)
            sums[i] += values[__builtin_ctz(~(uint32_t)out[i / 4][i % 4])];
    }
}

/* Set the buckets of the blocks in the table. The early trees alone decide about a block that is far from being text. */
static void
answer(const Model *model, const Forest *forest, const Floats *table, const Py_ssize_t *blocks, int count, uint16_t *buckets)
{
    int32_t sums[LANES] = {0}, early[LANES];
    int left = 0;
    ask(forest, 0, forest->early, table, sums);
    memcpy(early, sums, sizeof(sums));
    for (int i = 0; i < count; i++)
        left |= sums[i] >= forest->cut;
    if (left)
        ask(forest, forest->early, forest->trees, table, sums);
    for (int i = 0; i < count; i++) {
        int32_t sum = early[i] >= forest->cut ? sums[i] : early[i];
        int32_t bucket = (sum >= 0 ? sum / model->unit : -((model->unit - 1 - sum) / model->unit)) + BUCKETS / 2;
        buckets[blocks[i]] = (uint16_t)most(least(bucket, BUCKETS - 1), 0);
    }
}

/* Give all blocks of a table with short cells the mean of their buckets. */
static void
level_tables(Page *self)
{
    const Model *model = self->model;
    const int32_t *first = self->container[C_FIRST], *end = self->container[C_END];
    int64_t following = self->count;
    for (Py_ssize_t i = self->containers - 1; i >= 0; i--) {
        if (self->container[C_TAG][i] != model->table)
            continue;
        int64_t blocks = end[i] - first[i], length = self->lengths_sum[end[i]] - self->lengths_sum[first[i]], sum = 0;
        if (end[i] <= following && blocks >= model->cells && length <= model->cell * blocks) {
            for (int32_t j = first[i]; j < end[i]; j++)
                sum += (self->lengths[j] + model->slight) * self->buckets[1][j];
            for (int32_t j = first[i]; j < end[i]; j++)
                self->buckets[1][j] = (uint16_t)(sum / (length + blocks * model->slight));
        }
        following = first[i];
    }
}

/* Give the numbers of a card the greatest bucket of its blocks. */
static int
join_cards(Page *self)
{
    const Model *model = self->model;
    const int32_t *first = self->container[C_FIRST], *end = self->container[C_END], *parent = self->container[C_PARENT];
    int64_t *sums = PyMem_Calloc((size_t)self->containers * 3, sizeof(int64_t)); /* cards, their blocks, their length */
    if (sums == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int pass = 0; pass < 2; pass++)
        for (Py_ssize_t i = 1; i < self->containers; i++) {
            int64_t blocks = end[i] - first[i], *sum = &sums[parent[i] * 3];
            if (blocks < 2 || blocks > model->card || self->above[i] != parent[i])
                continue;
            if (pass == 0) {
                sum[0]++;
                sum[1] += blocks;
                sum[2] += self->lengths_sum[end[i]] - self->lengths_sum[first[i]];
                continue;
            }
            uint16_t greatest = 0;
            if (sum[0] < model->cards || sum[2] > model->cell * sum[1])
                continue;
            for (int32_t j = first[i]; j < end[i]; j++)
                greatest = (uint16_t)most(greatest, self->buckets[1][j]);
            for (int32_t j = first[i]; j < end[i]; j++)
                if (self->lengths[j] <= model->number && self->block[DIGITS][j] * (int64_t)5 > self->block[CHARS][j])
                    self->buckets[1][j] = greatest;
        }
    PyMem_Free(sums);
    return 0;
}

/* Raise each subheading to the block below it, if the element around the heading holds that block too. */
static void
join_headings(Page *self)
{
    const int32_t *heading = self->block[HEADING];
    for (Py_ssize_t i = 0; i + 1 < self->count; i++) {
        int32_t parent = self->container[C_PARENT][self->block[CONTAINER][i]];
        if (heading[i] > 1 && heading[i + 1] == 0 && parent >= 0 && i + 1 < self->container[C_END][parent])
            self->buckets[1][i] = (uint16_t)most(self->buckets[1][i], self->buckets[1][i + 1]);
    }
}

static int
classify_blocks(Page *self)
{
    const Model *model = self->model;
    Floats table[(MAX_FIRST + SECOND) * VECTORS];
    memset(table, 0, sizeof(table));
    for (int stage = 0; stage < 2; stage++) {
        Py_ssize_t blocks[LANES];
        int count = 0;
        if (stage && measure_likely(self) < 0)
            return -1;
        for (Py_ssize_t i = 0; i < self->count; i++) {
            if (stage)
                self->buckets[1][i] = self->buckets[0][i];
            if (stage == 0 || self->buckets[0][i] >= model->skip) {
                float *rest = write_first(self, i, (float *)table + count);
                if (stage)
                    write_second(self, i, rest);
                blocks[count++] = i;
            }
            if (count == LANES || (count > 0 && i + 1 == self->count)) {
                answer(model, &model->forests[stage], table, blocks, count, self->buckets[stage]);
                count = 0;
            }
        }
    }
    for (Py_ssize_t i = 0; i < self->count; i++)
        self->buckets[1][i] = (uint16_t)least(self->buckets[1][i], self->buckets[0][i] + model->raise);
    level_tables(self);
    if (join_cards(self) < 0)
        return -1;
    join_headings(self);
    return 0;
}

/* Return whether a page has no main text. */
static int
is_empty(const Page *self)
{
    const Model *model = self->model;
    int64_t expected = 0, best = 0;
    if (self->lengths_sum[self->count] < model->words)
        return 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        int64_t likely = model->likely[self->buckets[1][i]];
        best = most(best, likely);
        expected += likely * self->lengths[i];
    }
    return best < model->sure && expected < model->few << model->scale;
}

/* Return the least bucket to keep, for which the expected F1 is greatest; BUCKETS if nothing is to be kept. */
static int
threshold(const Page *self)
{
    const Model *model = self->model;
    int64_t weights[MAX_GRADES] = {0}, kept[MAX_GRADES], right[MAX_GRADES], chances[MAX_GRADES], greatest = -1;
    int used[MAX_GRADES], count = 0, best = 0;
    if (is_empty(self))
        return BUCKETS;
    for (Py_ssize_t i = 0; i < self->count; i++)
        weights[self->buckets[1][i] / model->grade] += self->lengths[i] + model->slight;
    for (int grade = model->grades - 1; grade >= 0; grade--)
        if (weights[grade]) {
            int64_t likely = model->likely_grade[grade];
            kept[count] = weights[grade] + (count ? kept[count - 1] : 0);
            right[count] = weights[grade] * likely + (count ? right[count - 1] : 0);
            if (count)
                chances[count - 1] -= likely;
            chances[count] = likely;
            used[count++] = grade;
        }
    for (int i = 0; i < count; i++) {
        int64_t expected = (right[i] * 2 / (kept[i] + (right[count - 1] >> model->scale))) << model->scale;
        for (int j = 0; j < count; j++)
            expected += (least(kept[i], kept[j]) * 2 << model->scale) / (kept[i] + kept[j]) * chances[j];
        if (expected > greatest) {
            greatest = expected;
            best = i;
        }
    }
    return used[best] * model->grade;
}

static void
release(Page *self, Py_buffer *blocks, Py_buffer *containers)
{
    PyMem_Free(self->arena);
    PyBuffer_Release(blocks);
    PyBuffer_Release(containers);
}

static PyObject *
classify(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *result = NULL;
    Py_buffer blocks, containers;
    Page self = {0};
    if (!PyArg_ParseTuple(arguments, "O!y*y*O:classify", &PyList_Type, &self.texts, &blocks, &containers, &capsule))
        return NULL;
    self.model = PyCapsule_GetPointer(capsule, CAPSULE);
    if (self.model != NULL && read_columns(&self, &blocks, &containers) == 0 && reserve(&self) == 0 && measure(&self) == 0 &&
        classify_blocks(&self) == 0)
        result = Py_BuildValue("y#y#i", self.buckets[0], self.count * 2, self.buckets[1], self.count * 2, threshold(&self));
    release(&self, &blocks, &containers);
    return result;
}

/* Add structure, lines and marks of a paragraph behind its first five fields and its language, up to the last one that it has.
   Return how many fields there are; 0: an error. */
static size_t
add_form(PyObject **parts, Py_ssize_t i, PyObject *structures, PyObject *lines, PyObject *marks)
{
    static PyObject *none = NULL;
    PyObject *number = NULL;
    if (none == NULL && (none = PyUnicode_InternFromString("")) == NULL)
        return 0;
    parts[5] = parts[7] = none;
    parts[6] = PyList_GET_ITEM(structures, i);
    if (PyDict_GET_SIZE(lines) == 0 && PyDict_GET_SIZE(marks) == 0)
        return parts[6] != none ? 7 : 5;
    if ((number = PyLong_FromSsize_t(i)) == NULL)
        return 0;
    PyObject *shown = PyDict_GetItemWithError(lines, number);
    parts[8] = shown != NULL || !PyErr_Occurred() ? PyDict_GetItemWithError(marks, number) : NULL;
    Py_DECREF(number);
    if (PyErr_Occurred())
        return 0;
    if (shown != NULL)
        parts[7] = shown;
    return parts[8] != NULL ? 9 : shown != NULL ? 8 : parts[6] != none ? 7 : 5;
}

/* Return the paragraphs of a page: `make` is called with text, kind, heading, path, and the kind by the first stage. */
static PyObject *
paragraphs(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *make, *texts, *paths, *bad, *good, *structures = NULL, *lines = NULL, *marks = NULL, *result = NULL;
    Py_buffer blocks, first, second;
    int even, bound;
    if (!PyArg_ParseTuple(arguments, "OO!y*O!(UU)(y*i)(y*i)|(O!O!O!):paragraphs", &make, &PyList_Type, &texts, &blocks, &PyList_Type, &paths,
                          &bad, &good, &first, &even, &second, &bound, &PyList_Type, &structures, &PyDict_Type, &lines, &PyDict_Type, &marks))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(texts);
    const int32_t *heading = (const int32_t *)blocks.buf + HEADING * count, *path = (const int32_t *)blocks.buf + PATH * count;
    if (blocks.len != count * BLOCK_COLUMNS * (Py_ssize_t)sizeof(int32_t) || first.len != count * 2 || second.len != count * 2 ||
        (structures != NULL && PyList_GET_SIZE(structures) != count))
        PyErr_SetString(PyExc_ValueError, "the blocks, the answers and the texts do not fit together");
    else
        result = PyTuple_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyObject *where = path[i] >= 0 && path[i] < PyList_GET_SIZE(paths) ? PyList_GET_ITEM(paths, path[i]) : Py_None;
        PyObject *kind = ((const uint16_t *)second.buf)[i] >= bound ? good : bad, *own = ((const uint16_t *)first.buf)[i] >= even ? good : bad;
        PyObject *parts[9] = {PyList_GET_ITEM(texts, i), kind, heading[i] > 0 ? Py_True : Py_False, where, own};
        size_t given = structures != NULL && kind == good ? add_form(parts, i, structures, lines, marks) : 5;
        PyObject *made = given > 0 ? PyObject_Vectorcall(make, parts, given, NULL) : NULL;
        if (made == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, made);
    }
    PyBuffer_Release(&blocks);
    PyBuffer_Release(&first);
    PyBuffer_Release(&second);
    return result;
}

/* For tests: return the features of all blocks, row by row, given the buckets of the first stage. */
static PyObject *
features(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *result = NULL;
    Py_buffer blocks, containers, answers;
    Page self = {0};
    if (!PyArg_ParseTuple(arguments, "O!y*y*Oy*:features", &PyList_Type, &self.texts, &blocks, &containers, &capsule, &answers))
        return NULL;
    self.model = PyCapsule_GetPointer(capsule, CAPSULE);
    if (self.model != NULL && read_columns(&self, &blocks, &containers) == 0 && reserve(&self) == 0 && measure(&self) == 0) {
        Py_ssize_t width = self.model->width + SECOND;
        for (Py_ssize_t i = 0; i < self.count && i * 2 + 1 < answers.len; i++)
            self.buckets[0][i] = ((const uint16_t *)answers.buf)[i] % BUCKETS;
        result = PyBytes_FromStringAndSize(NULL, self.count * width * (Py_ssize_t)sizeof(float));
        if (result != NULL && answers.len == self.count * 2 && measure_likely(&self) == 0)
            for (Py_ssize_t i = 0; i < self.count; i++) {
                float table[(MAX_FIRST + SECOND) * LANES], *row = (float *)PyBytes_AS_STRING(result) + i * width;
                write_second(&self, i, write_first(&self, i, table));
                for (Py_ssize_t figure = 0; figure < width; figure++)
                    row[figure] = table[figure * LANES];
            }
    }
    PyBuffer_Release(&answers);
    release(&self, &blocks, &containers);
    return result;
}

static void
free_model(PyObject *capsule)
{
    Model *model = PyCapsule_GetPointer(capsule, CAPSULE);
    for (int i = 0; i < 2; i++) {
        PyMem_Free(model->forests[i].thresholds);
        PyMem_Free(model->forests[i].features);
        PyMem_Free(model->forests[i].masks);
        PyMem_Free(model->forests[i].values);
    }
    PyMem_Free(model);
}

static int
fill_forest(Forest *forest, const Py_buffer *arrays, int width)
{
    Py_ssize_t asked = arrays[0].len / 2;
    if (forest->questions < 1 || asked % forest->questions || arrays[1].len != asked * 4 || arrays[2].len != asked * 4 ||
        arrays[3].len != asked / forest->questions * LEAVES * 2)
        return -1;
    forest->trees = (int)(asked / forest->questions);
    forest->features = PyMem_Malloc((size_t)arrays[0].len + 1);
    forest->thresholds = PyMem_Malloc((size_t)arrays[1].len + 1);
    forest->masks = PyMem_Malloc((size_t)arrays[2].len + 1);
    forest->values = PyMem_Malloc((size_t)arrays[3].len + 1);
    if (forest->features == NULL || forest->thresholds == NULL || forest->masks == NULL || forest->values == NULL ||
        forest->early < 0 || forest->early > forest->trees)
        return -1;
    memcpy(forest->features, arrays[0].buf, (size_t)arrays[0].len);
    memcpy(forest->thresholds, arrays[1].buf, (size_t)arrays[1].len);
    memcpy(forest->masks, arrays[2].buf, (size_t)arrays[2].len);
    memcpy(forest->values, arrays[3].buf, (size_t)arrays[3].len);
    for (Py_ssize_t i = 0; i < asked; i++)
        if (forest->features[i] >= width || forest->masks[i] >> (LEAVES - 1))
            return -1;
    return 0;
}

static int
set_forest(Forest *forest, PyObject *parts, int width)
{
    Py_buffer arrays[4];
    if (!PyArg_ParseTuple(parts, "y*y*y*y*iii:forest", &arrays[0], &arrays[1], &arrays[2], &arrays[3], &forest->questions, &forest->early,
                          &forest->cut))
        return -1;
    int result = fill_forest(forest, arrays, width);
    if (result < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the arrays of a forest do not fit together");
    for (int i = 0; i < 4; i++)
        PyBuffer_Release(&arrays[i]);
    return result;
}

static int
set_marks(Model *model, PyObject *marks, uint8_t class)
{
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(marks); i++) {
        Py_UCS4 mark = PyUnicode_READ_CHAR(marks, i);
        if (mark < 128)
            model->ascii[mark] = class;
        else if (model->marks == MARKS) {
            PyErr_SetString(PyExc_ValueError, "there are too many marks");
            return -1;
        }
        else {
            model->mark[model->marks] = mark;
            model->mark_class[model->marks++] = class;
        }
    }
    return 0;
}

static int
set_tables(Model *model, const Py_buffer *likely, const Py_buffer *groups, const Py_buffer *bits)
{
    if (likely->len != (Py_ssize_t)sizeof(model->likely) || groups->len > MAX_TAGS || bits->len > MAX_BITS || model->unit < 1 ||
        model->grade < 1 || BUCKETS / model->grade > MAX_GRADES) {
        PyErr_SetString(PyExc_ValueError, "the tables do not fit the kernel");
        return -1;
    }
    memcpy(model->likely, likely->buf, sizeof(model->likely));
    memcpy(model->groups, groups->buf, (size_t)groups->len);
    memcpy(model->bit, bits->buf, (size_t)bits->len);
    model->bits = (int)bits->len;
    model->grades = BUCKETS / model->grade;
    for (int grade = 0; grade < model->grades; grade++)
        model->likely_grade[grade] = model->likely[grade * model->grade + model->grade / 2];
    model->width = OWN + model->bits + FIGURES * LEVELS + 2 * NEAR + (5 + FIGURES) * CORES + PATH_FIGURES + PLACES + COMMENTS + PAGE;
    return 0;
}

static PyObject *
compile_model(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *first, *second, *stops, *commas, *closing, *capsule;
    Py_buffer likely, groups, bits;
    long long prose, slight, most_comments, cells, cell, cards, card, number, words, few, sure;
    Model *model = PyMem_Calloc(1, sizeof(Model));
    if (model == NULL)
        return PyErr_NoMemory();
    capsule = PyCapsule_New(model, CAPSULE, free_model);
    if (capsule == NULL) {
        PyMem_Free(model);
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "(O!O!ii)(y*ii)(y*iii)y*(UUU)(LLii)(iiL)(LLLLL)(iLLL):compile", &PyTuple_Type, &first, &PyTuple_Type, &second,
                          &model->skip, &model->raise, &likely, &model->scale, &model->unit, &groups, &model->group_p, &model->group_li,
                          &model->table, &bits, &stops, &commas, &closing, &prose, &slight, &model->far_end, &model->away,
                          &model->comment, &model->forum, &most_comments, &cells, &cell, &cards, &card, &number, &model->grade, &words, &few, &sure)) {
        Py_DECREF(capsule);
        return NULL;
    }
    model->prose = prose;
    model->slight = slight;
    model->most_comments = most_comments;
    model->cells = cells;
    model->cell = cell;
    model->cards = cards;
    model->card = card;
    model->number = number;
    model->words = words;
    model->few = few;
    model->sure = sure;
    model->whole = (int64_t)1 << model->scale;
    int failed = set_tables(model, &likely, &groups, &bits) < 0 || set_marks(model, commas, GOES_ON) < 0 ||
                 set_marks(model, stops, ENDS) < 0 || set_marks(model, closing, CLOSES) < 0 ||
                 set_forest(&model->forests[0], first, model->width) < 0 || set_forest(&model->forests[1], second, model->width + SECOND) < 0;
    PyBuffer_Release(&likely);
    PyBuffer_Release(&groups);
    PyBuffer_Release(&bits);
    if (failed)
        Py_CLEAR(capsule);
    return capsule;
}

static PyMethodDef methods[] = {
    {"compile", compile_model, METH_VARARGS,
     "compile((first, second, skip, raise), (likely, scale, unit), (groups, p, li, table), bits, (stops, commas, closing), "
     "(prose, slight, far, away), (comment, forum, most comments), (cells, cell, cards, card, number), (grade, words, few, sure)) -> model; a forest is (features, thresholds, masks, values, questions, early, cut)"},
    {"classify", classify, METH_VARARGS,
     "classify(texts, blocks, containers, model) -> the result of reference.classify"},
    {"paragraphs", paragraphs, METH_VARARGS,
     "paragraphs(make, texts, blocks, paths, (bad, good), (first, even), (second, least)[, (structures, lines, marks)]) "
     "-> the results of make for each block"},
    {"features", features, METH_VARARGS,
     "features(texts, blocks, containers, model, buckets) -> the features of both stages, float32, block by block"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_blocks", "The kernel of the extractor `blocks`.", 0, methods,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__blocks(void)
{
    return PyModuleDef_Init(&definition);
}
