/* The walk in C: same input and same output as reference.py, which gives the reasons; the tables are those of rules.py.

   One pass over the markup, in the form in which Python stores it: one, two or four bytes per character, and the scanner
   is compiled once for each. Time and memory are linear in its length: an end tag looks back over at most `reach` elements,
   and the attributes of an element are read once. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { INLINE, LINK, BLOCK, VOID, IMAGE, BREAK, VOID_BLOCK, UNLINK, CLOSE, VOID_CLEAR, CLEAR, DROP };
enum { SPACE = 1, CONTROL = 2, STOP = 4, COMMA = 8, DIGIT = 16, MARKUP = 32 };
enum { CHARS, WORDS, LINK_CHARS, LINKS, STOPS, COMMAS, DIGITS, TAGS, BREAKS, IMAGES, COUNTS };
enum { TAG = COUNTS, DEPTH, PATH, CONTAINER, HEADING, FLAGS, HINTS, BLOCK_COLUMNS };
enum { C_PARENT, C_TAG, C_DEPTH, C_FIRST, C_END, C_HINTS, C_FLAGS, C_ORDINAL, CONTAINER_COLUMNS };
enum { NO_ROLE, LIST, ITEM, TERMS, TERM, TABLE, ROW, CELL, CAPTION, FIGURE, LEGEND, QUOTE, CODE };

#define NAME_LENGTH 16
#define SLOTS 1024 /* of the hash table of tags: a power of two, several times their number */
#define LETTERS 40 /* 0: a character that no hint word has */
#define MARKS 32
#define MARK_KINDS 4 /* a link has the number 0 */
#define MAX_SPAN 1000
#define MAX_ORDINAL (1 << 24)
#define CAPSULE "windrow.extraction.walk._walk.rules"

typedef struct {
    char name[NAME_LENGTH];
    int length, kind, end_kind; /* of the start tag and the end tag */
    int32_t number, flags;
    int role, mark;
    PyObject *text; /* NULL: the slot is free */
} Tag;

typedef struct {
    Tag tags[SLOTS];
    int stock, max_path, max_blocks, reach;
    int32_t link, hidden, heading; /* bits */
    uint8_t ascii[128];            /* classes of characters */
    uint8_t pages[256];            /* high bytes of the marks beyond ASCII */
    int marks;
    Py_UCS4 mark[MARKS];
    uint8_t mark_class[MARKS];
    uint8_t letters[128];
    uint16_t *next; /* next state by state and letter: the automaton that finds the words of hints */
    int32_t *found; /* groups found, by state */
} Rules;

typedef struct {
    Py_ssize_t start, end;
} Span;

typedef struct {
    const Tag *tag; /* NULL: an unknown tag */
    Span name, attributes;
    int kind;
    int block; /* index of the nearest block element, this one included */
    int32_t path, container, flags, hints, heading; /* set by resolve: its own and those above it */
    int32_t ordinal, count;                         /* of a list, table or row: what it holds so far */
    int holder;                                     /* index of the nearest list, table or row, this one included; 0: none */
    int role, code;
} Element;

typedef struct {
    int32_t parent;
    const Tag *tag;
    Span name;
} Path;

typedef struct {
    const Rules *rules;
    PyObject *markup;
    const void *data;
    Py_ssize_t length;
    int comments; /* whether the markup may hold comments */

    Element *stack;
    Py_ssize_t depth, stack_room, resolved;
    int32_t *blocks, *containers; /* row after row */
    Py_ssize_t block_count, block_room, container_count, container_room;
    Path *paths;
    Py_ssize_t path_count, path_room;
    int32_t *slots; /* hash table of paths: number + 1 */
    Py_ssize_t slot_count;
    PyObject *texts;

    char *text; /* of the current block, with characters as wide as in the markup */
    Py_ssize_t text_length, text_room;
    int32_t counts[COUNTS];
    int pending; /* a blank precedes the next character */
    int linked;  /* inside a link */
    int broken;  /* directly after a <br> */

    PyObject *lines;  /* by the number of the block */
    char *source;     /* of the current block, if it is code: with its white space */
    int32_t *ends;    /* of the lines of the current block, in its text */
    Py_ssize_t source_length, source_room, end_count, end_room;

    PyObject *marks; /* NULL: they are not wanted */
    int open[MARK_KINDS];
    Py_ssize_t since[MARK_KINDS];
    Span href;

    int any, solid, first_blank, last_blank; /* of the node: the text since the last tag that is not transparent */
    int32_t node_length;                     /* with single blanks and none at the ends */
} Scan;

enum { FAILED = -1, DONE = 0, COMMENT_IN_TAG = 1 };

#define READ(place) PyUnicode_READ(kind, self->data, place)
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

static uint32_t
hash_of(uint32_t hash, uint32_t value)
{
    hash = (hash ^ value) * 16777619u;
    return hash ^ (hash >> 15);
}

static Tag *
slot_of(Rules *rules, const char *name, int length)
{
    uint32_t hash = 2166136261u;
    for (int i = 0; i < length; i++)
        hash = hash_of(hash, (unsigned char)name[i]);
    Tag *tag = &rules->tags[hash % SLOTS];
    while (tag->text != NULL && (tag->length != length || memcmp(tag->name, name, (size_t)length) != 0))
        tag = tag == &rules->tags[SLOTS - 1] ? rules->tags : tag + 1;
    return tag;
}

/* Return the tag of a name; NULL if it is not in the table. */
FOR_EACH_KIND const Tag *
known(const Scan *self, const int kind, Span name)
{
    char letters[NAME_LENGTH];
    Py_ssize_t length = name.end - name.start;
    if (length > NAME_LENGTH)
        return NULL;
    for (Py_ssize_t i = 0; i < length; i++) {
        Py_UCS4 letter = READ(name.start + i);
        if (letter > 127)
            return NULL;
        letters[i] = (char)letter;
    }
    const Tag *tag = slot_of((Rules *)self->rules, letters, (int)length);
    return tag->text != NULL ? tag : NULL;
}

FOR_EACH_KIND int
same_name(const Scan *self, const int kind, Span one, Span other)
{
    Py_ssize_t length = one.end - one.start;
    const char *data = self->data;
    return length == other.end - other.start && memcmp(data + one.start * kind, data + other.start * kind, (size_t)(length * kind)) == 0;
}

FOR_EACH_KIND int
stands_at(const Scan *self, const int kind, Py_ssize_t place, Py_ssize_t end, const char *wanted)
{
    for (; *wanted != '\0'; wanted++, place++)
        if (place >= end || READ(place) != (unsigned char)*wanted)
            return 0;
    return 1;
}

/* Return the position of a string, or the end. */
FOR_EACH_KIND Py_ssize_t
find(const Scan *self, const int kind, Py_ssize_t place, Py_ssize_t end, const char *wanted)
{
    for (; place < end; place++)
        if (READ(place) == (unsigned char)*wanted && stands_at(self, kind, place, end, wanted))
            return place;
    return end;
}

/* Return the position of the next angle bracket, or the end. Eight bytes at a time: < and > differ in one bit. */
FOR_EACH_KIND Py_ssize_t
bracket(const Scan *self, const int kind, Py_ssize_t place)
{
    const uint64_t ones = UINT64_MAX / (kind == 1 ? 0xff : kind == 2 ? 0xffff : 0xffffffff);
    const uint64_t tops = ones << (8 * kind - 1);
    const char *data = self->data;
    for (; place + 8 / kind <= self->length; place += 8 / kind) {
        uint64_t word;
        memcpy(&word, data + place * kind, 8);
        word = (word & ~(ones * 2)) ^ (ones * '<');
        if ((word - ones) & ~word & tops)
            break;
    }
    while (place < self->length && (READ(place) & ~(Py_UCS4)2) != '<')
        place++;
    return place;
}

/* Return the hints in the value of an attribute. */
FOR_EACH_KIND int32_t
hints_in(const Scan *self, const int kind, Span value)
{
    const Rules *rules = self->rules;
    int32_t found = 0;
    unsigned state = 0;
    for (Py_ssize_t place = value.start; place < value.end; place++) {
        Py_UCS4 letter = READ(place);
        state = letter > 127 ? 0 : rules->next[state * LETTERS + rules->letters[letter]];
        found |= rules->found[state];
    }
    return found;
}

/* Return whether a style has display: none. */
FOR_EACH_KIND int
unseen(const Scan *self, const int kind, Span value)
{
    Py_ssize_t place = value.start;
    while ((place = find(self, kind, place, value.end, "display")) < value.end) {
        int colon = 0;
        for (place += 7; place < value.end; place++) {
            Py_UCS4 letter = READ(place);
            if (letter == ':' && !colon)
                colon = 1;
            else if (letter != ' ' && letter != '\t' && letter != '\n')
                break;
        }
        if (colon && stands_at(self, kind, place, value.end, "none"))
            return 1;
    }
    return 0;
}

/* Add the flags and hints of an element's attributes. */
FOR_EACH_KIND void
read_attributes(const Scan *self, const int kind, Span all, int32_t *flags, int32_t *hints)
{
    static const char *names[] = {"class=\"", "id=\"", "role=\"", "itemprop=\"", "href=\"", "hidden=\"", "aria-hidden=\"", "style=\""};
    Py_ssize_t place = all.start;
    while (place < all.end) {
        int which = 0;
        Span value;
        if (READ(place) != ' ') {
            place++;
            continue;
        }
        place++;
        while (which < 8 && !stands_at(self, kind, place, all.end, names[which]))
            which++;
        if (which == 8)
            continue;
        value.start = place + (Py_ssize_t)strlen(names[which]);
        value.end = find(self, kind, value.start, all.end, "\"");
        if (value.end == all.end)
            return;
        if (which < 4)
            *hints |= hints_in(self, kind, value);
        else if (which == 4)
            *flags |= self->rules->link;
        else if (which == 5 || (which == 6 && value.end - value.start == 4 && stands_at(self, kind, value.start, value.end, "true")) ||
                 (which == 7 && unseen(self, kind, value)))
            *flags |= self->rules->hidden;
        place = value.end + 1;
    }
}

static int
more_slots(Scan *self)
{
    Py_ssize_t count = self->slot_count ? self->slot_count * 2 : 256;
    int32_t *slots = PyMem_Calloc((size_t)count, sizeof(int32_t));
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PyMem_Free(self->slots);
    self->slots = slots;
    self->slot_count = count;
    return 0;
}

FOR_EACH_KIND uint32_t
path_hash(const Scan *self, const int kind, const Path *path)
{
    uint32_t hash = hash_of(2166136261u, (uint32_t)path->parent);
    if (path->tag != NULL)
        return hash_of(hash, (uint32_t)path->tag->number);
    for (Py_ssize_t place = path->name.start; place < path->name.end; place++)
        hash = hash_of(hash, READ(place) + 1000);
    return hash;
}

FOR_EACH_KIND void
place_path(Scan *self, const int kind, int32_t number)
{
    Py_ssize_t slot = path_hash(self, kind, &self->paths[number]) & (self->slot_count - 1);
    while (self->slots[slot] != 0)
        slot = (slot + 1) & (self->slot_count - 1);
    self->slots[slot] = number + 1;
}

/* Return the number of the path that extends another by a tag. */
FOR_EACH_KIND int32_t
path_to(Scan *self, const int kind, int32_t parent, const Element *element)
{
    Path path = {parent, element->tag, element->name};
    if (self->path_count * 2 >= self->slot_count) {
        if (more_slots(self) < 0)
            return -2;
        for (int32_t number = 0; number < self->path_count; number++)
            place_path(self, kind, number);
    }
    Py_ssize_t slot = path_hash(self, kind, &path) & (self->slot_count - 1);
    for (; self->slots[slot] != 0; slot = (slot + 1) & (self->slot_count - 1)) {
        const Path *other = &self->paths[self->slots[slot] - 1];
        if (other->parent == parent && other->tag == path.tag && (path.tag != NULL || same_name(self, kind, other->name, path.name)))
            return self->slots[slot] - 1;
    }
    if (reserve(&self->paths, &self->path_room, self->path_count + 1, sizeof(Path)) < 0)
        return -2;
    self->paths[self->path_count] = path;
    self->slots[slot] = (int32_t)++self->path_count;
    return (int32_t)self->path_count - 1;
}

static int32_t *
add_container(Scan *self, int32_t parent)
{
    if (reserve(&self->containers, &self->container_room, (self->container_count + 1) * CONTAINER_COLUMNS, sizeof(int32_t)) < 0)
        return NULL;
    int32_t *row = &self->containers[self->container_count++ * CONTAINER_COLUMNS];
    row[C_PARENT] = parent;
    row[C_END] = -1;
    row[C_FIRST] = (int32_t)self->block_count;
    return row;
}

/* Compute the context of the elements up to this index, each once. */
FOR_EACH_KIND int
resolve(Scan *self, const int kind, int place)
{
    for (; self->resolved <= place; self->resolved++) {
        Element *element = &self->stack[self->resolved];
        const Element *above = self->resolved ? element - 1 : NULL;
        int32_t flags = element->tag != NULL ? element->tag->flags : 0, hints = 0;
        read_attributes(self, kind, element->attributes, &flags, &hints);
        element->path = above != NULL ? above->path : -1;
        element->container = above != NULL ? above->container : -1;
        if (element->kind != CLEAR && self->resolved <= self->rules->max_path) {
            element->path = path_to(self, kind, element->path, element);
            if (element->path < -1)
                return -1;
        }
        if (element->kind == BLOCK) {
            int32_t *row = add_container(self, element->container);
            if (row == NULL)
                return -1;
            row[C_TAG] = element->tag != NULL ? element->tag->number : 0;
            row[C_DEPTH] = (int32_t)self->resolved;
            row[C_HINTS] = hints;
            row[C_FLAGS] = flags;
            row[C_ORDINAL] = element->ordinal;
            element->container = (int32_t)self->container_count - 1;
        }
        element->heading = above != NULL ? above->heading : 0;
        if (flags & self->rules->heading)
            element->heading = element->tag->name[1] - '0';
        element->flags = flags | (above != NULL ? above->flags : 0);
        element->hints = hints | (above != NULL ? above->hints : 0);
    }
    return 0;
}

static int
add_mark(Scan *self, int kind, Py_ssize_t start)
{
    PyObject *href = kind == 0 ? PyUnicode_Substring(self->markup, self->href.start, self->href.end) : PyUnicode_New(0, 0);
    PyObject *mark = href != NULL ? Py_BuildValue("(nnniN)", self->block_count, start, self->text_length, kind, href) : NULL;
    int result = mark != NULL ? PyList_Append(self->marks, mark) : -1;
    Py_XDECREF(mark);
    return result;
}

/* Add the mark that was open until here, if it holds any text. */
FOR_EACH_KIND int
end_mark(Scan *self, const int kind, int which)
{
    Py_ssize_t start = self->since[which];
    if (start < self->text_length && PyUnicode_READ(kind, self->text, start) == ' ')
        start++;
    return start < self->text_length && self->block_count < self->rules->max_blocks ? add_mark(self, which, start) : 0;
}

FOR_EACH_KIND int
leave_mark(Scan *self, const int kind, int which)
{
    if (self->open[which] == 0)
        return 0;
    return --self->open[which] == 0 ? end_mark(self, kind, which) : 0;
}

static void
enter_mark(Scan *self, int which)
{
    if (self->open[which]++ == 0)
        self->since[which] = self->text_length;
}

/* Read a tag that may begin or end a mark. */
FOR_EACH_KIND int
read_mark(Scan *self, const int kind, const Element *element)
{
    if (element->tag != NULL && element->tag->mark) {
        if (READ(element->name.start - 1) == '/')
            return leave_mark(self, kind, element->tag->mark);
        enter_mark(self, element->tag->mark);
    }
    else if (element->kind == LINK || element->kind == UNLINK) {
        Span all = element->attributes;
        if (leave_mark(self, kind, 0) < 0)
            return -1;
        Py_ssize_t start = element->kind == LINK ? find(self, kind, all.start, all.end, " href=\"") + 7 : all.end;
        Py_ssize_t end = start < all.end ? find(self, kind, start, all.end, "\"") : all.end;
        if (end < all.end) {
            self->href.start = start;
            self->href.end = end;
            enter_mark(self, 0);
        }
    }
    return 0;
}

/* End the marks of a block. What is still open marks the next block from its first character. */
FOR_EACH_KIND int
end_marks(Scan *self, const int kind)
{
    for (int which = 0; which < MARK_KINDS; which++) {
        if (self->open[which] > 0 && end_mark(self, kind, which) < 0)
            return -1;
        self->since[which] = 0;
    }
    return 0;
}

static int
keep_lines(Scan *self, const int kind, const char *from, Py_ssize_t length)
{
    PyObject *number = PyLong_FromSsize_t(self->block_count), *lines = PyUnicode_FromKindAndData(kind, from, length);
    int result = number != NULL && lines != NULL ? PyDict_SetItem(self->lines, number, lines) : -1;
    Py_XDECREF(number);
    Py_XDECREF(lines);
    return result;
}

/* Keep the lines of a block of text with <br>: a blank of its text becomes the end of a line. This changes the text. */
FOR_EACH_KIND int
add_broken(Scan *self, const int kind)
{
    int found = 0;
    for (Py_ssize_t i = 0; i < self->end_count; i++)
        if (self->ends[i] > 0 && self->ends[i] < self->text_length) {
            PyUnicode_WRITE(kind, self->text, self->ends[i], '\n');
            found = 1;
        }
    return found ? keep_lines(self, kind, self->text, self->text_length) : 0;
}

/* Keep the lines of a block of code: without blanks at their ends, and without empty lines at both ends of the block. */
FOR_EACH_KIND int
add_code(Scan *self, const int kind)
{
    Py_ssize_t length = 0, solid = 0; /* solid: up to the last character of the line that is not blank */
    for (Py_ssize_t i = 0; i < self->source_length; i++) {
        Py_UCS4 letter = PyUnicode_READ(kind, self->source, i);
        if (letter == '\n') {
            length = solid;
            if (length == 0)
                continue;
        }
        PyUnicode_WRITE(kind, self->source, length++, letter);
        if (letter != ' ' && letter != '\t')
            solid = length;
    }
    while (solid > 0 && PyUnicode_READ(kind, self->source, solid - 1) == '\n')
        solid--;
    if (solid == self->text_length && memcmp(self->source, self->text, (size_t)(solid * kind)) == 0)
        return 0;
    return keep_lines(self, kind, self->source, solid);
}

FOR_EACH_KIND int
add_lines(Scan *self, const int kind)
{
    if (self->rules->stock)
        return 0;
    return self->source_length > 0 ? add_code(self, kind) : add_broken(self, kind);
}

FOR_EACH_KIND int
emit(Scan *self, const int kind)
{
    int place = self->stack[self->depth - 1].block;
    if (resolve(self, kind, place) < 0)
        return -1;
    if (reserve(&self->blocks, &self->block_room, (self->block_count + 1) * BLOCK_COLUMNS, sizeof(int32_t)) < 0)
        return -1;
    PyObject *text = PyUnicode_FromKindAndData(kind, self->text, self->text_length);
    if (text == NULL || PyList_Append(self->texts, text) < 0) {
        Py_XDECREF(text);
        return -1;
    }
    Py_DECREF(text);
    if ((self->source_length > 0 || self->end_count > 0) && add_lines(self, kind) < 0)
        return -1;
    const Element *element = &self->stack[place];
    int32_t *row = &self->blocks[self->block_count++ * BLOCK_COLUMNS];
    self->counts[CHARS] = (int32_t)self->text_length;
    self->counts[WORDS]++;
    memcpy(row, self->counts, sizeof(self->counts));
    row[TAG] = element->tag != NULL ? element->tag->number : 0;
    row[DEPTH] = place;
    row[PATH] = element->path;
    row[CONTAINER] = element->container;
    row[HEADING] = element->heading;
    row[FLAGS] = element->flags;
    row[HINTS] = element->hints;
    self->counts[IMAGES] = 0;
    return 0;
}

/* End the current node. */
static void
end_node(Scan *self)
{
    if (self->solid && self->linked) {
        self->counts[LINK_CHARS] += self->node_length;
        if (self->rules->stock)
            self->counts[LINK_CHARS] += self->first_blank + self->last_blank;
        self->counts[LINKS]++;
    }
    self->any = self->solid = self->first_blank = self->last_blank = 0;
    self->node_length = 0;
}

/* End the current block. */
FOR_EACH_KIND int
boundary(Scan *self, const int kind)
{
    int result = 0;
    end_node(self);
    if (self->marks != NULL && end_marks(self, kind) < 0)
        return -1;
    if (self->text_length > 0 && self->block_count < self->rules->max_blocks)
        result = emit(self, kind);
    int32_t images = self->counts[IMAGES];
    memset(self->counts, 0, sizeof(self->counts));
    self->counts[IMAGES] = images;
    self->text_length = self->source_length = self->end_count = 0;
    self->pending = self->broken = 0;
    return result;
}

FOR_EACH_KIND int
class_of(const Rules *rules, Py_UCS4 letter)
{
    if (letter < 128)
        return rules->ascii[letter];
    if (letter < 0xa1)
        return letter == 0x85 || letter == 0xa0 ? SPACE : letter < 0xa0 ? CONTROL : 0;
    if (letter < 0x600)
        return 0;
    if (letter >= 0xd800 && letter < 0xe000)
        return CONTROL;
    if (letter < 0x10000 && rules->pages[letter >> 8])
        for (int i = 0; i < rules->marks; i++)
            if (rules->mark[i] == letter)
                return rules->mark_class[i];
    return letter < 0x3001 && Py_UNICODE_ISSPACE(letter) ? SPACE : 0;
}

/* Add a character of text; there is room for it and a blank. */
FOR_EACH_KIND void
add(Scan *self, const int kind, Py_UCS4 letter)
{
    int class = class_of(self->rules, letter);
    if (class & SPACE) {
        self->first_blank |= !self->any;
        self->any = self->last_blank = 1;
        if (!self->rules->stock || self->solid)
            self->pending = 1;
        return;
    }
    if (!self->solid && self->last_blank)
        self->pending = 1;
    self->node_length += 1 + (self->solid && self->last_blank);
    self->any = self->solid = 1;
    self->last_blank = self->broken = 0;
    if (class & CONTROL)
        return;
    if (self->pending && self->text_length > 0) {
        PyUnicode_WRITE(kind, self->text, self->text_length++, ' ');
        self->counts[WORDS]++;
    }
    self->pending = 0;
    PyUnicode_WRITE(kind, self->text, self->text_length++, letter);
    if (class) {
        self->counts[STOPS] += (class & STOP) != 0;
        self->counts[COMMAS] += (class & COMMA) != 0;
        self->counts[DIGITS] += (class & DIGIT) != 0;
    }
}

/* Decode the character reference at this position and move past it. The serialiser writes only these four. */
FOR_EACH_KIND Py_UCS4
reference(const Scan *self, const int kind, Py_ssize_t *place)
{
    static const struct {
        const char *name;
        Py_UCS4 letter;
    } names[] = {{"&amp;", '&'}, {"&nbsp;", 0xa0}, {"&lt;", '<'}, {"&gt;", '>'}};
    for (int i = 0; i < 4; i++)
        if (stands_at(self, kind, *place, self->length, names[i].name)) {
            *place += (Py_ssize_t)strlen(names[i].name);
            return names[i].letter;
        }
    return READ((*place)++);
}

/* Keep the white space of code. */
FOR_EACH_KIND int
read_code(Scan *self, const int kind, Py_ssize_t place, Py_ssize_t end)
{
    if (reserve(&self->source, &self->source_room, (self->source_length + end - place) * kind, 1) < 0)
        return -1;
    while (place < end) {
        Py_UCS4 letter = READ(place);
        if (letter == '&')
            letter = reference(self, kind, &place);
        else
            place++;
        int class = class_of(self->rules, letter);
        if (class & CONTROL)
            continue;
        if (class & SPACE && letter != '\n' && letter != '\t')
            letter = ' ';
        PyUnicode_WRITE(kind, self->source, self->source_length++, letter);
    }
    return 0;
}

/* Read text up to the next tag and return where that begins. */
FOR_EACH_KIND Py_ssize_t
read_text(Scan *self, const int kind, Py_ssize_t place)
{
    Py_ssize_t end = bracket(self, kind, place);
    while (end < self->length && READ(end) != '<')
        end = bracket(self, kind, end + 1);
    if (end == place)
        return end;
    if (self->stack[self->depth - 1].code && read_code(self, kind, place, end) < 0)
        return -1;
    if (reserve(&self->text, &self->text_room, (self->text_length + end - place + 1) * kind, 1) < 0) /* 1: for a pending blank */
        return -1;
    while (place < end) {
        Py_UCS4 letter = READ(place);
        if (letter == '&')
            add(self, kind, reference(self, kind, &place));
        else {
            add(self, kind, letter);
            place++;
        }
    }
    return end;
}

/* Return how many columns a cell takes. */
FOR_EACH_KIND int32_t
columns_of(const Scan *self, const int kind, Span all)
{
    Py_ssize_t place = find(self, kind, all.start, all.end, " colspan=\"") + 10;
    int32_t columns = 0;
    for (int digits = 0; digits < 9 && place < all.end && READ(place) >= '0' && READ(place) <= '9'; digits++, place++)
        columns = columns * 10 + (int32_t)(READ(place) - '0');
    return columns < 1 ? 1 : columns > MAX_SPAN ? MAX_SPAN : columns;
}

/* Return the number of an element that opens, given the list, table or row around it, which counts it. */
FOR_EACH_KIND int32_t
ordinal_of(const Scan *self, const int kind, const Element *element, Element *holder)
{
    static const uint8_t held_by[] = {[ITEM] = LIST, [TERM] = TERMS, [ROW] = TABLE, [CELL] = ROW, [CODE] = NO_ROLE};
    Span all = element->attributes;
    int role = element->tag->role;
    if (role == TABLE)
        return find(self, kind, all.start, all.end, " role=\"presentation\"") < all.end ||
                       find(self, kind, all.start, all.end, " role=\"none\"") < all.end
                   ? -1
                   : 0;
    if (role <= CODE && held_by[role] != NO_ROLE && held_by[role] == holder->role) {
        int32_t before = holder->count, after = before + (role == CELL ? columns_of(self, kind, all) : 1);
        holder->count = after < MAX_ORDINAL ? after : MAX_ORDINAL;
        return before + 1 < MAX_ORDINAL ? before + 1 : MAX_ORDINAL;
    }
    return (role == LIST || role == TERMS) && holder->role == LIST ? holder->count : 0;
}

FOR_EACH_KIND int
open_element(Scan *self, const int kind, const Element *element)
{
    if (reserve(&self->stack, &self->stack_room, self->depth + 1, sizeof(Element)) < 0)
        return -1;
    Element *top = &self->stack[self->depth];
    *top = *element;
    top->block = element->kind == BLOCK ? (int)self->depth : top[-1].block;
    top->role = element->tag != NULL ? element->tag->role : NO_ROLE;
    top->holder = top[-1].holder;
    top->code = top[-1].code || top->role == CODE;
    top->ordinal = top->role != NO_ROLE ? ordinal_of(self, kind, element, &self->stack[top->holder]) : 0;
    top->count = 0;
    if (top->role == LIST || top->role == TERMS || top->role == TABLE || top->role == ROW)
        top->holder = (int)self->depth;
    self->depth++;
    return 0;
}

/* Close the elements from this index up. */
FOR_EACH_KIND int
close_elements(Scan *self, const int kind, Py_ssize_t place)
{
    while (self->depth > place) {
        const Element *top = &self->stack[self->depth - 1];
        if (top->kind == BLOCK && boundary(self, kind) < 0)
            return -1;
        self->depth--;
        if (self->resolved > self->depth) {
            self->resolved = self->depth;
            if (top->kind == BLOCK)
                self->containers[top->container * CONTAINER_COLUMNS + C_END] = (int32_t)self->block_count;
        }
    }
    return 0;
}

FOR_EACH_KIND int
is_called(const Scan *self, const int kind, const Element *element, const Tag *tag, Span name)
{
    return element->tag == tag && (tag != NULL || same_name(self, kind, element->name, name));
}

/* Return the index of the open element that an end tag closes; the depth of the stack if there is none. */
FOR_EACH_KIND Py_ssize_t
place_of(const Scan *self, const int kind, const Tag *tag, Span name)
{
    Py_ssize_t top = self->depth - 1, last = top - self->rules->reach;
    for (Py_ssize_t place = top; place > (last > 0 ? last : 0); place--)
        if (is_called(self, kind, &self->stack[place], tag, name))
            return place;
    return self->depth;
}

/* Keep where a line ends. */
FOR_EACH_KIND int
end_line(Scan *self, const int kind)
{
    if (self->stack[self->depth - 1].code) {
        if (reserve(&self->source, &self->source_room, (self->source_length + 1) * kind, 1) < 0)
            return -1;
        PyUnicode_WRITE(kind, self->source, self->source_length++, '\n');
        return 0;
    }
    if (reserve(&self->ends, &self->end_room, self->end_count + 1, sizeof(int32_t)) < 0)
        return -1;
    self->ends[self->end_count++] = (int32_t)self->text_length;
    return 0;
}

FOR_EACH_KIND int
line_break(Scan *self, const int kind)
{
    if (self->broken) {
        if (boundary(self, kind) < 0)
            return -1;
    }
    else {
        if (end_line(self, kind) < 0)
            return -1;
        self->counts[BREAKS]++;
        self->pending = self->any = self->last_blank = 1;
    }
    self->broken = 1;
    return 0;
}

/* Count a start tag inside a block. */
FOR_EACH_KIND int
inline_tag(Scan *self, const int kind, const Element *element)
{
    if (self->rules->stock || element->kind == LINK)
        end_node(self);
    self->counts[TAGS]++;
    if (element->kind == BREAK) {
        int result = line_break(self, kind);
        if (self->rules->stock)
            end_node(self);
        return result;
    }
    self->broken = 0;
    self->counts[IMAGES] += element->kind == IMAGE;
    if (element->kind == LINK) {
        Span all = element->attributes;
        self->linked = self->rules->stock || find(self, kind, all.start, all.end, " href=\"") < all.end;
    }
    return element->kind <= LINK && self->rules->stock ? open_element(self, kind, element) : 0;
}

/* Read the tag at this position into `element`. Return where it ends; -1 if there is a comment inside. */
FOR_EACH_KIND Py_ssize_t
read_tag(const Scan *self, const int kind, Py_ssize_t place, Element *element)
{
    element->name.start = ++place;
    for (; place < self->length; place++) {
        Py_UCS4 letter = READ(place);
        if (letter == ' ' || letter == '>')
            break;
        if (letter == '<' && self->comments && stands_at(self, kind, place, self->length, "<!--"))
            return -1;
    }
    element->name.end = element->attributes.start = place;
    while ((place = bracket(self, kind, place)) < self->length && READ(place) != '>') {
        if (self->comments && stands_at(self, kind, place, self->length, "<!--"))
            return -1;
        place++;
    }
    element->attributes.end = place;
    return place < self->length ? place + 1 : place;
}

/* Set the tag and kind of an element by its name. */
FOR_EACH_KIND void
identify(const Scan *self, const int kind, Element *element)
{
    Py_UCS4 first = element->name.end > element->name.start ? READ(element->name.start) : 0;
    if (first == '/')
        element->name.start++;
    element->tag = known(self, kind, element->name);
    if (element->tag != NULL)
        element->kind = first == '/' ? element->tag->end_kind : element->tag->kind;
    else if (first == '/')
        element->kind = self->rules->stock ? CLOSE : VOID_CLEAR;
    else
        element->kind = first == '!' || first == '?' ? VOID_CLEAR : INLINE;
}

/* Skip an element with its content. Return where it ends; -1 if there is a comment inside a tag. */
FOR_EACH_KIND Py_ssize_t
drop(const Scan *self, const int kind, Py_ssize_t place, const Tag *tag)
{
    int inside = 1;
    while (inside > 0 && place < self->length) {
        Element element;
        if (READ(place) != '<') {
            place++;
            continue;
        }
        if (self->comments && stands_at(self, kind, place, self->length, "<!--")) {
            place = find(self, kind, place + 4, self->length, "-->");
            place = place < self->length ? place + 3 : place;
            continue;
        }
        place = read_tag(self, kind, place, &element);
        if (place < 0)
            return -1;
        identify(self, kind, &element);
        if (element.tag == tag)
            inside += READ(element.name.start - 1) == '/' ? -1 : 1;
    }
    return place;
}

/* Apply a tag that is neither transparent nor dropped. */
FOR_EACH_KIND int
act(Scan *self, const int kind, const Element *element)
{
    switch (element->kind) {
    case BLOCK:
        return boundary(self, kind) < 0 ? -1 : open_element(self, kind, element);
    case VOID_BLOCK:
        return boundary(self, kind);
    case UNLINK:
    case CLOSE:
        if (self->rules->stock || element->kind == UNLINK)
            end_node(self);
        if (element->kind == UNLINK)
            self->linked = 0;
        return close_elements(self, kind, place_of(self, kind, element->tag, element->name));
    default:
        return inline_tag(self, kind, element);
    }
}

FOR_EACH_KIND int
run(Scan *self, const int kind)
{
    Py_ssize_t place = 0;
    while (self->block_count < self->rules->max_blocks) {
        Element element;
        place = read_text(self, kind, place);
        if (place < 0)
            return FAILED;
        if (place >= self->length)
            break;
        if (self->comments && stands_at(self, kind, place, self->length, "<!--")) {
            place = find(self, kind, place + 4, self->length, "-->");
            place = place < self->length ? place + 3 : place;
            continue;
        }
        place = read_tag(self, kind, place, &element);
        if (place < 0)
            return COMMENT_IN_TAG;
        identify(self, kind, &element);
        if (self->marks != NULL && read_mark(self, kind, &element) < 0)
            return FAILED;
        const Element *top = &self->stack[self->depth - 1];
        if (element.kind == CLOSE && top->kind == CLEAR && is_called(self, kind, top, element.tag, element.name)) {
            if (close_elements(self, kind, self->depth - 1) < 0)
                return FAILED;
        }
        else if (element.kind == DROP) {
            place = drop(self, kind, place, element.tag);
            if (place < 0)
                return COMMENT_IN_TAG;
        }
        else if (element.kind == CLEAR) {
            if (open_element(self, kind, &element) < 0)
                return FAILED;
        }
        else if (element.kind != VOID_CLEAR && act(self, kind, &element) < 0)
            return FAILED;
    }
    return close_elements(self, kind, 0) < 0 ? FAILED : DONE;
}

static int
run_any(Scan *self)
{
    switch (PyUnicode_KIND(self->markup)) {
    case PyUnicode_1BYTE_KIND:
        return run(self, PyUnicode_1BYTE_KIND);
    case PyUnicode_2BYTE_KIND:
        return run(self, PyUnicode_2BYTE_KIND);
    default:
        return run(self, PyUnicode_4BYTE_KIND);
    }
}

static PyObject *
columns(const int32_t *rows, Py_ssize_t count, Py_ssize_t width)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count * width * (Py_ssize_t)sizeof(int32_t));
    if (bytes == NULL)
        return NULL;
    char *to = PyBytes_AS_STRING(bytes);
    for (Py_ssize_t column = 0; column < width; column++)
        for (Py_ssize_t row = 0; row < count; row++, to += sizeof(int32_t))
            memcpy(to, &rows[row * width + column], sizeof(int32_t));
    return bytes;
}

static PyObject *
path_parents(const Scan *self)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, self->path_count * (Py_ssize_t)sizeof(int32_t));
    if (bytes == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < self->path_count; i++)
        memcpy(PyBytes_AS_STRING(bytes) + i * (Py_ssize_t)sizeof(int32_t), &self->paths[i].parent, sizeof(int32_t));
    return bytes;
}

static PyObject *
path_tags(const Scan *self)
{
    PyObject *names = PyList_New(self->path_count);
    if (names == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < self->path_count; i++) {
        const Path *path = &self->paths[i];
        PyObject *name;
        if (i == 0)
            name = PyUnicode_FromString(">");
        else if (path->tag != NULL)
            name = Py_NewRef(path->tag->text);
        else
            name = PyUnicode_Substring(self->markup, path->name.start, path->name.end);
        if (name == NULL) {
            Py_DECREF(names);
            return NULL;
        }
        PyList_SET_ITEM(names, i, name);
    }
    return names;
}

static PyObject *
result_of(const Scan *self)
{
    PyObject *parts[] = {
        Py_NewRef(self->texts),
        columns(self->blocks, self->block_count, BLOCK_COLUMNS),
        columns(self->containers, self->container_count, CONTAINER_COLUMNS),
        path_parents(self),
        path_tags(self),
        Py_NewRef(self->lines),
        self->marks != NULL ? Py_NewRef(self->marks) : PyList_New(0),
    };
    PyObject *result = NULL;
    if (parts[1] != NULL && parts[2] != NULL && parts[3] != NULL && parts[4] != NULL && parts[6] != NULL)
        result = PyTuple_Pack(7, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]);
    for (int i = 0; i < 7; i++)
        Py_XDECREF(parts[i]);
    return result;
}

static PyObject *
scan(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *result = NULL;
    Scan self = {0};
    int marks = 0;
    if (!PyArg_ParseTuple(arguments, "UOp|p:scan", &self.markup, &capsule, &self.comments, &marks))
        return NULL;
    self.rules = PyCapsule_GetPointer(capsule, CAPSULE);
    if (self.rules == NULL)
        return NULL;
    self.data = PyUnicode_DATA(self.markup);
    self.length = PyUnicode_GET_LENGTH(self.markup);
    self.texts = PyList_New(0);
    self.lines = PyDict_New();
    self.marks = marks ? PyList_New(0) : NULL;
    if (self.texts != NULL && self.lines != NULL && (self.marks != NULL || !marks) && reserve(&self.stack, &self.stack_room, 1, sizeof(Element)) == 0) {
        memset(self.stack, 0, sizeof(Element));
        self.stack[0].kind = BLOCK; /* the page itself; no end tag closes it */
        self.depth = 1;
        int ended = run_any(&self);
        if (ended == DONE)
            result = result_of(&self);
        else if (ended == COMMENT_IN_TAG)
            result = Py_NewRef(Py_None);
    }
    PyMem_Free(self.stack);
    PyMem_Free(self.blocks);
    PyMem_Free(self.containers);
    PyMem_Free(self.paths);
    PyMem_Free(self.slots);
    PyMem_Free(self.text);
    PyMem_Free(self.source);
    PyMem_Free(self.ends);
    Py_XDECREF(self.texts);
    Py_XDECREF(self.lines);
    Py_XDECREF(self.marks);
    return result;
}

static void
free_rules(PyObject *capsule)
{
    Rules *rules = PyCapsule_GetPointer(capsule, CAPSULE);
    for (int i = 0; i < SLOTS; i++)
        Py_XDECREF(rules->tags[i].text);
    PyMem_Free(rules->next);
    PyMem_Free(rules->found);
    PyMem_Free(rules);
}

static int
set_tags(Rules *rules, PyObject *tags)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tags); i++) {
        PyObject *name;
        int start, end, number, flags, role = NO_ROLE, mark = 0;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(tags, i), "Uiiii|ii:tag", &name, &start, &end, &number, &flags, &role, &mark))
            return -1;
        Py_ssize_t length;
        const char *letters = PyUnicode_AsUTF8AndSize(name, &length);
        if (letters == NULL)
            return -1;
        if (length > NAME_LENGTH || i >= SLOTS / 2) {
            PyErr_SetString(PyExc_ValueError, "a tag is too long, or there are too many");
            return -1;
        }
        Tag *tag = slot_of(rules, letters, (int)length);
        memcpy(tag->name, letters, (size_t)length);
        tag->length = (int)length;
        tag->kind = start;
        tag->end_kind = end;
        tag->number = number;
        tag->flags = flags;
        tag->role = role;
        tag->mark = mark >= 0 && mark < MARK_KINDS ? mark : 0;
        tag->text = Py_NewRef(name);
    }
    return 0;
}

static int
set_marks(Rules *rules, PyObject *marks, uint8_t class)
{
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(marks); i++) {
        Py_UCS4 mark = PyUnicode_READ_CHAR(marks, i);
        if (mark < 128)
            rules->ascii[mark] |= class;
        else if (mark < 0x600 || mark > 0xffff || rules->marks == MARKS) {
            PyErr_SetString(PyExc_ValueError, "a mark must be ASCII or from U+0600 to U+FFFF, and there are too many");
            return -1;
        }
        else {
            rules->pages[mark >> 8] = 1;
            rules->mark[rules->marks] = mark;
            rules->mark_class[rules->marks++] = class;
        }
    }
    return 0;
}

static int
set_automaton(Rules *rules, const Py_buffer *letters, const Py_buffer *next, const Py_buffer *found)
{
    Py_ssize_t states = found->len / (Py_ssize_t)sizeof(int32_t);
    if (letters->len != 128 || next->len != states * LETTERS * (Py_ssize_t)sizeof(uint16_t) || states < 1) {
        PyErr_SetString(PyExc_ValueError, "the tables of the automaton do not fit together");
        return -1;
    }
    rules->next = PyMem_Malloc((size_t)next->len);
    rules->found = PyMem_Malloc((size_t)found->len);
    if (rules->next == NULL || rules->found == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(rules->letters, letters->buf, 128);
    memcpy(rules->next, next->buf, (size_t)next->len);
    memcpy(rules->found, found->buf, (size_t)found->len);
    return 0;
}

static void
set_ascii(Rules *rules)
{
    for (int letter = 0; letter < 128; letter++) {
        if (letter == ' ' || (letter >= 9 && letter <= 13) || (letter >= 28 && letter <= 31))
            rules->ascii[letter] = SPACE;
        else if (letter < 32 || letter == 127)
            rules->ascii[letter] = CONTROL;
        else if (letter >= '0' && letter <= '9')
            rules->ascii[letter] = DIGIT;
    }
}

static PyObject *
compile_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *tags, *stops, *commas, *capsule;
    Py_buffer letters, next, found;
    Rules *rules = PyMem_Calloc(1, sizeof(Rules));
    if (rules == NULL)
        return PyErr_NoMemory();
    capsule = PyCapsule_New(rules, CAPSULE, free_rules);
    if (capsule == NULL) {
        PyMem_Free(rules);
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "O!p(iii)(iii)(UU)(y*y*y*):compile", &PyList_Type, &tags, &rules->stock, &rules->max_path,
                          &rules->max_blocks, &rules->reach, &rules->link, &rules->hidden, &rules->heading, &stops, &commas, &letters,
                          &next, &found)) {
        Py_DECREF(capsule);
        return NULL;
    }
    set_ascii(rules);
    int failed = set_tags(rules, tags) < 0 || set_marks(rules, stops, STOP) < 0 || set_marks(rules, commas, COMMA) < 0 ||
                 set_automaton(rules, &letters, &next, &found) < 0;
    PyBuffer_Release(&letters);
    PyBuffer_Release(&next);
    PyBuffer_Release(&found);
    if (failed)
        Py_CLEAR(capsule);
    return capsule;
}

static PyMethodDef methods[] = {
    {"compile", compile_rules, METH_VARARGS,
     "compile(tags, stock, (max_path, max_blocks, reach), (link, hidden, heading), (stops, commas), (letters, next, found)) -> rules"},
    {"scan", scan, METH_VARARGS, "scan(markup, rules, comments, marks) -> the result of reference.scan; None if there is a comment inside a tag"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_walk", "The kernel of the walk.", 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__walk(void)
{
    return PyModuleDef_Init(&definition);
}
