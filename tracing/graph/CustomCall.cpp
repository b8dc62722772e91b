// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomCall.cpp - Custom calls as operations of a graph --------------===//
#include "tracing/graph/CustomCall.h"

#include "tracing/emit/Emit.h"
#include "tracing/graph/ControlFlow.h"

namespace millrace::tracing {

/// Returns the text of a string attribute.
static std::string quoted(const std::string &value) {
  static const char digits[] = "0123456789ABCDEF";
  std::string text = "\"";
  for (char c : value)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) {
      text += '\\';
      text += digits[static_cast<unsigned char>(c) >> 4];
      text += digits[c & 15];
    } else {
      text += c;
    }
  return text + '"';
}

std::vector<Value> customCall(const CustomCall &call, const std::vector<Value> &operands) {
  std::vector<NamedText> attributes{{"call_target_name", quoted(call.target)},
                                    {"backend_config", quoted(call.backendConfig)}};
  if (call.hasSideEffect)
    attributes.emplace_back("has_side_effect", "true");
  attributes.emplace_back("api_version", std::to_string(call.apiVersion) + " : i32");
  std::string frontend;
  for (const auto &[name, value] : call.frontendAttributes)
    frontend += (frontend.empty() ? "" : ", ") + quoted(name) + " = " + quoted(value);
  if (!frontend.empty())
    attributes.emplace_back("mhlo.frontend_attributes", "{" + frontend + "}");
  std::string key = "custom call";
  for (const auto &[name, value] : attributes)
    key += "\n" + name + "=" + value;
  for (const Shape &shape : call.results)
    key += "\n" + shape.toString();
  std::vector<Shape> shapes = call.results;
  const Op *op = internedOp(key, [&] {
    return Op{"xla::custom_call", [=](const Call &c) {
                std::vector<Val> given = c.operands;
                for (Val &val : given)
                  val.isWeak = false;
                return c.e.ops("stablehlo.custom_call", given, attributes, shapes);
              }};
  });
  std::vector<Arg> args;
  for (size_t i = 0; i < operands.size(); ++i)
    args.push_back(Operand{int32_t(i)});
  Value made = record(op, operands, std::move(args), call.results);
  std::vector<Value> results;
  for (size_t i = 0; i < call.results.size(); ++i)
    results.push_back({made.node, uint32_t(i)});
  return results;
}

} // namespace millrace::tracing
