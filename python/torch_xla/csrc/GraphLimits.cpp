// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GraphLimits.cpp - The functions whose graphs are counted ------------===//
// torch_xla.compile(f, max_different_graphs=n): a session per function, which lives from call to call (GraphLimit.h). While a call is
// active, every operation that is recorded, on whatever thread (the backward pass has one of its own), is a step of it.
#include "python/torch_xla/csrc/GraphLimits.h"

#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Trace.h"
#include "tracing/graph/GraphLimit.h"
#include "tracing/graph/IrText.h"

#include <algorithm>

namespace millrace::torch_shim {
namespace {

using tracing::Digest;
using tracing::Node;

struct FunctionGraphs {
  std::string name;
  tracing::GraphLimit limit;
  std::unordered_map<const Node *, uint32_t> numbers; ///< of what this call has recorded
  uint32_t steps = 0;
};

std::mutex graphsMutex;
std::unordered_map<std::string, std::unique_ptr<FunctionGraphs>> functionGraphs; // guarded by graphsMutex, as the others
std::vector<FunctionGraphs *> activeGraphs;
size_t mostGraphs = 1;
std::string limitError; ///< what is still to be raised
std::atomic<bool> hasLimitError{false};

/// The operation, and which of its operands are results of which earlier ones. What an input is does not count, but its type does.
Digest digestOfStep(const FunctionGraphs &session, const Node &node) {
  std::string content;
  auto add = [&](uint64_t number) { content.append(reinterpret_cast<const char *>(&number), sizeof number); };
  add(node.kind->digest.low);
  add(node.kind->digest.high);
  for (const Value &operand : node.operands) {
    auto known = operand.node->isLeaf() ? session.numbers.end() : session.numbers.find(operand.node.get());
    if (known != session.numbers.end()) {
      add(uint64_t(known->second) << 32 | operand.index);
      continue;
    }
    add(~uint64_t(operand.node->isWeak));
    content += operand.shape().toString();
  }
  return Digest::of(content);
}

void noteStep(const Value &value) {
  const Node &node = *value.node;
  std::lock_guard lock(graphsMutex);
  for (size_t i = activeGraphs.size(); i-- > 0;) {
    FunctionGraphs &session = *activeGraphs[i];
    if (capture || !traceScopes().empty()) { // a definition, which is recorded once for all calls
      session.numbers.erase(&node);
      continue;
    }
    std::optional<std::string> problem = session.limit.add(digestOfStep(session, node), [&] {
      return tracing::shownName(node) + ", " + tracing::shapeText(node.results[0]);
    });
    session.numbers[&node] = session.steps++;
    if (!problem)
      continue;
    limitError = session.name + ": " + *problem;
    hasLimitError = true;
    activeGraphs.erase(activeGraphs.begin() + long(i));
  }
  if (activeGraphs.empty())
    tracing::setRecordObserver(nullptr);
}

PyObject *startSession(PyObject *, PyObject *args) {
  const char *id, *name = nullptr;
  if (!PyArg_ParseTuple(args, "s|s", &id, &name))
    return nullptr;
  return guarded([&]() -> PyObject * {
    std::lock_guard lock(graphsMutex);
    std::unique_ptr<FunctionGraphs> &session = functionGraphs[id];
    if (!session)
      session.reset(new FunctionGraphs{name ? name : id, tracing::GraphLimit(mostGraphs), {}});
    const bool isActive = std::find(activeGraphs.begin(), activeGraphs.end(), session.get()) != activeGraphs.end();
    TORCH_CHECK(!isActive, "expects a function that is not active, but ", session->name, " calls itself: its graphs cannot be counted");
    session->numbers.clear();
    session->steps = 0;
    session->limit.begin();
    activeGraphs.push_back(session.get());
    tracing::setRecordObserver(noteStep);
    Py_RETURN_NONE;
  });
}

/// (isAbandoned=False, id): the call of that function, otherwise the one that began last, is over; one that was abandoned counts as no graph.
PyObject *endSession(PyObject *, PyObject *args) {
  int isAbandoned = 0;
  const char *id = nullptr;
  if (!PyArg_ParseTuple(args, "|ps", &isAbandoned, &id))
    return nullptr;
  return guarded([&]() -> PyObject * {
    {
      std::lock_guard lock(graphsMutex);
      auto ended = id ? std::find_if(activeGraphs.begin(), activeGraphs.end(),
                                     [&](const FunctionGraphs *session) { return session == functionGraphs[id].get(); })
                      : activeGraphs.end() - !activeGraphs.empty();
      if (ended != activeGraphs.end()) { // it is not, if it had one operation too many
        FunctionGraphs &session = **ended;
        activeGraphs.erase(ended);
        session.numbers.clear();
        std::optional<std::string> problem = isAbandoned ? std::nullopt : session.limit.end();
        session.limit.abandon();
        if (problem) {
          limitError = session.name + ": " + *problem;
          hasLimitError = true;
        }
      }
      if (activeGraphs.empty())
        tracing::setRecordObserver(nullptr);
      if (isAbandoned)
        hasLimitError = false;
    }
    checkGraphLimits();
    Py_RETURN_NONE;
  });
}

PyObject *removeSession(PyObject *, PyObject *id) {
  return guarded([&]() -> PyObject * {
    const char *text = PyUnicode_AsUTF8(id);
    if (!text)
      return nullptr;
    std::lock_guard lock(graphsMutex);
    auto found = functionGraphs.find(text);
    if (found == functionGraphs.end())
      Py_RETURN_NONE;
    std::erase(activeGraphs, found->second.get());
    functionGraphs.erase(found);
    Py_RETURN_NONE;
  });
}

PyObject *setMost(PyObject *, PyObject *number) {
  const long long wanted = PyLong_AsLongLong(number);
  if (PyErr_Occurred())
    return nullptr;
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(wanted > 0, "expects a number of graphs from 1 on, but got ", wanted);
    std::lock_guard lock(graphsMutex);
    mostGraphs = size_t(wanted);
    Py_RETURN_NONE;
  });
}

PyObject *getMost(PyObject *, PyObject *) {
  std::lock_guard lock(graphsMutex);
  return PyLong_FromSize_t(mostGraphs);
}

} // namespace

void checkGraphLimits() {
  if (!hasLimitError.load(std::memory_order_relaxed))
    return;
  std::string text;
  {
    std::lock_guard lock(graphsMutex);
    if (!hasLimitError.exchange(false))
      return;
    text = std::move(limitError);
  }
  TORCH_CHECK(false, text);
}

PyMethodDef graphLimitMethods[] = {
    {"_dynamic_shape_detector_start_session", startSession, METH_VARARGS,
     "(id, name): a call of a function begins, whose graphs are counted; the limit is the one at its first call."},
    {"_dynamic_shape_detector_end_session", endSession, METH_VARARGS, "(isAbandoned=False, id): a call of a function is over."},
    {"_dynamic_shape_detector_remove_session", removeSession, METH_O, "Forgets the graphs of a function."},
    {"_dynamic_shape_detector_set_max_different_graphs", setMost, METH_O, "How many graphs functions may have that are called from now on."},
    {"_dynamic_shape_detector_get_max_different_graphs", getMost, METH_NOARGS, ""},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
