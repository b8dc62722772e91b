// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Extensions.cpp - Layouts and shardings of executables ---------------===//
// Layouts: objects that are serialized as text, "{0,1}", minor to major. Those of an executable belong to it.
#include "pjrt/Extensions.h"
#include "pjrt/CustomPartitioner.h"
#include "pjrt/Objects.h"
#include "pjrt/Profiler.h"
#include "runtime/profile/Environment.h"

#include <new>

namespace millrace::pjrt {
namespace {

using LayoutDestroyArgs = ObjectArgs<LayoutObject>;
using LayoutSerializeArgs = BytesArgs<LayoutObject>;
using BufferLayoutArgs = GetArgs<Buffer, LayoutObject *>;
template <typename Object>
struct DefaultLayoutArgs : Args {
  Object *object;
  int type;
  const int64_t *dims;
  size_t num_dims;
  LayoutObject *layout; ///< out
};
struct ExecutableLayoutsArgs : Args {
  Executable *executable;
  size_t size;                  ///< out
  LayoutObject *const *layouts; ///< out
};

struct ShardingsArgs : Args {
  Executable *executable;
  size_t size;                 ///< out
  const char *const *messages; ///< out; null if nothing is known, as for programs of one partition
  const size_t *sizes;         ///< out
};

struct LayoutsExtension {
  Extension base;
  Error *(*destroy)(LayoutDestroyArgs *);
  Error *(*serialize)(LayoutSerializeArgs *);
  Error *(*clientDefault)(DefaultLayoutArgs<Client> *);
  Error *(*bufferLayout)(BufferLayoutArgs *);
  Error *(*topologyDefault)(DefaultLayoutArgs<Topology> *);
  Error *(*results)(ExecutableLayoutsArgs *);
  Error *(*arguments)(ExecutableLayoutsArgs *);
};

struct ShardingsExtension {
  Extension base;
  Error *(*arguments)(ShardingsArgs *);
  Error *(*results)(ShardingsArgs *);
};

template <typename Body>
Error *guarded(Body body) {
  try {
    return makeError(body());
  } catch (const std::bad_alloc &) {
    return makeError(rt::resourceExhausted("out of memory"));
  }
}

template <typename Object>
Error *defaultLayout(DefaultLayoutArgs<Object> *args) {
  return guarded([&]() -> rt::Status {
    args->layout = new LayoutObject{layoutText({}, args->num_dims)};
    return {};
  });
}

Error *giveShardings(ShardingsArgs *args, size_t count, const std::vector<const char *> &messages,
                     const std::vector<size_t> &sizes) {
  args->size = count;
  args->messages = messages.empty() ? nullptr : messages.data();
  args->sizes = sizes.empty() ? nullptr : sizes.data();
  return nullptr;
}

ShardingsExtension shardings = {
    {sizeof(ShardingsExtension), /*type=*/19, nullptr},
    [](ShardingsArgs *args) {
      const Compiled &compiled = *args->executable->compiled;
      return giveShardings(args, compiled.arguments.size(), compiled.argumentShardingData, compiled.argumentShardingSizes);
    },
    [](ShardingsArgs *args) {
      const Compiled &compiled = *args->executable->compiled;
      return giveShardings(args, compiled.results.size(), compiled.resultShardingData, compiled.resultShardingSizes);
    }};
static_assert(sizeof(ShardingsExtension) == 40);

LayoutsExtension layouts = {
    {sizeof(LayoutsExtension), /*type=*/4, &shardings.base},
    [](LayoutDestroyArgs *args) -> Error * {
      delete args->object;
      return nullptr;
    },
    [](LayoutSerializeArgs *args) {
      return guarded([&]() -> rt::Status {
        giveBytes(*args, args->object->text);
        return {};
      });
    },
    defaultLayout<Client>,
    [](BufferLayoutArgs *args) {
      return guarded([&]() -> rt::Status {
        args->result = new LayoutObject{layoutText(args->object->layout, dimsOf(*args->object).size())};
        return {};
      });
    },
    defaultLayout<Topology>,
    [](ExecutableLayoutsArgs *args) -> Error * {
      args->size = args->executable->compiled->resultLayouts.size();
      args->layouts = args->executable->compiled->resultLayouts.data();
      return nullptr;
    },
    [](ExecutableLayoutsArgs *args) -> Error * {
      args->size = args->executable->compiled->argumentLayouts.size();
      args->layouts = args->executable->compiled->argumentLayouts.data();
      return nullptr;
    }};
static_assert(sizeof(LayoutsExtension) == 80);

} // namespace

std::string layoutText(const Layout &layout, size_t rank) {
  std::string text = "{";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? "," : "") + std::to_string(layout.empty() ? int64_t(rank - 1 - i) : layout[i]);
  return text + "}";
}

Extension *extensions() {
  Extension *others = customPartitionerExtension(&layouts.base);
  return runtime::profile::isOfferedToFrameworks() ? profilerExtension(others) : others;
}

} // namespace millrace::pjrt
