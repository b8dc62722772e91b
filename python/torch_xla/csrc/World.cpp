// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.cpp - Functions of _XLAC about the processes of the program ----===//
#include "python/torch_xla/csrc/Backend.h"
#include "python/torch_xla/csrc/Functions.h"
#include "tracing/graph/EmbeddedProgram.h"
#include "tracing/spmd/World.h"

#include <optional>
#include <torch/csrc/Exceptions.h>
#include <utility>

namespace millrace::torch_shim {
namespace {

using tracing::Session;
using tracing::World;
namespace transport = runtime::transport;

constexpr const char *interruptedText = "interrupted by a signal";

/// What Python's handler of a signal has raised on the main thread, until raiseInterrupt().
std::optional<python_error> &heldInterrupt() {
  static auto *held = new std::optional<python_error>;
  return *held;
}

/// Holds the error that Python has; what waits here ends. With the GIL.
runtime::Status interruption() {
  if (PyErr_Occurred()) {
    heldInterrupt().emplace();
    heldInterrupt()->persist();
  }
  return runtime::Status(runtime::Code::Cancelled, interruptedText);
}

/// Looks for signals, which Python handles on its main thread alone.
runtime::Status checkSignals() {
  if (!Py_IsInitialized())
    return {};
  WithGil locked;
  return PyErr_CheckSignals() ? interruption() : runtime::Status();
}

/// The error that Python has, as a status; it is cleared.
runtime::Status pythonError(const std::string &during) {
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
    return interruption();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  Ref kind = Ref::steal(type), what = Ref::steal(value), where = Ref::steal(trace);
  Ref said = Ref::steal(what.object ? PyObject_Str(what.object) : nullptr);
  const char *words = said.object ? PyUnicode_AsUTF8(said.object) : nullptr;
  PyErr_Clear();
  return runtime::Status(runtime::Code::Unavailable, during + ": " + (words && *words ? words : "unknown error"));
}

/// A store of Python: an object with put(key, value), get(key, seconds) and try_get(key), all of text.
class PythonStore final : public transport::Store {
public:
  explicit PythonStore(Ref object) : object(std::move(object)) {}
  ~PythonStore() override {
    WithGil locked;
    Ref last = std::move(object);
  }
  runtime::Status put(const std::string &key, std::string_view value) override {
    WithGil locked;
    Ref result = Ref::steal(PyObject_CallMethod(object.object, "put", "ss#", key.c_str(), value.data(), Py_ssize_t(value.size())));
    return result.object ? runtime::Status() : pythonError("the job's store");
  }
  runtime::StatusOr<std::string> get(const std::string &key, double seconds) override {
    WithGil locked;
    Ref result = Ref::steal(PyObject_CallMethod(object.object, "get", "sd", key.c_str(), seconds));
    Py_ssize_t size = 0;
    const char *text = result.object ? PyUnicode_AsUTF8AndSize(result.object, &size) : nullptr;
    if (!text)
      return pythonError("the job's store");
    return std::string(text, size_t(size));
  }

  std::optional<std::string> tryGet(const std::string &key) override {
    WithGil locked;
    Ref result = Ref::steal(PyObject_CallMethod(object.object, "try_get", "s", key.c_str()));
    Py_ssize_t size = 0;
    const char *text = result.object && result.object != Py_None ? PyUnicode_AsUTF8AndSize(result.object, &size) : nullptr;
    if (PyErr_Occurred())
      failure = pythonError("the job's store");
    return text ? std::optional<std::string>(std::string(text, size_t(size))) : std::nullopt;
  }

  runtime::Status interrupted() override { return failure.ok() ? checkSignals() : failure; }

private:
  Ref object;
  runtime::Status failure; ///< of tryGet()
};

/// _world() -> (rank, size, rank on this host, size of this host)
PyObject *world(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    World place = valueOrRaise(Session::world());
    return Py_BuildValue("IIII", place.rank, place.size, place.localRank, place.localSize);
  });
}

/// _has_started() -> whether the device was used, which settles the world
PyObject *hasStarted(PyObject *, PyObject *) { return PyBool_FromLong(Session::hasStarted()); }

/// _left_mark() -> (key, value) that tell the other processes that this one will not come
PyObject *leftMark(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    return Py_BuildValue("ss", transport::keyOf(valueOrRaise(Session::world()).rank).c_str(), std::string(transport::leftMark).c_str());
  });
}

PyObject *isConnected(PyObject *, PyObject *) { return PyBool_FromLong(Session::isConnected()); }

/// _set_store_maker(make): make() -> an object with put(key, value) and get(key, seconds)
PyObject *setStoreMaker(PyObject *, PyObject *make) {
  auto *kept = new Ref(make); // as long as the process
  Session::setInterruptCheck(checkSignals);
  tracing::setStoreMaker([kept]() -> runtime::StatusOr<std::unique_ptr<transport::Store>> {
    WithGil locked;
    Ref made = Ref::steal(PyObject_CallNoArgs(kept->object));
    if (!made.object)
      return pythonError("the processes cannot find each other");
    return std::unique_ptr<transport::Store>(new PythonStore(std::move(made)));
  });
  Py_RETURN_NONE;
}

PyObject *connect(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    connectWorld();
    Py_RETURN_NONE;
  });
}

/// _slices() -> per process the number of its slice; connects
PyObject *slices(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    const World place = valueOrRaise(Session::world());
    std::vector<uint32_t> numbers(1);
    if (place.size > 1) {
      connectWorld();
      numbers = tracing::slicesOf(*Session::get().client()->options().processes);
    }
    PyObject *list = PyList_New(Py_ssize_t(numbers.size()));
    for (size_t i = 0; i < numbers.size(); ++i)
      PyList_SET_ITEM(list, Py_ssize_t(i), PyLong_FromUnsignedLong(numbers[i]));
    return list;
  });
}

/// _is_awaited() -> whether other processes may still read tensors of which this one has parts
PyObject *isAwaited(PyObject *, PyObject *) { return PyBool_FromLong(Session::isAwaited()); }

/// _loss() -> why a process that this one is connected with will not come any more, or ""
PyObject *loss(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    const runtime::Status status = Session::loss();
    return PyUnicode_FromString(status.ok() ? "" : std::string(status.message()).c_str());
  });
}

/// _leave_world(reason, "" if it is none) -> an error that nobody has been told of, or ""
PyObject *leave(PyObject *, PyObject *reason) {
  return guarded([&]() -> PyObject * {
    const char *text = PyUnicode_AsUTF8(reason);
    if (!text)
      return nullptr;
    const std::string failure = text;
    runtime::Status status;
    {
      WithoutGil released;
      status = Session::leave(failure);
    }
    return PyUnicode_FromString(status.ok() ? "" : std::string(status.message()).c_str());
  });
}

/// _exchange(name, text, tensors) -> results
PyObject *exchange(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *name, *program;
    Py_ssize_t size;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "ss#O", &name, &program, &size, &list))
      return nullptr;
    connectWorld();
    std::vector<Value> values = shownValuesOf(list);
    return wrapAllLike(list, valueOrRaise(tracing::embedProgram(name, std::string(program, size_t(size)), values, /*meetsOthers=*/true)));
  });
}

} // namespace

void raiseInterrupt(const runtime::Status &status) {
  if (status.code() != runtime::Code::Cancelled || status.message().find(interruptedText) == std::string::npos)
    return;
  WithGil locked;
  if (std::optional<python_error> held = std::exchange(heldInterrupt(), std::nullopt))
    throw std::move(*held);
}

/// The store takes the GIL, which others may have while they wait for the session's mutex.
void connectWorld() {
  if (Session::isConnected()) // at every collective but the first: others would take the GIL
    return;
  runtime::Status status;
  if (Py_IsInitialized() && PyGILState_Check()) {
    WithoutGil released;
    status = Session::get().connect();
  } else {
    status = Session::get().connect();
  }
  if (!status.ok())
    raise(status);
}

PyMethodDef worldMethods[] = {
    {"_world", world, METH_NOARGS, "(rank, size, rank on this host, size of this host) of this process."},
    {"_has_started", hasStarted, METH_NOARGS, "Whether the device was used, which settles the world."},
    {"_is_connected", isConnected, METH_NOARGS, "Whether the processes of the world are connected."},
    {"_left_mark", leftMark, METH_NOARGS, "(key, value) for the store: this process will not come."},
    {"_set_store_maker", setStoreMaker, METH_O, "What makes the store that the processes find each other through."},
    {"_connect_world", connect, METH_NOARGS, "Waits until the processes of the world are connected."},
    {"_slices", slices, METH_NOARGS, "The slice that each process belongs to; waits until they are connected."},
    {"_is_awaited", isAwaited, METH_NOARGS, "Whether other processes may still read what this one holds."},
    {"_loss", loss, METH_NOARGS, "Why a process that this one is connected with will not come any more, or \"\"."},
    {"_leave_world", leave, METH_O, "Takes leave of the other processes, for a reason or \"\"."},
    {"_exchange", exchange, METH_VARARGS, "Records StableHLO text as one operation that other processes take part in."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
