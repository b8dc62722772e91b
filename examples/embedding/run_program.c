/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs a compiled program (.mr) of f32 tensors with static shapes; every argument is filled with ones. C99. */
#include <millrace/millrace.h>

#include <stdio.h>
#include <stdlib.h>

static void check(millrace_error *error) {
  if (!error)
    return;
  fprintf(stderr, "error: %s\n", millrace_error_message(error));
  exit(1);
}

static size_t elements(millrace_type type) {
  size_t count = 1;
  for (size_t d = 0; d < type.rank; ++d)
    count *= (size_t)type.dims[d];
  return count;
}

int main(int argc, char **argv) {
  millrace_client *client;
  millrace_program *program;
  millrace_executable *executable;
  if (argc != 2) {
    fprintf(stderr, "usage: run_program FILE.mr\n");
    return 1;
  }
  check(millrace_client_create(1, &client));
  check(millrace_program_read(argv[1], &program));
  check(millrace_load(client, program, &executable));
  size_t inputs = millrace_program_num_arguments(program), outputs = millrace_program_num_results(program);
  millrace_buffer **in = calloc(inputs + 1, sizeof *in), **out = calloc(outputs + 1, sizeof *out);
  for (size_t i = 0; i < inputs; ++i) {
    millrace_type type = millrace_program_argument_type(program, i);
    size_t count = elements(type);
    float *ones = malloc(count * sizeof *ones);
    for (size_t k = 0; k < count; ++k)
      ones[k] = 1;
    check(millrace_buffer_create(client, 0, type.dtype, type.rank, type.dims, ones, count * sizeof *ones, &in[i]));
    free(ones);
  }
  check(millrace_execute(executable, in, inputs, out, outputs));
  for (size_t i = 0; i < outputs; ++i) {
    millrace_type type;
    check(millrace_buffer_type(out[i], &type));
    size_t count = elements(type);
    float *values = malloc(count * sizeof *values);
    check(millrace_buffer_read(out[i], values, count * sizeof *values));
    for (size_t k = 0; k < count; ++k)
      printf("%g ", values[k]);
    printf("\n");
    free(values);
    millrace_buffer_destroy(out[i]);
  }
  for (size_t i = 0; i < inputs; ++i)
    millrace_buffer_destroy(in[i]);
  millrace_executable_destroy(executable);
  millrace_program_destroy(program);
  millrace_client_destroy(client);
  free(in);
  free(out);
  return 0;
}
