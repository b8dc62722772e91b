// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.cpp - Descriptions of machines -----------------------------===//
#include "passes/autosharding/Machine.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace millrace::autosharding {

namespace {
struct Description {
  llvm::StringLiteral name, text;
};
/// Fact: the descriptions with a name.
constexpr Description kDescriptions[] = {
#include "passes/autosharding/Machines.inc"
};

/// The most bytes of a description: a file that has more is none. Unit: bytes. Source: judgement; descriptions have about one kilobyte.
constexpr size_t kMostDescriptionBytes = 1 << 20;
} // namespace

Machine Machine::virtualDevices() { return llvm::cantFail(find("virtual")); }

namespace {

llvm::Error problem(const llvm::Twine &message) { return llvm::createStringError(llvm::Twine("machine description: ") + message); }

/// Reads a boolean, if it is present.
llvm::Error readOptional(const llvm::json::Object &object, llvm::StringRef key, bool &value) {
  const llvm::json::Value *found = object.get(key);
  if (!found)
    return llvm::Error::success();
  std::optional<bool> flag = found->getAsBoolean();
  if (!flag)
    return problem("expects true or false as '" + key + "', but got " + llvm::formatv("{0}", *found).str());
  value = *flag;
  return llvm::Error::success();
}

/// Nesting of a description, which has three levels. Deeper text would overflow the stack of the parser. Unit: levels. Source: judgement.
constexpr int kMostNesting = 16;

/// Whether brackets outside of strings are nested deeper than that.
bool isDeep(llvm::StringRef text) {
  int depth = 0;
  bool isString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char each = text[at];
    if (isString && each == '\\')
      ++at;
    else if (each == '"')
      isString = !isString;
    else if (!isString && (each == '[' || each == '{') && ++depth > kMostNesting)
      return true;
    else if (!isString && (each == ']' || each == '}'))
      --depth;
  }
  return false;
}

/// What is not among `known`.
llvm::Error checkNames(const llvm::json::Object &object, llvm::StringRef where, llvm::ArrayRef<llvm::StringLiteral> known) {
  for (const auto &entry : object)
    if (!llvm::is_contained(known, llvm::StringRef(entry.first)))
      return problem(where + "'" + llvm::StringRef(entry.first) + "' is unknown; known are " + llvm::join(known, ", "));
  return llvm::Error::success();
}

/// A number above zero. Quotients of what is outside of the limits would be infinite.
llvm::Error read(const llvm::json::Object &object, llvm::StringRef key, llvm::StringRef where, double &value) {
  const llvm::json::Value *found = object.get(key);
  std::optional<double> number = found ? found->getAsNumber() : std::nullopt;
  if (!number || !(*number >= 1e-30) || !(*number <= 1e30))
    return problem(where + "expects a number from 1e-30 to 1e30 as '" + key + "', but got " +
                   (found ? llvm::formatv("{0}", *found).str() : std::string("nothing")));
  value = *number;
  return llvm::Error::success();
}

/// Reads a positive number, if it is present.
llvm::Error readOptional(const llvm::json::Object &object, llvm::StringRef key, double &value) {
  return object.get(key) ? read(object, key, "", value) : llvm::Error::success();
}

} // namespace

llvm::Expected<Machine> Machine::fromJson(llvm::StringRef text) {
  if (isDeep(text))
    return problem("expects at most " + llvm::Twine(kMostNesting) + " levels of nesting");
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return problem(llvm::toString(parsed.takeError()));
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return problem("expects an object");
  static constexpr llvm::StringLiteral known[] = {"name",     "source",        "flops_per_second", "narrow_flops_per_second", "bytes_per_second", "memory_bytes",
                                                  "switched", "shared_memory", "kernel_seconds",   "meeting_seconds",         "cache_bytes",      "cache_bytes_per_second",
                                                  "links"};
  static constexpr llvm::StringLiteral knownOfLevels[] = {"devices", "bytes_per_second", "seconds", "cache_bytes_per_second"};
  if (llvm::Error error = checkNames(*object, "", known))
    return std::move(error);
  Machine machine;
  machine.name = object->getString("name").value_or("unnamed").str();
  double memory = 0;
  if (llvm::Error error = read(*object, "flops_per_second", "", machine.flopsPerSecond))
    return std::move(error);
  machine.narrowFlopsPerSecond = machine.flopsPerSecond;
  if (llvm::Error error = readOptional(*object, "narrow_flops_per_second", machine.narrowFlopsPerSecond))
    return std::move(error);
  if (llvm::Error error = read(*object, "bytes_per_second", "", machine.bytesPerSecond))
    return std::move(error);
  if (llvm::Error error = read(*object, "memory_bytes", "", memory))
    return std::move(error);
  if (memory > 1e18)
    return problem("expects at most 1e18 'memory_bytes', but got " + llvm::formatv("{0}", memory).str());
  machine.memoryBytes = int64_t(memory);
  if (llvm::Error error = readOptional(*object, "kernel_seconds", machine.kernelSeconds))
    return std::move(error);
  if (llvm::Error error = readOptional(*object, "meeting_seconds", machine.meetingSeconds))
    return std::move(error);
  if (llvm::Error error = readOptional(*object, "cache_bytes", machine.cacheBytes))
    return std::move(error);
  if (llvm::Error error = readOptional(*object, "cache_bytes_per_second", machine.cacheBytesPerSecond))
    return std::move(error);
  if ((machine.cacheBytes > 0) != (machine.cacheBytesPerSecond > 0))
    return problem("expects both 'cache_bytes' and 'cache_bytes_per_second', or none of them");
  bool isSwitched = false, isShared = false;
  if (llvm::Error error = readOptional(*object, "switched", isSwitched))
    return std::move(error);
  if (llvm::Error error = readOptional(*object, "shared_memory", isShared))
    return std::move(error);
  if (isSwitched && isShared)
    return problem("expects 'switched' or 'shared_memory', but got both");
  if (machine.meetingSeconds > 0 && !isShared)
    return problem("expects 'meeting_seconds' beside 'shared_memory' only");
  machine.exchange = isShared ? Exchange::SharedMemory : isSwitched ? Exchange::Switch : Exchange::Ring;
  const llvm::json::Array *links = object->getArray("links");
  if (!links || links->empty())
    return problem("expects a list of levels as 'links'");
  for (const llvm::json::Value &each : *links) {
    const llvm::json::Object *level = each.getAsObject();
    std::string where = llvm::formatv("links[{0}] ", machine.links.size());
    if (!level)
      return problem(where + "expects an object");
    if (llvm::Error error = checkNames(*level, where, knownOfLevels))
      return std::move(error);
    Link link;
    double devices = 0;
    if (llvm::Error error = read(*level, "devices", where, devices))
      return std::move(error);
    if (llvm::Error error = read(*level, "bytes_per_second", where, link.bytesPerSecond))
      return std::move(error);
    if (llvm::Error error = read(*level, "seconds", where, link.seconds))
      return std::move(error);
    link.cacheBytesPerSecond = link.bytesPerSecond;
    if (level->get("cache_bytes_per_second"))
      if (llvm::Error error = read(*level, "cache_bytes_per_second", where, link.cacheBytesPerSecond))
        return std::move(error);
    int64_t before = machine.links.empty() ? 1 : machine.links.back().devices;
    if (devices > 1e9 || devices != std::floor(devices) || int64_t(devices) <= before)
      return problem(where + "expects more than " + llvm::Twine(before) + " 'devices', a whole number, but got " +
                     llvm::formatv("{0}", *level->get("devices")).str());
    link.devices = int64_t(devices);
    machine.links.push_back(link);
  }
  return machine;
}

llvm::Expected<Machine> Machine::find(llvm::StringRef nameOrPath) {
  for (const Description &each : kDescriptions)
    if (each.name == nameOrPath)
      return fromJson(each.text);
  auto expected = [&](llvm::StringRef why) {
    std::string names;
    for (const Description &each : kDescriptions)
      names += (names.empty() ? "" : ", ") + each.name.str();
    return llvm::createStringError("expects a file or one of " + names + ", but got '" + nameOrPath + "': " + why.str());
  };
  // Devices and pipes have no size, so that reading ends at the limit instead of at the end of memory.
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::openNativeFileForRead(nameOrPath);
  if (!file)
    return expected(llvm::toString(file.takeError()));
  llvm::scope_exit close([&] { (void)llvm::sys::fs::closeFile(*file); });
  std::string text(kMostDescriptionBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    llvm::Expected<size_t> read = llvm::sys::fs::readNativeFile(*file, llvm::MutableArrayRef<char>(text.data() + size, text.size() - size));
    if (!read)
      return expected(llvm::toString(read.takeError()));
    if (*read == 0)
      break;
    size += *read;
  }
  if (size > kMostDescriptionBytes)
    return expected("the file has more than " + std::to_string(kMostDescriptionBytes) + " bytes");
  text.resize(size);
  llvm::Expected<Machine> machine = fromJson(text);
  if (!machine)
    return llvm::createStringError(nameOrPath + ": " + llvm::toString(machine.takeError()));
  return machine;
}

const Link &Machine::linkOf(sharding::AxesRef axes, llvm::ArrayRef<int64_t> mesh) const {
  // The distance between devices along an axis is the number of positions of all axes behind it.
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

int64_t Machine::messagesAmong(int64_t devices) const {
  return devices < 2 ? 0 : exchange == Exchange::Switch ? int64_t(llvm::Log2_64_Ceil(uint64_t(devices))) : devices - 1;
}

int64_t Machine::messagesOfSum(int64_t devices) const {
  // In shared memory the parts are summed and distributed at the same meeting.
  return (exchange == Exchange::SharedMemory ? 1 : 2) * messagesAmong(devices);
}

double Machine::latencyOf(const Link &link, const Traffic &traffic) const {
  return traffic.received > 0 ? meetingSeconds + double(traffic.messages) * link.seconds : 0;
}

double Machine::secondsOfBytes(const Link &link, const Traffic &traffic) const {
  if (traffic.received <= 0)
    return 0;
  if (exchange != Exchange::SharedMemory)
    return traffic.received / link.bytesPerSecond;
  // A device reads the larger one of operand and result: its part of all operands of a sum, or all pieces of a gather.
  double bytes = std::max(traffic.operand, traffic.result) + traffic.result, near = std::min(bytes, cacheBytes);
  return near / link.cacheBytesPerSecond + (bytes - near) / link.bytesPerSecond;
}

double Machine::secondsOfMemory(double bytes) const {
  double near = std::min(bytes, cacheBytes);
  return (near > 0 ? near / cacheBytesPerSecond : 0) + (bytes - near) / bytesPerSecond;
}

} // namespace millrace::autosharding
