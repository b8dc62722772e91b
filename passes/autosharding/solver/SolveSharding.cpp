// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SolveSharding.cpp - The developer's tool solve-sharding FILE -------===//
// Prints progress on standard error and the result as one line of JSON on standard output. Exit status 0: solution found; 1: none found; 2: the file
// or an argument is invalid.
#include "passes/autosharding/solver/ProblemReader.h"
#include "passes/autosharding/solver/Solve.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

using namespace millrace::autosharding;

namespace {

constexpr const char *kUsage = "usage: solve-sharding FILE.json [--seconds=S] [--processor-seconds=S] [--iterations=N] [--threads=N] [--searches=N] [--seed=N] [--quiet]\n"
                               "solves a problem in the format of google/iopddl; without a limit: 100 iterations\n"
                               "seconds count from the start of the program; processor-seconds are those of all threads together; 0 is no limit\n";
/// The time between two reports of progress. Unit: seconds. Source: judgement.
constexpr double kProgressSeconds = 5;

struct Arguments {
  std::string file;
  Options options;
  double processorSeconds = 0; ///< 0 for no limit
  bool quiet = false;
};

template <typename Number> bool parse(const char *argument, const char *name, Number &value) {
  size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0)
    return false;
  const char *begin = argument + length, *end = begin + std::strlen(begin);
  auto [rest, problem] = std::from_chars(begin, end, value);
  return problem == std::errc() && rest == end && begin != end;
}

bool parse(int count, char **values, Arguments &arguments) {
  for (int at = 1; at < count; ++at) {
    const char *value = values[at];
    Options &options = arguments.options;
    if (parse(value, "--seconds=", options.seconds) || parse(value, "--processor-seconds=", arguments.processorSeconds) || parse(value, "--iterations=", options.iterations) ||
        parse(value, "--threads=", options.threads) || parse(value, "--searches=", options.searches) || parse(value, "--seed=", options.seed))
      continue;
    if (std::strcmp(value, "--quiet") == 0) {
      arguments.quiet = true;
    } else if (value[0] != '-' && arguments.file.empty()) {
      arguments.file = value;
    } else {
      std::fprintf(stderr, "solve-sharding: unknown or malformed argument '%s'\n%s", value, kUsage);
      return false;
    }
  }
  if (!(arguments.options.seconds >= 0) || !(arguments.processorSeconds >= 0)) {
    std::fprintf(stderr, "solve-sharding: expects numbers of seconds of at least 0\n%s", kUsage);
    return false;
  }
  if (arguments.file.empty())
    std::fputs(kUsage, stderr);
  return !arguments.file.empty();
}

void print(const Problem &problem, const Solution &solution) {
  std::string choices;
  for (uint32_t choice : solution.choices)
    choices += (choices.empty() ? "" : ", ") + std::to_string(choice);
  std::printf("{\"nodes\": %zu, \"edges\": %zu, \"found\": %s, \"cost\": %s, \"bound\": %s, \"gap\": %.9g, \"peak\": %lld, \"limit\": %lld, "
              "\"stop\": \"%s\", \"iterations\": %llu, \"seconds\": %.3f, \"need_at_least\": %lld, \"smallest_need\": %lld, \"message\": \"%s\", "
              "\"choices\": [%s]}\n",
              problem.nodes.size(), problem.edges.size(), solution.found ? "true" : "false", toString(solution.cost).c_str(),
              toString(solution.bound).c_str(), solution.found && solution.gap < 1e300 ? solution.gap : -1.0,
              static_cast<long long>(solution.peak), static_cast<long long>(problem.usageLimit), name(solution.stop),
              static_cast<unsigned long long>(solution.iterations), solution.seconds, static_cast<long long>(solution.needAtLeast),
              static_cast<long long>(solution.smallestNeed), solution.message.c_str(), choices.c_str());
}

} // namespace

int main(int count, char **values) {
  auto start = std::chrono::steady_clock::now();
  Arguments arguments;
  if (!parse(count, values, arguments))
    return 2;
  std::ifstream file(arguments.file, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "solve-sharding: cannot open %s\n", arguments.file.c_str());
    return 2;
  }
  std::stringstream text;
  text << file.rdbuf();
  std::string error;
  std::optional<Problem> problem = readProblem(text.view(), error);
  text = {};
  if (!problem) {
    std::fprintf(stderr, "solve-sharding: %s: %s\n", arguments.file.c_str(), error.c_str());
    return 2;
  }
  if (arguments.options.seconds > 0) {
    double reading = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    arguments.options.seconds = std::max(arguments.options.seconds - reading, 1e-3);
  }
  if (arguments.processorSeconds > 0)
    arguments.options.enough = [&] { return double(std::clock()) / CLOCKS_PER_SEC >= arguments.processorSeconds; };
  double next = 0;
  if (!arguments.quiet)
    arguments.options.progress = [&](const Progress &progress) {
      if (progress.seconds < next)
        return;
      next = progress.seconds + kProgressSeconds;
      if (progress.found)
        std::fprintf(stderr, "%8.1f s  iteration %llu  cost %.6e  bound %.6e  gap %.2f %%\n", progress.seconds,
                     static_cast<unsigned long long>(progress.iteration), progress.cost, progress.bound,
                     100 * (progress.cost / progress.bound - 1));
      else
        std::fprintf(stderr, "%8.1f s  iteration %llu  nothing within the limit yet  bound %.6e\n", progress.seconds,
                     static_cast<unsigned long long>(progress.iteration), progress.bound);
    };
  Solution solution = solve(*problem, arguments.options);
  print(*problem, solution);
  return solution.found ? 0 : 1;
}
