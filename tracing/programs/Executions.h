// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executions.h - Execution times of programs as samples ---------------===//
// An execution is counted when it starts; its time is added when it ends.
#pragma once
#include "runtime/base/Event.h"
#include "tracing/reports/Metrics.h"

namespace millrace::tracing {

/// Adds a sample of `name`: the time from `start` until `done`.
void sampleExecution(const char *name, std::chrono::steady_clock::time_point start, const runtime::Event &done);
/// Returns all samples. Running executions are counted, but have no value yet.
std::map<std::string, Metrics::Samples> samplesNow();
/// Removes all samples, also those of running executions.
void clearSamplesNow();

} // namespace millrace::tracing
