/* Unpack the beginning of a gzip member (RFC 1951, 1952), as far as a reader of heads needs it.

   A library builds tables for the speed of a long body: 5 to 8 µs for each member, of which then 500 bytes are
   read. These tables are small. Whatever is damaged, cut or unusual ends with 0, and the caller lets a library
   decide. */

#include <stdint.h>
#include <string.h>

enum {
    FAST = 9,          /* bits of a literal's code that are looked up at once; longer codes are read bit by bit */
    FAST_DISTANCE = 7, /* and of a distance's code, and of the code of lengths */
    LONGEST_CODE = 15, /* bits */
    MOST = 1 << 16,    /* bytes that are unpacked, at most */
    MATCH = 258,       /* bytes that one symbol can add, at most */
    LENGTHS = 19,      /* symbols of the code in which the lengths of the other codes are written */
    HEADER = 256,      /* bytes of codes that are compared with the next ones */
    GZIP_HEADER = 10,
    TRAILER = 8,
};

enum { AT_BLOCK, IN_STORED, IN_CODES };

struct code {
    int bits;                 /* that are looked up at once */
    uint16_t fast[1 << FAST]; /* symbol << 4 | length of its code; 0: the code is longer */
    uint16_t count[LONGEST_CODE + 1];
    uint16_t symbols[288]; /* in the order of their codes */
};

struct bits {
    const unsigned char *next, *end; /* of the packed bytes */
    uint64_t word;
    unsigned held; /* bits at hand */
};

/* The codes of a block, and the bytes of which they were read: a program that packs short records with a code of its
   own writes the same one again and again. */
struct codes {
    struct code literals, distances;
    size_t size; /* bits, from the first of the block; 0: unknown */
    unsigned char written[HEADER];
};

struct unpacking {
    struct bits bits;
    const unsigned char *start; /* behind the header of the member */
    size_t made, stored;
    int where, last, ended;
    struct codes *codes;
    struct codes known[2]; /* used in turn */
    unsigned char data[MOST + MATCH];
};

static struct codes fixed;
static uint32_t checksums[4][256];

static const uint16_t LENGTH_BASE[29] = {
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
};
static const uint8_t LENGTH_EXTRA[29] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
};
static const uint16_t DISTANCE_BASE[30] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
};
static const uint8_t DISTANCE_EXTRA[30] = {
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
};

/* Hold at least 56 bits, if the file has as many. */
static inline void
refill(struct bits *b)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (b->end - b->next >= 8) {
        uint64_t word;
        memcpy(&word, b->next, 8);
        b->word |= word << b->held;
        b->next += (63 - b->held) >> 3;
        b->held |= 56;
        return;
    }
#endif
    for (; b->held < 56 && b->next < b->end; b->held += 8)
        b->word |= (uint64_t)*b->next++ << b->held;
}

/* Consume bits that are at hand. */
static inline unsigned
take(struct bits *b, unsigned count)
{
    unsigned found = (unsigned)(b->word & ((1u << count) - 1));
    b->word >>= count;
    b->held -= count;
    return found;
}

/* Give whole bytes back: what follows is read from the file. */
static void
align(struct bits *b)
{
    b->next -= b->held >> 3;
    b->word = b->held = 0;
}

/* Build the tables of a code from the lengths of its symbols. Return 0 if there is no such code. */
static int
build(struct code *code, const uint8_t *lengths, int number, int bits)
{
    uint16_t next[LONGEST_CODE + 1];
    int left = 1, longest = 0;
    code->bits = bits;
    memset(code->count, 0, sizeof code->count);
    memset(code->fast, 0, sizeof code->fast[0] << bits);
    for (int symbol = 0; symbol < number; symbol++)
        code->count[lengths[symbol]]++;
    code->count[0] = 0;
    next[0] = next[1] = 0;
    for (int length = 1; length <= LONGEST_CODE; length++) {
        left = 2 * left - code->count[length];
        if (left < 0)
            return 0;
        longest = code->count[length] ? length : longest;
        if (length < LONGEST_CODE)
            next[length + 1] = (uint16_t)(next[length] + code->count[length]);
    }
    if (left > 0 && (number == LENGTHS || longest > 1)) /* as zlib has it: one code of one bit may be alone */
        return 0;
    for (int symbol = 0; symbol < number; symbol++)
        if (lengths[symbol])
            code->symbols[next[lengths[symbol]]++] = (uint16_t)symbol;
    unsigned reversed = 0; /* a code begins with its highest bit, the bits at hand with their lowest */
    for (int length = 1, at = 0; length <= bits; length++) {
        for (int rest = code->count[length]; rest > 0; rest--, at++) {
            uint16_t entry = (uint16_t)(code->symbols[at] << 4 | length);
            for (unsigned slot = reversed; slot < 1u << bits; slot += 1u << length)
                code->fast[slot] = entry;
            unsigned bit = 1u << (length - 1);
            while (reversed & bit)
                bit >>= 1;
            reversed = bit ? (reversed & (bit - 1)) + bit : 0;
        }
    }
    return 1;
}

/* Read a code that is longer than those that are looked up. */
static int
long_symbol(struct bits *b, const struct code *code)
{
    int value = 0, first = 0, at = 0;
    uint64_t word = b->word;
    for (unsigned length = 1; length <= LONGEST_CODE && length <= b->held; length++, word >>= 1) {
        value |= (int)(word & 1);
        int count = code->count[length];
        if (value - count < first) {
            take(b, length);
            return code->symbols[at + value - first];
        }
        at += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    return -1;
}

/* Return the next symbol; -1 if there is none. The caller has refilled. */
static inline int
symbol(struct bits *b, const struct code *code)
{
    unsigned entry = code->fast[b->word & ((1u << code->bits) - 1)], length = entry & 15;
    if (entry == 0)
        return long_symbol(b, code);
    if (length > b->held)
        return -1;
    b->word >>= length;
    b->held -= length;
    return (int)(entry >> 4);
}

/* Read the two codes of a block. */
static int
read_codes(struct bits *b, struct codes *codes)
{
    static const uint8_t ORDER[LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[320] = {0};
    refill(b);
    if (b->held < 14)
        return 0;
    int literals = (int)take(b, 5) + 257, distances = (int)take(b, 5) + 1, number = (int)take(b, 4) + 4;
    if (literals > 286 || distances > 30)
        return 0;
    for (int at = 0; at < number; at++) {
        refill(b);
        if (b->held < 3)
            return 0;
        lengths[ORDER[at]] = (uint8_t)take(b, 3);
    }
    if (!build(&codes->distances, lengths, LENGTHS, FAST_DISTANCE)) /* the code of the lengths is needed only here */
        return 0;
    memset(lengths, 0, LENGTHS);
    for (int at = 0; at < literals + distances;) {
        refill(b);
        int found = symbol(b, &codes->distances);
        if (found < 0 || b->held < 7)
            return 0;
        if (found < 16) {
            lengths[at++] = (uint8_t)found;
            continue;
        }
        if (found == 16 && at == 0)
            return 0;
        uint8_t repeated = found == 16 ? lengths[at - 1] : 0;
        int times = found == 16 ? 3 + (int)take(b, 2) : found == 17 ? 3 + (int)take(b, 3) : 11 + (int)take(b, 7);
        if (at + times > literals + distances)
            return 0;
        memset(lengths + at, repeated, (size_t)times);
        at += times;
    }
    return lengths[256] != 0 && build(&codes->literals, lengths, literals, FAST)
           && build(&codes->distances, lengths + literals, distances, FAST_DISTANCE);
}

/* Return whether the first block of this member begins with bytes of which the codes are known. */
static int
is_known(const struct unpacking *s, const struct codes *codes)
{
    size_t whole = codes->size / 8;
    unsigned rest = codes->size % 8;
    return codes->size > 0 && (size_t)(s->bits.end - s->start) > whole && memcmp(s->start, codes->written, whole) == 0
           && ((s->start[whole] ^ codes->written[whole]) & ((1u << rest) - 1)) == 0;
}

/* Choose the codes of a block: those that are known, or those that it begins with. */
static int
choose_codes(struct unpacking *s)
{
    int first = s->bits.next - (s->bits.held >> 3) == s->start + 1; /* of three bits */
    for (int number = 0; first && number < 2; number++) {
        struct codes *codes = &s->known[number];
        if (is_known(s, codes)) {
            s->bits.next = s->start + codes->size / 8;
            s->bits.word = s->bits.held = 0;
            refill(&s->bits);
            take(&s->bits, codes->size % 8);
            s->codes = codes;
            return 1;
        }
    }
    s->codes = s->codes == &s->known[0] ? &s->known[1] : &s->known[0];
    s->codes->size = 0;
    if (!read_codes(&s->bits, s->codes))
        return 0;
    size_t size = (size_t)(s->bits.next - s->start) * 8 - s->bits.held;
    if (first && size / 8 < HEADER && size / 8 < (size_t)(s->bits.end - s->start)) {
        memcpy(s->codes->written, s->start, size / 8 + 1);
        s->codes->size = size;
    }
    return 1;
}

static int
begin_block(struct unpacking *s)
{
    struct bits *b = &s->bits;
    refill(b);
    if (b->held < 3)
        return 0;
    s->last = (int)take(b, 1);
    unsigned kind = take(b, 2);
    if (kind == 0) {
        take(b, b->held & 7);
        refill(b);
        if (b->held < 32)
            return 0;
        unsigned size = take(b, 16), inverse = take(b, 16);
        align(b);
        s->stored = size;
        s->where = IN_STORED;
        return (size ^ inverse) == 0xffff;
    }
    s->where = IN_CODES;
    if (kind == 1)
        s->codes = &fixed;
    return kind == 1 || (kind == 2 && choose_codes(s));
}

static int
copy_stored(struct unpacking *s, size_t upto)
{
    size_t size = upto - s->made < s->stored ? upto - s->made : s->stored;
    if ((size_t)(s->bits.end - s->bits.next) < size)
        return 0;
    memcpy(s->data + s->made, s->bits.next, size);
    s->made += size;
    s->bits.next += size;
    s->stored -= size;
    s->where = s->stored ? IN_STORED : AT_BLOCK;
    return 1;
}

/* Unpack the symbols of a block. Return 0 if there is something else. */
static int
read_symbols(struct unpacking *s, size_t upto)
{
    struct bits b = s->bits; /* a copy, because a compiler keeps it in registers */
    const struct code *literals = &s->codes->literals, *distances = &s->codes->distances;
    unsigned char *to = s->data + s->made, *end = s->data + upto;
    while (to < end) {
        refill(&b);
        int found = symbol(&b, literals);
        if (found < 256) {
            if (found < 0)
                return 0;
            *to++ = (unsigned char)found;
            continue;
        }
        if (found == 256) {
            s->where = AT_BLOCK;
            break;
        }
        if (found > 285 || LENGTH_EXTRA[found - 257] > b.held)
            return 0;
        size_t length = LENGTH_BASE[found - 257] + take(&b, LENGTH_EXTRA[found - 257]);
        refill(&b);
        found = symbol(&b, distances);
        if (found < 0 || found > 29 || DISTANCE_EXTRA[found] > b.held)
            return 0;
        size_t distance = DISTANCE_BASE[found] + take(&b, DISTANCE_EXTRA[found]);
        if (distance > (size_t)(to - s->data))
            return 0;
        const unsigned char *from = to - distance;
        if (distance >= length) {
            memcpy(to, from, length);
            to += length;
        }
        else
            while (length-- > 0)
                *to++ = *from++;
    }
    s->bits = b;
    s->made = (size_t)(to - s->data);
    return 1;
}

static uint32_t
checksum(const unsigned char *data, size_t size)
{
    uint32_t found = 0xffffffff;
    for (; size >= 4; size -= 4, data += 4) {
        found ^= (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
        found = checksums[3][found & 255] ^ checksums[2][found >> 8 & 255] ^ checksums[1][found >> 16 & 255]
                ^ checksums[0][found >> 24];
    }
    while (size-- > 0)
        found = found >> 8 ^ checksums[0][(found ^ *data++) & 255];
    return ~found;
}

static uint32_t
number_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Compare the end of a member with what was unpacked of it. */
static int
end_member(struct unpacking *s)
{
    align(&s->bits);
    const unsigned char *trailer = s->bits.next;
    if (s->bits.end - trailer < TRAILER || number_at(trailer) != checksum(s->data, s->made)
        || number_at(trailer + 4) != (uint32_t)s->made)
        return 0;
    s->bits.next += TRAILER;
    s->ended = 1;
    return 1;
}

/* Begin with the member at the first of these bytes. Return 0 if none with the usual header begins here. */
static int
begin_member(struct unpacking *s, const unsigned char *data, size_t size)
{
    if (size < GZIP_HEADER + TRAILER || data[0] != 0x1f || data[1] != 0x8b || data[2] != 8 || data[3] != 0)
        return 0;
    s->start = data + GZIP_HEADER;
    s->bits = (struct bits){.next = s->start, .end = data + size};
    s->made = s->stored = 0;
    s->where = AT_BLOCK;
    s->last = s->ended = 0;
    return 1;
}

/* Unpack until there are so many bytes, or a few more, or the member ends. */
static int
unpack_upto(struct unpacking *s, size_t upto)
{
    int fine = 1;
    upto = upto > MOST ? MOST : upto;
    while (fine && s->made < upto && !s->ended) {
        if (s->where == IN_STORED)
            fine = copy_stored(s, upto);
        else if (s->where == IN_CODES)
            fine = read_symbols(s, upto);
        else
            fine = s->last ? end_member(s) : begin_block(s);
    }
    return fine;
}

static void
prepare_tables(void)
{
    uint8_t lengths[288];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    build(&fixed.literals, lengths, 288, FAST);
    memset(lengths, 5, 32);
    build(&fixed.distances, lengths, 32, FAST_DISTANCE);
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
        checksums[0][byte] = value;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int slice = 1; slice < 4; slice++)
            checksums[slice][byte] = checksums[slice - 1][byte] >> 8 ^ checksums[0][checksums[slice - 1][byte] & 255];
}
