// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PythonCallback.cpp - Programs that call Python functions ------------===//
#include "runtime/ffi/PythonCallback.h"
#include "runtime/kernels/CustomCall.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace millrace::runtime::ffi {
namespace {

constexpr const char *target = "millrace_python_callback";

/// The registered functions, and the number of threads that are inside them.
struct Interpreter {
  std::mutex mutex;
  std::condition_variable left;
  millrace_python_call *call = nullptr; ///< this and the following members are guarded by mutex
  millrace_python_hold *hold = nullptr;
  int inside = 0;
  static Interpreter &get() {
    static Interpreter *interpreter = new Interpreter;
    return *interpreter;
  }
};

/// Counts a thread as inside for its lifetime, in which it may call a function. The mutex is not held meanwhile: the function takes the interpreter's
/// lock.
class Visit {
public:
  Visit() {
    Interpreter &interpreter = Interpreter::get();
    std::lock_guard lock(interpreter.mutex);
    call = interpreter.call, hold = interpreter.hold;
    ++interpreter.inside;
  }
  Visit(const Visit &) = delete;
  ~Visit() {
    Interpreter &interpreter = Interpreter::get();
    std::lock_guard lock(interpreter.mutex);
    if (--interpreter.inside == 0)
      interpreter.left.notify_all();
  }
  millrace_python_call *call;
  millrace_python_hold *hold;
};

Status noPython() {
  return failedPrecondition("Python is not there (any more): the function of this callback cannot be called");
}

/// Keeps the Python function alive while a loaded program may call it.
class Hold {
public:
  explicit Hold(int64_t index) : index(index) {}
  Hold(const Hold &) = delete;
  ~Hold() {
    Visit python;
    if (held && python.hold)
      python.hold(index, -1);
  }
  Status take() {
    Visit python;
    if (!python.hold)
      return noPython();
    if (!python.hold(index, 1))
      return notFound("there is no Python function with the number " + std::to_string(index) +
                      "; a program with callbacks runs only in the process that has compiled it");
    held = true;
    return Status();
  }

private:
  const int64_t index;
  bool held = false;
};

std::vector<millrace_python_tensor> tensorsOf(const std::vector<TensorView> &views) {
  std::vector<millrace_python_tensor> tensors;
  for (const TensorView &view : views)
    tensors.push_back({view.data, int32_t(view.dtype), int32_t(view.dims.size()), view.dims.data()});
  return tensors;
}

Status run(int64_t index, const CustomCall &call) {
  Visit python;
  if (!python.call)
    return noPython();
  std::vector<millrace_python_tensor> arguments = tensorsOf(call.arguments), results = tensorsOf(call.results);
  std::string message(16384, '\0');
  int code = python.call(index, arguments.data(), int64_t(arguments.size()), results.data(), int64_t(results.size()),
                         message.data(), int64_t(message.size()));
  if (code == 0)
    return Status();
  message.resize(message.find('\0') == std::string::npos ? message.size() : message.find('\0'));
  return internalError("the Python callback failed: " + message);
}

StatusOr<CustomCallHandler> instantiate(const CustomCallStep &step) {
  auto attribute = std::find_if(step.attributes.begin(), step.attributes.end(),
                                [](const Attribute &a) { return a.name == "index"; });
  if (attribute == step.attributes.end() || attribute->ints.size() != 1)
    return invalidArgument("custom call '" + step.target + "' has no integer attribute 'index'");
  int64_t index = attribute->ints[0];
  auto hold = std::make_shared<Hold>(index);
  if (Status status = hold->take(); !status.ok())
    return status;
  return CustomCallHandler([hold, index](const CustomCall &call) { return run(index, call); });
}

} // namespace

void setPythonCallbacks(millrace_python_call *call, millrace_python_hold *hold) {
  registerCustomCallFactory(target, instantiate);
  Interpreter &interpreter = Interpreter::get();
  std::unique_lock lock(interpreter.mutex);
  interpreter.call = call, interpreter.hold = hold;
  if (!call)
    interpreter.left.wait_for(lock, std::chrono::seconds(10), [&] { return interpreter.inside == 0; });
}

} // namespace millrace::runtime::ffi
