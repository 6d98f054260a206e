/* Links: frames of numbers between the arrays of a step and a socket, a stream or memory. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "sb_link.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/* The largest doubles that are whole numbers of 64 bits. */
#define MOST_I64 0x1.fffffffffffffp62
#define MOST_U64 0x1.fffffffffffffp63

/* Most attempts to read a frame in shared memory while it is being written. */
#define ATTEMPTS 16

#ifndef MSG_NOSIGNAL /* macOS has SO_NOSIGPIPE instead */
#define MSG_NOSIGNAL 0
#endif

/* --- numbers in bytes -------------------------------------------------------------- */

static int size_of(sb_type type)
{
    switch (type) {
    case SB_U8: case SB_I8: case SB_BOOL: return 1;
    case SB_U16: case SB_I16: return 2;
    case SB_U32: case SB_I32: case SB_F32: return 4;
    default: return 8;
    }
}

static void put(unsigned char *bytes, uint64_t bits, int size, int big_endian)
{
    int i;
    for (i = 0; i < size; i++)
        bytes[big_endian ? size - 1 - i : i] = (unsigned char)(bits >> (8 * i) & 0xFFu);
}

static uint64_t get(const unsigned char *bytes, int size, int big_endian)
{
    uint64_t bits = 0;
    int i;
    for (i = 0; i < size; i++)
        bits |= (uint64_t)bytes[big_endian ? size - 1 - i : i] << (8 * i);
    return bits;
}

static double limited(double value, double low, double high)
{
    return value > low ? (value < high ? value : high) : low; /* low for a NaN */
}

/* A time [s] as seconds and nanoseconds. */
static void put_stamp(unsigned char *bytes, double time, int big_endian)
{
    double seconds = floor(limited(time, 0.0, INT32_MAX));
    double rest = nearbyint(limited(time - seconds, 0.0, 1.0) * 1e9);

    if (rest >= 1e9) {
        seconds += 1.0;
        rest = 0.0;
    }
    put(bytes, (uint64_t)limited(seconds, 0.0, INT32_MAX), 4, big_endian);
    put(bytes + 4, (uint64_t)rest, 4, big_endian);
}

static void put_number(unsigned char *bytes, sb_type type, double value, int big_endian)
{
    /* Two's complement in 64 bits, of which the low bytes are written. */
    int64_t whole = 0;
    uint64_t bits;
    uint32_t half;
    float single;

    switch (type) {
    case SB_U8: whole = (int64_t)nearbyint(limited(value, 0.0, UINT8_MAX)); break;
    case SB_I8: whole = (int64_t)nearbyint(limited(value, INT8_MIN, INT8_MAX)); break;
    case SB_U16: whole = (int64_t)nearbyint(limited(value, 0.0, UINT16_MAX)); break;
    case SB_I16: whole = (int64_t)nearbyint(limited(value, INT16_MIN, INT16_MAX)); break;
    case SB_U32: whole = (int64_t)nearbyint(limited(value, 0.0, UINT32_MAX)); break;
    case SB_I32: whole = (int64_t)nearbyint(limited(value, INT32_MIN, INT32_MAX)); break;
    case SB_BOOL: whole = (int64_t)nearbyint(limited(value, 0.0, 1.0)); break;
    case SB_I64: whole = (int64_t)nearbyint(limited(value, -0x1p63, MOST_I64)); break;
    case SB_U64:
        put(bytes, (uint64_t)nearbyint(limited(value, 0.0, MOST_U64)), 8, big_endian);
        return;
    case SB_STAMP:
        put_stamp(bytes, value, big_endian);
        return;
    case SB_F32:
        single = (float)limited(value, -(double)FLT_MAX, (double)FLT_MAX);
        memcpy(&half, &single, sizeof half);
        put(bytes, half, 4, big_endian);
        return;
    default:
        memcpy(&bits, &value, sizeof bits);
        put(bytes, bits, 8, big_endian);
        return;
    }
    put(bytes, (uint64_t)whole, size_of(type), big_endian);
}

static double get_number(const unsigned char *bytes, sb_type type, int big_endian)
{
    uint64_t bits = get(bytes, size_of(type), big_endian);
    uint32_t half;
    float single;
    double value;

    switch (type) {
    case SB_U8: case SB_U16: case SB_U32: return (double)bits;
    /* Sign extension: subtract twice the value of the sign bit. */
    case SB_I8: return (double)bits - (bits >> 7 ? 256.0 : 0.0);
    case SB_I16: return (double)bits - (bits >> 15 ? 65536.0 : 0.0);
    case SB_I32: return (double)bits - (bits >> 31 ? 4294967296.0 : 0.0);
    case SB_BOOL: return bits ? 1.0 : 0.0;
    case SB_I64: return bits >> 63 ? -(double)(~bits + 1u) : (double)bits;
    case SB_U64: return (double)bits;
    case SB_STAMP: return (double)get(bytes, 4, big_endian) +
                          1e-9 * (double)get(bytes + 4, 4, big_endian);
    case SB_F32:
        half = (uint32_t)bits;
        memcpy(&single, &half, sizeof single);
        return (double)single;
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

/* --- checksums, four bits at a time ------------------------------------------------- */

static uint32_t crc16(const unsigned char *bytes, size_t n)
{
    static const uint16_t table[16] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50A5, 0x60C6, 0x70E7,
        0x8108, 0x9129, 0xA14A, 0xB16B, 0xC18C, 0xD1AD, 0xE1CE, 0xF1EF};
    uint32_t crc = 0xFFFFu;
    size_t i;
    for (i = 0; i < n; i++) {
        crc = (crc << 4 & 0xFFFFu) ^ table[(crc >> 12 ^ bytes[i] >> 4) & 15u];
        crc = (crc << 4 & 0xFFFFu) ^ table[(crc >> 12 ^ bytes[i]) & 15u];
    }
    return crc;
}

static uint32_t crc32(const unsigned char *bytes, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u,
        0x4DB26158u, 0x5005713Cu, 0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
        0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu};
    uint32_t crc = 0xFFFFFFFFu;
    size_t i;
    for (i = 0; i < n; i++) {
        crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15u];
        crc = crc >> 4 ^ table[(crc ^ (uint32_t)bytes[i] >> 4) & 15u];
    }
    return ~crc;
}

static uint32_t sum_of(const sb_frame *frame, const unsigned char *bytes)
{
    size_t n = (size_t)(frame->size - (int)frame->checksum);
    return frame->checksum == SB_CRC16 ? crc16(bytes, n) : crc32(bytes, n);
}

/* --- frames -------------------------------------------------------------------------- */

static double number_to_send(const sb_field *field, int i, const double *y, const double *safe)
{
    if (y && field->place >= 0)
        return y[field->place + i];
    return safe ? safe[field->first + i] : 0.0;
}

static int all_finite(const sb_frame *frame, const double *y)
{
    int k, i;
    for (k = 0; k < frame->fields_count; k++)
        if (frame->fields[k].place >= 0)
            for (i = 0; i < frame->fields[k].count; i++)
                if (!isfinite(y[frame->fields[k].place + i]))
                    return 0;
    return 1;
}

int sb_frame_encode(const sb_frame *frame, const double *y, const double *safe,
                    uint32_t sequence, double time, unsigned char *bytes)
{
    int k, i, big = frame->big_endian;

    if (y && !all_finite(frame, y))
        return -1;
    if (frame->background)
        memcpy(bytes, frame->background, (size_t)frame->size);
    if (frame->header_size)
        memcpy(bytes, frame->header, (size_t)frame->header_size);
    put(bytes + frame->header_size, sequence, frame->sequence_size, big);
    if (frame->has_time)
        put_number(bytes + frame->header_size + frame->sequence_size, SB_F64, time, big);
    for (k = 0; k < frame->fields_count; k++) {
        const sb_field *field = &frame->fields[k];
        for (i = 0; i < field->count; i++)
            put_number(bytes + field->offset + i * size_of(field->type), field->type,
                       field->type == SB_STAMP ? time : number_to_send(field, i, y, safe), big);
    }
    if (frame->checksum)
        put(bytes + frame->size - (int)frame->checksum, sum_of(frame, bytes),
            (int)frame->checksum, big);
    return 0;
}

/* Whether the bytes of a whole frame have its header and checksum. */
static int sound(const sb_frame *frame, const unsigned char *bytes)
{
    if (frame->header_size && memcmp(bytes, frame->header, (size_t)frame->header_size) != 0)
        return 0;
    return !frame->checksum ||
           get(bytes + frame->size - (int)frame->checksum, (int)frame->checksum,
               frame->big_endian) == sum_of(frame, bytes);
}

/* Whether all floating-point numbers of a frame are finite. */
static int numbers_finite(const sb_frame *frame, const unsigned char *bytes)
{
    int k, i;
    if (frame->has_time &&
        !isfinite(get_number(bytes + frame->header_size + frame->sequence_size, SB_F64,
                             frame->big_endian)))
        return 0;
    for (k = 0; k < frame->fields_count; k++) {
        const sb_field *field = &frame->fields[k];
        if (field->type != SB_F32 && field->type != SB_F64)
            continue;
        for (i = 0; i < field->count; i++)
            if (!isfinite(get_number(bytes + field->offset + i * size_of(field->type),
                                     field->type, frame->big_endian)))
                return 0;
    }
    return 1;
}

int sb_frame_valid(const sb_frame *frame, const unsigned char *bytes, size_t n)
{
    return n == (size_t)frame->size && sound(frame, bytes) && numbers_finite(frame, bytes);
}

void sb_frame_decode(const sb_frame *frame, const unsigned char *bytes, double *u,
                     uint32_t *sequence, double *time)
{
    int k, i, big = frame->big_endian;

    if (sequence && frame->sequence_size)
        *sequence = (uint32_t)get(bytes + frame->header_size, frame->sequence_size, big);
    if (time && frame->has_time)
        *time = get_number(bytes + frame->header_size + frame->sequence_size, SB_F64, big);
    for (k = 0; k < frame->fields_count; k++) {
        const sb_field *field = &frame->fields[k];
        if (time && field->type == SB_STAMP)
            *time = get_number(bytes + field->offset, SB_STAMP, big);
        if (!u || field->place < 0)
            continue;
        for (i = 0; i < field->count; i++)
            u[field->place + i] = get_number(
                bytes + field->offset + i * size_of(field->type), field->type, big);
    }
}

/* --- receiving ------------------------------------------------------------------------ */

static uint32_t mask_of(const sb_frame *frame)
{
    return frame->sequence_size == 4 ? 0xFFFFFFFFu : (1u << (8 * frame->sequence_size)) - 1u;
}

/* Whether a frame with this sequence number is new; counts the frames missing before it.
 *
 * A number is newer than the last one if it is ahead by up to half the range, else older. A
 * single older frame is late. After a silence longer than the timeout, two consecutive ones
 * mean that the sender restarted: a single one may have been delayed (as in RFC 3550, A.1). */
static int is_news(sb_link *link, double now, uint32_t sequence)
{
    uint32_t mask = mask_of(link->frame), ahead;

    if (!link->frame->sequence_size)
        return 1;
    ahead = (sequence - link->sequence) & mask;
    if (!link->begun || link->reopened) {
        link->reopened = 0;
    } else if (ahead != 0 && ahead <= mask / 2) {
        if (link->transport != SB_MEMORY) /* which keeps only the newest */
            link->counts.lost += (long long)ahead - 1;
    } else if (link->has_candidate && sequence == link->candidate &&
               now - link->last > link->timeout) {
        link->counts.restarts++;
    } else {
        link->has_candidate = 1;
        link->candidate = (sequence + 1u) & mask;
        link->counts.old++;
        return 0;
    }
    link->has_candidate = 0;
    link->sequence = sequence;
    return 1;
}

/* Accept a valid frame, unless it is old. */
static int take(sb_link *link, double now, const unsigned char *bytes, double *u)
{
    uint32_t sequence = 0;

    sb_frame_decode(link->frame, bytes, NULL, &sequence, NULL);
    if (!is_news(link, now, sequence))
        return 0;
    sb_frame_decode(link->frame, bytes, u, NULL, &link->sender_time);
    link->counts.received++;
    link->begun = 1;
    link->last = now;
    return 1;
}

static int nothing_there(int error)
{
#if EAGAIN == EWOULDBLOCK
    return error == EAGAIN || error == EINTR;
#else
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
#endif
}

static int receive_datagrams(sb_link *link, double now, double *u)
{
    int k, fresh = 0;

    for (k = 0; k < SB_LINK_MOST; k++) {
        /* One byte more than a frame, to detect longer packets. */
        ssize_t n = recv(link->fd, link->buffer, (size_t)link->frame->size + 1, MSG_DONTWAIT);
        if (n < 0) {
            if (nothing_there(errno))
                break;
            link->counts.errors++;
            if (errno != ECONNREFUSED) /* the peer refused an earlier packet */
                break;
        } else if (!sb_frame_valid(link->frame, link->buffer, (size_t)n)) {
            link->counts.malformed++;
        } else {
            fresh |= take(link, now, link->buffer, u);
        }
    }
    return fresh;
}

static void give_back(sb_link *link)
{
    link->filled = 0;
    __atomic_store_n(&link->closed, 1, __ATOMIC_RELEASE);
}

/* Whether the link may use its descriptor, which it gives back if it was asked to. */
static int is_open(sb_link *link)
{
    if (__atomic_load_n(&link->closed, __ATOMIC_ACQUIRE))
        return 0;
    if (!__atomic_load_n(&link->withdrawn, __ATOMIC_ACQUIRE))
        return 1;
    give_back(link);
    return 0;
}

void sb_link_withdraw(sb_link *link)
{
    __atomic_store_n(&link->withdrawn, 1, __ATOMIC_RELEASE);
}

static int read_version(int fd, uint32_t *version)
{
    return pread(fd, version, sizeof *version, offsetof(sb_memory, version)) == sizeof *version;
}

void sb_link_reopen(sb_link *link, int fd)
{
    link->fd = fd;
    link->filled = 0;
    link->lost_sync = 0;
    link->reopened = 1;
    if (link->transport == SB_MEMORY && !read_version(fd, &link->version))
        link->version = 0;
    __atomic_store_n(&link->withdrawn, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&link->closed, 0, __ATOMIC_RELEASE);
}

static void drop(sb_link *link, int n)
{
    link->filled -= n;
    memmove(link->buffer, link->buffer + n, (size_t)link->filled);
}

/* Accept the frame at the start of a full buffer, or search for the start of the next frame. A
 * sequence of invalid bytes is counted once. */
static int take_from_stream(sb_link *link, double now, double *u)
{
    const sb_frame *frame = link->frame;
    int fresh, next = 1;

    if (sb_frame_valid(frame, link->buffer, (size_t)frame->size)) {
        fresh = take(link, now, link->buffer, u);
        drop(link, frame->size);
        link->lost_sync = 0;
        return fresh;
    }
    if (!link->lost_sync)
        link->counts.malformed++;
    link->lost_sync = 1;
    while (next < link->filled && link->buffer[next] != frame->header[0])
        next++;
    drop(link, next);
    return 0;
}

static ssize_t read_some(const sb_link *link, unsigned char *bytes, size_t n)
{
    return link->transport == SB_STREAM ? recv(link->fd, bytes, n, MSG_DONTWAIT)
                                        : read(link->fd, bytes, n);
}

static int receive_stream(sb_link *link, double now, double *u)
{
    int size = link->frame->size, room = SB_LINK_MOST * size, fresh = 0;

    while (room > 0 && is_open(link)) {
        ssize_t n = read_some(link, link->buffer + link->filled, (size_t)(size - link->filled));
        if (n < 0 && nothing_there(errno))
            break;
        if (n <= 0) {
            /* A terminal in raw mode reads 0 bytes if no data is available. */
            if (n == 0 && link->transport == SB_FILE)
                break;
            link->counts.errors += n < 0;
            give_back(link);
            break;
        }
        room -= (int)n;
        link->filled += (int)n;
        while (link->filled == size)
            fresh |= take_from_stream(link, now, u);
    }
    return fresh;
}

/* Read the frame and the version before and after it. Returns 1 if they are of one frame, 0 if it
 * was being written, -1 if the file is too short. */
static int read_memory(sb_link *link, uint32_t version)
{
    ssize_t size = link->frame->size;
    uint32_t after;

    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (pread(link->fd, link->buffer, (size_t)size, offsetof(sb_memory, words)) != size)
        return -1;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!read_version(link->fd, &after))
        return -1;
    return after == version;
}

static int receive_memory(sb_link *link, double now, double *u)
{
    int attempt, whole = 0;
    uint32_t version = 0;

    for (attempt = 0; attempt < ATTEMPTS && !whole && is_open(link); attempt++) {
        if (!read_version(link->fd, &version))
            whole = -1;
        else if (version == link->version || version == 0)
            return 0;
        else if (version % 2 == 0)
            whole = read_memory(link, version);
    }
    if (whole < 0)
        link->counts.errors++;
    if (whole <= 0)
        return 0; /* try again at the next call */
    link->version = version;
    if (sb_frame_valid(link->frame, link->buffer, (size_t)link->frame->size))
        return take(link, now, link->buffer, u);
    link->counts.malformed++;
    return 0;
}

int sb_link_receive(sb_link *link, double now, double *u)
{
    switch (link->transport) {
    case SB_DATAGRAM: return receive_datagrams(link, now, u);
    case SB_MEMORY: return receive_memory(link, now, u);
    default: return receive_stream(link, now, u);
    }
}

int sb_link_stale(const sb_link *link, double now)
{
    return !link->begun || now - link->last > link->timeout;
}

/* --- sending --------------------------------------------------------------------------- */

static int write_version(const sb_link *link)
{
    return pwrite(link->fd, &link->version, sizeof link->version,
                  offsetof(sb_memory, version)) == sizeof link->version;
}

/* A file that was truncated grows again. Returns 0, or -1 if it cannot: the version is odd then,
 * so that what was written in part is not read. */
static int write_memory(sb_link *link)
{
    ssize_t size = link->frame->size;

    link->version |= 1u;
    if (!write_version(link))
        return -1;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (pwrite(link->fd, link->buffer, (size_t)size, offsetof(sb_memory, words)) != size)
        return -1;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    link->version += link->version == UINT32_MAX ? 3u : 1u; /* 0: none was written */
    return write_version(link) ? 0 : -1;
}

/* Write the rest of the buffer to a stream. Returns 1 if all was written, 0 if some remains,
 * -1 if the stream ended. */
static int flush_stream(sb_link *link)
{
    while (link->filled > 0) {
        size_t left = (size_t)link->filled;
        ssize_t n = link->transport == SB_STREAM
                        ? send(link->fd, link->buffer, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                        : write(link->fd, link->buffer, left);
        if (n < 0 && !nothing_there(errno)) {
            give_back(link);
            return -1;
        }
        if (n <= 0)
            return 0;
        drop(link, (int)n);
    }
    return 1;
}

/* A partly written frame is completed first. If the stream is full, whole frames are skipped. */
static int ready(sb_link *link)
{
    if (link->transport == SB_DATAGRAM)
        return 1;
    return is_open(link) && (link->transport == SB_MEMORY || flush_stream(link) == 1);
}

static int send_datagram(sb_link *link)
{
    size_t n = (size_t)link->frame->size;
    ssize_t done = send(link->fd, link->buffer, n, MSG_DONTWAIT | MSG_NOSIGNAL);

    /* The earlier packet was refused; this one has not been sent yet. */
    if (done < 0 && errno == ECONNREFUSED) {
        link->counts.errors++;
        done = send(link->fd, link->buffer, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return done == (ssize_t)n ? 0 : -1;
}

static int send_to_stream(sb_link *link)
{
    int done;

    link->filled = link->frame->size;
    done = flush_stream(link);
    if (done == 0 && link->filled == link->frame->size) {
        link->filled = 0; /* nothing of it was written: drop it */
        done = -1;
    }
    return done < 0 ? -1 : 0; /* the rest of a frame is written before the next one */
}

static int send_buffer(sb_link *link)
{
    switch (link->transport) {
    case SB_MEMORY:
        return write_memory(link);
    case SB_DATAGRAM:
        return send_datagram(link);
    default:
        return send_to_stream(link);
    }
}

static int send_numbers(sb_link *link, double now, const double *y)
{
    int failed = 1;

    if (ready(link)) {
        sb_frame_encode(link->frame, y, link->safe, link->sequence, now + link->epoch,
                        link->buffer);
        failed = send_buffer(link);
    }
    link->sequence++; /* the receiver counts an unsent frame as lost */
    link->begun = 1;
    if (failed) {
        link->counts.errors++;
        return -1;
    }
    link->last = now;
    link->counts.sent++;
    return 0;
}

int sb_link_send(sb_link *link, double now, const double *y)
{
    if (all_finite(link->frame, y))
        return send_numbers(link, now, y);
    link->counts.replaced++;
    if (link->safe)
        return send_numbers(link, now, NULL);
    link->counts.errors++;
    return -1;
}

int sb_link_send_safe(sb_link *link, double now)
{
    return link->safe ? send_numbers(link, now, NULL) : 0;
}
