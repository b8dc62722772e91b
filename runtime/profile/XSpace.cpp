// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XSpace.cpp - Events of devices and threads, as XProf stores them ----===//
// Field numbers are those of the messages XSpace, XPlane, XLine, XEvent, XStat, XEventMetadata and XStatMetadata.
#include "runtime/profile/XSpace.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/MemoryEvents.h"

namespace millrace::runtime::profile {
namespace {

//===--- Writing -----------------------------------------------------------===//

using namespace proto;

/// How many kinds and texts of another plane stand before those of this one in the same message.
struct Before {
  size_t kinds = 0, texts = 0;
};

/// Indices are numbered from 1 on the wire: 0 means that there is none.
void putStat(std::string &out, uint32_t field, const Stat &stat, const std::vector<std::string> &blobs, std::string &scratch, Before before = {}) {
  scratch.clear();
  putNumber(scratch, 1, before.texts + stat.name + 1);
  switch (stat.type) {
  case Stat::Type::Real: {
    putTag(scratch, 2, Fixed64);
    char bytes[8];
    std::memcpy(bytes, &stat.real, sizeof bytes);
    scratch.append(bytes, sizeof bytes);
    break;
  }
  case Stat::Type::Unsigned:
  case Stat::Type::Signed: // of a oneof: also a zero is written
    putTag(scratch, stat.type == Stat::Type::Unsigned ? 3 : 4, Varint);
    putVarint(scratch, stat.number);
    break;
  case Stat::Type::Text:
    putTag(scratch, 7, Varint);
    putVarint(scratch, before.texts + stat.text + 1);
    break;
  case Stat::Type::Bytes:
    putBytes(scratch, 6, blobs[stat.text]);
    break;
  }
  putBytes(out, field, scratch);
}

/// Appends an event to the message of its line. `message` and `scratch` are for its parts.
void putEvent(std::string &out, const Plane &plane, const Plane::Line &line, const Plane::Event &event, Before before, std::string &message,
              std::string &scratch) {
  message.clear();
  putNumber(message, 1, before.kinds + event.kind + 1);
  putTag(message, 2, Varint);
  putVarint(message, uint64_t(event.offset));
  putNumber(message, 3, uint64_t(event.duration));
  for (uint32_t i = 0; i < event.numStats; ++i)
    putStat(message, 4, line.stats[event.firstStat + i], plane.blobs, scratch, before);
  putBytes(out, 4, message);
}

std::string encodeLine(const Plane &plane, const Plane::Line &line, Before before = {}) {
  std::string out, message, scratch;
  putNumber(out, 1, uint64_t(line.id));
  putText(out, 2, line.name);
  putNumber(out, 3, uint64_t(line.start));
  for (const Plane::Event &event : line.events)
    putEvent(out, plane, line, event, before, message, scratch);
  return out;
}

/// An entry of a map from ids to messages.
void putEntry(std::string &out, uint32_t field, uint64_t id, const std::string &message) {
  std::string entry;
  putNumber(entry, 1, id);
  putBytes(entry, 2, message);
  putBytes(out, field, entry);
}

/// Marks the kinds and texts that a plane has only for MemoryEvents.h, in the field that describes them.
constexpr std::string_view kOfMemoryEvents = "of allocations, for XProf";

/// `more`: lines that are added to those of the plane, with kinds and texts of their own.
std::string encodePlane(const Plane &plane, uint64_t id, const Plane &more = {}) {
  std::string out, scratch;
  const Before before{plane.kinds.size(), plane.texts.size()};
  putNumber(out, 1, id);
  putText(out, 2, plane.name);
  for (const Plane::Line &line : plane.lines)
    putBytes(out, 3, encodeLine(plane, line));
  for (const Plane::Line &line : more.lines)
    putBytes(out, 3, encodeLine(more, line, before));
  for (size_t i = 0; i < plane.kinds.size(); ++i) {
    std::string kind;
    putNumber(kind, 1, i + 1);
    putText(kind, 2, plane.kinds[i].name);
    putText(kind, 4, plane.kinds[i].displayName);
    for (const Stat &stat : plane.kinds[i].stats)
      putStat(kind, 5, stat, plane.blobs, scratch);
    putEntry(out, 4, i + 1, kind);
  }
  for (size_t i = 0; i < plane.texts.size(); ++i) {
    std::string text;
    putNumber(text, 1, i + 1);
    putText(text, 2, plane.texts[i]);
    putEntry(out, 5, i + 1, text);
  }
  for (size_t i = 0; i < more.kinds.size(); ++i) {
    std::string kind;
    putNumber(kind, 1, before.kinds + i + 1);
    putText(kind, 2, more.kinds[i].name);
    putText(kind, 3, kOfMemoryEvents);
    putEntry(out, 4, before.kinds + i + 1, kind);
  }
  for (size_t i = 0; i < more.texts.size(); ++i) {
    std::string text;
    putNumber(text, 1, before.texts + i + 1);
    putText(text, 2, more.texts[i]);
    putText(text, 3, kOfMemoryEvents);
    putEntry(out, 5, before.texts + i + 1, text);
  }
  for (const Stat &stat : plane.stats)
    putStat(out, 6, stat, plane.blobs, scratch);
  return out;
}

//===--- Reading -----------------------------------------------------------===//

Status broken() { return dataLoss("this is no XSpace (*.xplane.pb), or it is damaged"); }

/// What one plane's ids stand for: index into kinds, index into texts.
using Ids = std::unordered_map<uint64_t, uint32_t>;

struct Texts {
  Ids ids;
  /// Texts of lines that are not read. Another line has them only where another writer has merged planes.
  std::unordered_map<uint64_t, std::string_view> unread;
};

bool readStat(Plane &plane, Texts &texts, std::string_view bytes, std::vector<Stat> &stats) {
  Reader reader(bytes);
  Stat stat;
  bool hasName = false, hasValue = false;
  auto textOf = [&](uint64_t id, uint64_t &index) {
    auto found = texts.ids.find(id);
    if (found == texts.ids.end()) {
      auto unread = texts.unread.find(id);
      if (unread == texts.unread.end()) {
        index = 0;
        return false;
      }
      found = texts.ids.emplace(id, plane.text(unread->second)).first;
    }
    index = found->second;
    return true;
  };
  while (reader.next()) {
    uint64_t index = 0;
    switch (reader.field) {
    case 1:
      hasName = textOf(reader.number, index);
      stat.name = uint32_t(index);
      break;
    case 2:
      stat.type = Stat::Type::Real;
      stat.real = reader.real();
      hasValue = true;
      break;
    case 3:
    case 4:
      stat.type = reader.field == 3 ? Stat::Type::Unsigned : Stat::Type::Signed;
      stat.number = reader.number;
      hasValue = true;
      break;
    case 5:
      stat.type = Stat::Type::Text;
      stat.text = plane.text(reader.bytes);
      hasValue = true;
      break;
    case 6:
      stat.type = Stat::Type::Bytes;
      stat.text = plane.blobs.size();
      plane.blobs.emplace_back(reader.bytes);
      hasValue = true;
      break;
    case 7:
      stat.type = Stat::Type::Text;
      hasValue = textOf(reader.number, index);
      stat.text = index;
      break;
    default: break;
    }
  }
  if (hasName && hasValue)
    stats.push_back(stat);
  return !reader.isBroken;
}

bool readLine(Plane &plane, const Ids &kinds, Texts &texts, std::string_view bytes) {
  Plane::Line line;
  for (Reader names(bytes); names.next();)
    if (names.field == 2 && names.bytes.starts_with(kMemoryLine) && plane.name == kHostPlane)
      return true;
  Reader reader(bytes);
  while (reader.next()) {
    if (reader.field == 1)
      line.id = int64_t(reader.number);
    else if (reader.field == 2)
      line.name = reader.bytes;
    else if (reader.field == 3)
      line.start = int64_t(reader.number);
    if (reader.field != 4)
      continue;
    Plane::Event event;
    event.firstStat = uint32_t(line.stats.size());
    bool isKnown = false;
    Reader inner(reader.bytes);
    while (inner.next()) {
      if (inner.field == 1) {
        auto found = kinds.find(inner.number);
        if ((isKnown = found != kinds.end()))
          event.kind = found->second;
      } else if (inner.field == 2) {
        event.offset = int64_t(inner.number);
      } else if (inner.field == 3) {
        event.duration = int64_t(inner.number);
      } else if (inner.field == 4 && !readStat(plane, texts, inner.bytes, line.stats)) {
        return false;
      }
    }
    if (inner.isBroken)
      return false;
    event.numStats = uint32_t(line.stats.size()) - event.firstStat;
    if (isKnown)
      line.events.push_back(event);
  }
  if (reader.isBroken)
    return false;
  plane.lines.push_back(std::move(line));
  return true;
}

bool readPlane(std::string_view bytes, Plane &plane) {
  Ids kinds;
  Texts texts;
  std::vector<std::pair<std::string_view, uint32_t>> kindMessages;
  // Maps first: lines and stats refer to them, and stand before them as a rule.
  Reader maps(bytes);
  while (maps.next()) {
    if (maps.field == 2)
      plane.name = maps.bytes;
    if (maps.field != 4 && maps.field != 5)
      continue;
    const bool isKind = maps.field == 4;
    uint64_t id = 0;
    std::string_view message;
    Reader entry(maps.bytes);
    while (entry.next()) {
      if (entry.field == 1)
        id = entry.number;
      else if (entry.field == 2)
        message = entry.bytes;
    }
    if (entry.isBroken)
      return false;
    std::string_view name, description;
    Reader text(message);
    while (text.next())
      if (text.field == 2)
        name = text.bytes;
      else if (text.field == 3)
        description = text.bytes;
    if (isKind && description == kOfMemoryEvents)
      continue;
    if (isKind) {
      kinds[id] = uint32_t(plane.kinds.size());
      kindMessages.emplace_back(message, uint32_t(plane.kinds.size()));
      plane.kinds.emplace_back();
      continue;
    }
    if (text.isBroken)
      return false;
    if (description == kOfMemoryEvents)
      texts.unread[id] = name;
    else
      texts.ids[id] = plane.text(name);
  }
  if (maps.isBroken)
    return false;
  for (auto [message, index] : kindMessages) {
    Reader reader(message);
    while (reader.next()) {
      if (reader.field == 2)
        plane.kinds[index].name = reader.bytes;
      else if (reader.field == 4)
        plane.kinds[index].displayName = reader.bytes;
      else if (reader.field == 5 && !readStat(plane, texts, reader.bytes, plane.kinds[index].stats))
        return false;
    }
    if (reader.isBroken)
      return false;
  }
  Reader reader(bytes);
  while (reader.next()) {
    if (reader.field == 3 && !readLine(plane, kinds, texts, reader.bytes))
      return false;
    if (reader.field == 6 && !readStat(plane, texts, reader.bytes, plane.stats))
      return false;
  }
  return true;
}

} // namespace

uint32_t Plane::text(std::string_view content) {
  auto [found, isNew] = textIndex.emplace(content, uint32_t(texts.size()));
  if (isNew)
    texts.emplace_back(content);
  return found->second;
}
Stat Plane::real(std::string_view name, double value) {
  Stat stat;
  stat.name = text(name);
  stat.type = Stat::Type::Real;
  stat.real = value;
  return stat;
}
Stat Plane::number(std::string_view name, uint64_t value) {
  Stat stat;
  stat.name = text(name);
  stat.number = value;
  return stat;
}
Stat Plane::integer(std::string_view name, int64_t value) {
  Stat stat;
  stat.name = text(name);
  stat.type = Stat::Type::Signed;
  stat.integer = value;
  return stat;
}
Stat Plane::text(std::string_view name, std::string_view value) {
  Stat stat;
  stat.name = text(name);
  stat.type = Stat::Type::Text;
  stat.text = text(value);
  return stat;
}

Stat Plane::bytes(std::string_view name, std::string value) {
  Stat stat;
  stat.name = text(name);
  stat.type = Stat::Type::Bytes;
  stat.text = blobs.size();
  blobs.push_back(std::move(value));
  return stat;
}

const Stat *Plane::find(const std::vector<Stat> &stats, std::string_view name) const {
  for (const Stat &stat : stats)
    if (texts[stat.name] == name)
      return &stat;
  return nullptr;
}
const Stat *Plane::find(const Line &line, const Event &event, std::string_view name) const {
  for (uint32_t i = 0; i < event.numStats; ++i)
    if (texts[line.stats[event.firstStat + i].name] == name)
      return &line.stats[event.firstStat + i];
  return find(kinds[event.kind].stats, name);
}

size_t XSpace::numEvents() const {
  size_t count = 0;
  for (const Plane &plane : planes)
    if (!plane.name.starts_with(kMetadataPlane))
      for (const Plane::Line &line : plane.lines)
        count += line.events.size();
  return count;
}

std::string encode(const XSpace &space) {
  std::string out;
  const Plane memory = space.hasMemoryEvents ? memoryEvents(space) : Plane();
  bool isTold = memory.lines.empty();
  for (size_t i = 0; i < space.planes.size(); ++i) {
    const bool isHost = !isTold && space.planes[i].name == kHostPlane;
    putBytes(out, 1, isHost ? encodePlane(space.planes[i], i + 1, memory) : encodePlane(space.planes[i], i + 1));
    isTold |= isHost;
  }
  for (const std::string &text : space.errors)
    putBytes(out, 2, text);
  for (const std::string &text : space.warnings)
    putBytes(out, 3, text);
  for (const std::string &text : space.hostnames)
    putBytes(out, 4, text);
  return out;
}

uint64_t encodedBytes(const Plane &plane, const Plane::Line &line, const Plane::Event &event) {
  std::string out, message, scratch;
  putEvent(out, plane, line, event, {}, message, scratch);
  return out.size();
}

StatusOr<XSpace> decodeXSpace(std::string_view bytes) {
  XSpace space;
  Reader reader(bytes);
  while (reader.next()) {
    if (reader.field == 1) {
      if (!readPlane(reader.bytes, space.planes.emplace_back()))
        return broken();
    } else if (reader.field == 2) {
      space.errors.emplace_back(reader.bytes);
    } else if (reader.field == 3) {
      space.warnings.emplace_back(reader.bytes);
    } else if (reader.field == 4) {
      space.hostnames.emplace_back(reader.bytes);
    }
  }
  if (reader.isBroken)
    return broken();
  return space;
}

} // namespace millrace::runtime::profile
