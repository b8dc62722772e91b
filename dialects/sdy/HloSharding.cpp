// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloSharding.cpp - Parsing and printing `mhlo.sharding` strings -----===//
#include "dialects/sdy/HloSharding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
namespace millrace::sdy {

/// Larger numbers of devices are refused, because lists of them would exhaust the memory.
static constexpr int64_t maxDevices = 1 << 20;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    if (MulOverflow(result, size, result))
      return -1;
  return result;
}

std::vector<int64_t> DeviceOrder::devices() const {
  if (reshape.empty())
    return list;
  std::vector<int64_t> strides(reshape.size(), 1), result;
  for (size_t i = reshape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * reshape[i];
  int64_t count = product(reshape);
  for (int64_t position = 0; position < count; ++position) {
    int64_t rest = position, device = 0;
    for (int64_t dim : reverse(transpose)) {
      device += rest % reshape[dim] * strides[dim];
      rest /= reshape[dim];
    }
    result.push_back(device);
  }
  return result;
}

namespace {

class Parser {
public:
  Parser(StringRef text, std::string &error) : text(text), error(error) {}

  std::optional<HloSharding> run() {
    HloSharding result;
    if (!sharding(result, 0) || !(skip(), position == text.size() || fail("expected the end")))
      return std::nullopt;
    return result;
  }

private:
  bool fail(const Twine &message) {
    if (error.empty())
      error = (message + " at position " + Twine(position) + " of '" + text + "'").str();
    return false;
  }
  void skip() {
    while (position < text.size() && isSpace(text[position]))
      ++position;
  }
  bool peek(StringRef token) {
    skip();
    return text.substr(position).starts_with(token);
  }
  bool accept(StringRef token) {
    if (!peek(token))
      return false;
    position += token.size();
    return true;
  }
  bool expect(StringRef token) { return accept(token) || fail("expected '" + token + "'"); }
  /// Accepts a whole word, so that `manual` does not match the beginning of another word.
  bool word(StringRef name) {
    skip();
    StringRef rest = text.substr(position);
    if (!rest.consume_front(name) || (!rest.empty() && (isAlnum(rest.front()) || rest.front() == '_')))
      return false;
    position += name.size();
    return true;
  }
  bool number(int64_t &value) {
    skip();
    StringRef digits = text.substr(position).take_while(isDigit);
    if (digits.empty() || digits.getAsInteger(10, value))
      return fail("expected a number");
    position += digits.size();
    return true;
  }
  /// Parses a comma-separated list of `element` up to `close`; the list may be empty.
  template <typename F> bool list(StringRef close, F element) {
    if (accept(close))
      return true;
    do {
      if (!element())
        return false;
    } while (accept(","));
    return expect(close);
  }
  bool numbers(StringRef close, std::vector<int64_t> &values) {
    return list(close, [&] { return number(values.emplace_back()); });
  }

  /// Parses `[2,4]T(1,0)` after `<=` or in device_ids.
  bool iota(DeviceOrder &order) {
    if (!expect("[") || !numbers("]", order.reshape))
      return false;
    int64_t count = product(order.reshape);
    if (order.reshape.empty() || count < 1 || count > maxDevices || is_contained(order.reshape, 0))
      return fail("expected sizes that multiply to a number of devices");
    if (accept("T(")) {
      if (!numbers(")", order.transpose))
        return false;
    } else {
      for (size_t i = 0; i < order.reshape.size(); ++i)
        order.transpose.push_back(i);
    }
    std::vector<int64_t> sorted = order.transpose;
    sort(sorted);
    bool permutes = sorted.size() == order.reshape.size();
    for (size_t i = 0; permutes && i < sorted.size(); ++i)
      permutes = sorted[i] == int64_t(i);
    return permutes || fail("expected a permutation of the dimensions");
  }

  bool tiled(HloSharding &result) {
    result.kind = HloSharding::Kind::Tiled;
    if (!expect("[") || !numbers("]", result.tiles))
      return false;
    int64_t count = product(result.tiles);
    if (result.tiles.empty() || is_contained(result.tiles, 0) || count < 1 || count > maxDevices)
      return fail("expected sizes that multiply to a number of devices");
    if (accept("<=")) {
      if (!iota(result.order))
        return false;
    } else {
      do {
        if (!number(result.order.list.emplace_back()))
          return false;
      } while (accept(","));
    }
    std::vector<int64_t> devices = result.order.devices();
    if (int64_t(devices.size()) != count)
      return fail("expected " + Twine(count) + " devices, but got " + Twine(devices.size()));
    sort(devices);
    if (std::adjacent_find(devices.begin(), devices.end()) != devices.end())
      return fail("expected each device once");
    if (word("last_tile_dim_replicate")) {
      result.subgroups.push_back(HloSharding::Subgroup::Replicated);
    } else if (word("last_tile_dims")) {
      if (!expect("=") || !expect("{") || !list("}", [&] { return subgroup(result.subgroups); }))
        return false;
    }
    return result.subgroups.size() <= result.tiles.size() || fail("more subgroups than dimensions");
  }
  bool subgroup(std::vector<HloSharding::Subgroup> &subgroups) {
    if (word("manual"))
      subgroups.push_back(HloSharding::Subgroup::Manual);
    else if (word("replicated"))
      subgroups.push_back(HloSharding::Subgroup::Replicated);
    else if (word("unreduced"))
      subgroups.push_back(HloSharding::Subgroup::Unreduced);
    else
      return fail("expected manual, replicated or unreduced");
    return true;
  }

  bool quoted(std::string &name) {
    if (!expect("'"))
      return false;
    size_t end = text.find('\'', position);
    if (end == StringRef::npos)
      return fail("expected a closing quote");
    name = text.slice(position, end).str();
    position = end + 1;
    return true;
  }
  bool namedAxis(const HloSharding &sharding, NamedAxis &axis) {
    if (!quoted(axis.name))
      return false;
    auto found = find_if(sharding.axes, [&](const auto &each) { return each.first == axis.name; });
    if (found == sharding.axes.end())
      return fail("the mesh has no axis '" + axis.name + "'");
    if (!accept(":("))
      return true;
    int64_t end;
    if (!number(axis.pre) || !expect(")") || !number(axis.size))
      return false;
    if (axis.pre < 1 || axis.size < 2 || MulOverflow(axis.pre, axis.size, end) || found->second % end != 0)
      return fail("expected a part of axis '" + axis.name + "'");
    return true;
  }
  bool namedAxes(const HloSharding &sharding, std::vector<NamedAxis> &axes) {
    return expect("{") && list("}", [&] { return namedAxis(sharding, axes.emplace_back()); });
  }

  bool named(HloSharding &result) {
    result.kind = HloSharding::Kind::Named;
    auto axis = [&] {
      auto &[name, size] = result.axes.emplace_back();
      return quoted(name) && expect("=") && number(size) && (size > 0 || fail("expected a positive size"));
    };
    if (!expect("[") || !list("]", axis))
      return false;
    int64_t count = 1;
    for (const auto &each : result.axes)
      if (MulOverflow(count, each.second, count) || count > maxDevices)
        return fail("too many devices");
    while (accept(",")) {
      if (word("device_ids")) {
        if (!expect("=") || !expect("("))
          return false;
        if (peek("[") ? !(iota(result.order) && expect(")")) : !numbers(")", result.order.list))
          return false;
        if (int64_t(result.order.devices().size()) != count)
          return fail("expected " + Twine(count) + " device ids");
      } else if (accept("[")) {
        if (!list("]", [&] { return namedDimension(result); }))
          return false;
      } else if (word("replicated")) {
        // `mesh[...], replicated` without a list means that no dimension is sharded, whatever the rank.
        if (accept("=") && !namedAxes(result, result.replicated))
          return false;
      } else if (word("unreduced")) {
        if (!axesOrAll(result, result.unreduced))
          return false;
      } else if (word("manual")) {
        if (!axesOrAll(result, result.manual))
          return false;
      } else {
        return fail("expected device_ids, dimensions, replicated, unreduced or manual");
      }
    }
    return true;
  }
  /// Parses `={'x'}`; without it all axes of the mesh are meant.
  bool axesOrAll(HloSharding &result, std::vector<NamedAxis> &axes) {
    if (accept("="))
      return namedAxes(result, axes);
    for (const auto &axis : result.axes)
      axes.push_back({axis.first, 1, 0});
    return true;
  }
  bool namedDimension(HloSharding &result) {
    NamedDimension &dimension = result.dimensions.emplace_back();
    return expect("{") && list("}", [&] {
             if (dimension.open)
               return fail("expected '?' at the end");
             if (accept("?"))
               return dimension.open = true;
             return namedAxis(result, dimension.axes.emplace_back());
           });
  }

  bool trailer(HloSharding &result) {
    for (StringRef name : {"shard_as", "shard_like"})
      if (word(name)) {
        int64_t id;
        if (!number(id))
          return false;
        result.group = (name + " " + Twine(id)).str();
      }
    if (!word("metadata"))
      return true;
    size_t begin = position, depth = 0;
    for (bool quote = false; position < text.size(); ++position) {
      char c = text[position];
      if (c == '"')
        quote = !quote;
      if (quote)
        continue;
      if (c == '{')
        ++depth;
      if (c == '}' && depth-- == 0)
        break;
    }
    result.metadata = text.slice(begin, position).str();
    return true;
  }

  bool sharding(HloSharding &result, int depth) {
    if (depth > 1)
      return fail("a tuple inside a tuple");
    if (!expect("{"))
      return false;
    if (peek("{") || peek("}")) {
      result.kind = HloSharding::Kind::Tuple;
      return list("}", [&] { return sharding(result.elements.emplace_back(), depth + 1); });
    }
    if (word("replicated"))
      result.kind = HloSharding::Kind::Replicated;
    else if (word("manual"))
      result.kind = HloSharding::Kind::Manual;
    else if (word("unknown"))
      result.kind = HloSharding::Kind::Unknown;
    else if (word("unreduced"))
      result.kind = HloSharding::Kind::Unreduced;
    else if (word("maximal")) {
      result.kind = HloSharding::Kind::Maximal;
      if (!word("device") || !expect("=") || !number(result.device))
        return fail("expected device=N");
    } else if (word("maximal_mesh") || word("single_device")) {
      result.kind = HloSharding::Kind::Maximal;
      if (!expect("[") || !word("device_id") || !expect("=") || !number(result.device) || !expect("]"))
        return fail("expected [device_id=N]");
    } else if (word("mesh")) {
      if (!named(result))
        return false;
    } else if (word("devices")) {
      if (!expect("=") || !tiled(result))
        return false;
    } else {
      return fail("expected a sharding");
    }
    return trailer(result) && expect("}");
  }

  StringRef text;
  std::string &error;
  size_t position = 0;
};

void print(raw_ostream &os, const DeviceOrder &order) {
  os << "[";
  interleave(order.reshape, os, ",");
  os << "]";
  if (!is_sorted(order.transpose)) {
    os << "T(";
    interleave(order.transpose, os, ",");
    os << ")";
  }
}

void print(raw_ostream &os, const NamedAxis &axis) {
  os << "'" << axis.name << "'";
  if (axis.size)
    os << ":(" << axis.pre << ")" << axis.size;
}

void print(raw_ostream &os, StringRef name, ArrayRef<NamedAxis> axes) {
  if (axes.empty())
    return;
  os << ", " << name << "={";
  interleave(axes, os, [&](const NamedAxis &axis) { print(os, axis); }, ", ");
  os << "}";
}

void printTiled(raw_ostream &os, const HloSharding &sharding) {
  os << "devices=[";
  interleave(sharding.tiles, os, ",");
  os << "]";
  if (sharding.order.reshape.empty()) {
    interleave(sharding.order.list, os, ",");
  } else {
    os << "<=";
    print(os, sharding.order);
  }
  if (sharding.subgroups.size() == 1 && sharding.subgroups[0] == HloSharding::Subgroup::Replicated) {
    os << " last_tile_dim_replicate";
  } else if (!sharding.subgroups.empty()) {
    os << " last_tile_dims={";
    interleave(
        sharding.subgroups, os,
        [&](HloSharding::Subgroup subgroup) {
          os << (subgroup == HloSharding::Subgroup::Replicated ? "replicated"
                 : subgroup == HloSharding::Subgroup::Manual   ? "manual"
                                                               : "unreduced");
        },
        ", ");
    os << "}";
  }
}

void printNamed(raw_ostream &os, const HloSharding &sharding) {
  if (sharding.axes.empty() && sharding.order.list.size() == 1) {
    os << "maximal_mesh[device_id=" << sharding.order.list[0] << "]";
    return;
  }
  os << "mesh[";
  interleave(sharding.axes, os, [&](const auto &axis) { os << "'" << axis.first << "'=" << axis.second; }, ",");
  os << "]";
  if (!sharding.order.reshape.empty()) {
    os << ", device_ids=(";
    print(os, sharding.order);
    os << ")";
  } else if (!sharding.order.list.empty()) {
    os << ", device_ids=(";
    interleave(sharding.order.list, os, ",");
    os << ")";
  }
  if (sharding.dimensions.empty() && sharding.replicated.empty() && sharding.unreduced.empty() && sharding.manual.empty()) {
    os << ", replicated";
    return;
  }
  auto areAll = [&](const std::vector<NamedAxis> &axes) {
    return axes.size() == sharding.axes.size() && llvm::none_of(axes, [](const NamedAxis &axis) { return axis.size; });
  };
  if (sharding.dimensions.empty() && (areAll(sharding.manual) || areAll(sharding.unreduced))) {
    os << (areAll(sharding.manual) ? ", manual" : ", unreduced");
    return;
  }
  os << ", [";
  auto dimension = [&](const NamedDimension &each) {
    os << "{";
    interleave(each.axes, os, [&](const NamedAxis &axis) { print(os, axis); }, ", ");
    if (each.open)
      os << (each.axes.empty() ? "?" : ", ?");
    os << "}";
  };
  interleave(sharding.dimensions, os, dimension, ", ");
  os << "]";
  print(os, "replicated", sharding.replicated);
  print(os, "unreduced", sharding.unreduced);
  print(os, "manual", sharding.manual);
}

} // namespace

std::optional<HloSharding> parseHloSharding(StringRef text, std::string &error) {
  error.clear();
  return Parser(text, error).run();
}

std::string toString(const HloSharding &sharding) {
  using Kind = HloSharding::Kind;
  std::string text;
  raw_string_ostream os(text);
  os << "{";
  switch (sharding.kind) {
  case Kind::Replicated:
    os << "replicated";
    break;
  case Kind::Maximal:
    os << "maximal device=" << sharding.device;
    break;
  case Kind::Manual:
    os << "manual";
    break;
  case Kind::Unknown:
    os << "unknown";
    break;
  case Kind::Unreduced:
    os << "unreduced";
    break;
  case Kind::Tiled:
    printTiled(os, sharding);
    break;
  case Kind::Named:
    printNamed(os, sharding);
    break;
  case Kind::Tuple:
    interleave(sharding.elements, os, [&](const HloSharding &element) { os << toString(element); }, ", ");
    break;
  }
  if (!sharding.group.empty())
    os << " " << sharding.group;
  if (!sharding.metadata.empty())
    os << " metadata" << sharding.metadata;
  os << "}";
  return text;
}

} // namespace millrace::sdy
