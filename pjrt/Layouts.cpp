// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layouts.cpp - Element types and the order of elements in memory -----===//
// The runtime knows row-major tensors only. A buffer with another layout is a row-major tensor of permuted dimensions:
// `toPhysical` gives those, and every copy from or to the host permutes its strides in the same way.
#include "pjrt/Slots.h"

#include <algorithm>
#include <iterator>

namespace millrace::pjrt {
namespace {

// The order of PJRT_Buffer_Type: index = bufferType.
constexpr rt::DType types[] = {
    rt::DType::Invalid,  rt::DType::I1,          rt::DType::I8,            rt::DType::I16,        rt::DType::I32,
    rt::DType::I64,      rt::DType::U8,          rt::DType::U16,           rt::DType::U32,        rt::DType::U64,
    rt::DType::F16,      rt::DType::F32,         rt::DType::F64,           rt::DType::BF16,       rt::DType::C64,
    rt::DType::C128,     rt::DType::F8E5M2,      rt::DType::F8E4M3FN,      rt::DType::F8E4M3B11FNUZ,
    rt::DType::F8E5M2FNUZ, rt::DType::F8E4M3FNUZ, rt::DType::I4,           rt::DType::U4,         rt::DType::Token,
    rt::DType::I2,       rt::DType::U2,          rt::DType::F8E4M3,        rt::DType::F8E3M4,     rt::DType::F8E8M0FNU,
    rt::DType::F4E2M1FN};

} // namespace

rt::DType dtypeFrom(int bufferType) {
  return bufferType >= 0 && size_t(bufferType) < std::size(types) ? types[bufferType] : rt::DType::Invalid;
}

int bufferTypeOf(rt::DType dtype) {
  const auto *found = std::find(std::begin(types), std::end(types), dtype);
  return found == std::end(types) ? INVALID : int(found - std::begin(types));
}

bool isRowMajor(const Layout &layout) {
  for (size_t i = 0; i < layout.size(); ++i)
    if (layout[i] != int64_t(layout.size() - 1 - i))
      return false;
  return true;
}

std::vector<int64_t> toPhysical(const std::vector<int64_t> &values, const Layout &layout) {
  if (layout.empty())
    return values;
  std::vector<int64_t> result;
  for (size_t i = layout.size(); i-- > 0;)
    result.push_back(values[size_t(layout[i])]);
  return result;
}

std::vector<int64_t> toLogical(const std::vector<int64_t> &values, const Layout &layout) {
  if (layout.empty())
    return values;
  std::vector<int64_t> result(values.size());
  for (size_t i = 0; i < layout.size(); ++i)
    result[size_t(layout[i])] = values[layout.size() - 1 - i];
  return result;
}

rt::StatusOr<Layout> layoutFrom(const MemoryLayout *layout, size_t rank) {
  if (!layout)
    return Layout();
  if (layout->type != MemoryLayout::Tiled)
    return rt::unimplemented("device memory with strides; only permutations of dimensions");
  const TiledLayout &tiled = layout->tiled;
  if (tiled.num_tiles)
    return rt::unimplemented("device memory with tiles; only permutations of dimensions");
  Layout order(tiled.minor_to_major, tiled.minor_to_major + tiled.minor_to_major_size);
  Layout sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int64_t(i))
      return rt::invalidArgument("a layout expects each dimension once");
  if (order.size() != rank)
    return rt::invalidArgument("expects a layout of " + std::to_string(rank) + " dimensions, but got " +
                               std::to_string(order.size()));
  return isRowMajor(order) ? Layout() : order;
}

rt::StatusOr<Destination> destinationFrom(int type, const int64_t *dims, size_t rank, const MemoryLayout *layout,
                                          const Device *device, Memory *memory) {
  Destination result;
  if (!memory && device)
    MILLRACE_TRY(checkAddressable(*device));
  result.memory = memory ? memory : device ? device->memories.front() : nullptr;
  if (!result.memory)
    return rt::invalidArgument("expects a device or a memory");
  result.dtype = dtypeFrom(type);
  if (result.dtype == rt::DType::Invalid)
    return rt::unimplemented("element type " + std::to_string(type));
  result.dims.assign(dims, dims + rank);
  rt::StatusOr<Layout> order = layoutFrom(layout, rank);
  if (!order)
    return order.status();
  result.layout = std::move(*order);
  return result;
}

namespace slots {

rt::Status Buffer_GetMemoryLayout(Buffer_GetMemoryLayout_Args &args) {
  Buffer &buffer = *args.object;
  // The description lives as long as the buffer; a row-major layout is written out.
  size_t rank = dimsOf(buffer).size();
  std::lock_guard lock(buffer.mutex);
  if (buffer.shownLayout.empty()) {
    buffer.shownLayout = buffer.layout;
    if (buffer.shownLayout.empty())
      for (size_t d = rank; d-- > 0;)
        buffer.shownLayout.push_back(int64_t(d));
  }
  MemoryLayout &layout = args.result;
  layout.struct_size = sizeof(MemoryLayout) - 4;
  layout.extension_start = nullptr;
  layout.type = MemoryLayout::Tiled;
  layout.tiled = {};
  layout.tiled.struct_size = sizeof(TiledLayout);
  layout.tiled.minor_to_major = buffer.shownLayout.data();
  layout.tiled.minor_to_major_size = buffer.shownLayout.size();
  return {};
}

} // namespace slots
} // namespace millrace::pjrt
