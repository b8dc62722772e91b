// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Module.cpp - torch_xla._XLAC ----------------------------------------===//
// What Python calls.
#include "python/torch_xla/csrc/Ending.h"
#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Ir.h"
#include "python/torch_xla/csrc/Kineto.h"
#include "python/torch_xla/csrc/Sharding.h"
#include "tracing/programs/Compile.h"
#include "tracing/programs/Executions.h"
#include "tracing/reports/Places.h"

#include <torch/version.h>

namespace millrace::torch_shim {
namespace {

PyObject *sync(PyObject *, PyObject *wait) {
  return guarded([&]() -> PyObject * {
    bool isWaiting = PyObject_IsTrue(wait);
    {
      WithoutGil released;
      syncAll();
      if (isWaiting) {
        runtime::Status status = tracing::Session::get().wait();
        if (!status.ok())
          raise(status);
      }
      tellTorchOfMemory();
    }
    Py_RETURN_NONE;
  });
}

PyObject *waitAll(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    runtime::Status status;
    {
      WithoutGil released;
      status = tracing::Session::get().wait();
    }
    tellTorchOfMemory();
    if (!status.ok())
      raise(status);
    Py_RETURN_NONE;
  });
}

PyObject *syncTensors(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *list;
    int onlyGivenUp = 0;
    if (!PyArg_ParseTuple(args, "O|p", &list, &onlyGivenUp))
      return nullptr;
    const tracing::Donors donors = onlyGivenUp ? tracing::Donors::GivenUp : tracing::Donors::Any;
    withValues(list, [&](std::vector<Value> values) {
      return tracing::Session::get().sync(std::move(values), tracing::Roots::Some, donors);
    });
    Py_RETURN_NONE;
  });
}

PyObject *hloTextOf(PyObject *, PyObject *list) {
  return guarded([&]() -> PyObject * {
    return text(withValues(list, [](const std::vector<Value> &values) {
      return tracing::hloText(valueOrRaise(tracing::Session::get().programText(values)));
    }));
  });
}

PyObject *counters(PyObject *, PyObject *) {
  PyObject *made = PyDict_New();
  for (const auto &[name, value] : tracing::Metrics::get().counters()) {
    PyObject *number = PyLong_FromLongLong(value);
    PyDict_SetItemString(made, name.c_str(), number);
    Py_DECREF(number);
  }
  return made;
}

/// {(what, "file:line"): how often}
PyObject *countedPlacesPy(PyObject *, PyObject *) {
  PyObject *made = PyDict_New();
  for (const auto &[key, count] : tracing::countedPlaces()) {
    PyObject *name = Py_BuildValue("(ss)", key.first.c_str(), key.second.c_str());
    PyObject *number = PyLong_FromLongLong(count);
    PyDict_SetItem(made, name, number);
    Py_DECREF(name);
    Py_DECREF(number);
  }
  return made;
}

/// {name: (total samples, accumulated, [(seconds, value), ...])}
PyObject *samples(PyObject *, PyObject *) {
  PyObject *made = PyDict_New();
  for (const auto &[name, data] : tracing::samplesNow()) {
    PyObject *recent = PyList_New(0);
    for (auto [when, value] : data.recent) {
      PyObject *pair = Py_BuildValue("(dd)", when, value);
      PyList_Append(recent, pair);
      Py_DECREF(pair);
    }
    PyObject *entry = Py_BuildValue("(KdN)", (unsigned long long)data.total, data.accumulated, recent);
    PyDict_SetItemString(made, name.c_str(), entry);
    Py_DECREF(entry);
  }
  return made;
}

PyObject *clearCounters(PyObject *, PyObject *) {
  tracing::Metrics::get().clearCounters();
  Py_RETURN_NONE;
}
PyObject *clearMetrics(PyObject *, PyObject *) {
  tracing::clearSamplesNow();
  Py_RETURN_NONE;
}
PyObject *compilations(PyObject *, PyObject *) {
  return PyLong_FromUnsignedLongLong(tracing::Session::get().compilations());
}

PyObject *setSeed(PyObject *, PyObject *value) {
  unsigned long long seed = PyLong_AsUnsignedLongLongMask(value);
  if (PyErr_Occurred())
    return nullptr;
  seedRandom(seed);
  Py_RETURN_NONE;
}
PyObject *beginSeedPy(PyObject *, PyObject *value) {
  unsigned long long seed = PyLong_AsUnsignedLongLongMask(value);
  if (PyErr_Occurred())
    return nullptr;
  beginSeed(seed);
  Py_RETURN_NONE;
}
PyObject *endSeedPy(PyObject *, PyObject *) {
  endSeed();
  Py_RETURN_NONE;
}
PyObject *getRandomState(PyObject *, PyObject *) {
  auto [seed, offset] = randomState();
  return Py_BuildValue("(KK)", (unsigned long long)seed, (unsigned long long)offset);
}
PyObject *setRandomStatePy(PyObject *, PyObject *args) {
  unsigned long long seed, offset;
  if (!PyArg_ParseTuple(args, "KK", &seed, &offset))
    return nullptr;
  setRandomState(seed, offset);
  Py_RETURN_NONE;
}

PyObject *initializeCache(PyObject *, PyObject *args) {
  const char *folder;
  int readOnly;
  if (!PyArg_ParseTuple(args, "sp", &folder, &readOnly))
    return nullptr;
  return guarded([&]() -> PyObject * {
    runtime::Status status = tracing::Session::get().setCacheFolder(folder, readOnly);
    if (!status.ok())
      raise(status);
    Py_RETURN_NONE;
  });
}

PyObject *watchFramesPy(PyObject *, PyObject *list) {
  std::vector<std::string> folders;
  PyObject *fast = PySequence_Fast(list, "expects a list of folders");
  if (!fast)
    return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
    if (const char *text = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(fast, i)))
      folders.push_back(text);
  Py_DECREF(fast);
  if (PyErr_Occurred())
    return nullptr;
  watchFrames(std::move(folders));
  Py_RETURN_NONE;
}
/// "file:line" of the operation that a tensor was recorded by; "" once it was computed or if nothing is known.
PyObject *placeOf(PyObject *, PyObject *tensor) {
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(isTensor(tensor) && isXla(tensorIn(tensor)), "expects a tensor of the xla device");
    return text(tracing::placeOf(valueOf(tensorIn(tensor)).node->origin).toString());
  });
}

PyObject *setSyncCausePy(PyObject *, PyObject *cause) {
  const char *text = cause == Py_None ? "" : PyUnicode_AsUTF8(cause);
  if (!text)
    return nullptr;
  tracing::setSyncCause(text);
  Py_RETURN_NONE;
}

PyObject *setDecomposerPy(PyObject *, PyObject *callback) {
  setDecomposer(callback);
  Py_RETURN_NONE;
}
PyObject *routePy(PyObject *, PyObject *name) {
  return guarded([&]() -> PyObject * {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text)
      return nullptr;
    route(text);
    Py_RETURN_NONE;
  });
}

PyObject *beginEndingPy(PyObject *, PyObject *) {
  beginEnding();
  Py_RETURN_NONE;
}

PyObject *opNames(PyObject *, PyObject *) {
  PyObject *made = PyList_New(0);
  for (const std::string &name : tracing::opNames()) {
    PyObject *text = PyUnicode_FromString(name.c_str());
    PyList_Append(made, text);
    Py_DECREF(text);
  }
  return made;
}

PyMethodDef methods[] = {
    {"_sync", sync, METH_O, "Cuts the graph: compiles and enqueues everything pending; waits if the argument is true."},
    {"_wait", waitAll, METH_NOARGS, "Waits for everything enqueued."},
    {"_xla_sync_multi", syncTensors, METH_VARARGS,
     "(tensors, onlyGivenUp=False): compiles and enqueues what these tensors need; donates only what the user gave up, if told so."},
    {"_hlo", hloTextOf, METH_O, "HLO text of a list of tensors."},
    {"_counters", counters, METH_NOARGS, ""},
    {"_counted_places", countedPlacesPy, METH_NOARGS,
     "{(what, file:line): count} of compilations (compile), values that were read (read) and operators on the CPU (aten::name), under PT_XLA_DEBUG."},
    {"_samples", samples, METH_NOARGS, ""},
    {"_clear_counters", clearCounters, METH_NOARGS, ""},
    {"_clear_metrics", clearMetrics, METH_NOARGS, ""},
    {"_compilations", compilations, METH_NOARGS, "Programs compiled by this process so far."},
    {"_set_seed", setSeed, METH_O, ""},
    {"_begin_seed", beginSeedPy, METH_O, "Until _end_seed() this thread's random numbers depend on that seed only."},
    {"_end_seed", endSeedPy, METH_NOARGS, ""},
    {"_rng_state", getRandomState, METH_NOARGS, ""},
    {"_set_rng_state", setRandomStatePy, METH_VARARGS, ""},
    {"_initialize_cache", initializeCache, METH_VARARGS, ""},
    {"_watch_frames", watchFramesPy, METH_O, "Nodes carry the user's place from now on; code in these folders is not the user's."},
    {"_place", placeOf, METH_O, "file:line of the operation that recorded a tensor."},
    {"_set_sync_cause", setSyncCausePy, METH_O,
     "What PT_XLA_DEBUG reports as the cause of what this thread runs from now on; None: what the functions say."},
    {"_set_decomposer", setDecomposerPy, METH_O, "Who registers PyTorch's decomposition of an operator, by its name."},
    {"_route", routePy, METH_O, "Records an operator that PyTorch has a kernel for."},
    {"_begin_ending", beginEndingPy, METH_NOARGS, "The interpreter ends: other threads stay in the device's operators from now on."},
    {"_op_names", opNames, METH_NOARGS, "Operators that are emitted as StableHLO."},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_XLAC", "Millrace's lazy tensors for PyTorch.", -1, methods,
                          nullptr, nullptr, nullptr, nullptr};

} // namespace
} // namespace millrace::torch_shim

extern "C" __attribute__((visibility("default"))) PyObject *PyInit__XLAC() {
  PyObject *module = PyModule_Create(&millrace::torch_shim::definition);
  if (!module || !millrace::torch_shim::addCompiledType(module) ||
      PyModule_AddFunctions(module, millrace::torch_shim::controlFlowMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::exportMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::apiMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::irMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::profileMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::warmGraphMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::graphLimitMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::worldMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::backendMethods) < 0 ||
      PyModule_AddFunctions(module, millrace::torch_shim::shardingMethods) < 0)
    return nullptr;
  PyModule_AddStringConstant(module, "_built_for_torch", TORCH_VERSION);
  return module;
}
