// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloShardingProto.cpp - Shardings as protocol buffer messages -------===//
// XLA's OpSharding: type 1, tile_assignment_dimensions 3, tile_assignment_devices 4, tuple_shardings 5,
// replicate_on_last_tile_dim 6, last_tile_dims 8, iota_reshape_dims 9, iota_transpose_perm 10.
#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/ProtoBytes.h"

#include "llvm/Support/ErrorHandling.h"

namespace millrace::sdy {
namespace {

template <typename Numbers> void appendPacked(std::string &out, int field, const Numbers &numbers) {
  std::string bytes;
  for (auto number : numbers)
    appendVarint(bytes, uint64_t(number));
  if (!bytes.empty())
    appendBytes(out, field, bytes);
}

/// Returns the value of the message's enumeration Type.
int typeOf(HloSharding::Kind kind) {
  switch (kind) {
  case HloSharding::Kind::Replicated:
    return 0;
  case HloSharding::Kind::Maximal:
    return 1;
  case HloSharding::Kind::Tuple:
    return 2;
  case HloSharding::Kind::Tiled:
    return 3;
  case HloSharding::Kind::Manual:
    return 4;
  case HloSharding::Kind::Unknown:
    return 5;
  case HloSharding::Kind::Unreduced:
    return 6;
  case HloSharding::Kind::Named:
    break;
  }
  llvm_unreachable("a named sharding has no OpSharding message");
}

int typeOf(HloSharding::Subgroup subgroup) {
  return subgroup == HloSharding::Subgroup::Replicated ? 0 : subgroup == HloSharding::Subgroup::Manual ? 4 : 6;
}

} // namespace

std::string toOpShardingProto(const HloSharding &sharding) {
  std::string out;
  if (int type = typeOf(sharding.kind)) {
    appendVarint(out, 1 << 3);
    appendVarint(out, type);
  }
  if (sharding.kind == HloSharding::Kind::Maximal)
    appendPacked(out, 4, std::vector<int64_t>{sharding.device});
  for (const HloSharding &element : sharding.elements)
    appendBytes(out, 5, toOpShardingProto(element));
  if (sharding.kind != HloSharding::Kind::Tiled)
    return out;
  appendPacked(out, 3, sharding.tiles);
  appendPacked(out, 4, sharding.order.list);
  if (sharding.subgroups.size() == 1 && sharding.subgroups[0] == HloSharding::Subgroup::Replicated) {
    appendVarint(out, 6 << 3);
    appendVarint(out, 1);
  } else {
    std::vector<int> types;
    for (HloSharding::Subgroup subgroup : sharding.subgroups)
      types.push_back(typeOf(subgroup));
    appendPacked(out, 8, types);
  }
  appendPacked(out, 9, sharding.order.reshape);
  appendPacked(out, 10, sharding.order.transpose);
  return out;
}

} // namespace millrace::sdy
