/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*===- carrier.h - What carries large messages between processes of a job -===*/
/* A carrier is a shared library that Millrace loads when MILLRACE_TRANSPORT names it: it brings the interconnect of a cluster (RDMA by MPI, say).
   The processes find, watch and tell each other by sockets of their own, and leave the bytes of large messages to the carrier. One table of
   functions is all that it exports. A request that does not fail is tested until it is done or cancelled. Functions are called by several
   threads at once. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define MILLRACE_CARRIER_VERSION 1

/* Small values that the processes leave each other while a carrier is created. Both return 0, or another value for an error. */
struct millrace_carrier_store {
  void *context;
  int (*put)(void *context, const char *key, const char *value, size_t bytes);
  /* Waits for the value and gives it to `take`. */
  int (*get)(void *context, const char *key, void (*take)(void *to, const char *value, size_t bytes), void *to);
};

struct millrace_carrier {
  uint32_t version; /* MILLRACE_CARRIER_VERSION */
  const char *name;
  /* By all processes of the job. Null for an error, whose text is left in `error`. */
  void *(*create)(uint32_t rank, uint32_t size, const struct millrace_carrier_store *store, char *error, size_t error_bytes);
  /* Both return at once. Messages of two processes arrive in the order in which they were sent; sizes agree. Null for an error. */
  void *(*send)(void *carrier, uint32_t to, const void *data, uint64_t bytes);
  void *(*receive)(void *carrier, uint32_t from, void *data, uint64_t bytes);
  /* 0: not yet; 1: done; -1: it failed. After the latter two the request is gone. Makes progress. */
  int (*test)(void *carrier, void *request);
  /* Nobody will test the request again: the other process is lost. The memory stays as long as the carrier. */
  void (*cancel)(void *carrier, void *request);
  /* `is_orderly`: all processes do it, none is lost. */
  void (*destroy)(void *carrier, int is_orderly);
};

/* What the library exports. */
const struct millrace_carrier *millrace_carrier_table(void);

#ifdef __cplusplus
}
#endif
