/* The inner loops of deduplication in C. The numpy code in hashing.py, onion.py and generation.py is the reference: the
   same input gives the same output.

   `ngrams` hashes the words of a document and its n-grams. `mark` applies onion's rule to them with the n-grams that
   the table holds; it changes nothing and returns the n-grams to add, which `insert` adds. `split` doubles a
   generation, some buckets per call. Time and memory are linear in the length of the document, whatever it holds: the
   set that finds repeats is keyed by a number that no page can know. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { BITS = 48, SLOTS = 16, OVERFLOWN = 0x80, MOST_WORDS = 64, PIECE = 1 << 20, POWERS = 32 };
enum { PLAIN, BLANK, LEAD }; /* classes of octets; LEAD: may begin a wide blank, or a letter that is a word */
enum { YOUNG = 1, SEEN = 2 };

#define CAPSULE "windrow.dedup._ngrams.buckets"
#define BASE_OCTET UINT64_C(0x9E3779B97F4A7C15)
#define BASE_WORD UINT64_C(0xD1342543DE82EF95)
#define MIX UINT64_C(0xD6E8FEB86659FD93)

static uint8_t classes[256];
static uint64_t powers[POWERS]; /* of BASE_OCTET, from the first power on */
static uint64_t inverse_word;      /* the inverse of BASE_WORD modulo 2^64 */
static uint64_t secret;         /* odd */

static inline uint64_t
mixed(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= MIX;
    return hash ^ (hash >> 29);
}

static void *
grown(void *items, size_t *room, size_t wanted)
{
    size_t larger = *room ? *room : 1024;
    while (larger < wanted)
        larger *= 2;
    void *moved = PyMem_Realloc(items, larger * sizeof(uint64_t));
    if (moved == NULL)
        PyErr_NoMemory();
    else
        *room = larger;
    return moved;
}

/* A set of the hashes of one document; it stores their positions in the document. */
typedef struct {
    uint32_t *places; /* position + 1; 0: free */
    int shift;
    size_t mask;
} Set;

static int
set_up(Set *set, size_t count)
{
    int bits = 4;
    while (((size_t)1 << bits) < 2 * count)
        bits++;
    set->shift = 64 - bits;
    set->mask = ((size_t)1 << bits) - 1;
    set->places = PyMem_Calloc((size_t)1 << bits, sizeof(uint32_t));
    if (set->places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* Return 1 if the set holds an equal hash; else add this one and return 0. */
static inline int
seen_or_add(Set *set, const uint64_t *hashes, size_t place)
{
    size_t slot = (size_t)((hashes[place] * secret) >> set->shift);
    while (set->places[slot]) {
        if (hashes[set->places[slot] - 1] == hashes[place])
            return 1;
        slot = (slot + 1) & set->mask;
    }
    set->places[slot] = (uint32_t)(place + 1);
    return 0;
}

typedef struct {
    const uint64_t *octets; /* one random number per octet */
    int natural;            /* any blank separates words; otherwise only line ends do */
    int ngram;
    uint64_t *hashes;
    size_t count, room;
    int64_t words;              /* of the paragraph */
    uint64_t rolled, last_power; /* the polynomial over the last words; BASE_WORD to the power of ngram - 1 */
    uint64_t ring[MOST_WORDS];  /* the last words */
    int place, full;            /* in the ring: next position, and whether all of it is used */
    uint64_t power;             /* while the ring is not full: BASE_WORD to the power of `place` */
} Document;

static inline void
end_word(Document *self, uint64_t word)
{
    word = mixed(word);
    self->words++;
    if (self->full)
        self->rolled = (self->rolled - self->ring[self->place]) * inverse_word + word * self->last_power;
    else {
        self->rolled += word * self->power;
        self->power *= BASE_WORD;
    }
    self->ring[self->place] = word;
    if (++self->place == self->ngram) {
        self->place = 0;
        self->full = 1;
    }
    if (self->full)
        self->hashes[self->count++] = mixed(self->rolled);
}

/* Return the octets of the wide blank that begins here, or 0: no-break space, next line, typographic and ideographic
   spaces. */
static inline int
wide_blank(const uint8_t *text, size_t left)
{
    if (left >= 2 && text[0] == 0xC2)
        return text[1] == 0x85 || text[1] == 0xA0 ? 2 : 0;
    if (left < 3)
        return 0;
    uint32_t code = (uint32_t)text[0] << 16 | (uint32_t)text[1] << 8 | text[2];
    int blank = code == 0xE19A80 || (code >= 0xE28080 && code <= 0xE2808A) || code == 0xE280A8 || code == 0xE280A9 ||
                code == 0xE280AF || code == 0xE2819F || code == 0xE38080;
    return blank ? 3 : 0;
}

/* Return the octets of the letter that begins here if its script has no spaces between words, or 0. */
static inline int
letter(const uint8_t *text, size_t left)
{
    if (left < 3 || text[2] < 0x80)
        return 0;
    uint8_t first = text[0], second = text[1];
    if (first >= 0xE3 && first <= 0xE9)
        return second >= 0x80 && second <= 0xBF ? 3 : 0;
    if (first == 0xE0)
        return second >= 0xB8 && second <= 0xBF ? 3 : 0;
    if (first == 0xE1)
        return second == 0x80 || second == 0x81 || second == 0x9E || second == 0x9F ? 3 : 0;
    if (first == 0xEF)
        return second >= 0xA4 && second <= 0xAB ? 3 : 0;
    return first == 0xF0 && second >= 0xA0 && second <= 0xAF ? 4 : 0;
}

/* Read the words of a run of at most PIECE octets. Every octet may begin a blank, or follow a letter that is a word. */
static void
read_words(Document *self, const uint8_t *text, size_t length)
{
    const uint64_t *octets = self->octets;
    size_t place = 0;
    unsigned pending = 0; /* a bit for each of the next octets at which a word begins */
    int inside = 0, power = 0;
    uint64_t word = 0, beyond = 0;
    while (place < length) {
        if (pending == 0 && inside) /* the common case */
            while (place < length && power < POWERS && classes[text[place]] == PLAIN)
                word += octets[text[place++]] * powers[power++];
        if (place == length)
            break;
        const uint8_t octet = text[place];
        int begins = pending & 1, blank = classes[octet] == BLANK;
        pending >>= 1;
        if (classes[octet] == LEAD) {
            blank = wide_blank(text + place, length - place);
            int wide = blank ? 0 : letter(text + place, length - place);
            if (wide) {
                begins = 1;
                pending |= 1u << (wide - 1);
            }
        }
        if (blank) {
            if (inside)
                end_word(self, word);
            inside = 0;
            place += (size_t)blank;
            pending >>= blank - 1;
            continue;
        }
        if (begins || !inside) {
            if (inside)
                end_word(self, word);
            inside = 1;
            word = 0;
            power = 0;
        }
        if (power < POWERS)
            beyond = powers[power];
        else
            beyond = (power == POWERS ? powers[POWERS - 1] : beyond) * BASE_OCTET;
        word += octets[octet] * beyond;
        power++;
        place++;
    }
    if (inside)
        end_word(self, word);
}

/* Read the words of a paragraph of a vertical file: its lines. */
static void
read_lines(Document *self, const uint8_t *text, size_t length)
{
    size_t place = 0;
    while (place < length) {
        const uint8_t *end = memchr(text + place, '\n', length - place);
        size_t stop = end == NULL ? length : (size_t)(end - text);
        uint64_t word = 0, power = BASE_OCTET;
        for (size_t octet = place; octet < stop; octet++, power *= BASE_OCTET)
            word += self->octets[text[octet]] * power;
        if (stop > place)
            end_word(self, word);
        place = stop + 1;
    }
}

/* Return where to cut a text longer than PIECE: at a space or line end if there is one, never within a character. */
static size_t
cut(const uint8_t *text, size_t length, int natural)
{
    size_t place = PIECE;
    while (place > 0 && text[place - 1] != '\n' && !(natural && text[place - 1] == ' '))
        place--;
    size_t found = place > 1 ? place - 1 : PIECE;
    while (found < length && (text[found] & 0xC0) == 0x80)
        found++;
    return found;
}

static int
read_paragraph(Document *self, const uint8_t *text, size_t length)
{
    self->words = 0;
    while (length) {
        size_t part = length > PIECE ? cut(text, length, self->natural) : length;
        if (self->count + part > self->room) {
            uint64_t *moved = grown(self->hashes, &self->room, self->count + part);
            if (moved == NULL)
                return -1;
            self->hashes = moved;
        }
        if (self->natural)
            read_words(self, text, part);
        else
            read_lines(self, text, part);
        text += part;
        length -= part;
    }
    return 0;
}

/* Read a str as UTF-8 (Python caches the encoding for later callers), or bytes as they are. */
static int
read_object(Document *self, PyObject *paragraph)
{
    if (PyBytes_Check(paragraph))
        return read_paragraph(self, (const uint8_t *)PyBytes_AS_STRING(paragraph), (size_t)PyBytes_GET_SIZE(paragraph));
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(paragraph, &length);
    if (text != NULL)
        return read_paragraph(self, (const uint8_t *)text, (size_t)length);
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return -1;
    PyErr_Clear(); /* it holds half of a surrogate pair */
    PyObject *octets = PyUnicode_AsEncodedString(paragraph, "utf-8", "surrogatepass");
    if (octets == NULL)
        return -1;
    int done = read_paragraph(self, (const uint8_t *)PyBytes_AS_STRING(octets), (size_t)PyBytes_GET_SIZE(octets));
    Py_DECREF(octets);
    return done;
}

static PyObject *
repeated(const uint64_t *hashes, size_t count)
{
    Set set;
    PyObject *flags = NULL;
    if (count < 2)
        return PyBytes_FromStringAndSize(NULL, 0);
    if (count >= UINT32_MAX)
        return PyErr_NoMemory();
    if (set_up(&set, count) < 0)
        return NULL;
    for (size_t place = 0; place < count; place++)
        if (seen_or_add(&set, hashes, place)) {
            if (flags == NULL) {
                flags = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count);
                if (flags == NULL)
                    break;
                memset(PyBytes_AS_STRING(flags), 0, count);
            }
            PyBytes_AS_STRING(flags)[place] = 1;
        }
    PyMem_Free(set.places);
    return flags == NULL && !PyErr_Occurred() ? PyBytes_FromStringAndSize(NULL, 0) : flags;
}

static PyObject *
ngrams(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *given;
    Py_buffer octets;
    Document self = {.power = 1, .last_power = 1};
    if (!PyArg_ParseTuple(arguments, "Oipy*:ngrams", &given, &self.ngram, &self.natural, &octets))
        return NULL;
    PyObject *lengths = NULL, *result = NULL;
    PyObject *paragraphs = PySequence_Fast(given, "paragraphs are expected in a sequence");
    if (paragraphs == NULL)
        goto done;
    if (self.ngram < 1 || self.ngram > MOST_WORDS || octets.len != 256 * 8) {
        PyErr_SetString(PyExc_ValueError, "an n-gram has 1 to 64 words, and there are 256 octets");
        goto done;
    }
    self.octets = octets.buf;
    for (int word = 1; word < self.ngram; word++)
        self.last_power *= BASE_WORD;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(paragraphs);
    lengths = PyBytes_FromStringAndSize(NULL, count * 8);
    if (lengths == NULL)
        goto done;
    for (Py_ssize_t number = 0; number < count; number++) {
        if (read_object(&self, PySequence_Fast_GET_ITEM(paragraphs, number)) < 0)
            goto done;
        memcpy(PyBytes_AS_STRING(lengths) + 8 * number, &self.words, 8);
    }
    PyObject *again = repeated(self.hashes, self.count);
    if (again != NULL)
        result = Py_BuildValue(
            "Oy#N", lengths, self.hashes ? (char *)self.hashes : "", (Py_ssize_t)self.count * 8, again);
done:
    PyMem_Free(self.hashes);
    Py_XDECREF(lengths);
    Py_XDECREF(paragraphs);
    PyBuffer_Release(&octets);
    return result;
}

typedef struct {
    Py_buffer slots, fill;
} Buckets;

typedef struct {
    uint32_t *slots;
    uint8_t *fill;
    int bits;
    uint64_t split;
    PyObject *sorted, *latest; /* of the stash: an array, and a set of the latest */
    Py_buffer stash;           /* view of `sorted`, opened when first needed */
} Generation;

static void
release(PyObject *capsule)
{
    Buckets *buckets = PyCapsule_GetPointer(capsule, CAPSULE);
    PyBuffer_Release(&buckets->slots);
    PyBuffer_Release(&buckets->fill);
    PyMem_Free(buckets);
}

static PyObject *
hold(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buckets *buckets = PyMem_Calloc(1, sizeof(Buckets));
    if (buckets == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(arguments, "w*w*:hold", &buckets->slots, &buckets->fill)) {
        PyMem_Free(buckets);
        return NULL;
    }
    if (buckets->slots.len != buckets->fill.len * SLOTS * 4)
        PyErr_SetString(PyExc_ValueError, "a bucket has 16 slots of 4 bytes");
    PyObject *capsule = PyErr_Occurred() ? NULL : PyCapsule_New(buckets, CAPSULE, release);
    if (capsule == NULL) {
        PyBuffer_Release(&buckets->slots);
        PyBuffer_Release(&buckets->fill);
        PyMem_Free(buckets);
    }
    return capsule;
}

/* Open the state (buckets, bits, split, sorted, latest) that Generation.state returns. */
static int
open_generation(PyObject *state, Generation *self)
{
    PyObject *capsule;
    long long split;
    if (!PyArg_ParseTuple(
            state, "OiLOO!:generation", &capsule, &self->bits, &split, &self->sorted, &PySet_Type, &self->latest))
        return -1;
    Buckets *buckets = PyCapsule_GetPointer(capsule, CAPSULE);
    if (buckets == NULL)
        return -1;
    self->slots = buckets->slots.buf;
    self->fill = buckets->fill.buf;
    self->split = (uint64_t)split;
    int fits = self->bits >= BITS - 32 && self->bits < BITS - 1 && split > 0 && split <= 1LL << self->bits;
    if (!fits || (1LL << (self->bits + (split < 1LL << self->bits))) > buckets->fill.len) {
        PyErr_SetString(PyExc_ValueError, "the generation is larger than its buckets");
        return -1;
    }
    return 0;
}

static inline uint64_t
find_place(const Generation *self, uint64_t identity, uint32_t *print)
{
    int rest = BITS - self->bits;
    uint64_t bucket = identity >> rest;
    if (bucket >= self->split)
        bucket = identity >> --rest;
    uint32_t found = (uint32_t)(identity & ((UINT64_C(1) << rest) - 1));
    *print = found ? found : 1;
    return bucket;
}

static inline int
holds(const uint32_t *slots, uint32_t print)
{
    uint32_t found = 0;
    for (int slot = 0; slot < SLOTS; slot++)
        found |= slots[slot] == print;
    return (int)found;
}

/* Return whether the stash holds the identity; -1: an error. */
static int
stashed(Generation *self, uint64_t identity)
{
    if (self->stash.obj == NULL) {
        if (PyObject_GetBuffer(self->sorted, &self->stash, PyBUF_C_CONTIGUOUS) < 0)
            return -1;
        if (self->stash.itemsize != 8) {
            PyErr_SetString(PyExc_ValueError, "a stash holds 8 bytes each");
            return -1;
        }
    }
    const uint64_t *items = self->stash.buf;
    size_t low = 0, high = (size_t)self->stash.len / 8;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle] < identity)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < (size_t)self->stash.len / 8 && items[low] == identity)
        return 1;
    if (PySet_GET_SIZE(self->latest) == 0)
        return 0;
    PyObject *number = PyLong_FromUnsignedLongLong(identity);
    int found = number == NULL ? -1 : PySet_Contains(self->latest, number);
    Py_XDECREF(number);
    return found;
}

static inline int
has(Generation *self, uint64_t identity)
{
    uint32_t print;
    uint64_t bucket = find_place(self, identity, &print);
    if (holds(self->slots + bucket * SLOTS, print))
        return 1;
    return self->fill[bucket] >= OVERFLOWN ? stashed(self, identity) : 0;
}

enum { AHEAD = 12 }; /* look-ups whose memory is prefetched */

static int
look_up(Generation *self, const uint64_t *hashes, size_t count, uint8_t *flags, uint8_t flag)
{
    uint32_t print;
    for (size_t place = 0; place < count; place++) {
        if (place + AHEAD < count) {
            uint64_t bucket = find_place(self, hashes[place + AHEAD] >> (64 - BITS), &print);
            __builtin_prefetch(self->slots + bucket * SLOTS);
            __builtin_prefetch(self->fill + bucket);
        }
        int found = has(self, hashes[place] >> (64 - BITS));
        if (found < 0)
            return -1;
        if (found)
            flags[place] |= flag;
    }
    return 0;
}

typedef struct {
    const int64_t *lengths;
    const uint64_t *hashes;
    const uint8_t *repeated; /* NULL: none */
    size_t paragraphs, ngrams;
    int64_t words;
    int ngram, smoothing;
    double whole;
    int64_t removed, left; /* words */
    double threshold;
    uint8_t *flags;     /* per n-gram */
    uint8_t *duplicate; /* per paragraph */
    int64_t *covered;   /* words per paragraph */
} Marking;

static int
check_document(Marking *self, const Py_buffer *lengths, const Py_buffer *hashes, const Py_buffer *again)
{
    self->lengths = lengths->buf;
    self->hashes = hashes->buf;
    self->repeated = again->len ? again->buf : NULL;
    self->paragraphs = (size_t)lengths->len / 8;
    self->ngrams = (size_t)hashes->len / 8;
    int fits = self->ngram >= 1 && lengths->len % 8 == 0 && hashes->len % 8 == 0 && self->ngrams < UINT32_MAX;
    for (size_t number = 0; fits && number < self->paragraphs; number++) {
        fits = self->lengths[number] >= 0 && self->lengths[number] <= INT64_C(1) << 40;
        fits = fits && self->words <= INT64_C(1) << 40;
        self->words += self->lengths[number];
    }
    int64_t expected = self->words >= self->ngram ? self->words - self->ngram + 1 : 0;
    if (fits && expected == (int64_t)self->ngrams && (again->len == 0 || (size_t)again->len == self->ngrams))
        return 0;
    PyErr_SetString(PyExc_ValueError, "the n-grams are not those of a document");
    return -1;
}

/* Count the words of each paragraph that lie in a seen n-gram which ends in the same paragraph. */
static void
cover(Marking *self)
{
    int64_t start = 0, before = self->ngram - 1;
    for (size_t number = 0; number < self->paragraphs; number++) {
        int64_t end = start + self->lengths[number], reached = start, covered = 0;
        for (int64_t word = start > before ? start : before; word < end; word++) {
            int64_t ngram = word - before;
            if ((self->flags[ngram] & SEEN) || (self->repeated != NULL && self->repeated[ngram])) {
                covered += word + 1 - (ngram > reached ? ngram : reached);
                reached = word + 1;
            }
        }
        self->covered[number] = covered;
        self->duplicate[number] = covered > 0 && (double)covered / (double)self->lengths[number] > self->threshold;
        start = end;
    }
}

/* Mark each run of new paragraphs of at most `smoothing` words between duplicates or ends of the document. */
static void
smooth(Marking *self)
{
    size_t start = 0;
    int64_t run = 0;
    for (size_t place = 0; place <= self->paragraphs; place++) {
        if (place < self->paragraphs && !self->duplicate[place]) {
            run += self->lengths[place];
            continue;
        }
        if (run <= self->smoothing)
            memset(self->duplicate + start, 1, place - start);
        start = place + 1;
        run = 0;
    }
}

/* Count the words of duplicates; if they exceed the share `whole`, remove the whole document. */
static void
sum_up(Marking *self)
{
    self->removed = 0;
    for (size_t number = 0; number < self->paragraphs; number++)
        self->removed += self->duplicate[number] ? self->lengths[number] : 0;
    self->left = self->words - self->removed;
    if ((double)self->removed > self->whole * (double)self->words) {
        memset(self->duplicate, 1, self->paragraphs);
        self->left = 0;
    }
}

/* Return the identities that the remaining paragraphs add to the young generation, each once, in order. */
static PyObject *
fresh(const Marking *self)
{
    Set set = {0};
    size_t found = 0;
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)self->ngrams * 8);
    if (result == NULL || (self->repeated != NULL && set_up(&set, self->ngrams) < 0)) {
        Py_XDECREF(result);
        return NULL;
    }
    uint64_t *identities = (uint64_t *)PyBytes_AS_STRING(result);
    int64_t start = 0, before = self->ngram - 1;
    for (size_t number = 0; number < self->paragraphs; number++) {
        int64_t end = start + self->lengths[number];
        for (int64_t word = start > before ? start : before; !self->duplicate[number] && word < end; word++)
            if (!(self->flags[word - before] & YOUNG)) {
                identities[found] = self->hashes[word - before] >> (64 - BITS);
                found += set.places == NULL || !seen_or_add(&set, identities, found);
            }
        start = end;
    }
    PyMem_Free(set.places);
    _PyBytes_Resize(&result, (Py_ssize_t)found * 8);
    return result;
}

static PyObject *
duplicates(const Marking *self)
{
    PyObject *added = fresh(self), *duplicate = PyTuple_New((Py_ssize_t)self->paragraphs), *result = NULL;
    PyObject *shares = PyTuple_New((Py_ssize_t)self->paragraphs), *lengths = PyTuple_New((Py_ssize_t)self->paragraphs);
    if (added == NULL || duplicate == NULL || shares == NULL || lengths == NULL)
        goto done;
    for (size_t number = 0; number < self->paragraphs; number++) {
        int64_t length = self->lengths[number], covered = self->covered[number];
        PyObject *share = PyFloat_FromDouble(covered ? (double)covered / (double)length : 0.0);
        PyObject *words = PyLong_FromLongLong(length);
        if (share == NULL || words == NULL) {
            Py_XDECREF(share);
            Py_XDECREF(words);
            goto done;
        }
        PyTuple_SET_ITEM(duplicate, (Py_ssize_t)number, PyBool_FromLong(self->duplicate[number]));
        PyTuple_SET_ITEM(shares, (Py_ssize_t)number, share);
        PyTuple_SET_ITEM(lengths, (Py_ssize_t)number, words);
    }
    long long words = self->words, removed = self->removed, left = self->left;
    result = Py_BuildValue("OOOLLLO", duplicate, shares, lengths, words, removed, left, added);
done:
    Py_XDECREF(added);
    Py_XDECREF(duplicate);
    Py_XDECREF(shares);
    Py_XDECREF(lengths);
    return result;
}

static PyObject *
mark(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer lengths, hashes, again;
    PyObject *states[2], *result = NULL;
    Generation generations[2] = {{0}};
    Marking self = {0};
    if (!PyArg_ParseTuple(
            arguments,
            "(y*y*y*)(idid)OO:mark",
            &lengths,
            &hashes,
            &again,
            &self.ngram,
            &self.threshold,
            &self.smoothing,
            &self.whole,
            &states[0],
            &states[1]))
        return NULL;
    if (check_document(&self, &lengths, &hashes, &again) < 0)
        goto done;
    self.covered = PyMem_Malloc(self.paragraphs * 9 + self.ngrams + 1);
    if (self.covered == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    self.duplicate = (uint8_t *)(self.covered + self.paragraphs);
    self.flags = self.duplicate + self.paragraphs;
    memset(self.flags, 0, self.ngrams);
    for (int old = 0; old < 2; old++)
        if (states[old] != Py_None) {
            uint8_t flag = old ? SEEN : SEEN | YOUNG;
            if (open_generation(states[old], &generations[old]) < 0 ||
                look_up(&generations[old], self.hashes, self.ngrams, self.flags, flag) < 0)
                goto done;
        }
    cover(&self);
    if (self.smoothing)
        smooth(&self);
    sum_up(&self);
    result = duplicates(&self);
done:
    for (int old = 0; old < 2; old++)
        if (generations[old].stash.obj != NULL)
            PyBuffer_Release(&generations[old].stash);
    PyMem_Free(self.covered);
    PyBuffer_Release(&lengths);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&again);
    return result;
}

/* Add new identities to a generation; return their entry for the redo file, and those whose bucket was full. */
static PyObject *
insert(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer identities;
    PyObject *state, *entry = NULL, *rest = NULL, *result = NULL;
    Generation self = {0};
    if (!PyArg_ParseTuple(arguments, "Oy*:insert", &state, &identities))
        return NULL;
    size_t count = (size_t)identities.len / 8, left = 0;
    const uint64_t *items = identities.buf;
    if (open_generation(state, &self) < 0)
        goto done;
    entry = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * 6 + 4);
    rest = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * 8);
    if (entry == NULL || rest == NULL)
        goto done;
    uint8_t *written = (uint8_t *)PyBytes_AS_STRING(entry);
    for (int octet = 0; octet < 4; octet++)
        *written++ = (uint8_t)(count >> (8 * octet));
    for (size_t place = 0; place < count; place++) {
        uint64_t identity = items[place] & ((UINT64_C(1) << BITS) - 1);
        for (int octet = 0; octet < 6; octet++)
            *written++ = (uint8_t)(identity >> (8 * octet));
        uint32_t print;
        uint64_t bucket = find_place(&self, identity, &print);
        uint32_t *slots = self.slots + bucket * SLOTS;
        uint8_t *fill = self.fill + bucket;
        if (*fill >= SLOTS) {
            *fill |= OVERFLOWN;
            memcpy(PyBytes_AS_STRING(rest) + 8 * left++, &identity, 8);
        }
        else if (!holds(slots, print)) /* the fingerprint 1 stands for 0 and 1 */
            slots[SLOTS - 1 - (*fill)++] = print;
    }
    if (_PyBytes_Resize(&rest, (Py_ssize_t)left * 8) == 0)
        result = PyTuple_Pack(2, entry, rest);
done:
    Py_XDECREF(entry);
    Py_XDECREF(rest);
    PyBuffer_Release(&identities);
    return result;
}

/* Split one bucket in two: the first bit of a fingerprint chooses, the rest remains. No branches: the CPU would
   mispredict half of them. */
static void
split_bucket(Generation *self, uint64_t bucket)
{
    uint32_t from[SLOTS], *to = self->slots + 2 * bucket * SLOTS;
    const int shift = BITS - self->bits - 1;
    const uint32_t rest = (UINT32_C(1) << shift) - 1;
    const uint8_t flag = self->fill[bucket] & OVERFLOWN;
    uint32_t used = 0; /* slots of the first, and 256 times those of the second */
    memcpy(from, self->slots + bucket * SLOTS, sizeof(from));
    memset(to, 0, 2 * sizeof(from));
    for (int slot = 0; slot < SLOTS; slot++) {
        uint32_t print = from[slot], half = print >> shift & 1, taken = print != 0, left = print & rest;
        to[half * SLOTS + SLOTS - 1 - (used >> (8 * half) & 0xFF)] = left | (taken & (left == 0));
        used += taken << (8 * half);
    }
    self->fill[2 * bucket] = (uint8_t)(used & 0xFF) | flag;
    self->fill[2 * bucket + 1] = (uint8_t)(used >> 8) | flag;
}

/* Split the buckets from `low` up to the first that is already split. */
static PyObject *
split(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *state;
    long long low;
    Generation self = {0};
    if (!PyArg_ParseTuple(arguments, "OL:split", &state, &low) || open_generation(state, &self) < 0)
        return NULL;
    Buckets *buckets = PyCapsule_GetPointer(PyTuple_GET_ITEM(state, 0), CAPSULE);
    if (buckets == NULL)
        return NULL;
    if (low < 0 || (uint64_t)low > self.split || 2 * self.split > (uint64_t)buckets->fill.len) {
        PyErr_SetString(PyExc_ValueError, "there are no such buckets");
        return NULL;
    }
    for (uint64_t bucket = self.split; bucket-- > (uint64_t)low;)
        split_bucket(&self, bucket);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"ngrams", ngrams, METH_VARARGS, NULL}, {"hold", hold, METH_VARARGS, NULL},   {"mark", mark, METH_VARARGS, NULL},
    {"insert", insert, METH_VARARGS, NULL}, {"split", split, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_ngrams", .m_size = 0, .m_methods = methods};

/* Return the inverse of an odd number modulo 2^64: each step doubles the number of correct bits. */
static uint64_t
inverse(uint64_t number)
{
    uint64_t found = number;
    for (int step = 0; step < 6; step++)
        found *= 2 - number * found;
    return found;
}

PyMODINIT_FUNC
PyInit__ngrams(void)
{
    static const uint8_t blanks[] = {9, 10, 11, 12, 13, 28, 29, 30, 31, 32};
    static const uint8_t leads[] = {0xC2, 0xE0, 0xE1, 0xE2, 0xEF, 0xF0};
    for (size_t place = 0; place < sizeof(blanks); place++)
        classes[blanks[place]] = BLANK;
    for (size_t place = 0; place < sizeof(leads); place++)
        classes[leads[place]] = LEAD;
    memset(classes + 0xE3, LEAD, 7);
    powers[0] = BASE_OCTET;
    for (int place = 1; place < POWERS; place++)
        powers[place] = powers[place - 1] * BASE_OCTET;
    inverse_word = inverse(BASE_WORD);
    PyObject *name = PyUnicode_FromString("windrow.dedup._ngrams"); /* Python's hash of it differs from run to run */
    if (name == NULL)
        return NULL;
    secret = mixed((uint64_t)PyObject_Hash(name) ^ BASE_OCTET) | 1;
    Py_DECREF(name);
    return PyModule_Create(&definition);
}
