// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shardings.cpp - Annotations of tensors for several devices ----------===//
#include "tracing/reports/Dump.h"
#include "tracing/emit/Emit.h"
#include "runtime/base/Environment.h"

namespace millrace::tracing {

void registerShardings(Registry &r) {
  // Arguments: a tensor, its sharding in XLA's notation, and in sdy's, which is empty if axes cannot express it. CONVERT_SHLO_TO_SHARDY=0 uses XLA's.
  r.add({"millrace::sharding"}, [](const Call &c) -> std::vector<Val> {
    Val value = c.val(0);
    std::string hlo = c.text(1), sdy = c.text(2);
    if (!sdy.empty() && !runtime::environment::isOff("CONVERT_SHLO_TO_SHARDY"))
      return {c.e.op("sdy.sharding_constraint", {value}, {{"sharding", sdy}}, value.shape)};
    if (hlo == "{replicated}" && sdy.empty())
      return {value};
    return {c.e.op("stablehlo.custom_call", {value}, {{"call_target_name", "\"Sharding\""}, {"mhlo.sharding", '"' + hlo + '"'}},
                   value.shape)};
  });
  // Arguments: a tensor, and the number of a group of tensors that are to have equal shardings.
  r.add({"millrace::shard_as"}, [](const Call &c) -> std::vector<Val> {
    std::vector<Val> values;
    for (const std::optional<Val> &value : c.vals(0)) {
      c.e.effect("sdy.sharding_group", {*value}, {{"group_id", intText(c.integer(1))}});
      values.push_back(*value);
    }
    return values;
  });
  // Converts a tensor to the shard that each device holds, for manual computation, or shards back to the tensor that they are shards of.
  auto manual = [](const char *target) {
    return [target](const Call &c) -> std::vector<Val> {
      std::string inside = std::string(target) == "SPMDFullToShardShape" ? "{manual}" : c.text(1);
      return {c.e.op("stablehlo.custom_call", {c.val(0)},
                     {{"call_target_name", '"' + std::string(target) + '"'}, {"mhlo.sharding", '"' + inside + '"'}}, c.out())};
    };
  };
  r.add({"millrace::full_to_shard"}, manual("SPMDFullToShardShape"));
  r.add({"millrace::shard_to_full"}, manual("SPMDShardToFullShape"));
}

} // namespace millrace::tracing
