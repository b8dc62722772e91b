// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executions.h - How long programs ran, as samples --------------------===//
// A program counts from the moment in which it was started; how long it took is known when it ends.
#pragma once
#include "runtime/base/Event.h"
#include "tracing/Metrics.h"

namespace millrace::tracing {

/// One more sample of `name`: the time from `start` until `done`.
void sampleExecution(const char *name, std::chrono::steady_clock::time_point start, const runtime::Event &done);
/// All samples; programs under way count, without a value yet.
std::map<std::string, Metrics::Samples> samplesNow();
/// Forgets all samples, also those of programs under way.
void clearSamplesNow();

} // namespace millrace::tracing
