// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arguments.cpp - Values of a program's arguments --------------------===//
#include "tools/support/run/Arguments.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/eval/Element.h"
#include "dialects/stablehlo/eval/Tensor.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/calls/Passes.h"

#include "mlir/AsmParser/AsmParser.h"

#include <cstring>
#include <sstream>

namespace millrace::tools {
using namespace runtime;

std::string describe(DType dtype, const std::vector<int64_t> &dims) {
  std::string text(name(dtype));
  text += '[';
  for (size_t d = 0; d < dims.size(); ++d)
    text += (d ? "," : "") + (dims[d] == kDynamic ? std::string("?") : std::to_string(dims[d]));
  return text + "]";
}

std::vector<Argument> argumentSpecs(mlir::func::FuncOp function) {
  std::vector<Argument> specs;
  for (mlir::Type type : function.getArgumentTypes())
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type))
      static_cast<TensorSpec &>(specs.emplace_back()) = lowering::specOf(tensor);
  return specs;
}

mlir::Type parseElementType(DType dtype, mlir::MLIRContext &context) {
  return mlir::parseType(std::string(name(dtype)), &context);
}

StatusOr<std::vector<Array>> loadArguments(const std::string &files, const std::vector<Argument> &specs) {
  std::vector<Array> all;
  std::stringstream list(files);
  for (std::string path; std::getline(list, path, ',');) {
    std::vector<DType> expected;
    for (size_t i = all.size(); i < specs.size(); ++i)
      expected.push_back(specs[i].dtype);
    auto arrays = readArrays(path, expected);
    if (!arrays)
      return arrays.status();
    for (Array &array : *arrays)
      all.push_back(std::move(array));
  }
  // NumPy has no bf16, f8, i4: such values are read from unsigned integers or raw bytes of the same width.
  for (size_t i = 0; i < all.size() && i < specs.size(); ++i) {
    DType have = all[i].dtype, want = specs[i].dtype;
    bool unknownToNumPy = want == DType::BF16 || (byteSize(want) == 1 && want != DType::I1 && want != DType::I8 && want != DType::U8);
    bool raw = have == DType::U16 || have == DType::U8 || have == DType::I8;
    if (have != want && unknownToNumPy && raw && byteSize(have) == byteSize(want))
      all[i].dtype = want;
  }
  return all;
}

/// SplitMix64, which is fast and gives the same numbers everywhere.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

static void fillRandom(Array &array, uint64_t &state) {
  size_t width = byteSize(array.dtype);
  array.bytes.resize(array.numElements() * width);
  auto uniform = [&] { return double(nextRandom(state) >> 11) * 0x1p-52 - 1.0; };
  for (int64_t i = 0, n = array.numElements(); i < n; ++i) {
    char *at = array.bytes.data() + i * width;
    switch (array.dtype) {
    case DType::F32: {
      float value = float(uniform());
      std::memcpy(at, &value, 4);
      break;
    }
    case DType::F64: {
      double value = uniform();
      std::memcpy(at, &value, 8);
      break;
    }
    case DType::C64: {
      float value[2] = {float(uniform()), float(uniform())};
      std::memcpy(at, value, 8);
      break;
    }
    case DType::C128: {
      double value[2] = {uniform(), uniform()};
      std::memcpy(at, value, 16);
      break;
    }
    case DType::BF16:
      eval::storeFloat(eval::Kind::BF16, at, uniform());
      break;
    case DType::F16:
      eval::storeFloat(eval::Kind::F16, at, uniform());
      break;
    case DType::I1:
      *at = char(nextRandom(state) & 1);
      break;
    default:
      if (isFloat(array.dtype)) { // f8, f6, f4, in which small bit patterns are small positive values
        *at = char(nextRandom(state) % (array.dtype == DType::F8E8M0FNU ? 128 : 8));
      } else {
        std::memset(at, 0, width);
        *at = char(nextRandom(state) % (bitWidth(array.dtype) < 4 ? 2 : 8));
      }
    }
  }
}

std::vector<Array> randomArguments(const std::vector<Argument> &specs, uint64_t seed) {
  std::vector<Array> arrays;
  uint64_t state = seed;
  for (const Argument &spec : specs) {
    Array array;
    array.dtype = spec.dtype;
    for (size_t d = 0; d < spec.dims.size(); ++d) {
      int64_t size = spec.dims[d];
      if (size == kDynamic)
        size = d < spec.bounds.size() && spec.bounds[d] != kDynamic ? spec.bounds[d] : 2;
      array.dims.push_back(size);
    }
    fillRandom(array, state);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

std::vector<Array> hoistedArguments(mlir::ModuleOp module, const std::string &entry) {
  std::vector<Array> arrays;
  auto function = module.lookupSymbol<mlir::func::FuncOp>(entry);
  auto values = function ? function->getAttrOfType<mlir::ArrayAttr>(kHoistedAttr) : mlir::ArrayAttr();
  if (!values)
    return arrays;
  unsigned first = function.getNumArguments() - values.size();
  for (auto [index, value] : llvm::enumerate(values.getAsRange<mlir::ElementsAttr>())) {
    auto type = mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[first + index]);
    Array array;
    array.dtype = lowering::dtypeOf(type.getElementType());
    array.dims.assign(type.getShape().begin(), type.getShape().end());
    if (auto bytes = lowering::bytesOf(value); succeeded(bytes))
      array.bytes.assign(*bytes);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

/// Returns " with at most 4 in dimension 0"; empty without bounds.
static std::string boundsOf(const TensorSpec &spec) {
  std::string text;
  for (size_t d = 0; d < spec.bounds.size(); ++d)
    if (spec.bounds[d] != kDynamic)
      text += (text.empty() ? " with at most " : ", ") + std::to_string(spec.bounds[d]) + " in dimension " + std::to_string(d);
  return text;
}

Status checkArguments(const std::vector<Array> &arrays, const std::vector<Argument> &specs) {
  if (arrays.size() != specs.size())
    return invalidArgument("the program takes " + std::to_string(specs.size()) + " arguments, but got " +
                           std::to_string(arrays.size()) + " (--args=FILE.npy,FILE.npz gives values, --seed=N random ones)");
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Array &array = arrays[i];
    const Argument &spec = specs[i];
    bool fits = array.dtype == spec.dtype && array.dims.size() == spec.dims.size();
    for (size_t d = 0; fits && d < array.dims.size(); ++d) {
      bool bounded = d < spec.bounds.size() && spec.bounds[d] != kDynamic;
      fits = spec.dims[d] == kDynamic ? !bounded || array.dims[d] <= spec.bounds[d] : array.dims[d] == spec.dims[d];
    }
    if (!fits)
      return invalidArgument("argument " + std::to_string(i) + " expects " + describe(spec.dtype, spec.dims) + boundsOf(spec) +
                             ", but got " + describe(array.dtype, array.dims) +
                             (array.name.empty() ? "" : " ('" + array.name + "')"));
  }
  return okStatus();
}

} // namespace millrace::tools
