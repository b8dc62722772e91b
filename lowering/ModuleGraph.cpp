// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleGraph.cpp - Operations of a module as a graph ----------------===//
#include "lowering/ModuleGraph.h"

#include "dialects/sdy/Dialect.h"
#include "lowering/hlo/Shapes.h"
#include "lowering/program/ProgramTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace {
namespace {

/// Bytes of all elements; 0 where the shape is known at run time only.
int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  const runtime::DType dtype = lowering::dtypeOf(tensor.getElementType());
  return dtype == runtime::DType::Invalid ? 0 : tensor.getNumElements() * int64_t(runtime::byteSize(dtype));
}

std::string shapeOf(TypeRange types) {
  if (types.empty())
    return "";
  if (std::string text = hlo::shapeText(types); !text.empty())
    return text;
  std::string text;
  llvm::raw_string_ostream(text) << types.front();
  return text;
}

/// XLA's text of the sharding, or sdy's.
std::string shardingOf(DictionaryAttr attributes) {
  if (!attributes)
    return "";
  if (auto text = attributes.getAs<StringAttr>("mhlo.sharding"))
    return text.str();
  std::string text;
  if (Attribute sharding = attributes.get(sdy::shardingAttrName))
    llvm::raw_string_ostream(text) << sharding;
  return text;
}

class GraphWriter {
public:
  explicit GraphWriter(func::FuncOp function) : function(function) {}

  llvm::json::Object run() {
    for (BlockArgument argument : function.getArguments())
      sources[argument] = {node("argument " + std::to_string(argument.getArgNumber()), "argument", argument.getLoc(), 0, argument.getType(),
                                shardingOf(function.getArgAttrDict(argument.getArgNumber()))),
                           argument.getType()};
    region(function.getBody(), 0);
    return llvm::json::Object{{"nodes", std::move(nodes)}, {"edges", std::move(edges)}, {"left_out", 0}};
  }

private:
  struct Source {
    unsigned node;
    Type type;
  };

  unsigned node(StringRef name, StringRef kind, Location loc, unsigned depth, TypeRange types, std::string sharding) {
    nodes.push_back(llvm::json::Array{name.str(), kind.str(), "", lowering::locationText(loc), depth, shapeOf(types), std::move(sharding)});
    return unsigned(nodes.size() - 1);
  }

  void read(ValueRange operands, unsigned to) {
    for (Value operand : operands)
      if (auto found = sources.find(operand); found != sources.end() && found->second.node != to)
        for (int64_t number : {int64_t(found->second.node), int64_t(to), bytesOf(found->second.type)})
          edges.push_back(number);
  }

  void operation(Operation &op, unsigned depth) {
    if (op.hasTrait<OpTrait::IsTerminator>() && depth == 0) {
      for (auto [index, operand] : llvm::enumerate(op.getOperands()))
        read(operand, node("result " + std::to_string(index), "result", op.getLoc(), 0, operand.getType(),
                           shardingOf(function.getResultAttrDict(unsigned(index)))));
      return;
    }
    const unsigned made = node(op.getName().stripDialect(), op.getName().getDialectNamespace(), op.getLoc(), depth, op.getResultTypes(),
                               shardingOf(op.getDiscardableAttrDictionary()));
    read(op.getOperands(), made);
    for (Region &inner : op.getRegions()) {
      for (Block &block : inner)
        for (BlockArgument argument : block.getArguments())
          sources[argument] = {made, argument.getType()};
      region(inner, depth + 1);
    }
    for (Value result : op.getResults())
      sources[result] = {made, result.getType()};
  }

  void region(Region &region, unsigned depth) {
    for (Block &block : region)
      for (Operation &op : block)
        operation(op, depth);
  }

  func::FuncOp function;
  llvm::DenseMap<Value, Source> sources;
  llvm::json::Array nodes, edges;
};

} // namespace

std::string moduleDot(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DenseMap<Value, unsigned> sources;
  unsigned nodes = 0, functions = 0;
  auto label = [&](StringRef name, TypeRange types) {
    std::string content;
    llvm::raw_string_ostream inner(content);
    inner << name;
    for (Type type : types)
      inner << "\n" << type;
    stream << "  n" << nodes << " [label=\"";
    stream.write_escaped(content);
    stream << "\"];\n";
    return nodes++;
  };
  stream << "digraph module {\n  node [shape=box];\n";
  for (auto function : module.getOps<func::FuncOp>()) {
    stream << "  subgraph cluster_" << functions++ << " {\n  label=\"" << function.getName() << "\";\n";
    std::string edges;
    llvm::raw_string_ostream edgeStream(edges);
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function) {
        unsigned node = label(op->getName().getStringRef(), op->getResultTypes());
        for (Value result : op->getResults())
          sources[result] = node;
        for (Value operand : op->getOperands())
          if (auto found = sources.find(operand); found != sources.end())
            edgeStream << "  n" << found->second << " -> n" << node << ";\n";
      }
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            sources[argument] = label("argument " + std::to_string(argument.getArgNumber()), argument.getType());
    });
    stream << "  }\n" << edges;
  }
  stream << "}\n";
  return text;
}

std::vector<std::pair<std::string, std::string>> moduleGraphs(ModuleOp module) {
  std::vector<std::pair<std::string, std::string>> graphs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal()) {
      std::string text;
      llvm::raw_string_ostream(text) << llvm::json::Value(GraphWriter(function).run());
      graphs.emplace_back(function.getName().str(), std::move(text));
    }
  return graphs;
}

} // namespace millrace
