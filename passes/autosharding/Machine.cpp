// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.cpp - Descriptions of machines -----------------------------===//
#include "passes/autosharding/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace millrace::autosharding {

namespace {
struct Description {
  llvm::StringLiteral name, text;
};
/// Fact: the machines that have a name.
constexpr Description kDescriptions[] = {
#include "passes/autosharding/Machines.inc"
};
} // namespace

Machine Machine::virtualDevices() { return llvm::cantFail(find("virtual")); }

namespace {

llvm::Error problem(const llvm::Twine &message) { return llvm::createStringError(llvm::Twine("machine description: ") + message); }

/// A number above zero.
llvm::Error read(const llvm::json::Object &object, llvm::StringRef key, llvm::StringRef where, double &value) {
  const llvm::json::Value *found = object.get(key);
  std::optional<double> number = found ? found->getAsNumber() : std::nullopt;
  if (!number || !(*number > 0) || !(*number < 1e30))
    return problem(where + "expects a number above 0 as '" + key + "', but got " +
                   (found ? llvm::formatv("{0}", *found).str() : std::string("nothing")));
  value = *number;
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Machine> Machine::fromJson(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return problem(llvm::toString(parsed.takeError()));
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return problem("expects an object");
  static constexpr llvm::StringLiteral known[] = {"name",         "source",   "flops_per_second", "narrow_flops_per_second", "bytes_per_second",
                                                  "memory_bytes", "switched", "links"};
  for (const auto &entry : *object)
    if (!llvm::is_contained(known, llvm::StringRef(entry.first)))
      return problem("'" + llvm::StringRef(entry.first) + "' is unknown; known are " + llvm::join(llvm::ArrayRef<llvm::StringLiteral>(known), ", "));
  Machine machine;
  machine.name = object->getString("name").value_or("unnamed").str();
  double memory = 0;
  if (llvm::Error error = read(*object, "flops_per_second", "", machine.flopsPerSecond))
    return std::move(error);
  machine.narrowFlopsPerSecond = machine.flopsPerSecond;
  if (object->get("narrow_flops_per_second"))
    if (llvm::Error error = read(*object, "narrow_flops_per_second", "", machine.narrowFlopsPerSecond))
      return std::move(error);
  if (llvm::Error error = read(*object, "bytes_per_second", "", machine.bytesPerSecond))
    return std::move(error);
  if (llvm::Error error = read(*object, "memory_bytes", "", memory))
    return std::move(error);
  if (memory > 1e18)
    return problem("expects at most 1e18 'memory_bytes', but got " + llvm::formatv("{0}", memory).str());
  machine.memoryBytes = int64_t(memory);
  if (const llvm::json::Value *switched = object->get("switched")) {
    std::optional<bool> isSwitched = switched->getAsBoolean();
    if (!isSwitched)
      return problem("expects true or false as 'switched', but got " + llvm::formatv("{0}", *switched).str());
    machine.isSwitched = *isSwitched;
  }
  const llvm::json::Array *links = object->getArray("links");
  if (!links || links->empty())
    return problem("expects a list of levels as 'links'");
  for (const llvm::json::Value &each : *links) {
    const llvm::json::Object *level = each.getAsObject();
    std::string where = llvm::formatv("links[{0}] ", machine.links.size());
    if (!level)
      return problem(where + "expects an object");
    Link link;
    double devices = 0;
    if (llvm::Error error = read(*level, "devices", where, devices))
      return std::move(error);
    if (llvm::Error error = read(*level, "bytes_per_second", where, link.bytesPerSecond))
      return std::move(error);
    if (llvm::Error error = read(*level, "seconds", where, link.seconds))
      return std::move(error);
    int64_t before = machine.links.empty() ? 1 : machine.links.back().devices;
    if (devices > 1e9 || int64_t(devices) <= before)
      return problem(where + "expects more than " + llvm::Twine(before) + " 'devices', but got " + llvm::formatv("{0}", devices).str());
    link.devices = int64_t(devices);
    machine.links.push_back(link);
  }
  return machine;
}

llvm::Expected<Machine> Machine::find(llvm::StringRef nameOrPath) {
  for (const Description &each : kDescriptions)
    if (each.name == nameOrPath)
      return fromJson(each.text);
  auto buffer = llvm::MemoryBuffer::getFile(nameOrPath, /*IsText=*/true);
  if (!buffer) {
    std::string names;
    for (const Description &each : kDescriptions)
      names += (names.empty() ? "" : ", ") + each.name.str();
    return llvm::createStringError("expects a file or one of " + names + ", but got '" + nameOrPath + "': " + buffer.getError().message());
  }
  llvm::Expected<Machine> machine = fromJson((*buffer)->getBuffer());
  if (!machine)
    return llvm::createStringError(nameOrPath + ": " + llvm::toString(machine.takeError()));
  return machine;
}

const Link &Machine::linkOf(sharding::AxesRef axes, llvm::ArrayRef<int64_t> mesh) const {
  // Devices along an axis stand as far apart as all axes behind it have positions.
  int64_t span = 1;
  for (const sharding::Axis &axis : axes) {
    int64_t reach = mesh[axis.axis] / axis.pre;
    for (int64_t size : mesh.drop_front(axis.axis + 1))
      reach *= size;
    span = std::max(span, reach);
  }
  for (const Link &link : links)
    if (span <= link.devices)
      return link;
  return links.back();
}

int64_t messagesOf(const Machine &machine, int64_t devices) {
  return devices < 2 ? 0 : machine.isSwitched ? int64_t(llvm::Log2_64_Ceil(uint64_t(devices))) : devices - 1;
}

double secondsOfTransfer(const Link &link, int64_t messages, double bytes) {
  return bytes > 0 ? double(messages) * link.seconds + bytes / link.bytesPerSecond : 0;
}

} // namespace millrace::autosharding
