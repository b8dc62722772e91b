// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Graph.cpp - Nodes and the schedules of graphs -----------------------===//
#include "tracing/graph/Graph.h"

#include "runtime/base/Hash.h"
#include "tracing/Session.h"
#include "tracing/emit/Emit.h"
#include "tracing/spmd/Exchanges.h"

#include <atomic>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
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

std::string Digest::toString() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
  return text;
}

Digest Digest::of(std::string_view content) {
  return {runtime::hash64(content.data(), content.size(), 1), runtime::hash64(content.data(), content.size(), 2)};
}

namespace {

/// Appends plain data to a text that is hashed; every variable-length item is preceded by its length.
class KeyWriter {
public:
  explicit KeyWriter(std::string &key) : key(key) {}
  template <typename T>
  void raw(const T &value) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
    key.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  template <typename T>
  void list(const std::vector<T> &values) {
    raw(uint32_t(values.size()));
    key.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  }
  void text(const std::string &value) {
    raw(uint32_t(value.size()));
    key += value;
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
          if constexpr (std::is_same_v<T, std::string>)
            text(value);
          else if constexpr (requires { value.size(); })
            list(value);
          else if constexpr (!std::is_same_v<T, std::monostate>)
            raw(value);
        },
        arg);
  }

private:
  std::string &key;
};

} // namespace

const Kind *kindOf(const Op *op, std::vector<Arg> args, std::vector<Shape> results) {
  std::string content;
  KeyWriter writer(content);
  writer.text(op ? op->name : "");
  writer.text(op ? op->identity : "");
  writer.raw(uint32_t(args.size()));
  for (const Arg &arg : args)
    writer.arg(arg);
  for (const Shape &shape : results)
    writer.shape(shape);
  Digest digest = Digest::of(content);
  static std::mutex mutex;
  static auto *kinds = new std::unordered_map<Digest, std::unique_ptr<const Kind>, DigestHash>;
  std::lock_guard lock(mutex);
  std::unique_ptr<const Kind> &kind = (*kinds)[digest];
  if (!kind)
    kind.reset(new Kind{op, std::move(args), std::move(results), digest});
  return kind.get();
}

static Value numberLeaf(DType dtype, uint64_t bits, bool isWeak) {
  static const Kind *kinds[3] = {kindOf(nullptr, {}, {{DType::F64, {}}}), kindOf(nullptr, {}, {{DType::I64, {}}}),
                                 kindOf(nullptr, {}, {{DType::I1, {}}})};
  auto node = std::make_shared<Node>(kinds[dtype == DType::F64 ? 0 : dtype == DType::I64 ? 1 : 2]);
  node->bits = bits;
  node->isWeak = isWeak;
  return {std::move(node), 0};
}
Value number(double value, bool isWeak) { return numberLeaf(DType::F64, std::bit_cast<uint64_t>(value), isWeak); }
Value number(int64_t value, bool isWeak) { return numberLeaf(DType::I64, uint64_t(value), isWeak); }
Value number(bool value, bool isWeak) { return numberLeaf(DType::I1, value, isWeak); }

Value leaf(runtime::BufferPtr buffer, Shape shape) {
  auto node = std::make_shared<Node>(kindOf(nullptr, {}, {std::move(shape)}));
  node->buffers.push_back(std::move(buffer));
  return {std::move(node), 0};
}

Value leaf(Shards shards, Shape shape) {
  Value made = leaf(runtime::BufferPtr(), std::move(shape));
  made.node->spread = std::make_shared<Spread>();
  made.node->spread->results.push_back(std::move(shards));
  return made;
}

const Shards *shardsOf(const Value &leaf) {
  const Spread *spread = leaf.node->spread.get();
  if (!spread || leaf.index >= spread->results.size() || !spread->results[leaf.index].sharding)
    return nullptr;
  return &spread->results[leaf.index];
}

Value copyOf(const Value &value) {
  Node &node = *value.node;
  if (node.op || value.index >= node.buffers.size() || !node.buffers[value.index] || shardsOf(value))
    return value;
  Value made = leaf(node.buffers[value.index], value.shape());
  node.isShared = made.node->isShared = true;
  return made;
}

Value parameter(Shape shape) {
  auto node = std::make_shared<Node>(kindOf(nullptr, {}, {std::move(shape)}));
  node->isParameter = true;
  return {std::move(node), 0};
}

static std::atomic<uint64_t> recorded{0};
uint64_t recordedOperations() { return recorded.load(std::memory_order_relaxed); }
static std::atomic<void (*)(const Value &)> recordObserver{nullptr};
void setRecordObserver(void (*observer)(const Value &made)) { recordObserver = observer; }

Value record(const Kind *kind, std::vector<Value> operands) { return record(kind, std::move(operands), currentOrigin()); }

Value record(const Kind *kind, std::vector<Value> operands, const Origin &origin) {
  recorded.fetch_add(1, std::memory_order_relaxed);
  auto node = std::make_shared<Node>(kind);
  node->operands = std::move(operands);
  node->origin = origin;
  Value made{std::move(node), 0};
  if (kind->op->meetsOthers)
    made.node->exchange = rememberExchange(made.node);
  if (auto *observer = recordObserver.load(std::memory_order_relaxed))
    observer(made);
  return made;
}

Value record(const Op *op, std::vector<Value> operands, std::vector<Arg> args, std::vector<Shape> results) {
  return record(kindOf(op, std::move(args), std::move(results)), std::move(operands));
}

namespace {

/// Numbers the values that a traversal has reached. Results of leaves have numbers of their own, so that the node from which a leaf was computed does
/// not matter; other nodes have one number.
class Numbering {
public:
  explicit Numbering(const std::unordered_set<const Node *> &outside) : outside(outside) {}
  bool isLeaf(const Node &node) const { return node.isLeaf() || (!outside.empty() && outside.count(&node)); }
  /// Returns true if the value was not reached before; it gets the next number then.
  bool add(const Value &value) {
    Node &node = *value.node;
    if (perResult(node))
      return results.emplace(std::pair(&node, value.index), next).second && ++next;
    node.visit.number = next++;
    node.visit.epoch = epoch;
    return true;
  }
  bool has(const Value &value) const {
    return perResult(*value.node) ? results.count({value.node.get(), value.index}) : value.node->visit.epoch == epoch;
  }
  uint32_t at(const Value &value) const {
    return perResult(*value.node) ? results.at({value.node.get(), value.index}) : value.node->visit.number;
  }

private:
  bool perResult(const Node &node) const { return node.results.size() > 1 && isLeaf(node); }
  static uint64_t nextEpoch() {
    static uint64_t last = 0;
    return ++last;
  }
  const std::unordered_set<const Node *> &outside;
  uint64_t epoch = nextEpoch();
  uint32_t next = 0;
  std::map<std::pair<const Node *, uint32_t>, uint32_t> results;
};

} // namespace

/// Visits `first` and its operands before the roots. Adds the scheduled nodes that are collectives between processes to `met`.
static Schedule traverse(const std::vector<Value> &roots, const std::unordered_set<const Node *> &outside, const std::vector<Value> &first,
                         std::vector<Value> *met) {
  Schedule result;
  Numbering numbers(outside);
  std::string content;
  content.reserve(1 << 12);
  KeyWriter key(content);
  struct Frame {
    const Value *value;
    size_t next;
  };
  std::vector<Frame> stack;
  auto finish = [&](const Value &value) {
    Node &node = *value.node;
    numbers.add(value);
    node.visit.isRoot = node.visit.survives = false;
    node.visit.uses = 0;
    if (numbers.isLeaf(node)) {
      key.raw(uint8_t(node.isNumber() ? 1 : 2));
      key.raw(node.isWeak);
      key.shape(value.shape());
      if (const Shards *shards = shardsOf(value); shards && !shards->sharding->isReplicated()) {
        key.text(shards->sharding->text);
        key.text(shards->sharding->attribute);
      }
      result.leaves.push_back(value);
      return;
    }
    key.raw(uint8_t(3));
    key.raw(node.kind->digest);
    for (const Value &operand : node.operands) {
      key.raw(numbers.at(operand));
      key.raw(numbers.isLeaf(*operand.node) ? 0u : operand.index);
    }
    result.nodes.push_back(&node);
    result.holders.push_back(value.node.use_count());
    if (node.op->meetsOthers && met)
      met->push_back(value);
  };
  for (size_t i = 0; i < first.size() + roots.size(); ++i) {
    const Value &root = i < first.size() ? first[i] : roots[i - first.size()];
    if (!numbers.has(root))
      stack.push_back({&root, 0});
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (numbers.has(*frame.value)) { // the value is an operand twice, and its first visit has ended meanwhile
        stack.pop_back();
        continue;
      }
      if (!numbers.isLeaf(*frame.value->node) && frame.next < frame.value->node->operands.size()) {
        const Value &operand = frame.value->node->operands[frame.next++];
        if (!numbers.has(operand))
          stack.push_back({&operand, 0});
        continue;
      }
      finish(*frame.value);
      stack.pop_back();
    }
  }
  key.raw(uint8_t(4));
  for (const Value &root : roots) {
    key.raw(numbers.at(root));
    key.raw(numbers.isLeaf(*root.node) ? 0u : root.index);
  }
  for (const Node *node : result.nodes)
    for (const Value &operand : node->operands)
      ++operand.node->visit.uses;
  result.key = Digest::of(content);
  return result;
}

Schedule schedule(const std::vector<Value> &roots, const std::unordered_set<const Node *> &outside) {
  std::lock_guard lock(Session::get().mutex);
  std::vector<Value> met;
  Schedule made = traverse(roots, outside, {}, &met);
  auto isEarlier = [](const Value &a, const Value &b) { return a.node->exchange < b.node->exchange; };
  if (std::is_sorted(met.begin(), met.end(), isEarlier))
    return made;
  std::sort(met.begin(), met.end(), isEarlier);
  made = traverse(roots, outside, met, nullptr);
  for (size_t i = 0; i < made.nodes.size(); ++i)
    made.holders[i] -= made.nodes[i]->op->meetsOthers; // the reference in `met`
  return made;
}

size_t graphSize(const Value &root, size_t most) {
  std::lock_guard lock(Session::get().mutex);
  std::unordered_set<const Node *> seen;
  std::vector<const Node *> pending;
  auto add = [&](const Node *node) {
    if (node->op && seen.size() < most && seen.insert(node).second)
      pending.push_back(node);
  };
  add(root.node.get());
  while (!pending.empty()) {
    const Node *node = pending.back();
    pending.pop_back();
    for (const Value &operand : node->operands)
      add(operand.node.get());
  }
  return seen.size();
}

} // namespace millrace::tracing
