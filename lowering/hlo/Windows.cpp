// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Windows.cpp - HLO's text of windows --------------------------------===//
#include "lowering/hlo/Windows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace::hlo {

template <typename Range> static void list(llvm::raw_ostream &os, StringRef name, const Range &values) {
  os << (name == "size" ? "" : " ") << name << '=';
  llvm::interleave(values, os, [&](auto value) { os << int64_t(value); }, "x");
}

std::string Window::text() const {
  if (sizes.empty())
    return "{}";
  std::string text = "{";
  llvm::raw_string_ostream os(text);
  list(os, "size", sizes);
  auto unlessOnes = [&](StringRef name, std::optional<ArrayRef<int64_t>> values) {
    if (values && llvm::any_of(*values, [](int64_t value) { return value != 1; }))
      list(os, name, *values);
  };
  unlessOnes("stride", strides);
  if (padding && llvm::any_of(padding->getValues<APInt>(), [](const APInt &amount) { return !amount.isZero(); })) {
    os << " pad=";
    for (auto [i, amount] : llvm::enumerate(padding->getValues<APInt>()))
      os << (i == 0 ? "" : i % 2 ? "_" : "x") << amount.getSExtValue();
  }
  unlessOnes("lhs_dilate", operandDilations);
  unlessOnes("rhs_dilate", windowDilations);
  if (reversal && llvm::is_contained(*reversal, true))
    list(os, "rhs_reversal", *reversal);
  os << '}';
  return text;
}

} // namespace millrace::hlo
