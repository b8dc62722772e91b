// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Transfer.cpp - Tokens, send, recv, infeed and outfeed as HLO -------===//
// Input:   %r:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : ...
// Output:  recv.1 = (f32[4]{0}, u32[], token[]) recv(t), channel_id=5, is_host_transfer=true
//          recv-done.1 = (f32[4]{0}, token[]) recv-done(recv.1), channel_id=5, is_host_transfer=true
// HLO transfers one value, so several travel as a tuple; infeed and outfeed take a tuple even for one.
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

template <typename Op> static Attributes channelAttributes(Op op) {
  Attributes attributes;
  attributes.add("channel_id", Twine(op.getChannelHandle().getHandle())).flag("is_host_transfer", op.getIsHostTransfer());
  SmallVector<std::string> entries;
  if (auto pairs = op.getSourceTargetPairs(); pairs && pairs->getNumElements() > 0) {
    SmallVector<std::string> rows;
    auto ids = llvm::to_vector(pairs->template getValues<int64_t>());
    for (size_t i = 0; i + 1 < ids.size(); i += 2)
      rows.push_back(braces({ids[i], ids[i + 1]}));
    entries.push_back("_xla_send_recv_source_target_pairs={" + llvm::join(rows, ",") + "}");
  }
  if (auto frontend = op->template getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes"))
    for (NamedAttribute entry : frontend)
      if (auto value = dyn_cast<StringAttr>(entry.getValue()))
        entries.push_back(entry.getName().str() + "=" + quoteUnlessBraces(value.getValue()));
  if (auto sharding = op->template getAttrOfType<StringAttr>("mhlo.sharding"))
    attributes.add("sharding", sharding.getValue());
  if (!entries.empty())
    attributes.add("frontend_attributes", "{" + llvm::join(entries, ",") + "}");
  return attributes;
}

static LogicalResult send(shlo::SendOp op, Computation &to) {
  Attributes attributes = channelAttributes(op);
  TypeRange types = op.getInputs().getTypes();
  std::string data = to.packed(to[op.getInputs()], types);
  std::string shape = "(" + shapeText(types) + ", u32[], token[])";
  std::string started = to.add("send", shape, {data, to[op.getToken()]}, attributes);
  to.bind(op, to.add("send-done", "token[]", started, attributes));
  return success();
}

static LogicalResult recv(shlo::RecvOp op, Computation &to) {
  Attributes attributes = channelAttributes(op);
  unsigned count = op->getNumResults() - 1;
  SmallVector<Type> types(op->getResultTypes().begin(), std::prev(op->getResultTypes().end()));
  std::string data = shapeText(TypeRange(types));
  std::string started = to.add("recv", "(" + data + ", u32[], token[])", to[op.getToken()], attributes);
  std::string done = to.add("recv-done", "(" + data + ", token[])", started, attributes);
  std::string received = to.element(done, data, 0);
  for (unsigned i = 0; i < count; ++i)
    to.bind(op->getResult(i), count == 1 ? received : to.element(received, shapeText(types[i]), i));
  to.bind(op->getResult(count), to.element(done, "token[]", 1));
  return success();
}

static LogicalResult infeed(shlo::InfeedOp op, Computation &to) {
  unsigned count = op->getNumResults() - 1;
  SmallVector<std::string> shapes;
  for (unsigned i = 0; i < count; ++i) {
    auto layout = op.getLayout() && i < op.getLayout()->size() ? (*op.getLayout())[i] : Attribute();
    shapes.push_back(shapeText(op->getResult(i).getType(), layout));
  }
  Attributes attributes;
  if (!op.getInfeedConfig().empty())
    attributes.quoted("infeed_config", op.getInfeedConfig());
  annotate(op->getDiscardableAttrDictionary(), attributes);
  std::string all = to.add("infeed", "(" + tupleText(shapes) + ", token[])", to[op.getToken()], attributes);
  std::string data = to.element(all, tupleText(shapes), 0);
  for (unsigned i = 0; i < count; ++i)
    to.bind(op->getResult(i), to.element(data, shapes[i], i));
  to.bind(op->getResult(count), to.element(all, "token[]", 1));
  return success();
}

static LogicalResult outfeed(shlo::OutfeedOp op, Computation &to) {
  SmallVector<std::string> shapes;
  for (Type type : op.getInputs().getTypes())
    shapes.push_back(shapeText(type));
  std::string shape = tupleText(shapes), data = to.add("tuple", shape, to[op.getInputs()]);
  Attributes attributes;
  attributes.add("outfeed_shape", shape);
  if (!op.getOutfeedConfig().empty())
    attributes.quoted("outfeed_config", op.getOutfeedConfig());
  return to.result(op, "outfeed", {data, to[op.getToken()]}, attributes);
}

Visit visitTransfer(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::AfterAllOp, shlo::CreateTokenOp>([&](auto op) { return to.result(op, "after-all"); })
      .Case<shlo::SendOp>([&](auto op) { return send(op, to); })
      .Case<shlo::RecvOp>([&](auto op) { return recv(op, to); })
      .Case<shlo::InfeedOp>([&](auto op) { return infeed(op, to); })
      .Case<shlo::OutfeedOp>([&](auto op) { return outfeed(op, to); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
