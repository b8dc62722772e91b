// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cpu.h - How many threads this process should use --------------------===//
#pragma once
#include <string>

namespace millrace::runtime {

/// A process is asked to use no more; a larger number in a variable or an option is refused. Unit: threads. Source: judgement, not measured alone;
/// commit 4299522 has the figures of the whole change.
inline constexpr unsigned kMostThreads = 1024;

/// Processors this process may run on: the smaller of its affinity mask and its cgroup quota (v1 or v2, rounded up).
unsigned availableCpus();

/// Threads for kernels: MILLRACE_NUM_THREADS, else OMP_NUM_THREADS (first number of a list), else availableCpus().
/// Values that are not a positive number are ignored.
unsigned defaultThreadCount();

/// The parts of the above that do not depend on this machine, for tests. 0 = no limit or not a number.
unsigned parseThreadCount(const char *text);
/// `cpu.max` of cgroup v2: "max 100000", "150000 100000" -> 2.
unsigned parseCpuMax(const std::string &text);

/// Asks Linux once for the registers of the matrix unit (AMX), for all threads of this process: until then using them ends it. False if there
/// are none, or if signals have too little stack to save them.
bool requestMatrixRegisters();

/// Tells the processor that this is a spin loop.
inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace millrace::runtime
