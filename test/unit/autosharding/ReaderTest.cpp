// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReaderTest.cpp - Problems as the contest writes them ---------------===//
#include "RandomProblem.h"
#include "passes/autosharding/solver/ProblemReader.h"

#include <gtest/gtest.h>

using namespace millrace::autosharding;

namespace {

constexpr const char *kGood = R"({"problem": {"name": "two", "comment": [{"deep": [1.5e3, true, null]}],
  "nodes": {"intervals": [[0, 5], [3, 3]], "costs": [[1, 2], [3]], "usages": [[4, 5], [6]]},
  "edges": {"nodes": [[0, 1]], "costs": [[7, 1000000000000000000]]}, "usage_limit": 50}})";

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = kGood;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expectError(const std::string &text, const std::string &message) {
  std::string error;
  EXPECT_FALSE(readProblem(text, error)) << text;
  EXPECT_NE(error.find(message), std::string::npos) << error << "\nexpected: " << message;
}

TEST(Reader, ReadsAllFields) {
  std::string error;
  std::optional<Problem> problem = readProblem(kGood, error);
  ASSERT_TRUE(problem) << error;
  EXPECT_EQ(problem->name, "two");
  EXPECT_EQ(problem->usageLimit, 50);
  ASSERT_EQ(problem->nodes.size(), 2u);
  EXPECT_EQ(problem->nodes[0].costs, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(problem->nodes[0].usages, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(problem->nodes[1].begin, 3);
  EXPECT_EQ(problem->nodes[1].end, 3);
  ASSERT_EQ(problem->edges.size(), 1u);
  EXPECT_EQ(problem->edges[0].b, 1u);
  EXPECT_EQ(problem->edges[0].costs, (std::vector<int64_t>{7, kImpossible}));
}

TEST(Reader, ReadsWhatIsWritten) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Problem problem = randomProblem({.nodes = 9, .edges = 14, .limit = seed % 2 ? 0.5 : -1.0, .mostCost = seed % 3 ? 1000 : kImpossible - 1}, seed);
    problem.name = "a \"b\" c\\d";
    std::string error;
    std::optional<Problem> read = readProblem(writeProblem(problem), error);
    ASSERT_TRUE(read) << error;
    EXPECT_EQ(read->name, problem.name);
    EXPECT_EQ(read->usageLimit, problem.usageLimit);
    ASSERT_EQ(read->nodes.size(), problem.nodes.size());
    for (size_t node = 0; node < problem.nodes.size(); ++node) {
      EXPECT_EQ(read->nodes[node].costs, problem.nodes[node].costs);
      EXPECT_EQ(read->nodes[node].usages, problem.nodes[node].usages);
      EXPECT_EQ(read->nodes[node].begin, problem.nodes[node].begin);
      EXPECT_EQ(read->nodes[node].end, problem.nodes[node].end);
    }
    ASSERT_EQ(read->edges.size(), problem.edges.size());
    for (size_t edge = 0; edge < problem.edges.size(); ++edge) {
      EXPECT_EQ(std::pair(read->edges[edge].a, read->edges[edge].b), std::pair(problem.edges[edge].a, problem.edges[edge].b));
      EXPECT_EQ(read->edges[edge].costs, problem.edges[edge].costs);
    }
  }
}

TEST(Reader, RefusesWhatIsNoJson) {
  expectError("", "byte 0: expected '{', but got the end of the text");
  expectError("[]", "expected '{', but got '['");
  expectError(std::string(kGood) + "x", "expected the end of the text, but got 'x'");
  expectError(std::string(kGood).substr(0, 40), "the end of the text");
  expectError(replaced("[0, 5]", "[0 5]"), "expected ',', but got '5'");
  expectError(replaced("\"two\"", "two"), "expected '\"', but got 't'");
}

TEST(Reader, RefusesNumbersThatAreNoIntegersOf64Bits) {
  expectError(replaced("[4, 5]", "[4.5, 5]"), "with a fraction");
  expectError(replaced("[4, 5]", "[4e1, 5]"), "exponent");
  expectError(replaced("[4, 5]", "[99999999999999999999, 5]"), "64 bits");
  expectError(replaced("[4, 5]", "[\"4\", 5]"), "expected an integer, but got '\"'");
}

TEST(Reader, RefusesDeepNesting) {
  expectError(replaced("\"two\"", "\"two\", \"more\": " + std::string(100000, '[')), "at most 64 levels");
}

TEST(Reader, RefusesMissingMembers) {
  expectError("{}", "expected a member \"problem\"");
  expectError(replaced("\"usage_limit\"", "\"limit\""), "expected a member \"usage_limit\"");
  expectError(replaced("\"edges\"", "\"edge\""), "expected a member \"edges\"");
}

TEST(Reader, RefusesSizesThatDiffer) {
  expectError(replaced("[[4, 5], [6]]", "[[4, 5]]"), "nodes: expected as many usages as intervals, 2, but got 1");
  expectError(replaced("[4, 5], [6]", "[4, 5], []"), "node 1: expected as many usages as costs, 1, but got 0");
  expectError(replaced("[[0, 5]", "[[0, 5, 6]"), "node 0: expected an interval of 2 numbers, but got 3");
  expectError(replaced("[[0, 1]]", "[[0]]"), "edge 0: expected 2 nodes, but got 1");
  expectError(replaced("[[7,", "[[7, 8,"), "edge 0: expected 2 x 1 costs, but got 3");
  expectError(replaced("[3]], \"usages\": [[4, 5], [6]]", "[]], \"usages\": [[4, 5], []]"), "node 1: expected at least one choice");
}

TEST(Reader, RefusesValuesOutOfRange) {
  expectError(replaced("[1, 2]", "[1, -2]"), "node 0: expected costs of at least 0, but choice 1 has -2");
  expectError(replaced("[4, 5]", "[-4, 5]"), "node 0: expected usages of at least 0, but choice 0 has -4");
  expectError(replaced("[7,", "[-7,"), "edge 0: expected costs of at least 0, but got -7");
  expectError(replaced("[[0, 1]]", "[[0, 2]]"), "edge 0: expected nodes from 0 to 1, but got 2");
  expectError(replaced("[[0, 1]]", "[[0, -1]]"), "edge 0: expected nodes from 0 to 1, but got -1");
  expectError(replaced("[[0, 1]]", "[[0, 0]]"), "edge 0: expected two nodes, but got node 0 twice");
  expectError(replaced(": 50", ": -50"), "expected a usage limit of at least 0, but got -50");
  expectError(replaced("[4, 5], [6]", "[4, 4000000000000000000], [4000000000000000000]"), "node 1: expected the largest usages of all nodes");
}

} // namespace
