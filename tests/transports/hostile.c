/* Links under random bytes: run under the sanitizers. Prints what was taken. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sb_link.h"

static uint32_t state = 2463534242u;

/* G. Marsaglia's xorshift, J. Stat. Software 8 (2003) 14. */
static uint32_t random_word(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static const sb_field fields[] = {
    {SB_U8, 2, 7, 0, 0},   {SB_I8, 1, 9, 2, 2},   {SB_U16, 1, 10, -1, 3}, {SB_I16, 1, 12, 4, 4},
    {SB_U32, 1, 14, 5, 5}, {SB_I32, 1, 18, 6, 6}, {SB_F32, 2, 22, 7, 7},  {SB_F64, 1, 30, 9, 9}};
static const unsigned char header[] = {0xA5, 0x5A, 0x00};
static const sb_field of_message[] = {
    {SB_BOOL, 1, 7, 0, 0},  {SB_I64, 1, 8, 1, 1},   {SB_U64, 1, 16, 2, 2},
    {SB_I64, 1, 24, 4, 4},  {SB_U64, 1, 32, 5, 5},  {SB_F64, 2, 40, 6, 6},
    {SB_BOOL, 1, 56, 8, 8}, {SB_STAMP, 1, 57, -1, 0}, {SB_F64, 1, 65, 9, 9}};
static const unsigned char background[80] = {0, 0, 0, 0, 0, 0, 0, 1, [79] = 7};
static const sb_frame frames[] = {
    {42, 0, NULL, header, 3, 4, 0, SB_CRC32, 8, fields},
    {40, 1, NULL, header, 3, 4, 0, SB_CRC16, 8, fields},
    {38, 1, NULL, header, 3, 4, 0, SB_NO_CHECKSUM, 8, fields},
    {80, 0, background, header, 3, 4, 0, SB_NO_CHECKSUM, 9, of_message},
};
static const double safe[10] = {-1e300, 1e300, 0.5, -0.5, 1e9, -1e9, 3e9, 1e39, -1e39, 1e308};

static void fill(unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)random_word();
}

/* A number of any size, or none. */
static double random_number(void) {
  double value;
  uint64_t bits = (uint64_t)random_word() << 32 | random_word();
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void over_sockets(sb_transport transport, const sb_frame *frame) {
  int ends[2];
  static sb_link receiver, sender;
  double u[10], y[10];
  unsigned char bytes[3000];
  if (socketpair(AF_UNIX, transport == SB_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM, 0, ends)) _exit(3);
  memset(&receiver, 0, sizeof receiver);
  receiver.transport = transport;
  receiver.frame = frame;
  receiver.timeout = 0.1;
  sender = receiver;
  sender.safe = safe;
  receiver.fd = ends[0];
  sender.fd = ends[1];
  for (int k = 0; k < 5000; k++) {
    const double now = 0.01 * k;
    for (int i = 0; i < 10; i++) u[i] = y[i] = random_number();
    fill(bytes, sizeof bytes);
    switch (random_word() % 4) {
    case 0: sb_link_send(&sender, now, y); break;
    case 1: sb_link_send_safe(&sender, now); break;
    case 2: { /* a frame with some bytes changed */
      sb_frame_encode(frame, NULL, safe, random_word(), now, bytes);
      if (random_word() % 2) bytes[random_word() % (uint32_t)frame->size] ^= 1u;
      (void)!send(ends[1], bytes, (size_t)frame->size, MSG_DONTWAIT);
      break;
    }
    default: (void)!send(ends[1], bytes, random_word() % sizeof bytes, MSG_DONTWAIT);
    }
    if (sb_link_receive(&receiver, now, u))
      for (int i = 0; i < 10; i++)
        if (i != 3 && !isfinite(u[i])) _exit(4);
    sb_link_stale(&receiver, now);
  }
  printf("%d %d: received %lld\n", (int)transport, frame->size, receiver.counts.received);
  close(ends[0]);
  close(ends[1]);
}

/* Any bytes in the file, which others also cut short and make grow. */
static void over_memory(const sb_frame *frame) {
  static sb_link receiver, sender;
  double u[10] = {0};
  unsigned char bytes[sizeof(sb_memory)];
  FILE *file = tmpfile();
  if (!file) _exit(3);
  memset(&receiver, 0, sizeof receiver);
  receiver.transport = SB_MEMORY;
  receiver.fd = fileno(file);
  receiver.frame = frame;
  sender = receiver;
  sender.safe = safe;
  for (int k = 0; k < 5000; k++) {
    switch (random_word() % 4) {
    case 0:
      fill(bytes, sizeof bytes);
      (void)!pwrite(receiver.fd, bytes, random_word() % sizeof bytes, 0);
      break;
    case 1: (void)!ftruncate(receiver.fd, (off_t)(random_word() % sizeof bytes)); break;
    default: sb_link_send_safe(&sender, k);
    }
    sb_link_receive(&receiver, k, u);
  }
  printf("memory %d: received %lld\n", frame->size, receiver.counts.received);
  fclose(file);
}

int main(void) {
  for (size_t f = 0; f < sizeof frames / sizeof frames[0]; f++) {
    over_sockets(SB_DATAGRAM, &frames[f]);
    over_sockets(SB_STREAM, &frames[f]);
    over_memory(&frames[f]);
  }
  return 0;
}
