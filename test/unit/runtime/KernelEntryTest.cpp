// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelEntryTest.cpp - Stored kernels that may be damaged ------------===//
#include "runtime/program/KernelEntry.h"

#include <gtest/gtest.h>
#include <limits>

using namespace millrace::runtime;

namespace {

KernelEntry example() {
  KernelEntry entry;
  entry.symbol = "add_0123456789abcdef";
  entry.object = "\177ELF" + std::string(200, 'x');
  entry.emitter = "row";
  entry.rangeEnd = 40, entry.granularity = 8, entry.scratchBytes = 4096, entry.picosPerIteration = 12.5;
  entry.rows = {16, 4, 3, true}, entry.takesRows = true;
  return entry;
}

TEST(KernelEntry, ComesBackAsItWas) {
  KernelEntry entry = example();
  StatusOr<KernelEntry> read = parseKernel(serializeKernel(entry));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->symbol, entry.symbol);
  EXPECT_EQ(read->object, entry.object);
  EXPECT_EQ(read->emitter, entry.emitter);
  EXPECT_EQ(read->rangeEnd, 40);
  EXPECT_EQ(read->granularity, 8);
  EXPECT_EQ(read->scratchBytes, 4096);
  EXPECT_EQ(read->picosPerIteration, 12.5);
  EXPECT_EQ(read->rows, (RowRange{16, 4, 3, true}));
  EXPECT_TRUE(read->takesRows);
}

TEST(KernelEntry, DamageIsAnErrorOrAnotherKernelAndNeverACrash) {
  std::string bytes = serializeKernel(example());
  for (size_t size = 0; size + 8 < bytes.size(); ++size)
    if (StatusOr<KernelEntry> read = parseKernel(std::string_view(bytes).substr(0, size)))
      EXPECT_LE(read->object.size(), size);
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char bit : {'\x01', '\x40', '\x80'}) {
      std::string changed = bytes;
      changed[i] ^= bit;
      if (StatusOr<KernelEntry> read = parseKernel(changed)) {
        EXPECT_TRUE(read->object.starts_with("\177ELF"));
        EXPECT_GE(read->granularity, 1);
      }
    }
}

TEST(KernelEntry, ValuesThatNoKernelHasAreRefused) {
  auto refused = [](auto change) {
    KernelEntry entry = example();
    change(entry);
    return !parseKernel(serializeKernel(entry));
  };
  EXPECT_FALSE(refused([](KernelEntry &) {}));
  EXPECT_TRUE(refused([](KernelEntry &e) { e.symbol.clear(); }));
  EXPECT_TRUE(refused([](KernelEntry &e) { e.object = "!<arch>"; }));
  EXPECT_TRUE(refused([](KernelEntry &e) { e.granularity = 0; }));
  EXPECT_TRUE(refused([](KernelEntry &e) { e.rangeEnd = -1; }));
  EXPECT_TRUE(refused([](KernelEntry &e) { e.scratchBytes = std::numeric_limits<int64_t>::max(); }));
  EXPECT_TRUE(refused([](KernelEntry &e) { e.picosPerIteration = std::numeric_limits<double>::quiet_NaN(); }));
}

} // namespace
