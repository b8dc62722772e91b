// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.cpp - Loops and branches as operations of a graph -------===//
// The operation of a loop is made when its body is recorded for the first time and interned by the body's structure, so that the graph around the
// loop has the same key in every step.
#include "tracing/graph/ControlFlow.h"

#include "tracing/emit/Emit.h"
#include "tracing/spmd/Exchanges.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace millrace::tracing {

const Op *internedOp(const std::string &key, const std::function<Op()> &make) {
  static std::mutex mutex;
  static auto *known = new std::unordered_map<std::string, std::unique_ptr<Op>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Op> &op = (*known)[key];
  if (!op) {
    op = std::make_unique<Op>(make());
    op->identity = key;
  }
  return op.get();
}

namespace {

/// A function that can be emitted after the values of its recording have been destroyed, because it holds its nodes.
struct Template {
  Function function;
  explicit Template(Function given) : function(std::move(given)) {}

  std::vector<Val> emit(Emitter &e, const std::vector<Val> &inputs, const std::vector<Val> &captured) const {
    Emitted values;
    auto set = [&](const Value &leaf, const Val &val) {
      std::vector<Val> &made = values[leaf.node.get()];
      made.resize(leaf.node->results.size());
      made[leaf.index] = val;
    };
    for (size_t i = 0; i < function.captured.size(); ++i)
      set(function.captured[i], captured[i]);
    for (size_t i = 0; i < function.inputs.size(); ++i)
      set(function.inputs[i], inputs[i]);
    if (!emitNodes(e, function.body, values).ok())
      return std::vector<Val>(function.results.size());
    std::vector<Val> results;
    for (const Value &result : function.results)
      results.push_back(values.at(result.node.get())[result.index]);
    return results;
  }
};

/// Returns a key that adds to a body's structure which input or captured value each leaf is, and whether the function is for several devices: then
/// the program with the loop is, too (see isForSeveralDevices()).
std::string keyOf(const Function &f) {
  std::string key = f.body.key.toString();
  auto number = [&](size_t value) { key += ',' + std::to_string(value); };
  for (const Value &leaf : f.body.leaves) {
    auto found = std::find_if(f.inputs.begin(), f.inputs.end(),
                              [&](const Value &v) { return v.node == leaf.node && v.index == leaf.index; });
    number(size_t(found - f.inputs.begin()));
  }
  number(f.inputs.size());
  if (isForSeveralDevices(f.body))
    key += "use_global_device_ids";
  return key + '|' + std::to_string(key.size());
}

std::vector<Shape> shapesOf(const std::vector<Value> &values) {
  std::vector<Shape> shapes;
  for (const Value &value : values)
    shapes.push_back(value.shape());
  return shapes;
}
std::vector<Shape> shapesOf(const std::vector<Val> &values) {
  std::vector<Shape> shapes;
  for (const Val &value : values)
    shapes.push_back(value.shape);
  return shapes;
}

template <typename T>
std::vector<T> part(const std::vector<T> &values, size_t from, size_t count) {
  return {values.begin() + long(from), values.begin() + long(from + count)};
}

/// Marks values as weak like the values that they stand for: arguments of a region are not weak by themselves.
std::vector<Val> withWeakness(std::vector<Val> values, const std::vector<Val> &like) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i].isWeak = like[i].isWeak;
  return values;
}

Val nextKey(Emitter &e, const Val &key) {
  Val product = e.mul(key, e.constant(int64_t(6364136223846793005), key.shape));
  return e.add(product, e.constant(int64_t(1442695040888963407), key.shape));
}

std::vector<Value> resultsOf(const Op *op, std::vector<Value> operands, std::vector<Shape> shapes, size_t skip) {
  size_t count = shapes.size();
  std::vector<Arg> args;
  for (size_t i = 0; i < operands.size(); ++i)
    args.push_back(Operand{int32_t(i)});
  Value made = record(op, std::move(operands), std::move(args), std::move(shapes));
  std::vector<Value> results;
  for (size_t i = skip; i < count; ++i)
    results.push_back({made.node, uint32_t(i)});
  return results;
}

runtime::Status checkCarried(const std::vector<Value> &results, const std::vector<Value> &carried) {
  for (size_t i = 0; i < carried.size(); ++i)
    if (results[i].shape() != carried[i].shape())
      return runtime::invalidArgument("expects the body of a loop to return " + carried[i].shape().toString() +
                                      " as value " + std::to_string(i) + ", which it is given, but got " +
                                      results[i].shape().toString());
  return {};
}

/// Returns xs[i], without the leading dim.
Val sliceAt(Emitter &e, const Val &xs, const Val &index) {
  Ints sizes = xs.dims();
  sizes[0] = 1;
  std::vector<Val> operands{xs, index};
  for (int64_t d = 1; d < xs.rank(); ++d)
    operands.push_back(e.constant(int64_t(0), index.shape));
  Val slice = e.op("stablehlo.dynamic_slice", operands, {{"slice_sizes", arrayText(sizes)}}, Shape{xs.dtype(), sizes});
  return e.reshape(slice, Ints(sizes.begin() + 1, sizes.end()));
}

Val updateAt(Emitter &e, const Val &ys, const Val &y, const Val &index) {
  Ints sizes = ys.dims();
  sizes[0] = 1;
  std::vector<Val> operands{ys, e.reshape(y, sizes), index};
  for (int64_t d = 1; d < ys.rank(); ++d)
    operands.push_back(e.constant(int64_t(0), index.shape));
  return e.op("stablehlo.dynamic_update_slice", operands, {}, ys.shape);
}

/// Converts a scalar of any type to a boolean.
Val truth(Emitter &e, Val value) {
  value = e.reshape(value, {});
  if (!value || value.dtype() == DType::I1)
    return value;
  return e.compare(value, e.constant(int64_t(0), value.shape), "NE");
}

} // namespace

Function function(std::vector<Value> inputs, std::vector<Value> results,
                  const std::unordered_set<const Node *> &outside) {
  Function made;
  std::set<std::pair<const Node *, uint32_t>> isInput;
  for (const Value &input : inputs)
    isInput.emplace(input.node.get(), input.index);
  made.body = schedule(results, outside);
  forgetExchanges(made.body);
  for (const Value &leaf : made.body.leaves)
    if (!isInput.count({leaf.node.get(), leaf.index}))
      made.captured.push_back(leaf);
  made.inputs = std::move(inputs);
  made.results = std::move(results);
  return made;
}

/// Returns the part of a function that an operation keeps: its nodes, and leaves without values. Captured values are passed as operands instead,
/// because every step has its own.
static Template templateOf(const Function &given) {
  Function made = given;
  std::unordered_map<const Node *, NodePtr> blanks;
  auto blank = [&](Value &value) {
    NodePtr &node = blanks[value.node.get()];
    if (!node) {
      node = std::make_shared<Node>(value.node->kind);
      node->op = nullptr;
      node->isWeak = value.node->isWeak;
    }
    value.node = node;
  };
  std::unordered_map<const Node *, NodePtr> copies;
  for (Value &leaf : made.body.leaves)
    blank(leaf);
  for (Value &value : made.captured)
    blank(value);
  for (Value &value : made.inputs)
    blank(value);
  auto moved = [&](Value value) {
    auto copy = copies.find(value.node.get());
    value.node = copy != copies.end() ? copy->second : blanks.at(value.node.get());
    return value;
  };
  for (Node *&node : made.body.nodes) {
    auto copy = std::make_shared<Node>(node->kind);
    copy->origin = node->origin;
    for (const Value &operand : node->operands)
      copy->operands.push_back(moved(operand));
    copies.emplace(node, copy);
    node = copy.get();
  }
  for (Value &result : made.results)
    result = moved(result);
  return Template(std::move(made));
}

Value keyInLoop(const Value &key, int64_t index) {
  static const Op *op = internedOp("key in loop", [] {
    return Op{"millrace::key_in_loop", [](const Call &c) {
                Emitter &e = c.e;
                auto number = [&](uint64_t bits) { return e.constant(int64_t(bits), c.operands[0].shape); };
                auto mix = [&](const Val &x, int64_t by, uint64_t factor) {
                  Val shifted = e.op("stablehlo.shift_right_logical", {x, number(uint64_t(by))});
                  Val mixed = e.op("stablehlo.xor", {x, shifted});
                  return factor ? e.mul(mixed, number(factor)) : mixed;
                };
                Val x = e.add(c.operands[0], number(0x9e3779b97f4a7c15ull * uint64_t(c.integer(1) + 1)));
                x = mix(mix(x, 30, 0xbf58476d1ce4e5b9ull), 27, 0x94d049bb133111ebull);
                return std::vector<Val>{mix(x, 31, 0)};
              }};
  });
  return record(op, {key}, {Operand{0}, index}, {key.shape()});
}

runtime::StatusOr<std::vector<Value>> whileLoop(const Function &condition, const Function &body,
                                                const std::vector<Value> &carried, const Value &key) {
  size_t count = carried.size();
  if (condition.inputs.size() != count || condition.results.size() != 1 || body.inputs.size() != count + 1 ||
      body.results.size() != count)
    return runtime::invalidArgument("expects a loop to carry " + std::to_string(count) + " values, but its body has " +
                                    std::to_string(body.results.size()) + " results");
  if (condition.results[0].shape().count() != 1)
    return runtime::invalidArgument("expects the condition of a loop to be one number, but got " +
                                    condition.results[0].shape().toString());
  MILLRACE_TRY(checkCarried(body.results, carried));
  const Op *op = internedOp("while\n" + keyOf(condition) + "\n" + keyOf(body), [&] {
    auto test = std::make_shared<Template>(templateOf(condition)), step = std::make_shared<Template>(templateOf(body));
    return Op{"millrace::while", [=](const Call &c) {
                Emitter &e = c.e;
                const std::vector<Val> &all = c.operands; // the key, the carried values, what the condition captures, what the body captures
                std::vector<Shape> shapes = shapesOf(all);
                size_t tested = test->function.captured.size(), stepped = step->function.captured.size();
                Body testing = [&](const std::vector<Val> &given) -> std::vector<Val> {
                  std::vector<Val> in = withWeakness(given, all);
                  return {truth(e, test->emit(e, part(in, 1, count), part(in, 1 + count, tested))[0])};
                };
                Body stepping = [&](const std::vector<Val> &given) {
                  std::vector<Val> in = withWeakness(given, all), out{nextKey(e, in[0])};
                  for (Val &val : step->emit(e, part(in, 0, count + 1), part(in, 1 + count + tested, stepped)))
                    out.push_back(val);
                  out.insert(out.end(), in.begin() + long(1 + count), in.end());
                  return out;
                };
                std::vector<Val> made =
                    e.ops("stablehlo.while", all, {}, shapes, {Region{shapes, testing}, Region{shapes, stepping}});
                made.resize(1 + count);
                return made;
              }, false, {}, meetsOthers(condition.body) || meetsOthers(body.body)};
  });
  std::vector<Value> operands{key};
  operands.insert(operands.end(), carried.begin(), carried.end());
  std::vector<Shape> shapes = shapesOf(operands);
  for (const Function *f : {&condition, &body})
    operands.insert(operands.end(), f->captured.begin(), f->captured.end());
  return resultsOf(op, std::move(operands), std::move(shapes), 1);
}

runtime::StatusOr<std::vector<Value>> scan(const Function &body, const std::vector<Value> &carried,
                                           const std::vector<Value> &sequences, int64_t length, bool isReverse,
                                           const Value &key, const std::vector<Value> &outside) {
  size_t count = carried.size(), given = sequences.size();
  if (body.inputs.size() != 1 + count + given || body.results.size() < count)
    return runtime::invalidArgument("expects a scan to carry " + std::to_string(count) + " values, but its body has " +
                                    std::to_string(body.results.size()) + " results");
  MILLRACE_TRY(checkCarried(body.results, carried));
  for (const Value &xs : sequences)
    if (xs.shape().dims.empty() || xs.shape().dims[0] != length)
      return runtime::invalidArgument("expects every sequence of a scan to have " + std::to_string(length) +
                                      " elements, but got " + xs.shape().toString());
  std::vector<Shape> stacked;
  for (size_t i = count; i < body.results.size(); ++i) {
    Shape shape = body.results[i].shape();
    shape.dims.insert(shape.dims.begin(), length);
    stacked.push_back(std::move(shape));
  }
  std::string key1 = "scan " + std::to_string(length) + (isReverse ? " reverse " : " ") + std::to_string(count);
  const Op *op = internedOp(key1 + "\n" + keyOf(body), [&] {
    auto step = std::make_shared<Template>(templateOf(body));
    return Op{"millrace::scan", [=](const Call &c) {
                Emitter &e = c.e;
                Shape index{DType::I64, {}};
                // The loop's values are the position, the key, the carried values, the results, the sequences and the captured values.
                std::vector<Val> all{e.constant(int64_t(0), index), c.operands[0]};
                for (size_t i = 0; i < count; ++i)
                  all.push_back(c.operands[1 + i]);
                for (const Shape &shape : stacked)
                  all.push_back(e.constant(int64_t(0), shape));
                all.insert(all.end(), c.operands.begin() + long(1 + count), c.operands.end());
                size_t results = stacked.size(), captured = step->function.captured.size();
                size_t xs = 2 + count + results;
                std::vector<Shape> shapes = shapesOf(all);
                Body testing = [&](const std::vector<Val> &in) -> std::vector<Val> {
                  return {e.compare(in[0], e.constant(length, index), "LT")};
                };
                Body stepping = [&](const std::vector<Val> &args) {
                  std::vector<Val> in = withWeakness(args, all), inputs = part(in, 1, 1 + count);
                  Val at = isReverse ? e.sub(e.constant(length - 1, index), in[0]) : in[0];
                  for (size_t i = 0; i < given; ++i)
                    inputs.push_back(sliceAt(e, in[xs + i], at));
                  std::vector<Val> made = step->emit(e, inputs, part(in, xs + given, captured));
                  std::vector<Val> out{e.add(in[0], e.constant(int64_t(1), index)), nextKey(e, in[1])};
                  for (size_t i = 0; i < count; ++i)
                    out.push_back(made[i]);
                  for (size_t i = 0; i < results; ++i)
                    out.push_back(updateAt(e, in[2 + count + i], made[count + i], at));
                  out.insert(out.end(), in.begin() + long(xs), in.end());
                  return out;
                };
                std::vector<Val> made =
                    e.ops("stablehlo.while", all, {}, shapes, {Region{shapes, testing}, Region{shapes, stepping}});
                return part(made, 2, std::min(made.size() - 2, count + results));
              }, false, {}, meetsOthers(body.body)};
  });
  std::vector<Value> operands{key};
  operands.insert(operands.end(), carried.begin(), carried.end());
  operands.insert(operands.end(), sequences.begin(), sequences.end());
  operands.insert(operands.end(), outside.begin(), outside.end());
  std::vector<Shape> shapes = shapesOf(carried);
  shapes.insert(shapes.end(), stacked.begin(), stacked.end());
  return resultsOf(op, std::move(operands), std::move(shapes), 0);
}

GradientParts splitForGradient(const std::vector<Value> &inputs, size_t given, const std::vector<Value> &all,
                               size_t results, const std::unordered_set<const Node *> &outside) {
  std::unordered_set<const Node *> fromGradient, fromInput, stop = outside;
  for (size_t i = 0; i < inputs.size(); ++i)
    (i < given ? fromInput : fromGradient).insert(inputs[i].node.get());
  Schedule plan = schedule(all, outside);
  for (const Node *node : plan.nodes)
    for (const Value &operand : node->operands) {
      if (fromGradient.count(operand.node.get()))
        fromGradient.insert(node);
      if (fromInput.count(operand.node.get()))
        fromInput.insert(node);
    }
  std::vector<Value> saved;
  std::set<std::pair<const Node *, uint32_t>> isSaved;
  auto save = [&](const Value &value) {
    const Node *node = value.node.get();
    if (!fromGradient.count(node) && fromInput.count(node) && isSaved.emplace(node, value.index).second) {
      saved.push_back(value);
      stop.insert(node);
    }
  };
  for (const Node *node : plan.nodes)
    if (fromGradient.count(node))
      for (const Value &operand : node->operands)
        save(operand);
  for (size_t i = results; i < all.size(); ++i)
    save(all[i]);
  GradientParts parts;
  parts.saved = saved.size();
  std::vector<Value> forward(all.begin(), all.begin() + long(results));
  forward.insert(forward.end(), saved.begin(), saved.end());
  parts.forward = function({inputs.begin(), inputs.begin() + long(given)}, std::move(forward), outside);
  std::vector<Value> backward{leaf(nullptr, {DType::I64, {}})};
  backward.insert(backward.end(), inputs.begin() + long(given), inputs.end());
  backward.insert(backward.end(), saved.begin(), saved.end());
  parts.backward = function(std::move(backward), {all.begin() + long(results), all.end()}, stop);
  return parts;
}

std::vector<Value> call(const Function &body, const std::vector<Value> &arguments, const Value &key) {
  std::vector<Shape> shapes = shapesOf(body.results);
  size_t count = 1 + arguments.size();
  const Op *op = internedOp("call\n" + keyOf(body), [&] {
    auto step = std::make_shared<Template>(templateOf(body));
    return Op{"millrace::call", [=](const Call &c) {
                return step->emit(c.e, part(c.operands, 0, count), part(c.operands, count, c.operands.size() - count));
              }, false, {}, meetsOthers(body.body)};
  });
  std::vector<Value> operands{key};
  operands.insert(operands.end(), arguments.begin(), arguments.end());
  operands.insert(operands.end(), body.captured.begin(), body.captured.end());
  return resultsOf(op, std::move(operands), std::move(shapes), 0);
}

runtime::StatusOr<std::vector<Value>> branch(const Function &yes, const Function &no, const Value &condition) {
  std::vector<Shape> shapes = shapesOf(yes.results);
  if (shapes != shapesOf(no.results))
    return runtime::invalidArgument("expects both branches to return the same types");
  if (condition.shape().count() != 1)
    return runtime::invalidArgument("expects a condition to be one number, but got " + condition.shape().toString());
  const Op *op = internedOp("if\n" + keyOf(yes) + "\n" + keyOf(no), [&] {
    auto first = std::make_shared<Template>(templateOf(yes)), second = std::make_shared<Template>(templateOf(no));
    return Op{"millrace::if", [=](const Call &c) {
                Emitter &e = c.e;
                size_t ours = first->function.captured.size(), theirs = second->function.captured.size();
                Body then = [&](const std::vector<Val> &) { return first->emit(e, {}, part(c.operands, 1, ours)); };
                Body otherwise = [&](const std::vector<Val> &) {
                  return second->emit(e, {}, part(c.operands, 1 + ours, theirs));
                };
                return e.ops("stablehlo.if", {truth(e, c.operands[0])}, {}, shapes, {Region{{}, then}, Region{{}, otherwise}});
              }, false, {}, meetsOthers(yes.body) || meetsOthers(no.body)};
  });
  std::vector<Value> operands{condition};
  for (const Function *f : {&yes, &no})
    operands.insert(operands.end(), f->captured.begin(), f->captured.end());
  return resultsOf(op, std::move(operands), std::move(shapes), 0);
}

} // namespace millrace::tracing
