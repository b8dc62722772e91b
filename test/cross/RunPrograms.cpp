// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RunPrograms FILE.mr…: runs programs without arguments, whose checks are in them, and prints a line for each: "ok FILE" or "failed FILE: why".
// Needs the runtime only, so it is built for processors that this machine emulates (scripts/aarch64).
#include "include/millrace/millrace.h"

#include <cstdio>
#include <vector>

static millrace_error *run(millrace_client *client, const char *path) {
  millrace_program *program;
  millrace_executable *executable;
  if (millrace_error *error = millrace_program_read(path, &program))
    return error;
  millrace_error *error = millrace_load(client, program, &executable);
  if (!error) {
    std::vector<millrace_buffer *> results(millrace_program_num_results(program));
    error = millrace_execute_wait(executable, nullptr, 0, results.data(), results.size());
    for (millrace_buffer *result : results)
      if (!error)
        millrace_buffer_destroy(result);
    millrace_executable_destroy(executable);
  }
  millrace_program_destroy(program);
  return error;
}

int main(int argc, char **argv) {
  millrace_client *client;
  if (millrace_error *error = millrace_client_create(1, &client)) {
    std::fprintf(stderr, "RunPrograms: %s\n", millrace_error_message(error));
    return 2;
  }
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    millrace_error *error = run(client, argv[i]);
    if (error) {
      std::printf("failed %s: %s\n", argv[i], millrace_error_message(error));
      millrace_error_destroy(error);
      ++failed;
    } else {
      std::printf("ok %s\n", argv[i]);
    }
    std::fflush(stdout);
  }
  millrace_client_destroy(client);
  return failed != 0;
}
