// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchArguments.cpp - What a launch checks of its arguments ---------===//
#include "runtime/client/LaunchArguments.h"
#include "runtime/client/Launch.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace millrace::runtime {

std::string typeText(DType dtype, const std::vector<int64_t> &dims) {
  std::string text = "tensor<";
  for (int64_t d : dims)
    text += (d == kDynamic ? std::string("?") : std::to_string(d)) + "x";
  return text + std::string(name(dtype)) + ">";
}

std::string typeText(const TensorSpec &spec) {
  std::string text = typeText(spec.dtype, spec.dims);
  for (size_t d = 0; d < spec.bounds.size(); ++d)
    if (spec.bounds[d] != kDynamic)
      text += (text.back() == '>' ? " with at most " : ", ") + std::to_string(spec.bounds[d]) + " in dimension " + std::to_string(d);
  return text;
}

bool shapeMatches(const TensorSpec &spec, const std::vector<int64_t> &dims) {
  if (spec.dims.size() != dims.size())
    return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (spec.dims[d] != kDynamic && spec.dims[d] != dims[d])
      return false;
    if (d < spec.bounds.size() && spec.bounds[d] != kDynamic && dims[d] > spec.bounds[d])
      return false;
  }
  return true;
}

bool isStatic(const TensorSpec &spec) {
  return std::find(spec.dims.begin(), spec.dims.end(), kDynamic) == spec.dims.end();
}

std::string argumentTitle(const Program &program, size_t k) {
  std::string text = "argument " + std::to_string(k);
  if (!program.arguments[k].name.empty())
    text += " ('" + program.arguments[k].name + "')";
  return text;
}

ArgumentTypes::ArgumentTypes(const std::vector<Argument> &arguments) {
  for (const Argument &argument : arguments) {
    types.push_back({argument.dtype, isStatic(argument) ? int32_t(argument.dims.size()) : -1, uint32_t(sizes.size())});
    sizes.insert(sizes.end(), argument.dims.begin(), argument.dims.end());
    donated.push_back(argument.donated);
  }
  if (std::find(donated.begin(), donated.end(), 1) == donated.end())
    donated.clear();
}

bool ArgumentTypes::isExactly(size_t k, const Buffer::Value &value) const {
  const Type &type = types[k];
  return type.dtype == value.dtype && value.shapeIsKnown && type.rank == int32_t(value.dims.size()) &&
         std::equal(value.dims.begin(), value.dims.end(), sizes.begin() + type.first);
}

/// Returns the positions of a donated argument and of another one that is the same buffer.
static std::optional<std::pair<size_t, size_t>> donatedTwice(BorrowedArguments arguments, const std::vector<uint8_t> &consumes) {
  const size_t donated = size_t(std::count(consumes.begin(), consumes.end(), 1)); // 0 where there is no list
  if (!donated)
    return std::nullopt;
  // A hash table of donated arguments by their buffers, at most half full; 0 is an empty entry.
  std::vector<uint32_t> table(std::bit_ceil(2 * donated));
  auto placeOf = [&](const Buffer *buffer) -> uint32_t & {
    size_t at = size_t(uintptr_t(buffer) * 0x9E3779B97F4A7C15u >> 20);
    while (table[at % table.size()] && arguments[table[at % table.size()] - 1].get() != buffer)
      ++at;
    return table[at % table.size()];
  };
  for (size_t k = 0; k < arguments.size(); ++k)
    if (consumes[k]) {
      uint32_t &place = placeOf(arguments[k].get());
      if (place)
        return std::pair(size_t(place - 1), k);
      place = uint32_t(k + 1);
    }
  for (size_t k = 0; k < arguments.size(); ++k)
    if (!consumes[k])
      if (uint32_t place = placeOf(arguments[k].get()))
        return std::pair(size_t(place - 1), k);
  return std::nullopt;
}

StatusOr<std::vector<Executable::Launch::Values>> Executable::Launch::checkedValues(const Program &p, const ArgumentTypes &types,
                                                                                    std::span<Device *const> devices,
                                                                                    std::span<const BorrowedArguments> arguments,
                                                                                    const std::vector<uint8_t> &consumes) {
  std::vector<Values> values(devices.size());
  for (size_t d = 0; d < devices.size(); ++d) {
    const size_t count = arguments[d].size();
    if (count != p.arguments.size())
      return invalidArgument("expects " + std::to_string(p.arguments.size()) + " arguments, but got " + std::to_string(count));
    values[d].reserve(count);
    for (size_t k = 0; k < count; ++k) {
      if (k + kAhead < count)
        readSoon(arguments[d][k + kAhead].get());
      const BufferPtr &buffer = arguments[d][k];
      if (!buffer)
        return invalidArgument(argumentTitle(p, k) + " is missing");
      StatusOr<std::shared_ptr<Buffer::Value>> value = buffer->get();
      if (!value)
        return value.status().withContext(argumentTitle(p, k));
      values[d].push_back(std::move(*value));
      if (&buffer->device() != devices[d])
        return invalidArgument("expects " + argumentTitle(p, k) + " on device " + std::to_string(devices[d]->id()) +
                               ", but it is on device " + std::to_string(buffer->device().id()));
    }
    for (size_t k = 0; k < count; ++k) {
      if (k + kAhead < count)
        readSoon(values[d][k + kAhead].get());
      const Buffer::Value &value = *values[d][k];
      if (types.isExactly(k, value))
        continue;
      if (value.dtype != p.arguments[k].dtype || (value.shapeIsKnown && !shapeMatches(p.arguments[k], value.dims)))
        return invalidArgument("expects " + argumentTitle(p, k) + " to be " + typeText(p.arguments[k]) +
                               ", but got " + typeText(value.dtype, value.dims));
    }
    if (auto twice = donatedTwice(arguments[d], consumes))
      return invalidArgument("the buffer of argument " + std::to_string(twice->first) + " is donated, but is argument " +
                             std::to_string(twice->second) + " too");
  }
  return values;
}

} // namespace millrace::runtime
