/* Links: frames of numbers between the arrays of a step and a socket, a stream or memory.
 *
 * C99 and POSIX. No malloc, no globals: all state is in the struct, so that any number of
 * links can be used at once, each by one thread. No function blocks. For any received bytes, a
 * frame is accepted whole or not at all.
 *
 * The file descriptor, or the shared memory, is opened and closed by the caller. Time is
 * CLOCK_MONOTONIC in seconds.
 */
#ifndef SB_LINK_H
#define SB_LINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the longest frame: the payload of one Ethernet packet over UDP and IPv4. */
#define SB_FRAME_MOST 1472
/* Most frames that one call of sb_link_receive reads. Further frames wait for the next call,
 * or are dropped by the socket when its buffer is full. */
#define SB_LINK_MOST 256

/* Types of numbers in a frame. All of them are doubles in the arrays of a step. SB_STAMP is none of
 * them: the sender's time as seconds (i32) and nanoseconds (u32). The types behind SB_F64 are in
 * messages with a background alone. */
typedef enum {
    SB_U8, SB_I8, SB_U16, SB_I16, SB_U32, SB_I32, SB_F32, SB_F64,
    SB_BOOL, SB_I64, SB_U64, SB_STAMP
} sb_type;

/* Numbers of one type that are contiguous in a frame, and in the step's array. */
typedef struct {
    sb_type type;
    int count;
    int offset; /* of the first in the frame [bytes] */
    int place;  /* index of the first in the array u or y; -1: in none. Such numbers are only
                   checked when received, and sent with their safe values. */
    int first;  /* index of the first among all numbers of the frame, and of its safe value */
} sb_field;

typedef enum { SB_NO_CHECKSUM = 0, SB_CRC16 = 2, SB_CRC32 = 4 } sb_checksum;

/* The layout of a frame, packed in this order:
 * header, sequence, time (f64), fields, checksum over all bytes before it.
 * With a background it is a message of fixed shape instead: the fields are anywhere in it. */
typedef struct {
    int size;                     /* of the whole frame [bytes], at most SB_FRAME_MOST */
    int big_endian;               /* for everything but the header, which is bytes */
    const unsigned char *background; /* what is sent where no field is, size bytes; NULL: none */
    const unsigned char *header;  /* its first bytes, as they are sent */
    int header_size;              /* 0: none */
    int sequence_size;            /* bytes of its sequence number: 0 (none), 1, 2 or 4 */
    int has_time;                 /* the sender's time [s], after the sequence number */
    sb_checksum checksum;         /* CRC-16/CCITT-FALSE or CRC-32 (IEEE 802.3) at the end */
    int fields_count;
    const sb_field *fields;
} sb_frame;

typedef enum {
    SB_DATAGRAM, /* one frame in each packet: recv, send; a sending socket is connected */
    SB_STREAM,   /* a sequence of frames on a socket: needs a header */
    SB_FILE,     /* the same with read and write, on a descriptor with O_NONBLOCK */
    SB_MEMORY    /* the newest frame in a file of shared memory, on a descriptor: sb_memory */
} sb_transport;

/* The file of a frame in shared memory. version is odd while it is being written (a seqlock), and
 * 0 before the first. Links use pread and pwrite: other programs may map the file, but an access
 * to a mapping raises SIGBUS where another process has truncated it, or its file system is full.
 * A call fails then, and is counted. */
typedef struct {
    uint32_t version;
    uint32_t words[(SB_FRAME_MOST + 3) / 4];
} sb_memory;

typedef struct {
    long long received;  /* frames accepted */
    long long malformed; /* wrong length, header or checksum, or a number not finite */
    long long lost;      /* gaps in the sequence numbers */
    long long old;       /* dropped: older than one accepted before, or a duplicate */
    long long restarts;  /* of the sender, detected by its sequence numbers */
    long long sent;
    long long errors;    /* frames that could not be sent, and failed reads */
    long long replaced;  /* outputs not finite: safe values were sent, or nothing */
} sb_link_counts;

/* A link in one direction. The caller sets the first part and zeros the rest. */
typedef struct sb_link {
    sb_transport transport;
    int fd;
    const sb_frame *frame;
    const double *safe;    /* of a sender: a value for each number of the frame; NULL: there
                              are no safe values, and nothing is sent in place of outputs */
    double timeout;        /* of a receiver [s]: without a frame for longer it is stale */
    double epoch;          /* of a sender: the time in its frames is CLOCK_MONOTONIC and this [s] */
    int run_clock;         /* the loop sets the epoch, so that it is the time since its first step */

    sb_link_counts counts;
    int begun;             /* a frame was accepted, or sent */
    uint32_t sequence;     /* of the last frame accepted, or of the next to send */
    int has_candidate;     /* an old frame was dropped */
    uint32_t candidate;    /* the number after it: the sender restarted if it comes next */
    double last;           /* when the last frame was accepted [s] */
    double sender_time;    /* its time, if frames have one [s] */
    uint32_t version;      /* of the shared memory at the last read */
    int filled;            /* bytes in the buffer: a partial frame of a stream */
    int lost_sync;         /* the stream is being searched for a frame */
    int reopened;          /* the next frame may have any sequence number */
    int withdrawn;         /* the caller wants fd back: sb_link_withdraw */
    int closed;            /* it ended, failed or was withdrawn: fd is the caller's again */
    unsigned char buffer[SB_FRAME_MOST + 1];
} sb_link;

/* Read the frames received, without blocking. Writes the newest valid frame to the entries of
 * its fields in u, and returns 1. Returns 0 if there is none, and leaves u unchanged. */
int sb_link_receive(sb_link *link, double now, double *u);

/* Send a frame with the numbers of y, without blocking. Values beyond a field's range are
 * limited to it, and integers are rounded to the nearest. If one of them is not finite, the
 * safe values are sent, or nothing if there are none. Returns 0, or -1 if nothing was sent
 * (counted). */
int sb_link_send(sb_link *link, double now, const double *y);

/* Send a frame with the safe values, if there are any. Returns as sb_link_send. */
int sb_link_send_safe(sb_link *link, double now);

/* Whether no valid frame was received within the timeout, or none at all. */
int sb_link_stale(const sb_link *link, double now);

/* Give a stream or shared memory a new descriptor. Another thread may do so while `closed` is
 * set, since the link then does not use its descriptor: at the start, if the caller set it, and
 * after the stream has ended or was withdrawn. Of shared memory, frames written before are not
 * read. */
void sb_link_reopen(sb_link *link, int fd);

/* Ask a stream or shared memory for its descriptor: at its next use the link sets `closed`
 * instead. Another thread may do so. */
void sb_link_withdraw(sb_link *link);

/* Write a frame into bytes, which has room for frame->size. y NULL: only safe values.
 * safe NULL: zeros for numbers that are not in y.
 * Returns 0, or -1 if a number of y is not finite; then bytes are unchanged. */
int sb_frame_encode(const sb_frame *frame, const double *y, const double *safe,
                    uint32_t sequence, double time, unsigned char *bytes);

/* Whether n bytes are a valid frame. */
int sb_frame_valid(const sb_frame *frame, const unsigned char *bytes, size_t n);

/* Write the numbers of a valid frame to u, and its sequence number and time if it has them.
 * u, sequence and time may be NULL. */
void sb_frame_decode(const sb_frame *frame, const unsigned char *bytes, double *u,
                     uint32_t *sequence, double *time);

#ifdef __cplusplus
}
#endif

#endif
