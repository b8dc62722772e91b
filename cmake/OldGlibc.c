// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OldGlibc.c - What the newest glibc has, for older ones --------------===//
// Linked into a wheel's libraries, hidden: with these a wheel runs on glibc 2.34 too (RHEL 9 and its relatives, Amazon Linux 2023).
#include <unistd.h>

#if defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#else
#define FIRST_VERSION "GLIBC_2.2.5"
#endif

// glibc 2.35 has new versions of these two, which differ in errno alone.
double oldHypot(double x, double y);
float oldHypotf(float x, float y);
__asm__(".symver oldHypot, hypot@" FIRST_VERSION);
__asm__(".symver oldHypotf, hypotf@" FIRST_VERSION);
__attribute__((visibility("hidden"))) double hypot(double x, double y) { return oldHypot(x, y); }
__attribute__((visibility("hidden"))) float hypotf(float x, float y) { return oldHypotf(x, y); }

// LLVM's source of random numbers (names of temporary files) where it was built with glibc 2.36.
__attribute__((visibility("hidden"))) unsigned arc4random(void) {
  static unsigned count; // tells calls apart where a sandbox forbids the system call; a lost update does no harm
  unsigned value;
  return getentropy(&value, sizeof value) == 0 ? value : (unsigned)getpid() * 2654435761u + __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}
