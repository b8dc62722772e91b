// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Export.cpp - Graphs as programs for others --------------------------===//
#include "tracing/Export.h"

#include "lowering/Compile.h"
#include "passes/vhlo/PortableArtifact.h"
#include "tracing/Dump.h"
#include "tracing/Emit.h"
#include "tracing/Origin.h"
#include "tracing/StoredTypes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <bit>

namespace millrace::tracing {
namespace {

mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

/// Errors of a context as one text.
class Errors {
public:
  explicit Errors(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "\n") + diagnostic.str();
          return mlir::success();
        }) {}
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};

std::string attributeText(const Arg &arg) {
  return std::visit(
      [](const auto &value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          return value ? "True" : "False";
        } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
          return std::to_string(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return value;
        } else if constexpr (std::is_same_v<T, DType>) {
          return std::string(runtime::name(value));
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>>) {
          std::string text = "(";
          for (const auto &item : value)
            text += (text.size() > 1 ? ", " : "") + std::to_string(item);
          return text + ")";
        } else {
          return "";
        }
      },
      arg);
}

/// "aten::add.Tensor" -> "aten::add"
std::string plainName(const Node &node) { return node.op->name.substr(0, node.op->name.find('.')); }

std::string shapesText(const Node &node) {
  std::string text;
  for (Shape shape : node.results) {
    if (!node.op && !node.isNumber())
      shape.dtype = storedType(shape.dtype);
    text += (text.empty() ? "" : ", ") + shape.toString();
  }
  return node.results.size() == 1 ? text : "(" + text + ")";
}

std::string leafText(const Value &leaf) {
  if (!leaf.node->isNumber())
    return "xla::device_data(), device=CPU:0";
  const Shape &shape = leaf.shape();
  std::string value = shape.dtype == DType::F64 ? std::to_string(std::bit_cast<double>(leaf.node->bits))
                                                : std::to_string(int64_t(leaf.node->bits));
  return "prim::Constant(), value=" + value;
}

/// Lines for leaves and nodes, in an order in which operands come first.
template <typename F>
void forEachLine(const std::vector<Value> &roots, F &&line) {
  Schedule plan = schedule(roots);
  std::unordered_map<const Node *, size_t> numbers;
  auto rootOf = [&](const Node *node) {
    for (size_t i = 0; i < roots.size(); ++i)
      if (roots[i].node.get() == node)
        return int64_t(i);
    return int64_t(-1);
  };
  for (const Value &leaf : plan.leaves)
    if (numbers.emplace(leaf.node.get(), numbers.size()).second)
      line(numbers.at(leaf.node.get()), *leaf.node, leafText(leaf), std::vector<std::pair<size_t, uint32_t>>(),
           rootOf(leaf.node.get()));
  for (const Node *node : plan.nodes) {
    numbers.emplace(node, numbers.size());
    std::vector<std::pair<size_t, uint32_t>> operands;
    std::string text;
    for (const Value &operand : node->operands) {
      operands.emplace_back(numbers.at(operand.node.get()), operand.index);
      text += (text.empty() ? "%" : ", %") + std::to_string(operands.back().first) +
              (operand.index ? "." + std::to_string(operand.index) : "");
    }
    std::string attributes;
    for (size_t i = 0; i < node->args.size(); ++i)
      if (std::string value = attributeText(node->args[i]); !value.empty())
        attributes += ", arg" + std::to_string(i) + "=" + value;
    line(numbers.at(node), *node, plainName(*node) + "(" + text + ")" + attributes, operands, rootOf(node));
  }
}

} // namespace

runtime::StatusOr<ExportedFunction> exportFunction(const std::vector<Value> &arguments,
                                                   const std::vector<Value> &results) {
  ExportedFunction made;
  Schedule plan = schedule(results);
  Emitter e;
  Emitted values;
  auto set = [&](const Value &leaf, Val val) {
    std::vector<Val> &vals = values[leaf.node.get()];
    vals.resize(leaf.node->results.size());
    val.isWeak = leaf.node->isWeak;
    vals[leaf.index] = val;
  };
  for (const Value &argument : arguments)
    set(argument, e.parameter(argument.shape()));
  for (const Value &leaf : plan.leaves) {
    auto found = values.find(leaf.node.get());
    if (found != values.end() && found->second[leaf.index])
      continue;
    if (leaf.node->isNumber()) {
      const Shape &shape = leaf.shape();
      set(leaf, shape.dtype == DType::F64 ? e.constant(std::bit_cast<double>(leaf.node->bits), shape)
                                          : e.constant(int64_t(leaf.node->bits), shape));
      continue;
    }
    made.constants.push_back(leaf);
    set(leaf, e.parameter(leaf.shape()));
  }
  MILLRACE_TRY(emitNodes(e, plan, values));
  std::vector<Val> returned;
  for (const Value &result : results)
    returned.push_back(values.at(result.node.get())[result.index]);
  runtime::StatusOr<std::string> text = e.finish(returned);
  if (!text)
    return text.status();
  made.text = std::move(*text);
  return made;
}

runtime::StatusOr<std::string> portableArtifact(const std::string &text, const std::string &version) {
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  Errors errors(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  vhlo::WriteOptions options;
  options.allowOtherDialects = true;
  if (!module || failed(vhlo::writePortableArtifact(*module, version, stream, options)))
    return runtime::invalidArgument("no portable artifact: " + errors.text);
  return bytes;
}

runtime::StatusOr<std::string> artifactText(const std::string &bytes) {
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  Errors errors(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = vhlo::readPortableArtifact(bytes, context);
  if (!module)
    return runtime::invalidArgument("not a portable artifact: " + errors.text);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

std::string graphText(const std::vector<Value> &roots) {
  const bool withPlaces = isSwitchedOn("XLA_IR_DEBUG");
  std::string text = "IR {\n";
  forEachLine(roots, [&](size_t number, const Node &node, const std::string &what,
                         const std::vector<std::pair<size_t, uint32_t>> &, int64_t root) {
    text += "  %" + std::to_string(number) + " = " + shapesText(node) + " " + what;
    if (Place place = withPlaces ? placeOf(node.origin) : Place(); !place.file.empty())
      text += ", location=" + place.function + "@" + place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
    text += (root >= 0 ? ", ROOT=" + std::to_string(root) : "") + "\n";
  });
  return text + "}\n";
}

std::string graphDot(const std::vector<Value> &roots) {
  std::string nodes, edges;
  forEachLine(roots, [&](size_t number, const Node &node, const std::string &what,
                         const std::vector<std::pair<size_t, uint32_t>> &operands, int64_t root) {
    std::string label;
    for (char c : what.substr(0, what.find('(')) + "\\n" + shapesText(node))
      label += c == '"' ? std::string("\\\"") : std::string(1, c);
    nodes += "  node" + std::to_string(number) + " [label=\"" + label +
             (root >= 0 ? "\\nROOT=" + std::to_string(root) : "") + "\"]\n";
    for (size_t i = 0; i < operands.size(); ++i)
      edges += "  node" + std::to_string(operands[i].first) + " -> node" + std::to_string(number) +
               (operands.size() > 1 ? " [label=\"i=" + std::to_string(i) + "\"]" : "") + "\n";
  });
  return "digraph G {\n" + nodes + edges + "}\n";
}

} // namespace millrace::tracing
