// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileReport.cpp - The report of xla-run --profile -----------------===//
#include "tools/support/reports/ProfileReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>

namespace millrace::tools {
using namespace runtime;
namespace {

struct Row {
  std::string name, emitter;
  std::vector<std::string> ops;
  uint64_t calls = 0;
  double medianUs = 0, minimumUs = 0;
  double flops = 0, bytesRead = 0, bytesWritten = 0; ///< of one execution of the program
  std::vector<Profile::Pieces> pieces;               ///< in ascending order of the number of pieces; empty without --pieces
};

/// The bytes of a kernel's operands and results, which it reads and writes in one execution. Unknown for run-time shapes.
struct Traffic {
  double read = 0, written = 0;
};

void collectTraffic(const Function &function, const Steps &steps, std::vector<Traffic> &kernels) {
  for (const Step &step : steps) {
    if (auto *kernel = std::get_if<KernelStep>(&step.body)) {
      Traffic traffic;
      for (SlotId id : kernel->inputs)
        traffic.read += double(function.slots[id].bytes);
      for (SlotId id : kernel->outputs)
        traffic.written += double(function.slots[id].bytes);
      kernels[kernel->kernel] = traffic;
    } else if (auto *loop = std::get_if<LoopStep>(&step.body)) {
      collectTraffic(function, loop->cond, kernels);
      collectTraffic(function, loop->body, kernels);
    } else if (auto *cond = std::get_if<CondStep>(&step.body)) {
      for (const Steps &branch : cond->branches)
        collectTraffic(function, branch, kernels);
    }
  }
}

/// Returns calls, median and minimum over the executions of the entry that `pick` selects in each.
template <typename Pick>
Row summarize(const RunOutcome &outcome, Pick pick) {
  Row row;
  std::vector<double> times;
  for (const Profile &profile : outcome.profiles) {
    Profile::Entry entry = pick(profile);
    row.calls = entry.calls;
    times.push_back(double(entry.nanoseconds) / 1e3);
  }
  std::sort(times.begin(), times.end());
  row.medianUs = times[times.size() / 2];
  row.minimumUs = times.front();
  return row;
}

/// Returns the pieces of kernel `index`, each with its least time of all executions.
std::vector<Profile::Pieces> leastPieces(const RunOutcome &outcome, size_t index) {
  std::map<size_t, Profile::Pieces> least;
  for (const Profile &profile : outcome.profiles)
    for (const auto &[count, pieces] : profile.pieces[index])
      if (auto [found, isNew] = least.try_emplace(count, pieces); !isNew)
        for (auto [time, other] : llvm::zip_equal(found->second.nanoseconds, pieces.nanoseconds))
          time = std::min(time, other);
  std::vector<Profile::Pieces> list;
  for (auto &[_, pieces] : least)
    list.push_back(std::move(pieces));
  return list;
}

std::vector<Row> rowsOf(const Program &program, const RunOutcome &outcome) {
  std::map<std::string, std::string> emitters;
  for (const auto &[key, value] : program.metadata)
    if (llvm::StringRef(key).starts_with("emitter "))
      emitters[key.substr(8)] = value;
  std::vector<Traffic> traffic(program.kernels.size());
  for (const Function &function : program.functions)
    collectTraffic(function, function.steps, traffic);
  std::vector<Row> rows;
  for (auto [index, kernel] : llvm::enumerate(program.kernels)) {
    Row row = summarize(outcome, [&, k = index](const Profile &profile) { return profile.kernels[k]; });
    if (!row.calls)
      continue;
    row.name = kernel.name;
    row.emitter = emitters[kernel.symbol];
    row.ops = kernel.ops;
    row.flops = kernel.flops * double(row.calls);
    row.bytesRead = traffic[index].read * double(row.calls);
    row.bytesWritten = traffic[index].written * double(row.calls);
    row.pieces = leastPieces(outcome, index);
    rows.push_back(std::move(row));
  }
  std::map<std::string, int> steps;
  for (const Profile &profile : outcome.profiles)
    for (const auto &[name, entry] : profile.steps)
      steps[name] = 1;
  for (const auto &[name, _] : steps) {
    Row row = summarize(outcome, [&, &wanted = name](const Profile &profile) {
      auto found = profile.steps.find(wanted);
      return found == profile.steps.end() ? Profile::Entry() : found->second;
    });
    row.name = name;
    row.emitter = "step";
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.medianUs > b.medianUs; });
  return rows;
}

void printTable(llvm::ArrayRef<Row> rows, llvm::raw_ostream &os) {
  double sum = 0;
  for (const Row &row : rows)
    sum += row.medianUs;
  os << "profile, per execution: median us, share, calls, GFLOP/s, GB/s, emitter, kernel, operations\n";
  for (const Row &row : rows) {
    double time = std::max(row.medianUs, 1e-3);
    os << llvm::format("%10.2f %5.1f%% %6llu %8.1f %7.1f  %-14s %s  ", row.medianUs, 100 * row.medianUs / std::max(sum, 1e-9),
                       (unsigned long long)row.calls, row.flops / time / 1e3, (row.bytesRead + row.bytesWritten) / time / 1e3, row.emitter.c_str(),
                       row.name.c_str());
    os << llvm::join(row.ops, " ") << "\n";
  }
}

llvm::json::Array toJson(llvm::ArrayRef<Profile::Pieces> pieces) {
  llvm::json::Array list;
  for (const Profile::Pieces &some : pieces) {
    llvm::json::Array times;
    for (uint64_t time : some.nanoseconds)
      times.push_back(double(time) / 1e3 / double(some.launches));
    list.push_back(llvm::json::Object{{"launches", int64_t(some.launches)}, {"us", std::move(times)}});
  }
  return list;
}

llvm::json::Value toJson(llvm::ArrayRef<Row> rows) {
  llvm::json::Array list;
  for (const Row &row : rows)
    list.push_back(llvm::json::Object{{"name", row.name},
                                      {"pieces", toJson(row.pieces)},
                                      {"emitter", row.emitter},
                                      {"ops", llvm::json::Array(row.ops)},
                                      {"calls", int64_t(row.calls)},
                                      {"median_us", row.medianUs},
                                      {"min_us", row.minimumUs},
                                      {"flops", row.flops},
                                      {"bytes_read", row.bytesRead},
                                      {"bytes_written", row.bytesWritten}});
  return list;
}

} // namespace

Status writeProfile(const Program &program, const RunOutcome &outcome, const std::string &path) {
  std::vector<Row> rows = rowsOf(program, outcome);
  if (path == "-") {
    printTable(rows, llvm::outs());
    return Status();
  }
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return invalidArgument("cannot write '" + path + "': " + error.message());
  file << llvm::formatv("{0:2}\n", toJson(rows));
  return Status();
}

} // namespace millrace::tools
