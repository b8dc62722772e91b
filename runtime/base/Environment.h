// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Environment.h - The environment variables that C++ reads -------------===//
// The table `variables` has the name and type of each variable, and docs/environment.toml its default and meaning; scripts/lint compares both. The
// use of a name that is not in the table, or has another type, does not compile.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::runtime::environment {

enum class Type {
  Text,   ///< unchecked text; its reader may check it
  Switch, ///< 1, on, yes, true, y; or 0, off, no, false, n
  Count   ///< a whole number of at least 0
};

struct Variable {
  std::string_view name;
  Type type;
};

inline constexpr Variable variables[] = {
    {"BROWSER", Type::Text},
    {"CONVERT_SHLO_TO_SHARDY", Type::Switch},
    {"CPU_NUM_DEVICES", Type::Count},
    {"GLOO_SOCKET_IFNAME", Type::Text},
    {"HOME", Type::Text},
    {"LOCAL_RANK", Type::Text},
    {"LOCAL_WORLD_SIZE", Type::Text},
    {"MILLRACE_CACHE", Type::Text},
    {"MILLRACE_CACHE_DIR", Type::Text},
    {"MILLRACE_CACHE_SIZE", Type::Text},
    {"MILLRACE_COLLECTIVE_TIMEOUT", Type::Text},
    {"MILLRACE_DEBUG", Type::Switch},
    {"MILLRACE_EXPLAIN_FALLBACK", Type::Text},
    {"MILLRACE_GDB", Type::Switch},
    {"MILLRACE_HOST_ID", Type::Text},
    {"MILLRACE_INTERFACE", Type::Text},
    {"MILLRACE_JIT_DUMP", Type::Text},
    {"MILLRACE_LIVENESS", Type::Text},
    {"MILLRACE_MEMORY_LIMIT", Type::Text},
    {"MILLRACE_NUM_THREADS", Type::Text},
    {"MILLRACE_OPENBLAS", Type::Text},
    {"MILLRACE_PERF_MAP", Type::Switch},
    {"MILLRACE_PREPARED_BYTES", Type::Count},
    {"MILLRACE_PROFILE", Type::Text},
    {"MILLRACE_PROFILER_ADDRESS", Type::Text},
    {"MILLRACE_PROGRAM_CACHE_BYTES", Type::Count},
    {"MILLRACE_PROGRESS", Type::Switch},
    {"MILLRACE_SECRET", Type::Text},
    {"MILLRACE_SPMD_CHECK", Type::Switch},
    {"MILLRACE_TARGET", Type::Text},
    {"MILLRACE_TARGET_CACHES", Type::Text},
    {"MILLRACE_TARGET_THREADS", Type::Text},
    {"MILLRACE_TCP_LANES", Type::Text},
    {"MILLRACE_TIERED", Type::Switch},
    {"MILLRACE_TRANSPORT", Type::Text},
    {"MPI_LOCALNRANKS", Type::Text},
    {"MPI_LOCALRANKID", Type::Text},
    {"OMPI_COMM_WORLD_LOCAL_RANK", Type::Text},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", Type::Text},
    {"OMPI_COMM_WORLD_RANK", Type::Text},
    {"OMPI_COMM_WORLD_SIZE", Type::Text},
    {"OMP_NUM_THREADS", Type::Text},
    {"PJRT_DEVICE", Type::Text},
    {"PJRT_LOCAL_PROCESS_COUNT", Type::Text},
    {"PJRT_LOCAL_PROCESS_RANK", Type::Text},
    {"PJRT_SELECT_DEFAULT_DEVICE", Type::Switch},
    {"PMI_RANK", Type::Text},
    {"PMI_SIZE", Type::Text},
    {"PT_XLA_DEBUG", Type::Switch},
    {"PT_XLA_DEBUG_FILE", Type::Text},
    {"PT_XLA_DEBUG_LEVEL", Type::Count},
    {"PT_XLA_DEBUG_MAX_FRAME", Type::Count},
    {"RANK", Type::Text},
    {"SLURM_PROCID", Type::Text},
    {"SLURM_STEP_NUM_TASKS", Type::Text},
    {"WORLD_SIZE", Type::Text},
    {"XDG_CACHE_HOME", Type::Text},
    {"XLA_AUTO_SPMD_MACHINE", Type::Text},
    {"XLA_AUTO_SPMD_MEMORY", Type::Text},
    {"XLA_AUTO_SPMD_MESH", Type::Text},
    {"XLA_AUTO_USE_GROUP_SHARDING", Type::Switch},
    {"XLA_COMPILATION_CACHE_SIZE", Type::Count},
    {"XLA_DOWNCAST_BF16", Type::Switch},
    {"XLA_DOWNCAST_FP16", Type::Switch},
    {"XLA_DUMP_HLO_GRAPH", Type::Switch},
    {"XLA_ENABLE_PARAM_ALIASING", Type::Switch},
    {"XLA_FLAGS", Type::Text},
    {"XLA_HLO_DEBUG", Type::Switch},
    {"XLA_IR_DEBUG", Type::Switch},
    {"XLA_METRICS_SAMPLES", Type::Count},
    {"XLA_NO_SPECIAL_SCALARS", Type::Switch},
    {"XLA_PERSISTENT_CACHE_PATH", Type::Text},
    {"XLA_PERSISTENT_CACHE_READ_ONLY", Type::Switch},
    {"XLA_SAVE_HLO_FILE", Type::Text},
    {"XLA_SAVE_TENSORS_FILE", Type::Text},
    {"XLA_SAVE_TENSORS_FMT", Type::Text},
    {"XLA_STABLEHLO_COMPILE", Type::Switch},
    {"XLA_TRIM_GRAPH_CHECK_FREQUENCY", Type::Count},
    {"XLA_TRIM_GRAPH_SIZE", Type::Count},
    {"XLA_USE_32BIT_LONG", Type::Switch},
    {"XLA_USE_BF16", Type::Switch},
    {"XLA_USE_FP16", Type::Switch},
};

void theTableLacksThisVariable(); ///< never defined, so that a call of it is a compile-time error

/// The name of a variable of type `type`; its constructor fails to compile for other names.
template <Type type> struct Name {
  const char *text;
  consteval Name(const char *name) : text(name) {
    if (std::none_of(std::begin(variables), std::end(variables), [&](const Variable &each) { return each.name == name && each.type == type; }))
      theTableLacksThisVariable();
  }
};

/// Returns the value, or an empty string if the variable is not set.
std::string text(Name<Type::Text> name);
/// Returns nothing if the variable is not set or is neither; the latter is reported once on standard error.
std::optional<bool> asSwitch(Name<Type::Switch> name);
inline bool isOn(Name<Type::Switch> name) { return asSwitch(name).value_or(false); }
inline bool isOff(Name<Type::Switch> name) { return !asSwitch(name).value_or(true); }
/// Returns nothing if the variable is not set or is no count; the latter is reported once on standard error.
std::optional<uint64_t> count(Name<Type::Count> name);
/// Reports once on standard error that the variable has an unexpected value: "MILLRACE_GDB expects 0 or 1, but got 'x'".
void warn(const char *name, const std::string &expected, const std::string &value);

} // namespace millrace::runtime::environment
