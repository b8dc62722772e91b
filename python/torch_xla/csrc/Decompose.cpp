// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Decompose.cpp - PyTorch's decompositions, each recorded once --------===//
// A decomposition is Python code: it runs once per signature (types, shapes, attributes, numbers), on tensors without
// values. What it records becomes an operator (tracing/graph/Composite.h), and every call with that signature is one node. A
// decomposition that asks for a value runs anew in every call.
#include "python/torch_xla/csrc/Calls.h"
#include "python/torch_xla/csrc/Gil.h"

#include "tracing/graph/Composite.h"

#include <Python.h>

#include <shared_mutex>

namespace millrace::torch_shim {

thread_local Capture *capture = nullptr;

void abortCapture() {
  if (!capture)
    return;
  capture->aborted = true;
  TORCH_CHECK(false, "a decomposition asked for a value");
}

namespace {

PyObject *decomposer = nullptr;

/// Registered on first use: PyTorch has hundreds.
const std::optional<c10::OperatorHandle> &decompositionOf(const OpInfo &info) {
  if (info.decompositionIsKnown.load(std::memory_order_acquire))
    return info.decomposition;
  std::optional<c10::OperatorHandle> found;
  WithGil gil; // also keeps two threads from registering the same
  if (info.decompositionIsKnown.load(std::memory_order_acquire))
    return info.decomposition;
  if (decomposer && (info.isAten || info.name.rfind("torchvision::", 0) == 0)) {
    PyObject *name = PyObject_CallFunction(decomposer, "s", info.name.c_str());
    if (!name) {
      PyErr_Print();
    } else {
      if (const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr)
        found = c10::Dispatcher::singleton().findSchema({text, ""});
      Py_DECREF(name);
    }
  }
  info.decomposition = std::move(found);
  info.decompositionIsKnown.store(true, std::memory_order_release);
  return info.decomposition;
}

/// What is known about a signature.
struct Captured {
  tracing::Composite composite; ///< its kind is null if the decomposition asks for values
  size_t randomKeys = 0;
  Layout layout;
  /// Arguments that it writes to, although the schema does not say so (batch normalization's statistics); their new values
  /// are further results.
  std::vector<size_t> writes;
};

/// A number that changes from call to call would make an operator, and a program, of every value.
constexpr uint32_t mostComposites = 256;

class Table {
public:
  const Captured *find(std::string_view key) {
    std::shared_lock lock(mutex);
    auto found = all.find(key);
    return found == all.end() ? nullptr : &found->second;
  }
  const Captured *add(std::string_view key, Captured captured) {
    std::unique_lock lock(mutex);
    return &all.emplace(std::string(key), std::move(captured)).first->second;
  }
  static Table &get() {
    static auto *table = new Table;
    return *table;
  }

private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  std::shared_mutex mutex;
  std::unordered_map<std::string, Captured, Hash, std::equal_to<>> all;
};

/// The arguments with their tensors replaced by parameters, in the order in which CallReader lists operands.
torch::jit::Stack withParameters(const OpInfo &info, c10::ArrayRef<c10::IValue> args, std::vector<Value> &parameters) {
  auto replaced = [&](const Tensor &tensor) {
    if (!isXla(tensor) && tensor.unsafeGetTensorImpl()->is_wrapped_number())
      return tensor;
    parameters.push_back(tracing::parameter({dtypeOf(tensor.scalar_type()), tensor.sizes().vec()}));
    return wrap(parameters.back());
  };
  torch::jit::Stack stack;
  for (size_t i = 0; i < args.size(); ++i) {
    const c10::IValue &value = args[i];
    if (value.isTensor()) {
      stack.emplace_back(value.toTensor().defined() ? replaced(value.toTensor()) : Tensor());
    } else if (info.kinds[i] == ArgKind::TensorList) {
      c10::List<Tensor> list;
      for (const c10::IValue &item : value.toListRef())
        list.push_back(replaced(item.toTensor()));
      stack.emplace_back(std::move(list));
    } else if (info.kinds[i] == ArgKind::OptionalTensorList && value.isList()) {
      c10::List<std::optional<Tensor>> list;
      for (const c10::IValue &item : value.toListRef()) {
        bool isThere = !item.isNone() && item.toTensor().defined();
        list.push_back(isThere ? std::optional<Tensor>(replaced(item.toTensor())) : std::nullopt);
      }
      stack.emplace_back(std::move(list));
    } else {
      stack.push_back(value);
    }
  }
  return stack;
}

Captured captureDecomposition(const OpInfo &info, const c10::OperatorHandle &decomposition, std::string_view key,
                              c10::ArrayRef<c10::IValue> args) {
  Captured made;
  Capture state;
  struct Scope {
    Capture *outer = capture;
    explicit Scope(Capture *inner) { capture = inner; }
    ~Scope() { capture = outer; }
  };
  std::vector<Value> parameters, results;
  {
    Scope scope(&state);
    torch::jit::Stack stack = withParameters(info, args, parameters);
    const torch::jit::Stack given = stack;
    try {
      tracing::Metrics::get().count("DecomposedInPython");
      decomposition.callBoxed(stack);
    } catch (const std::exception &) {
      if (state.aborted)
        return made;
      throw;
    }
    auto add = [&](const Tensor &tensor) { results.push_back(shownValue(tensor)); };
    for (const c10::IValue &result : stack) {
      if (result.isTensor() && result.toTensor().defined()) {
        add(result.toTensor());
        made.layout.push_back(-2);
      } else if (result.isTensor() || result.isNone()) {
        results.push_back(node("millrace::zero", {}, {}, {runtime::DType::I1, {0}}));
        made.layout.push_back(-1);
      } else if (result.isTensorList()) {
        std::vector<Tensor> list = result.toTensorVector();
        for (const Tensor &tensor : list)
          add(tensor);
        made.layout.push_back(int(list.size()));
      } else {
        return made;
      }
    }
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i].isTensor() && given[i].toTensor().defined() && isXla(given[i].toTensor()))
        if (Value now = valueOf(given[i].toTensor()); !now.node->isParameter) {
          results.push_back(std::move(now));
          made.writes.push_back(i);
        }
  }
  if (state.aborted || results.empty())
    return made;
  made.randomKeys = state.randomKeys.size();
  for (Value &randomKey : state.randomKeys)
    parameters.push_back(std::move(randomKey));
  std::lock_guard lock(tracing::Session::get().mutex);
  std::string identity = info.name + std::string(key.substr(sizeof(void *))); // the rest is the same in all processes
  runtime::StatusOr<tracing::Composite> composite = tracing::makeComposite(info.name, identity, parameters, results);
  if (composite)
    made.composite = std::move(*composite);
  return made;
}

} // namespace

bool decomposeValues(const OpInfo &info, c10::ArrayRef<c10::IValue> args, Recorded &results) {
  // One that ends in the operator itself would not end.
  static thread_local std::vector<const OpInfo *> active;
  const std::optional<c10::OperatorHandle> &decomposition = decompositionOf(info);
  if (!decomposition || std::count(active.begin(), active.end(), &info) > 1)
    return false;
  CallReader call(info, /*numbersByValue=*/true);
  call.read(args);
  auto isComplex = [](const c10::IValue &value) { return value.isComplexDouble(); };
  if (!call.isPlain || std::any_of(args.begin(), args.end(), isComplex)) // numbers like these are no part of the key
    return false;
  const Captured *captured = Table::get().find(call.key());
  if (!captured) {
    if (info.composites >= mostComposites)
      return false;
    ++info.composites;
    active.push_back(&info);
    struct Leave {
      ~Leave() { active.pop_back(); }
    } leave;
    captured = Table::get().add(call.key(), captureDecomposition(info, *decomposition, call.key(), args));
  }
  if (!captured->composite.kind)
    return false;
  for (size_t i = 0; i < captured->randomKeys; ++i)
    call.operands.push_back(nextRandomKey());
  for (const Value &constant : captured->composite.constants)
    call.operands.push_back(constant);
  results = {tracing::record(captured->composite.kind, std::move(call.operands)).node, &captured->layout};
  uint32_t first = uint32_t(results.node->results.size() - captured->writes.size());
  for (size_t i = 0; i < captured->writes.size(); ++i)
    setValue(args[captured->writes[i]].toTensor(), {results.node, first + uint32_t(i)});
  return true;
}

bool runDecomposition(const OpInfo &info, torch::jit::Stack *stack) {
  static thread_local std::vector<const OpInfo *> active;
  const std::optional<c10::OperatorHandle> &decomposition = decompositionOf(info);
  if (!decomposition || std::find(active.begin(), active.end(), &info) != active.end())
    return false;
  active.push_back(&info);
  struct Leave {
    ~Leave() { active.pop_back(); }
  } leave;
  tracing::Metrics::get().count("DecomposedInPython");
  decomposition->callBoxed(*stack);
  return true;
}

void setDecomposer(void *callback) {
  Py_XDECREF(decomposer);
  decomposer = Py_NewRef(static_cast<PyObject *>(callback));
}

void route(const std::string &name) {
  static auto *library = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::XLA, __FILE__, __LINE__);
  library->impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&record>());
}

} // namespace millrace::torch_shim
