// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Export.cpp - Export graphs as programs ------------------------------===//
#include "tracing/graph/Export.h"

#include "lowering/Compile.h"
#include "passes/vhlo/PortableArtifact.h"
#include "tracing/emit/Emit.h"
#include "tracing/graph/IrText.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <bit>
#include <map>

namespace millrace::tracing {
namespace {

mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

/// Collects the errors of a context as one text.
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
  std::map<std::pair<const Node *, uint32_t>, uint32_t> positions;
  for (uint32_t i = 0; i < arguments.size(); ++i)
    positions.emplace(std::pair(arguments[i].node.get(), arguments[i].index), i);
  for (uint32_t index : parameterOrder(plan, results))
    if (auto found = positions.extract({plan.leaves[index].node.get(), plan.leaves[index].index}))
      made.order.push_back(found.mapped());
  for (const auto &[leaf, position] : positions) // the unused arguments
    made.order.push_back(position);
  std::sort(made.order.end() - long(positions.size()), made.order.end());
  for (uint32_t position : made.order)
    set(arguments[position], e.parameter(arguments[position].shape()));
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

} // namespace millrace::tracing
