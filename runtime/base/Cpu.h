// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cpu.h - How many threads this process should use --------------------===//
#pragma once
#include <string>

namespace millrace::runtime {

/// Larger numbers of threads in a variable or an option are refused. Unit: threads. Source: judgement, not measured alone; commit 4299522 has the
/// figures of the whole change.
inline constexpr unsigned kMostThreads = 1024;

/// Returns the number of processors that this process may use: the smaller of its affinity mask and its cgroup quota (v1 or v2, rounded up).
unsigned availableCpus();

/// Returns the number of threads for kernels: MILLRACE_NUM_THREADS, else OMP_NUM_THREADS (the first number of a list), else availableCpus(). Values
/// that are not a positive number are ignored.
unsigned defaultThreadCount();

/// Parses a number of threads; returns 0 if the text is no number. Public for tests, like parseCpuMax().
unsigned parseThreadCount(const char *text);
/// Parses `cpu.max` of cgroup v2: returns 0 for no limit ("max 100000"), 2 for "150000 100000".
unsigned parseCpuMax(const std::string &text);

/// Asks Linux once to let all threads of this process use the AMX tile registers; without that their use ends the process. Returns false if there are
/// none, or if signal stacks are too small to save them.
bool requestMatrixRegisters();

/// Tells the processor that the thread is in a spin loop.
inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace millrace::runtime
