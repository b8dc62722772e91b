// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - Compile a traced module through the cache ---------------===//
#pragma once
#include "runtime/base/Status.h"
#include "runtime/program/Program.h"
#include "tracing/emit/TracedModule.h"

#include <memory>
#include <string>
#include <vector>

namespace millrace::tracing {

/// Compiles the module with XLA's semantics, or reads the program from the persistent cache; counts PersistentCacheHit and PersistentCacheMiss.
/// Locations name the user's lines in errors and have no influence on the key. Values without a sharding annotation are sharded over `mesh`
/// ("a=2,b=4") automatically (passes/autosharding), unless `mesh` is empty. Changes the module.
runtime::StatusOr<std::shared_ptr<const runtime::Program>> compileModule(TracedModule module, const std::string &mesh = {});
/// Returns the sharding that compileModule() with this mesh would choose for each argument: a string in XLA's form, empty for replicated arguments,
/// such as those of fewer than `smallest` elements. compileModule() of the same program whose arguments have these shardings does not plan again.
/// Plans are looked up and stored in the persistent cache; AutoShardingPlanHit and AutoShardingPlanMiss are counted.
runtime::StatusOr<std::vector<std::string>> planArguments(TracedModule module, const std::string &mesh, int64_t smallest);
/// Returns the settings of automatic sharding that the environment has besides the mesh: XLA_AUTO_SPMD_MACHINE and XLA_AUTO_SPMD_MEMORY.
std::string planSettingsText();
/// Returns an error that names the setting if one of them cannot be read.
runtime::Status checkPlanSettings();
/// Returns the program as HLO text (lowering/hlo).
runtime::StatusOr<std::string> hloText(const std::string &text);
/// Converts HLO text to a serialized HloModuleProto (lowering/hlo/HloProto.h) named `name`; such a module to JSON or to protocol buffers' text
/// format.
runtime::StatusOr<std::string> hloModule(const std::string &text, const std::string &name);
std::string hloModuleJson(const std::string &module);
std::string hloModuleText(const std::string &module);
/// Uses this cache folder instead of the one that the environment names. Must be called before the first compileModule().
runtime::Status useCacheFolder(const std::string &folder, bool readOnly);
/// Deletes the entries of the cache folder that useCacheFolder() or XLA_PERSISTENT_CACHE_PATH names; does nothing without such a folder, or if it is
/// read only. Errors: those of Cache::clear().
runtime::Status clearCacheFolder();

} // namespace millrace::tracing
