// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrText.cpp - Recorded graphs as text, in PyTorch/XLA's form ---------===//
#include "tracing/graph/IrText.h"

#include "tracing/reports/Dump.h"
#include "tracing/emit/Emit.h"
#include "tracing/graph/Origin.h"
#include "tracing/graph/Scope.h"
#include "tracing/Session.h"
#include "tracing/emit/StoredTypes.h"
#include "runtime/base/Environment.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>

namespace millrace::tracing {
namespace {

std::vector<ArgumentName> (*argumentNames)(const std::string &op) = nullptr;

std::vector<ArgumentName> namesOf(const std::string &op) {
  if (op == "millrace::strided_read")
    return {{"self"}, {"size"}, {"stride"}, {"storage_offset"}};
  if (op == "millrace::strided_write")
    return {{"self"}, {"src"}, {"size"}, {"stride"}, {"storage_offset"}};
  return argumentNames ? argumentNames(op) : std::vector<ArgumentName>();
}

//===-- Attributes ----------------------------------------------------------===//

template <typename T>
std::string numberText(const T &value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

template <typename T>
std::string listText(const std::vector<T> &values) {
  std::string text = "(";
  for (const T &item : values)
    text += (text.size() > 1 ? ", " : "") + numberText(item);
  return text + ")";
}

/// Returns "" for arguments that are no attributes: operands, and arguments that were not given.
std::string attributeText(const Arg &arg) {
  return std::visit(
      [](const auto &value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> || std::is_same_v<T, double>)
          return numberText(value);
        else if constexpr (std::is_same_v<T, std::string>)
          return value;
        else if constexpr (std::is_same_v<T, DType>)
          return std::string(runtime::name(value));
        else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>>)
          return listText(value);
        else
          return "";
      },
      arg);
}

/// Returns the argument as Python writes it, of a long one at most `longest` bytes of it; "" for arguments that are no attributes.
std::string pythonText(const Arg &arg) {
  constexpr size_t longest = 80;
  std::string text = attributeText(arg);
  if (const auto *truth = std::get_if<bool>(&arg))
    text = *truth ? "True" : "False";
  else if (std::holds_alternative<std::monostate>(arg))
    text = "None";
  else if (const auto *number = std::get_if<double>(&arg)) {
    char shortest[32];
    text.assign(shortest, std::to_chars(shortest, shortest + sizeof shortest, *number).ptr);
    if (text.find_first_not_of("-0123456789") == std::string::npos) // nan, inf and 1e+20 stay
      text += ".0";
  } else if (std::holds_alternative<std::string>(arg))
    text = "'" + text + "'";
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

//===-- Names ---------------------------------------------------------------===//

std::vector<int64_t> rowMajor(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

/// Returns the name of the operation by which a view is derived from the whole tensor.
std::string viewName(const Node &node) {
  const auto &sizes = std::get<std::vector<int64_t>>(node.args[1]), &strides = std::get<std::vector<int64_t>>(node.args[2]);
  const std::vector<int64_t> &dims = node.operands[0].shape().dims, plain = rowMajor(dims);
  auto pairs = [](const std::vector<int64_t> &a, const std::vector<int64_t> &b) {
    std::vector<std::pair<int64_t, int64_t>> made;
    for (size_t i = 0; i < a.size(); ++i)
      made.emplace_back(a[i], b[i]);
    std::sort(made.begin(), made.end());
    return made;
  };
  if (std::get<int64_t>(node.args[3]) == 0 && pairs(sizes, strides) == pairs(dims, plain))
    return "aten::permute";
  for (size_t i = 0; i < sizes.size(); ++i)
    if (strides[i] == 0 && sizes[i] > 1)
      return "aten::expand";
  if (sizes.size() == dims.size() && std::equal(strides.begin(), strides.end(), plain.begin()))
    return "xla::generic_slice";
  return "aten::as_strided";
}

//===-- The nodes in order --------------------------------------------------===//

/// One line of the text: a node, a leaf, or a number among the arguments of a node.
struct Line {
  Value value;                 ///< of a leaf: the result that the line shows
  const Arg *number = nullptr; ///< of a number: the argument; `value` is the node that has it
  std::vector<Value> operands;
  std::vector<const Arg *> numbers; ///< numbers among the arguments, which follow the other operands
  std::optional<DType> usedAs;      ///< of a number in the user's program: the type in which the node computes with it
};

/// The identity of a line; a leaf has one line per result.
using Key = std::pair<const void *, uint32_t>;
Key keyOf(const Value &value) { return {value.node.get(), value.node->isLeaf() ? value.index : 0}; }

/// Traverses the graph in PyTorch's order: depth first, the last operand of a node first.
class Lines {
public:
  explicit Lines(const std::vector<Value> &roots) {
    std::lock_guard lock(Session::get().mutex);
    for (const Value &root : roots)
      walk(root);
  }
  std::vector<Line> all;
  std::map<Key, size_t> numbers;

private:
  struct Frame {
    Value value;
    size_t left; ///< number of operands that have not been visited
  };
  void walk(const Value &root) {
    std::vector<Frame> stack;
    auto enter = [&](const Value &value) {
      if (numbers.count(keyOf(value)))
        return;
      for (const Arg *number : numbersOf(value))
        if (numbers.emplace(Key(number, 0), all.size()).second) // nodes of one kind share the number
          all.push_back({value, number, {}, {}, {}});
      stack.push_back({value, value.node->isLeaf() ? 0 : value.node->operands.size()});
    };
    enter(root);
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (numbers.count(keyOf(frame.value))) { // the value is an operand twice, and its first visit has ended meanwhile
        stack.pop_back();
      } else if (frame.left == 0) {
        add(frame.value);
        stack.pop_back();
      } else {
        enter(Value(frame.value.node->operands[--frame.left]));
      }
    }
  }
  void add(const Value &value) {
    numbers.emplace(keyOf(value), all.size());
    const Node &node = *value.node;
    all.push_back({value, nullptr, node.isLeaf() ? std::vector<Value>() : node.operands, numbersOf(value), {}});
    if (node.isLeaf())
      return;
    for (const Value &operand : node.operands) {
      Line &line = all[numbers.at(keyOf(operand))];
      if (operand.node->isNumber() && operand.node->isWeak && operand.shape().dtype == DType::F64 && !line.usedAs)
        line.usedAs = floatingTypeAt(node);
    }
  }
  /// Returns the type in which a node computes with a number: the floating-point type of its results or operands, if it has one.
  static DType floatingTypeAt(const Node &node) {
    for (const Shape &shape : node.results)
      if (runtime::isFloat(shape.dtype))
        return shape.dtype;
    for (const Value &operand : node.operands)
      if (!operand.node->isNumber() && runtime::isFloat(operand.shape().dtype))
        return operand.shape().dtype;
    return DType::F64;
  }
  /// Returns the numbers among the arguments, which count as the last operands.
  static std::vector<const Arg *> numbersOf(const Value &value) {
    std::vector<const Arg *> made;
    const Node &node = *value.node;
    if (node.isLeaf())
      return made;
    std::vector<ArgumentName> names = namesOf(node.op->name);
    for (size_t i = 0; i < std::min(names.size(), node.args.size()); ++i)
      if (names[i].isNumber && !attributeText(node.args[i]).empty())
        made.push_back(&node.args[i]);
    return made;
  }
};

std::string typesOf(const Line &line) {
  const Node &node = *line.value.node;
  auto typeOf = [&](Shape shape) {
    if (node.isLeaf() && !node.isNumber())
      shape.dtype = storedType(shape.dtype);
    return shapeText(shape);
  };
  if (line.number)
    return shapeText({node.results[0].dtype, {}});
  if (line.usedAs)
    return shapeText({*line.usedAs, {}});
  if (node.isLeaf() || node.results.size() == 1)
    return typeOf(line.value.shape());
  std::string text;
  for (const Shape &shape : node.results)
    text += (text.empty() ? "" : ", ") + typeOf(shape);
  return "(" + text + ")";
}

std::string xlaName(DType dtype) {
  std::string name(runtime::name(dtype));
  if (dtype == DType::I1)
    return "pred";
  if (dtype == DType::C64 || dtype == DType::C128)
    return dtype == DType::C64 ? "c64" : "c128";
  if (name.rfind("ui", 0) == 0)
    return "u" + name.substr(2);
  if (name[0] == 'i')
    return "s" + name.substr(1);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

std::string valueText(const Node &number) {
  switch (number.results[0].dtype) {
  case DType::F64: return numberText(std::bit_cast<double>(number.bits));
  default: return numberText(int64_t(number.bits));
  }
}

/// Returns the text that follows the operands: tags, each with a comma in front.
std::vector<std::string> tagsOf(const Line &line, bool withPlaces) {
  std::vector<std::string> tags;
  const Node &node = *line.value.node;
  if (!node.isLeaf() && !line.number) {
    if (node.results.size() > 1)
      tags.push_back("num_outputs=" + std::to_string(node.results.size()));
    if (const std::string *scope = scopeOf(node.origin))
      tags.push_back("scope=" + *scope);
  }
  if (Place place = withPlaces && !node.isLeaf() ? placeOf(node.origin) : Place(); !place.file.empty())
    tags.push_back("location=" + place.function + "@" + place.file.substr(place.file.rfind('/') + 1) + ":" +
                   std::to_string(place.line));
  tags.push_back("xla_shape=" + typesOf(line));
  if (line.number) {
    tags.push_back("value=" + attributeText(*line.number));
  } else if (node.isLeaf()) {
    tags.push_back("device=CPU:0");
    if (node.isNumber()) // a parameter of the program
      tags.push_back("value=" + valueText(node));
  } else {
    std::vector<ArgumentName> names = namesOf(node.op->name);
    for (size_t i = 0; i < node.args.size(); ++i) {
      std::string value = attributeText(node.args[i]);
      if (!value.empty() && !(i < names.size() && names[i].isNumber))
        tags.push_back((i < names.size() ? names[i].name : "arg" + std::to_string(i)) + "=" + value);
    }
  }
  return tags;
}

std::string operationOf(const Line &line) {
  return line.number ? "prim::Constant" : line.value.node->isLeaf() ? "xla::device_data" : shownName(*line.value.node);
}

/// Returns the numbers of the marks ROOT=0, ROOT=1, ...; if a node is several roots, the last number counts.
std::map<Key, size_t> rootsOf(const std::vector<Value> &roots) {
  std::map<Key, size_t> made;
  for (size_t i = 0; i < roots.size(); ++i)
    made[keyOf(roots[i])] = i;
  return made;
}

} // namespace

void setArgumentNames(std::vector<ArgumentName> (*namesOf)(const std::string &op)) { argumentNames = namesOf; }

std::string shapeText(const Shape &shape) {
  std::string layout;
  for (size_t i = shape.dims.size(); i-- > 0;)
    layout += (layout.empty() ? "" : ",") + std::to_string(i);
  const std::string whole = shape.toString();
  const size_t at = whole.find('[');
  return xlaName(shape.dtype) + whole.substr(at) + (layout.empty() ? "" : "{" + layout + "}");
}

/// The same without the operation of a view, which depends on its operand.
static std::string plainName(const Op &op) {
  std::string name = op.name.substr(0, op.name.find('.'));
  if (name == "millrace::reshape")
    return "aten::view";
  if (name == "millrace::expand")
    return "aten::expand";
  if (name == "millrace::convert")
    return "xla::cast";
  constexpr std::string_view ours = "millrace::";
  return name.rfind(ours, 0) == 0 ? "xla::" + name.substr(ours.size()) : name;
}

std::string shownName(const Node &node) {
  return node.op->name == "millrace::strided_read" ? viewName(node) : plainName(*node.op);
}

std::vector<std::string> changedConstants(const Kind &before, const Kind &now) {
  std::vector<std::string> made;
  const std::vector<ArgumentName> names = namesOf(now.op->name);
  const std::string operation = now.op->name.starts_with("millrace::strided_") ? "a view" : plainName(*now.op);
  for (size_t i = 0; i < std::min(before.args.size(), now.args.size()); ++i) {
    const Arg &old = before.args[i], &next = now.args[i];
    if (old == next)
      continue;
    const std::string was = pythonText(old), is = pythonText(next);
    std::string text = (i < names.size() ? names[i].name : "argument " + std::to_string(i)) + " of " + operation + ": ";
    if (!was.empty() && !is.empty())
      text += was + " became " + is;
    else if (std::holds_alternative<Operand>(old) && !is.empty())
      text += "an input became " + is;
    else if (std::holds_alternative<Operand>(next) && !was.empty())
      text += was + " became an input";
    else
      continue;
    made.push_back(std::move(text));
  }
  return made;
}

std::string scopedName(const Node &node) {
  const std::string *scope = scopeOf(node.origin);
  return scope ? *scope + "/" + shownName(node) : shownName(node);
}

std::vector<uint32_t> parameterOrder(const Schedule &schedule, const std::vector<Value> &roots) {
  const Lines lines(roots);
  std::vector<uint32_t> order(schedule.leaves.size());
  std::iota(order.begin(), order.end(), 0);
  auto lineOf = [&](uint32_t index) { return lines.numbers.at(keyOf(schedule.leaves[index])); };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return lineOf(a) < lineOf(b); });
  return order;
}

std::string graphText(const std::vector<Value> &roots) {
  const bool withPlaces = runtime::environment::isOn("XLA_IR_DEBUG");
  const Lines lines(roots);
  const std::map<Key, size_t> rootNumbers = rootsOf(roots);
  std::string text = "IR {\n";
  for (size_t i = 0; i < lines.all.size(); ++i) {
    const Line &line = lines.all[i];
    std::string operands;
    auto add = [&](size_t number) { operands += (operands.empty() ? "%" : ", %") + std::to_string(number); };
    for (const Value &operand : line.operands) {
      add(lines.numbers.at(keyOf(operand)));
      if (!operand.node->isLeaf() && operand.node->results.size() > 1)
        operands += "." + std::to_string(operand.index);
    }
    for (const Arg *number : line.numbers)
      add(lines.numbers.at(Key(number, 0)));
    text += "  %" + std::to_string(i) + " = " + typesOf(line) + " " + operationOf(line) + "(" + operands + ")";
    for (const std::string &tag : tagsOf(line, withPlaces))
      text += ", " + tag;
    if (auto root = rootNumbers.find(keyOf(line.value)); !line.number && root != rootNumbers.end())
      text += ", ROOT=" + std::to_string(root->second);
    text += "\n";
  }
  return text + "}\n";
}

std::string graphDot(const std::vector<Value> &roots) {
  constexpr size_t longest = 64;
  const bool withPlaces = runtime::environment::isOn("XLA_IR_DEBUG");
  const Lines lines(roots);
  const std::map<Key, size_t> rootNumbers = rootsOf(roots);
  std::string nodes, edges;
  for (size_t i = 0; i < lines.all.size(); ++i) {
    const Line &line = lines.all[i];
    std::string label = operationOf(line) + "\\n" + typesOf(line);
    for (const std::string &tag : tagsOf(line, withPlaces)) {
      label += "\\n";
      for (char c : tag.size() > longest ? tag.substr(0, longest) + "..." : tag)
        label += c == '"' ? std::string("\\\"") : std::string(1, c);
    }
    if (auto root = rootNumbers.find(keyOf(line.value)); !line.number && root != rootNumbers.end())
      label += "\\nROOT=" + std::to_string(root->second);
    nodes += "  node" + std::to_string(i) + " [label=\"" + label + "\"]\n";
    size_t count = line.operands.size() + line.numbers.size(), at = 0;
    auto edge = [&](size_t from, const std::string &output) {
      std::string text = count > 1 ? "i=" + std::to_string(at) : "";
      text += output.empty() ? "" : (text.empty() ? "" : ",") + output;
      edges += "  node" + std::to_string(from) + " -> node" + std::to_string(i) + (text.empty() ? "" : " [label=\"" + text + "\"]") + "\n";
      ++at;
    };
    for (const Value &operand : line.operands)
      edge(lines.numbers.at(keyOf(operand)),
           !operand.node->isLeaf() && operand.node->results.size() > 1 ? "o=" + std::to_string(operand.index) : "");
    for (const Arg *number : line.numbers)
      edge(lines.numbers.at(Key(number, 0)), "");
  }
  return "digraph G {\n" + nodes + edges + "}\n";
}

} // namespace millrace::tracing
