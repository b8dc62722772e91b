// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XSpace.cpp - Events of devices and threads, as XProf stores them ----===//
// Field numbers are those of the messages XSpace, XPlane, XLine, XEvent, XStat, XEventMetadata and XStatMetadata.
#include "runtime/profile/XSpace.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/EventRanges.h"
#include "runtime/profile/MemoryEvents.h"
#include "runtime/profile/Utf8.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace millrace::runtime::profile {
namespace {

//===--- Writing -----------------------------------------------------------===//

using namespace proto;

/// How many kinds and texts of another plane stand before those of this one in the same message.
struct Before {
  size_t kinds = 0, texts = 0;
};

// Sizes are known before anything is written, so that all threads write into the same memory, and nothing is copied. All numbers of fields are less than
// 16: their tags have one byte. Indices are numbered from 1 on the wire: 0 means that there is none.
size_t varintSize(uint64_t value) { return size_t(std::bit_width(value | 1) + 6) / 7; }
size_t lengthSize(uint64_t size) { return 1 + varintSize(size) + size; } ///< of a field that has so many bytes

char *write(char *at, uint32_t field, Wire wire, uint64_t value) {
  *at++ = char(field << 3 | wire);
  for (; value >= 0x80; value >>= 7)
    *at++ = char(value | 0x80);
  *at++ = char(value);
  return at;
}

size_t messageSize(const Stat &stat, const std::vector<std::string> &blobs, Before before) {
  const size_t name = 1 + varintSize(before.texts + stat.name + 1);
  switch (stat.type) {
  case Stat::Type::Real: return name + 1 + sizeof stat.real;
  case Stat::Type::Unsigned:
  case Stat::Type::Signed: return name + 1 + varintSize(stat.number);
  case Stat::Type::Text: return name + 1 + varintSize(before.texts + stat.text + 1);
  case Stat::Type::Bytes: return name + lengthSize(blobs[stat.text].size());
  }
  return name;
}

char *write(char *at, uint32_t field, const Stat &stat, const std::vector<std::string> &blobs, Before before) {
  at = write(at, field, Bytes, messageSize(stat, blobs, before));
  at = write(at, 1, Varint, before.texts + stat.name + 1);
  switch (stat.type) {
  case Stat::Type::Real:
    *at++ = char(2 << 3 | Fixed64);
    std::memcpy(at, &stat.real, sizeof stat.real);
    return at + sizeof stat.real;
  case Stat::Type::Unsigned: return write(at, 3, Varint, stat.number);
  case Stat::Type::Signed: return write(at, 4, Varint, stat.number);
  case Stat::Type::Text: return write(at, 7, Varint, before.texts + stat.text + 1);
  case Stat::Type::Bytes: {
    const std::string &blob = blobs[stat.text];
    at = write(at, 6, Bytes, blob.size());
    std::memcpy(at, blob.data(), blob.size());
    return at + blob.size();
  }
  }
  return at;
}

void putStat(std::string &out, uint32_t field, const Stat &stat, const std::vector<std::string> &blobs) {
  const size_t size = out.size();
  out.resize(size + lengthSize(messageSize(stat, blobs, {})));
  write(out.data() + size, field, stat, blobs, {});
}

/// The events of a line that has its own stats, in a plane of which others may stand before.
struct EventWriter {
  const Plane &plane;
  const Plane::Line &line;
  Before before;

  size_t messageSize(const Plane::Event &event) const {
    size_t size = 1 + varintSize(before.kinds + event.kind + 1) + 1 + varintSize(uint64_t(event.offset));
    if (event.duration)
      size += 1 + varintSize(uint64_t(event.duration));
    for (uint32_t i = 0; i < event.numStats; ++i)
      size += lengthSize(profile::messageSize(line.stats[event.firstStat + i], plane.blobs, before));
    return size;
  }
  size_t size(const Plane::Event &event) const { return lengthSize(messageSize(event)); }
  char *write(char *at, const Plane::Event &event) const {
    at = profile::write(at, 4, Bytes, messageSize(event));
    at = profile::write(at, 1, Varint, before.kinds + event.kind + 1);
    at = profile::write(at, 2, Varint, uint64_t(event.offset));
    if (event.duration)
      at = profile::write(at, 3, Varint, uint64_t(event.duration));
    for (uint32_t i = 0; i < event.numStats; ++i)
      at = profile::write(at, 4, line.stats[event.firstStat + i], plane.blobs, before);
    return at;
  }
};

/// An entry of a map from ids to messages.
void putEntry(std::string &out, uint32_t field, uint64_t id, const std::string &message) {
  out += char(field << 3 | Bytes);
  putVarint(out, 1 + varintSize(id) + lengthSize(message.size()));
  putNumber(out, 1, id);
  putBytes(out, 2, message);
}

/// Marks the kinds and texts that a plane has only for MemoryEvents.h, in the field that describes them.
constexpr std::string_view kOfMemoryEvents = "of allocations, for XProf";

/// What stands behind the lines of a plane: its kinds, its texts, and its stats. `more`: a plane whose lines are added to it, with kinds and texts of
/// their own.
std::string tables(const Plane &plane, const Plane &more) {
  std::string out, message;
  const Before before{plane.kinds.size(), plane.texts.size()};
  for (size_t i = 0; i < plane.kinds.size(); ++i) {
    message.clear();
    putNumber(message, 1, i + 1);
    putText(message, 2, plane.kinds[i].name);
    putText(message, 4, plane.kinds[i].displayName);
    for (const Stat &stat : plane.kinds[i].stats)
      putStat(message, 5, stat, plane.blobs);
    putEntry(out, 4, i + 1, message);
  }
  for (size_t i = 0; i < plane.texts.size(); ++i) {
    message.clear();
    putNumber(message, 1, i + 1);
    putText(message, 2, plane.texts[i]);
    putEntry(out, 5, i + 1, message);
  }
  auto putMore = [&](uint32_t field, uint64_t id, const std::string &name) {
    message.clear();
    putNumber(message, 1, id);
    putText(message, 2, name);
    putText(message, 3, kOfMemoryEvents);
    putEntry(out, field, id, message);
  };
  for (size_t i = 0; i < more.kinds.size(); ++i)
    putMore(4, before.kinds + i + 1, more.kinds[i].name);
  for (size_t i = 0; i < more.texts.size(); ++i)
    putMore(5, before.texts + i + 1, more.texts[i]);
  for (const Stat &stat : plane.stats)
    putStat(out, 6, stat, plane.blobs);
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
      found = texts.ids.emplace(id, plane.text(validUtf8(unread->second))).first;
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
      stat.text = plane.text(validUtf8(reader.bytes));
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

// Sums of offsets and durations are numbers of 64 bits. Unit: picoseconds. Source: 26 days; recordings have minutes.
constexpr int64_t kLongest = int64_t(1) << 61;
// Sums and differences of begins are numbers of 64 bits. Unit: nanoseconds since 1970. Source: the year 2116.
constexpr int64_t kLatest = int64_t(1) << 62;

/// Whether the times of a line can be computed with.
bool hasPossibleTimes(const Plane::Line &line) {
  return line.start >= 0 && line.start <= kLatest && std::all_of(line.events.begin(), line.events.end(), [](const Plane::Event &event) {
           return event.offset >= -kLongest && event.offset <= kLongest && event.duration >= 0 && event.duration <= kLongest;
         });
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
      line.name = validUtf8(reader.bytes);
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
  if (reader.isBroken || !hasPossibleTimes(line))
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
      plane.name = validUtf8(maps.bytes);
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
      texts.ids[id] = plane.text(validUtf8(name));
  }
  if (maps.isBroken)
    return false;
  for (auto [message, index] : kindMessages) {
    Reader reader(message);
    while (reader.next()) {
      if (reader.field == 2)
        plane.kinds[index].name = validUtf8(reader.bytes);
      else if (reader.field == 4)
        plane.kinds[index].displayName = validUtf8(reader.bytes);
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
  if (auto found = textIndex.find(content); found != textIndex.end())
    return found->second;
  const uint32_t index = uint32_t(texts.size());
  texts.emplace_back(content);
  textIndex.emplace(content, index);
  return index;
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

/// The message is a sequence of texts and ranges of events.
struct Encoder::Layout {
  explicit Layout(const XSpace &space) : space(space), memory(space.hasMemoryEvents ? memoryEvents(space) : Plane()) {
    if (!memory.lines.empty())
      for (host = 0; host < space.planes.size() && space.planes[host].name != kHostPlane;)
        ++host;
    for (size_t p = 0; p < space.planes.size(); ++p) {
      for (size_t l = 0; l < space.planes[p].lines.size(); ++l)
        appendRanges(ranges, p, l, space.planes[p].lines[l].events.size());
      if (p == host)
        for (size_t l = 0; l < memory.lines.size(); ++l)
          appendRanges(ranges, kMemory, l, memory.lines[l].events.size());
    }
    sizes.resize(ranges.size());
    forRanges(ranges, [&](size_t i) {
      const EventWriter writer = writerOf(ranges[i]);
      uint64_t sum = 0;
      for (size_t e = ranges[i].begin; e < ranges[i].end; ++e)
        sum += writer.size(writer.line.events[e]);
      sizes[i] = sum;
    });
    for (size_t p = 0; p < space.planes.size(); ++p)
      addPlane(p);
    for (const std::string &text : space.errors)
      putBytes(last, 2, text);
    for (const std::string &text : space.warnings)
      putBytes(last, 3, text);
    for (const std::string &text : space.hostnames)
      putBytes(last, 4, text);
    size = last.size();
    for (size_t i = 0; i < ranges.size(); ++i)
      size += before[i].size() + sizes[i];
  }

  void write(char *out) const {
    std::vector<char *> places;
    for (size_t i = 0; i < ranges.size(); ++i) {
      std::memcpy(out, before[i].data(), before[i].size());
      out += before[i].size();
      places.push_back(out);
      out += sizes[i];
    }
    std::memcpy(out, last.data(), last.size());
    forRanges(ranges, [&](size_t i) {
      const EventWriter writer = writerOf(ranges[i]);
      char *at = places[i];
      for (size_t e = ranges[i].begin; e < ranges[i].end; ++e)
        at = writer.write(at, writer.line.events[e]);
    });
  }

  uint64_t size = 0;

private:
  static constexpr size_t kMemory = ~size_t(0); ///< Fact: stands for the plane `memory`, which is no plane of the space

  EventWriter writerOf(const EventRange &range) const {
    if (range.plane != kMemory)
      return {space.planes[range.plane], space.planes[range.plane].lines[range.line], {}};
    return {memory, memory.lines[range.line], {space.planes[host].kinds.size(), space.planes[host].texts.size()}};
  }

  void addPlane(size_t p) {
    static const Plane none;
    const Plane &plane = space.planes[p], &more = p == host ? memory : none;
    std::string head;
    putNumber(head, 1, p + 1);
    putText(head, 2, plane.name);
    const std::string tail = tables(plane, more);
    struct Line {
      std::string head;
      size_t numRanges;
      uint64_t bytes;
    };
    std::vector<Line> lines;
    uint64_t bytes = head.size() + tail.size();
    size_t next = before.size();
    for (const Plane *each : {&plane, &more})
      for (const Plane::Line &line : each->lines) {
        Line &made = lines.emplace_back();
        putNumber(made.head, 1, uint64_t(line.id));
        putText(made.head, 2, line.name);
        putNumber(made.head, 3, uint64_t(line.start));
        made.numRanges = (line.events.size() + EventRange::kEvents - 1) / EventRange::kEvents;
        made.bytes = std::accumulate(sizes.begin() + ptrdiff_t(next), sizes.begin() + ptrdiff_t(next + made.numRanges), uint64_t(made.head.size()));
        next += made.numRanges;
        bytes += lengthSize(made.bytes);
      }
    putTag(last, 1, Bytes);
    putVarint(last, bytes);
    last += head;
    for (const Line &line : lines) {
      putTag(last, 3, Bytes);
      putVarint(last, line.bytes);
      last += line.head;
      for (size_t i = 0; i < line.numRanges; ++i) {
        before.push_back(std::move(last));
        last.clear();
      }
    }
    last += tail;
  }

  const XSpace &space;
  const Plane memory;
  size_t host = kMemory - 1; ///< the plane that gets the lines of `memory`; larger than any where there is none
  std::vector<EventRange> ranges;
  std::vector<uint64_t> sizes;     ///< of ranges
  std::vector<std::string> before; ///< what stands before each range
  std::string last;                ///< what stands behind the last one so far
};

Encoder::Encoder(const XSpace &space) : layout(std::make_unique<Layout>(space)) {}
Encoder::~Encoder() = default;
uint64_t Encoder::size() const { return layout->size; }
std::string Encoder::bytes() const {
  std::string out(layout->size, '\0');
  layout->write(out.data());
  return out;
}

uint64_t encodedBytes(const Plane &plane, const Plane::Line &line, const Plane::Event &event) { return EventWriter{plane, line, {}}.size(event); }

StatusOr<XSpace> decodeXSpace(std::string_view bytes) {
  XSpace space;
  Reader reader(bytes);
  while (reader.next()) {
    if (reader.field == 1) {
      if (!readPlane(reader.bytes, space.planes.emplace_back()))
        return broken();
    } else if (reader.field == 2) {
      space.errors.push_back(validUtf8(reader.bytes));
    } else if (reader.field == 3) {
      space.warnings.push_back(validUtf8(reader.bytes));
    } else if (reader.field == 4) {
      space.hostnames.push_back(validUtf8(reader.bytes));
    }
  }
  if (reader.isBroken)
    return broken();
  return space;
}

} // namespace millrace::runtime::profile
