// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Graph.cpp - Nodes and the order in which they run -------------------===//
#include "tracing/Graph.h"

#include <atomic>
#include <bit>
#include <unordered_map>

namespace millrace::tracing {

int64_t Shape::count() const {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

std::string Shape::toString() const {
  std::string text(runtime::name(dtype));
  text += '[';
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? "," : "") + std::to_string(dims[i]);
  return text + ']';
}

const Shape &Value::shape() const { return node->results[index]; }

Node::~Node() {
  std::vector<Value> pending = std::move(operands);
  while (!pending.empty()) {
    NodePtr node = std::move(pending.back().node);
    pending.pop_back();
    if (node && node.use_count() == 1 && !node->operands.empty()) {
      for (Value &operand : node->operands)
        pending.push_back(std::move(operand));
      node->operands.clear();
    }
  }
}

static Value numberLeaf(DType dtype, uint64_t bits, bool isWeak) {
  auto node = std::make_shared<Node>();
  node->results.push_back({dtype, {}});
  node->bits = bits;
  node->isWeak = isWeak;
  return {std::move(node), 0};
}
Value number(double value, bool isWeak) { return numberLeaf(DType::F64, std::bit_cast<uint64_t>(value), isWeak); }
Value number(int64_t value, bool isWeak) { return numberLeaf(DType::I64, uint64_t(value), isWeak); }
Value number(bool value, bool isWeak) { return numberLeaf(DType::I1, value, isWeak); }

Value leaf(runtime::BufferPtr buffer, Shape shape) {
  auto node = std::make_shared<Node>();
  node->results.push_back(std::move(shape));
  node->buffers.push_back(std::move(buffer));
  return {std::move(node), 0};
}

static std::atomic<uint64_t> recorded{0};
uint64_t recordedOperations() { return recorded; }

Value record(const Op *op, std::vector<Value> operands, std::vector<Arg> args, std::vector<Shape> results) {
  recorded.fetch_add(1, std::memory_order_relaxed);
  auto node = std::make_shared<Node>();
  node->op = op;
  node->operands = std::move(operands);
  node->args = std::move(args);
  node->results = std::move(results);
  return {std::move(node), 0};
}

namespace {

/// Appends plain data to the key of a schedule; every variable-length item is preceded by its length.
class KeyWriter {
public:
  explicit KeyWriter(std::string &key) : key(key) {}
  template <typename T>
  void raw(const T &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  template <typename T>
  void list(const std::vector<T> &values) {
    raw(uint32_t(values.size()));
    key.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  }
  void shape(const Shape &shape) {
    raw(shape.dtype);
    list(shape.dims);
  }
  void arg(const Arg &arg) {
    raw(uint8_t(arg.index()));
    std::visit(
        [&](const auto &value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::string>) {
            raw(uint32_t(value.size()));
            key += value;
          } else if constexpr (requires { value.size(); }) {
            list(value);
          } else if constexpr (!std::is_same_v<T, std::monostate>) {
            raw(value);
          }
        },
        arg);
  }

private:
  std::string &key;
};

} // namespace

namespace {

/// A leaf counts per result, so that it does not matter what made it; another node as a whole.
struct Visited {
  const Node *node;
  uint32_t index;
  bool operator==(const Visited &) const = default;
};
struct VisitedHash {
  size_t operator()(const Visited &v) const { return std::hash<const void *>()(v.node) * 31 + v.index; }
};

} // namespace

Schedule schedule(const std::vector<Value> &roots, const std::unordered_set<const Node *> &outside) {
  Schedule result;
  auto isLeaf = [&](const Value &value) {
    return value.node->isLeaf() || (!outside.empty() && outside.count(value.node.get()));
  };
  auto visited = [&](const Value &value) { return Visited{value.node.get(), isLeaf(value) ? value.index : 0}; };
  std::unordered_map<Visited, uint32_t, VisitedHash> numbers;
  KeyWriter key(result.key);
  struct Frame {
    Value value;
    size_t next;
  };
  std::vector<Frame> stack;
  auto finish = [&](const Value &value) {
    const NodePtr &node = value.node;
    if (isLeaf(value)) {
      key.raw(uint8_t(node->isNumber() ? 1 : 2));
      key.raw(node->isWeak);
      key.shape(value.shape());
      result.leaves.push_back(value);
    } else {
      key.raw(uint8_t(3));
      key.raw(node->op);
      for (const Value &operand : node->operands) {
        key.raw(numbers.at(visited(operand)));
        key.raw(isLeaf(operand) ? 0u : operand.index);
      }
      key.raw(uint32_t(node->args.size()));
      for (const Arg &arg : node->args)
        key.arg(arg);
      for (const Shape &shape : node->results)
        key.shape(shape);
      result.nodes.push_back(node.get());
      result.holders.push_back(node.use_count() - 1); // but not the frame of this traversal
    }
    numbers.emplace(visited(value), uint32_t(numbers.size()));
  };
  for (const Value &root : roots) {
    if (!numbers.count(visited(root)))
      stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (numbers.count(visited(frame.value))) { // reached twice before its first visit ended
        stack.pop_back();
        continue;
      }
      if (!isLeaf(frame.value) && frame.next < frame.value.node->operands.size()) {
        const Value &operand = frame.value.node->operands[frame.next++];
        if (!numbers.count(visited(operand)))
          stack.push_back({operand, 0});
        continue;
      }
      finish(frame.value);
      stack.pop_back();
    }
  }
  key.raw(uint8_t(4));
  for (const Value &root : roots) {
    key.raw(numbers.at(visited(root)));
    key.raw(isLeaf(root) ? 0u : root.index);
  }
  return result;
}

} // namespace millrace::tracing
