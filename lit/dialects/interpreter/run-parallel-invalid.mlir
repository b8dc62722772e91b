// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -verify-diagnostics -split-input-file

// A file may lack anything: the program's type is read only after the function itself was verified.
// expected-error @+1 {{requires attribute 'function_type'}}
"func.func"() <{sym_name = "untyped"}> ({
}) : () -> ()
func.func @grid() {
  "interpreter.run_parallel"() {programs = [[@untyped]]} : () -> ()
  return
}

// -----

func.func @grid() {
  // expected-error @+1 {{Function @absent not found}}
  "interpreter.run_parallel"() {programs = [[@absent]]} : () -> ()
  return
}

// -----

func.func @one(%a: tensor<i32>) -> tensor<i32> {
  return %a : tensor<i32>
}
func.func @grid() {
  // expected-error @+1 {{Number of inputs (0) should match the sum of the number of inputs of all programs (1)}}
  %0 = "interpreter.run_parallel"() {programs = [[@one]]} : () -> tensor<i32>
  return
}
