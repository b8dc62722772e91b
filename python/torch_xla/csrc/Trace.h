// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trace.h - Functions that are recorded, not run ----------------------===//
// While Python traces a function (a graph of torch.compile, the body of a loop), its arguments are stand-ins: a value
// that is read, or an operator that runs on the CPU, would become a constant of the program. So they are refused.
#pragma once
#ifndef PY_SSIZE_T_CLEAN // before the first Python.h of a file
#define PY_SSIZE_T_CLEAN
#endif
#include "python/torch_xla/csrc/Shim.h"
#include "tracing/graph/ControlFlow.h"

#include <Python.h>

namespace millrace::torch_shim {

struct TraceScope {
  enum Kind { Graph, Loop, Branch } kind = Graph;
  std::vector<Tensor> standIns;  ///< one per storage of an argument
  std::vector<Value> inputs;     ///< their values before anything was recorded
  std::vector<Value> randomKeys; ///< drawn in a Graph
  Value loopKey;                 ///< of a Loop: what it draws from
  int64_t drawn = 0;
  std::string refused;           ///< what cannot be traced
  const uint64_t id = nextSerial();
  bool isActive = false;
  TraceScope();
  ~TraceScope();
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;
};

void enterTrace(TraceScope &scope);
/// Does nothing for one that is left already.
void leaveTrace(TraceScope &scope);
/// Of the innermost scope of this thread; 0 if there is none.
uint64_t currentTrace();
/// Some thread traces a function, or holds what it traced: values that cannot be computed.
bool isAnythingTraced();

/// The scopes of this thread, innermost last.
std::vector<TraceScope *> &traceScopes();
/// Raises if this thread traces a function; remembers `what` as the reason.
void refuseInTrace(const std::string &what);
/// A random key as the innermost traced function draws it; empty if that is no business of a trace.
Value keyInTrace();

/// Eager mode: every operation runs at once.
bool isEager();
void setEager(bool enabled);
/// Around the kernel of an operator: what it makes runs when the outermost one ends, as one program.
class EagerScope {
public:
  EagerScope() { ++depth; }
  ~EagerScope() { --depth; }
  static bool isInside() { return depth > 0; }
  static bool isOutermost() { return depth == 1; }

private:
  static thread_local int depth;
};
/// In eager mode, and while nothing is traced: runs what the values need.
void runIfEager(std::vector<Value> values);
/// The same for the last `count` values of the stack.
void runIfEager(const torch::jit::Stack &stack, size_t count);

} // namespace millrace::torch_shim
