// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - A traced module to a program, through the cache ---------===//
#pragma once
#include "runtime/base/Status.h"
#include "runtime/program/Program.h"
#include "tracing/TracedModule.h"

#include <memory>
#include <string>
#include <vector>

namespace millrace::tracing {

/// With XLA's semantics. Locations name the user's lines in errors and do not matter otherwise. Counts PersistentCacheHit and PersistentCacheMiss.
/// What is not annotated is split over `mesh` ("a=2,b=4") automatically (passes/autosharding), unless that is empty.
/// Changes the module.
runtime::StatusOr<std::shared_ptr<const runtime::Program>> compileModule(TracedModule module, const std::string &mesh = {});
/// How each argument of the program would be split then: strings as XLA writes them, empty of those that stay whole, as those of fewer than
/// `smallest` elements do. compileModule() of the same program with its arguments split like that does not plan again. Plans are looked up and kept in
/// the cache, too: AutoShardingPlanHit and AutoShardingPlanMiss are counted.
runtime::StatusOr<std::vector<std::string>> planArguments(TracedModule module, const std::string &mesh, int64_t smallest);
/// The program as HLO text (lowering/hlo).
runtime::StatusOr<std::string> hloText(const std::string &text);
/// HLO text as a serialized HloModuleProto (lowering/hlo/HloProto.h), called `name`; and such a module as JSON, or in the text format of protocol buffers.
runtime::StatusOr<std::string> hloModule(const std::string &text, const std::string &name);
std::string hloModuleJson(const std::string &module);
std::string hloModuleText(const std::string &module);
/// Instead of the environment's settings; before the first compileModule().
runtime::Status useCacheFolder(const std::string &folder, bool readOnly);

} // namespace millrace::tracing
