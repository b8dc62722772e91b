// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XlaFlagsTest.cpp - The environment variable XLA_FLAGS ---------------===//
#include "runtime/base/XlaFlags.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace millrace::runtime;

namespace {

TEST(XlaFlags, TheLastOneCounts) {
  setenv("XLA_FLAGS", "--xla_dump_to=/a --xla_dump_hlo_as_text  --xla_dump_to=/b --xla_dump_hlo_as_dot=false", 1);
  EXPECT_EQ(xlaFlag("xla_dump_to"), "/b");
  EXPECT_EQ(xlaFlag("xla_dump"), "");
  EXPECT_EQ(xlaFlag("xla_dump_hlo_as_text"), "true");
  EXPECT_TRUE(isXlaFlagOn("xla_dump_hlo_as_text"));
  EXPECT_FALSE(isXlaFlagOn("xla_dump_hlo_as_dot"));
  EXPECT_FALSE(isXlaFlagOn("xla_dump_hlo_pass_re"));
  unsetenv("XLA_FLAGS");
  EXPECT_EQ(xlaFlag("xla_dump_to"), "");
}

TEST(XlaFlags, UnknownOnesAreTold) {
  EXPECT_TRUE(unknownXlaFlags("").empty());
  EXPECT_TRUE(unknownXlaFlags("--xla_dump_to=/a --xla_gpu_autotune_level=4 --xla_force_host_platform_device_count=8").empty());
  std::vector<std::string> lines = unknownXlaFlags("--xla_dump_too=/a --xla_dump_hlo_pass=x --xla_backend_optimization_level=0");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "XLA_FLAGS: --xla_dump_too=/a has no effect here; the nearest flag that has is --xla_dump_to");
  EXPECT_EQ(lines[1], "XLA_FLAGS: --xla_dump_hlo_pass=x has no effect here; the nearest flag that has is --xla_dump_hlo_pass_re");
  EXPECT_EQ(lines[2], "XLA_FLAGS: --xla_backend_optimization_level=0 has no effect here");
}

} // namespace
