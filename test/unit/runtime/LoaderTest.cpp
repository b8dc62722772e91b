// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoaderTest.cpp - Linking, protection, what debuggers see ------------===//
#include "TestPrograms.h"
#include "runtime/base/File.h"
#include "runtime/kernels/Symbols.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <unistd.h>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

Program programOf(const std::string &source, std::initializer_list<const char *> symbols) {
  Builder b;
  b.code(source, symbols);
  return b.program;
}

int32_t call(const LoadedCode &code, size_t index) {
  void *buffers[1] = {nullptr};
  return code.kernel(index)(buffers, nullptr, 0, 1);
}

const char *const answer = "int answer_1(void **b, const long *d, long i, long e) { return 42; }";

TEST(Loader, TwoProgramsMayHaveTheSameSymbols) {
  auto a = LoadedCode::load(programOf(answer, {"answer_1"}), {});
  auto b = LoadedCode::load(programOf("int answer_1(void **b, const long *d, long i, long e) { return 43; }", {"answer_1"}), {});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(call(**a, 0), 42);
  EXPECT_EQ(call(**b, 0), 43);
  EXPECT_GT((*a)->codeBytes(), 0u);
}

/// The permissions, "r-xp", of the mapping that holds `address`.
std::string permissions(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream in(line);
    uintptr_t begin, end;
    char dash;
    std::string flags;
    in >> std::hex >> begin >> dash >> end >> flags;
    if (uintptr_t(address) >= begin && uintptr_t(address) < end)
      return flags;
  }
  return "";
}

// Constants are in the memory of the code: with a mapping of their own, kernels would use up the 65000 that a process may have.
TEST(Loader, CodeAndConstantsAreNotWritable) {
  auto code = LoadedCode::load(programOf("static const double table[64] = {1, 2, 3};"
                                         "int k(void **b, const long *d, long i, long e) { b[0] = (void *)table; return 0; }",
                                         {"k"}),
                               {});
  ASSERT_TRUE(code.ok()) << code.status().toString();
  EXPECT_EQ(permissions(reinterpret_cast<void *>((*code)->kernel(0))), "r-xp");
  void *buffers[1] = {nullptr};
  ASSERT_EQ((*code)->kernel(0)(buffers, nullptr, 0, 1), 0);
  EXPECT_EQ(permissions(buffers[0]), "r-xp");
}

TEST(Loader, UnloadedCodeIsUnmapped) {
  const void *address;
  {
    auto code = LoadedCode::load(programOf(answer, {"answer_1"}), {});
    ASSERT_TRUE(code.ok());
    address = reinterpret_cast<void *>((*code)->kernel(0));
  }
  EXPECT_NE(permissions(address), "r-xp");
}

TEST(Loader, DumpPerfMapAndGdb) {
  std::string folder = ::testing::TempDir() + "/millrace-dump-" + std::to_string(::getpid());
  LoaderOptions options;
  options.dumpFolder = folder;
  options.perfMap = true;
  options.gdb = true;
  Program program = programOf("int add_7_beef(void **b, const long *d, long i, long e) { return 5; }", {"add_7_beef"});
  auto code = LoadedCode::load(program, options);
  ASSERT_TRUE(code.ok()) << code.status().toString();
  EXPECT_EQ(call(**code, 0), 5);
  int objects = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    auto content = readWholeFile(entry.path().string());
    ASSERT_TRUE(content.ok());
    EXPECT_EQ(content->bytes, std::string_view(reinterpret_cast<const char *>(program.objects[0].data), program.objects[0].size));
    ++objects;
  }
  EXPECT_EQ(objects, 1);
  std::filesystem::remove_all(folder);
  std::string map = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  auto content = readWholeFile(map);
  ASSERT_TRUE(content.ok());
  EXPECT_NE(content->bytes.find("add_7_beef"), std::string_view::npos);
  ::unlink(map.c_str());
}

TEST(Loader, AFolderThatCannotBeMadeIsAnErrorThatNamesTheVariable) {
  LoaderOptions options;
  options.dumpFolder = "/proc/millrace-dump";
  auto code = LoadedCode::load(programOf(answer, {"answer_1"}), options);
  ASSERT_FALSE(code.ok());
  EXPECT_TRUE(std::string(code.status().message()).starts_with("MILLRACE_JIT_DUMP: ")) << code.status().toString();
}

TEST(Loader, MalformedObjectIsAnError) {
  Builder b;
  b.program.objects.push_back(Constant::copy("\x7f" "ELF garbage", 12));
  b.program.kernels.push_back({"k", "k", {}, 0, 0});
  EXPECT_FALSE(LoadedCode::load(b.program, {}).ok());
}

TEST(Symbols, NamesAreUniqueAndSet) {
  std::set<std::string> names;
  for (const RuntimeSymbol &symbol : runtimeSymbols()) {
    EXPECT_TRUE(names.insert(symbol.name).second) << symbol.name;
    EXPECT_NE(symbol.address, nullptr);
  }
}

/// The complex functions against identities and exact values.
TEST(ComplexMath, Values) {
  auto near = [](MillraceComplex z, double re, double im) {
    EXPECT_NEAR(z.re, re, 1e-14 * std::fmax(1, std::fabs(re)));
    EXPECT_NEAR(z.im, im, 1e-14 * std::fmax(1, std::fabs(im)));
  };
  near(millrace_rt_csqrt(-4, 0), 0, 2);
  near(millrace_rt_ccbrt(-8, 0), 1, std::sqrt(3.0));
  near(millrace_rt_cpow(0, 1, 2, 0), -1, 0);
  near(millrace_rt_cexp(0, M_PI / 2), 0, 1);
  near(millrace_rt_clog(-1, 0), 0, M_PI);
  near(millrace_rt_ctanh(1e3, 1), 1, 0);
  near(millrace_rt_cdiv(1, 2, 3, 4), 0.44, 0.08);
  near(millrace_rt_catan2(1, 0, -1, 0), 3 * M_PI / 4, 0);
  near(millrace_rt_crsqrt(0.25, 0), 2, 0);
  near(millrace_rt_clogistic(0, 0), 0.5, 0);
  EXPECT_EQ(millrace_rt_cexpm1(1e-300, 0).re, 1e-300);
  EXPECT_EQ(millrace_rt_clog1p(1e-300, 0).re, 1e-300);
}

} // namespace
