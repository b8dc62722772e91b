// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Export.cpp - Graphs as text, artifacts and programs, from Python ----===//
#include "python/torch_xla/csrc/Functions.h"
#include "tracing/graph/CustomCall.h"
#include "tracing/graph/EmbeddedProgram.h"
#include "tracing/graph/Export.h"
#include "tracing/programs/Compile.h"
#include "tracing/programs/ConstantProgram.h"
#include "tracing/sizes/DynamicShapes.h"

#include <torch/csrc/Dtype.h>

namespace millrace::torch_shim {
namespace {

constexpr const char *kProgram = "torch_xla.Program", *kBoundProgram = "torch_xla.BoundProgram";
using Program = tracing::ConstantProgram;

PyObject *bytes(const std::string &value) { return PyBytes_FromStringAndSize(value.data(), Py_ssize_t(value.size())); }

/// The program of these tensors, of everything pending for None.
std::string programOf(PyObject *list) {
  std::vector<Value> values = list == Py_None ? pendingValues() : valuesOf(list);
  WithoutGil released;
  return valueOrRaise(tracing::Session::get().programText(values));
}

PyObject *tensorsStablehlo(PyObject *, PyObject *list) {
  return guarded([&] { return text(programOf(list)); });
}
PyObject *tensorsBytecode(PyObject *, PyObject *list) {
  return guarded([&] { return bytes(valueOrRaise(tracing::portableArtifact(programOf(list), "current"))); });
}

/// _artifact(text, version) -> bytes
PyObject *artifact(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *program, *version;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "s#s", &program, &size, &version))
      return nullptr;
    return bytes(valueOrRaise(tracing::portableArtifact(std::string(program, size_t(size)), version)));
  });
}
/// _artifact_text(bytes) -> text
PyObject *artifactText(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(object, &data, &size))
      return nullptr;
    return text(valueOrRaise(tracing::artifactText(std::string(data, size_t(size)))));
  });
}

/// A sum of products of symbols: a list of (factor, [symbol, ...]).
tracing::SizeExpr sizeExprOf(PyObject *list) {
  TORCH_CHECK(PyList_Check(list), "expects a list of terms");
  tracing::SizeExpr made;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    long long factor;
    PyObject *symbols;
    TORCH_CHECK(PyArg_ParseTuple(PyList_GET_ITEM(list, i), "LO!", &factor, &PyList_Type, &symbols), "expects (factor, symbols)");
    tracing::SizeExpr::Term &term = made.terms.emplace_back();
    term.factor = factor;
    for (Py_ssize_t s = 0; s < PyList_GET_SIZE(symbols); ++s)
      term.symbols.push_back(uint32_t(PyLong_AsUnsignedLong(PyList_GET_ITEM(symbols, s))));
  }
  return made;
}

/// _generalize(texts, samples, symbols) -> text. samples: values of the symbols in each; symbols: (parameter, dim, factor, offset), or
/// ("quotient" or "remainder", dividend, divisor), each of these a sum of products of symbols before it
PyObject *generalize(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *texts, *samples, *symbols;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &texts, &PyList_Type, &samples, &PyList_Type, &symbols))
      return nullptr;
    auto integers = [](PyObject *sequence) {
      std::vector<int64_t> made;
      PyObject *fast = PySequence_Fast(sequence, "expects integers");
      TORCH_CHECK(fast, "expects integers");
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
        made.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast, i)));
      Py_DECREF(fast);
      return made;
    };
    std::vector<std::string> programs;
    std::vector<std::vector<int64_t>> values;
    std::vector<tracing::SizeSymbol> sizes;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(texts); ++i)
      programs.emplace_back(PyUnicode_AsUTF8(PyList_GET_ITEM(texts, i)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(samples); ++i)
      values.push_back(integers(PyList_GET_ITEM(samples, i)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(symbols); ++i) {
      PyObject *symbol = PyList_GET_ITEM(symbols, i), *dividend, *divisor;
      const char *kind;
      if (PyTuple_Check(symbol) && PyTuple_GET_SIZE(symbol) == 3) {
        if (!PyArg_ParseTuple(symbol, "sOO", &kind, &dividend, &divisor))
          return nullptr;
        tracing::SizeSymbol &made = sizes.emplace_back();
        made.kind = std::string_view(kind) == "quotient" ? tracing::SizeSymbol::Kind::Quotient : tracing::SizeSymbol::Kind::Remainder;
        made.dividend = sizeExprOf(dividend);
        made.divisor = sizeExprOf(divisor);
        continue;
      }
      std::vector<int64_t> parts = integers(symbol);
      TORCH_CHECK(parts.size() == 4, "a symbol has four numbers");
      sizes.push_back({tracing::SizeSymbol::Kind::Size, size_t(parts[0]), parts[1], parts[2], parts[3]});
    }
    std::string made;
    {
      WithoutGil released;
      made = valueOrRaise(tracing::generalize(programs, values, sizes));
    }
    return text(made);
  });
}

/// _row_program(texts, samples, constants) -> text. samples: the number of rows in each, the largest last; `constants[i]`: calls are expected to pass
/// the same parameter i again and again.
PyObject *rowProgram(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *texts, *samples, *constants;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &texts, &PyList_Type, &samples, &PyList_Type, &constants))
      return nullptr;
    TORCH_CHECK(PyList_GET_SIZE(texts) == PyList_GET_SIZE(samples) && PyList_GET_SIZE(texts) > 1, "expects as many samples as texts");
    std::vector<std::string> programs;
    std::vector<int64_t> rows;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(texts); ++i) {
      const char *program = PyUnicode_AsUTF8(PyList_GET_ITEM(texts, i));
      TORCH_CHECK(program, "expects texts");
      programs.emplace_back(program);
      rows.push_back(PyLong_AsLongLong(PyList_GET_ITEM(samples, i)));
    }
    std::vector<bool> areConstant;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(constants); ++i)
      areConstant.push_back(PyList_GET_ITEM(constants, i) == Py_True);
    std::string made;
    {
      WithoutGil released;
      made = valueOrRaise(tracing::rowProgram(programs, rows, areConstant));
    }
    return text(made);
  });
}

/// _custom_call(tensors, target, shapes, types, hasSideEffect, backendConfig, apiVersion, {name: value}) -> results
PyObject *customCall(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *list, *shapes, *types, *frontend;
    const char *target, *config;
    int hasSideEffect, apiVersion;
    if (!PyArg_ParseTuple(args, "OsO!O!psiO!", &list, &target, &PyList_Type, &shapes, &PyList_Type, &types, &hasSideEffect,
                          &config, &apiVersion, &PyDict_Type, &frontend))
      return nullptr;
    tracing::CustomCall call{target, {}, hasSideEffect != 0, config, apiVersion, {}};
    TORCH_CHECK(PyList_GET_SIZE(shapes) == PyList_GET_SIZE(types), "expects as many types as shapes");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(shapes); ++i) {
      Shape shape;
      TORCH_CHECK(THPDtype_Check(PyList_GET_ITEM(types, i)), "expects a torch.dtype");
      shape.dtype = dtypeOf(reinterpret_cast<THPDtype *>(PyList_GET_ITEM(types, i))->scalar_type);
      PyObject *sizes = PyList_GET_ITEM(shapes, i);
      TORCH_CHECK(PyTuple_Check(sizes), "expects a tuple of sizes");
      for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(sizes); ++d)
        shape.dims.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, d)));
      call.results.push_back(std::move(shape));
    }
    PyObject *name, *value;
    for (Py_ssize_t at = 0; PyDict_Next(frontend, &at, &name, &value);)
      call.frontendAttributes.emplace_back(PyUnicode_AsUTF8(name), PyUnicode_AsUTF8(value));
    if (PyErr_Occurred())
      return nullptr;
    return wrapAllLike(list, tracing::customCall(call, shownValuesOf(list)));
  });
}

/// _embed(name, text, tensors) -> results
PyObject *embed(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *name, *program;
    Py_ssize_t size;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "ss#O", &name, &program, &size, &list))
      return nullptr;
    return wrapAllLike(list, valueOrRaise(tracing::embedProgram(name, std::string(program, size_t(size)), shownValuesOf(list))));
  });
}

/// _program_hlo(text) -> HLO text
PyObject *programHlo(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    Py_ssize_t size;
    const char *program = PyUnicode_AsUTF8AndSize(object, &size);
    return program ? text(valueOrRaise(tracing::hloText(std::string(program, size_t(size))))) : nullptr;
  });
}

/// _hlo_module(HLO text, name) -> a serialized HloModuleProto
PyObject *hloModule(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *program, *name;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "s#s", &program, &size, &name))
      return nullptr;
    const std::string bytes = valueOrRaise(tracing::hloModule(std::string(program, size_t(size)), name));
    return PyBytes_FromStringAndSize(bytes.data(), Py_ssize_t(bytes.size()));
  });
}

/// `form` of the serialized module that `object` holds, as a text of Python.
PyObject *moduleForm(PyObject *object, std::string (*form)(const std::string &)) {
  return guarded([&]() -> PyObject * {
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(object, &bytes, &size) < 0)
      return nullptr;
    return text(form(std::string(bytes, size_t(size))));
  });
}
PyObject *hloModuleJson(PyObject *, PyObject *object) { return moduleForm(object, tracing::hloModuleJson); }
PyObject *hloModuleText(PyObject *, PyObject *object) { return moduleForm(object, tracing::hloModuleText); }

/// What makes a program from text, without the GIL; a capsule of it.
template <typename Made, typename F>
PyObject *capsule(const char *name, F &&make) {
  std::unique_ptr<Made> made;
  {
    WithoutGil released;
    made = make();
  }
  PyObject *object = PyCapsule_New(made.get(), name, [](PyObject *self) {
    delete static_cast<Made *>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
  });
  if (object)
    made.release();
  return object;
}

/// _program(text) -> a program that _run_program can call
PyObject *loadProgram(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    Py_ssize_t size;
    const char *program = PyUnicode_AsUTF8AndSize(object, &size);
    if (!program)
      return nullptr;
    return capsule<Program>(kProgram, [&] {
      auto made = std::make_unique<Program>(std::string(program, size_t(size)));
      valueOrRaise(made->executable());
      return made;
    });
  });
}

/// Computes what is pending and returns the buffers, in the types of a program's arguments.
std::vector<runtime::BufferPtr> plainBuffers(const std::vector<Value> &values) {
  tracing::Session &session = tracing::Session::get();
  if (runtime::Status status = session.sync(values); !status.ok())
    raise(status);
  std::vector<runtime::BufferPtr> buffers;
  buffers.reserve(values.size());
  for (const Value &value : values)
    buffers.push_back(valueOrRaise(session.plainBuffer(value)));
  return buffers;
}

/// Options of launches that take no argument's memory.
runtime::ExecuteOptions keepingArguments(size_t count) {
  runtime::ExecuteOptions options;
  for (size_t i = 0; i < count; ++i)
    options.nonDonatable.push_back(uint32_t(i));
  return options;
}

std::vector<Value> launch(const Program &program, const std::vector<runtime::BufferPtr> &buffers, const runtime::ExecuteOptions &options) {
  std::vector<Value> results;
  for (runtime::BufferPtr &buffer : valueOrRaise(program.launch(buffers, options)))
    results.push_back(valueOrRaise(tracing::Session::get().adopt(std::move(buffer))));
  return results;
}

/// _run_program(program, tensors) -> list of results
PyObject *runProgram(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *capsule, *list;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &list))
      return nullptr;
    auto *program = static_cast<Program *>(PyCapsule_GetPointer(capsule, kProgram));
    TORCH_CHECK(program, "expects what _program returned");
    std::vector<Value> values = shownValuesOf(list), results;
    {
      WithoutGil released;
      results = launch(*program, plainBuffers(values), keepingArguments(values.size()));
    }
    return wrapAllLike(list, std::move(results));
  });
}

/// A program with the arguments that are the same in every call, which it expects to be so (millrace.constant).
struct BoundProgram {
  std::unique_ptr<Program> program;
  std::vector<runtime::BufferPtr> arguments; ///< null in the place of inputs
  std::vector<size_t> inputs;                ///< their positions
  runtime::ExecuteOptions options;
};

/// _bind_program(text, tensors) -> a program that _run_bound can call. None in the list of tensors: an input of each call.
PyObject *bindProgram(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *program;
    Py_ssize_t size;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "s#O!", &program, &size, &PyList_Type, &list))
      return nullptr;
    std::vector<bool> isFixed;
    Ref fixed = Ref::steal(PyList_New(0));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      isFixed.push_back(PyList_GET_ITEM(list, i) != Py_None);
      if (isFixed.back() && PyList_Append(fixed.object, PyList_GET_ITEM(list, i)) < 0)
        return nullptr;
    }
    const std::vector<Value> values = shownValuesOf(fixed.object);
    return capsule<BoundProgram>(kBoundProgram, [&] {
      auto made = std::make_unique<BoundProgram>();
      made->program = valueOrRaise(Program::withConstants(std::string(program, size_t(size)), isFixed));
      valueOrRaise(made->program->executable());
      std::vector<runtime::BufferPtr> buffers = plainBuffers(values);
      auto next = buffers.begin();
      for (size_t i = 0; i < isFixed.size(); ++i) {
        made->arguments.push_back(isFixed[i] ? std::move(*next++) : nullptr);
        if (!isFixed[i])
          made->inputs.push_back(i);
      }
      made->options = keepingArguments(isFixed.size());
      return made;
    });
  });
}

/// _run_bound(program, inputs) -> list of results
PyObject *runBound(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *capsule, *list;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &list))
      return nullptr;
    auto *bound = static_cast<BoundProgram *>(PyCapsule_GetPointer(capsule, kBoundProgram));
    TORCH_CHECK(bound, "expects what _bind_program returned");
    std::vector<Value> values = shownValuesOf(list), results;
    TORCH_CHECK(values.size() == bound->inputs.size(), "expects ", bound->inputs.size(), " inputs, but got ", values.size());
    {
      WithoutGil released;
      std::vector<runtime::BufferPtr> given = plainBuffers(values), arguments = bound->arguments;
      for (size_t i = 0; i < given.size(); ++i)
        arguments[bound->inputs[i]] = std::move(given[i]);
      results = launch(*bound->program, arguments, bound->options);
    }
    return wrapAllLike(list, std::move(results));
  });
}

} // namespace

PyMethodDef exportMethods[] = {
    {"_get_xla_tensors_stablehlo", tensorsStablehlo, METH_O, "The program of a list of tensors (None: all) as StableHLO."},
    {"_get_stablehlo_bytecode", tensorsBytecode, METH_O, "The same as a portable artifact."},
    {"_artifact", artifact, METH_VARARGS, "The portable artifact of StableHLO text for a version."},
    {"_artifact_text", artifactText, METH_O, "StableHLO text of a portable artifact."},
    {"_generalize", generalize, METH_VARARGS, "One program for all sizes from programs for some."},
    {"_custom_call", customCall, METH_VARARGS, "Records a custom call."},
    {"_embed", embed, METH_VARARGS, "Records StableHLO text as one operation."},
    {"_row_program", rowProgram, METH_VARARGS, "One program for up to so many rows from programs for some."},
    {"_program_hlo", programHlo, METH_O, "HLO text of StableHLO text."},
    {"_hlo_module", hloModule, METH_VARARGS, "HLO text as a serialized HloModuleProto of a name."},
    {"_hlo_module_json", hloModuleJson, METH_O, "A serialized HloModuleProto as JSON."},
    {"_hlo_module_text", hloModuleText, METH_O, "A serialized HloModuleProto in the text format of protocol buffers."},
    {"_program", loadProgram, METH_O, "Compiles StableHLO text."},
    {"_run_program", runProgram, METH_VARARGS, "Runs a compiled program on tensors."},
    {"_bind_program", bindProgram, METH_VARARGS, "Compiles StableHLO text with the tensors that are the same in every call."},
    {"_run_bound", runBound, METH_VARARGS, "Runs a bound program on its inputs."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
