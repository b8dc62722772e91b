/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*===- mpi.c - A carrier that is any MPI ----------------------------------===*/
/* mpicc -shared -fPIC -O2 mpi.c -o libmillrace_mpi.so
   The processes have been started by mpirun or srun, so that MPI's ranks are those of the job. MPI is called by one thread at a time. */
#include "carrier.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct carrier {
  pthread_mutex_t lock;
  MPI_Comm world;
  int finalizes; /* it was this carrier that initialized MPI */
};

/* MPI counts in int: a message is pieces of at most so many bytes. */
static const uint64_t piece_bytes = (uint64_t)1 << 30;

struct request {
  int count;
  MPI_Request pieces[];
};

static void *create(uint32_t rank, uint32_t size, const struct millrace_carrier_store *store, char *error, size_t error_bytes) {
  (void)store;
  struct carrier *made = calloc(1, sizeof *made);
  int is_initialized = 0, is_finalized = 0, level = 0, own = 0, all = 0;
  if (!made)
    return NULL;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_finalized) {
    snprintf(error, error_bytes, "MPI has been finalized");
    free(made);
    return NULL;
  }
  if (!is_initialized) {
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    made->finalizes = 1;
  } else {
    MPI_Query_thread(&level);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (level < (made->finalizes ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE))
    snprintf(error, error_bytes, "this MPI may not be called by several threads (level %d)", level);
  else if ((uint32_t)own != rank || (uint32_t)all != size)
    snprintf(error, error_bytes, "MPI says that this is process %d of %d, but it is process %u of %u of the job: start it with mpirun or srun", own, all,
             rank, size);
  else if (MPI_Comm_dup(MPI_COMM_WORLD, &made->world) != MPI_SUCCESS)
    snprintf(error, error_bytes, "MPI_Comm_dup failed");
  else {
    MPI_Comm_set_errhandler(made->world, MPI_ERRORS_RETURN);
    pthread_mutex_init(&made->lock, NULL);
    return made;
  }
  free(made);
  return NULL;
}

static void *start(struct carrier *carrier, int sends, uint32_t other, char *data, uint64_t bytes) {
  uint64_t count = bytes ? (bytes + piece_bytes - 1) / piece_bytes : 1;
  struct request *request = malloc(sizeof *request + count * sizeof(MPI_Request));
  int failed = 0;
  if (!request)
    return NULL;
  request->count = (int)count;
  pthread_mutex_lock(&carrier->lock);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t rest = bytes - i * piece_bytes;
    int now = (int)(rest < piece_bytes ? rest : piece_bytes);
    request->pieces[i] = MPI_REQUEST_NULL;
    if (sends)
      failed |= MPI_Isend(data + i * piece_bytes, now, MPI_BYTE, (int)other, 0, carrier->world, &request->pieces[i]) != MPI_SUCCESS;
    else
      failed |= MPI_Irecv(data + i * piece_bytes, now, MPI_BYTE, (int)other, 0, carrier->world, &request->pieces[i]) != MPI_SUCCESS;
  }
  pthread_mutex_unlock(&carrier->lock);
  if (!failed)
    return request;
  free(request);
  return NULL;
}

static void *send_bytes(void *carrier, uint32_t to, const void *data, uint64_t bytes) { return start(carrier, 1, to, (char *)data, bytes); }
static void *receive_bytes(void *carrier, uint32_t from, void *data, uint64_t bytes) { return start(carrier, 0, from, data, bytes); }

static int test(void *opaque, void *of) {
  struct carrier *carrier = opaque;
  struct request *request = of;
  int is_done = 0;
  pthread_mutex_lock(&carrier->lock);
  int code = MPI_Testall(request->count, request->pieces, &is_done, MPI_STATUSES_IGNORE);
  pthread_mutex_unlock(&carrier->lock);
  if (code == MPI_SUCCESS && !is_done)
    return 0;
  free(request);
  return code == MPI_SUCCESS ? 1 : -1;
}

static void cancel(void *opaque, void *of) {
  struct carrier *carrier = opaque;
  struct request *request = of;
  pthread_mutex_lock(&carrier->lock);
  for (int i = 0; i < request->count; ++i)
    if (request->pieces[i] != MPI_REQUEST_NULL) {
      MPI_Cancel(&request->pieces[i]);
      MPI_Request_free(&request->pieces[i]);
    }
  pthread_mutex_unlock(&carrier->lock);
  free(request);
}

static void destroy(void *opaque, int is_orderly) {
  struct carrier *carrier = opaque;
  if (is_orderly && carrier->finalizes) {
    MPI_Comm_free(&carrier->world);
    MPI_Finalize();
  }
  free(carrier);
}

const struct millrace_carrier *millrace_carrier_table(void) {
  static const struct millrace_carrier table = {MILLRACE_CARRIER_VERSION, "mpi", create, send_bytes, receive_bytes, test, cancel, destroy};
  return &table;
}
