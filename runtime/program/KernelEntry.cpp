// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelEntry.cpp - One compiled kernel to bytes and back -------------===//
#include "runtime/program/KernelEntry.h"

#include "runtime/program/KernelEntry_generated.h"

#include <cmath>
#include <limits>
#include <vector>

namespace millrace::runtime {

std::string serializeKernel(const KernelEntry &entry) {
  flatbuffers::FlatBufferBuilder builder(entry.object.size() + 512);
  auto symbol = builder.CreateString(entry.symbol);
  auto emitter = builder.CreateString(entry.emitter);
  auto object = builder.CreateVector(reinterpret_cast<const uint8_t *>(entry.object.data()), entry.object.size());
  fb::FinishKernelEntryBuffer(builder, fb::CreateKernelEntry(builder, symbol, emitter, entry.rangeEnd, entry.granularity,
                                                             entry.scratchBytes, entry.picosPerIteration, object, entry.rows.indices,
                                                             entry.rows.indicesPerUnit, entry.rows.units, entry.takesRows, entry.rows.isExact));
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
}

StatusOr<KernelEntry> parseKernel(std::string_view bytes) {
  // Aligned as flatbuffers wants it; entries are small.
  std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char *>(aligned.data()));
  const auto *data = reinterpret_cast<const uint8_t *>(aligned.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  if (bytes.size() < 8 || !fb::VerifyKernelEntryBuffer(verifier))
    return invalidArgument("a stored kernel is malformed");
  const fb::KernelEntry *stored = fb::GetKernelEntry(data);
  if (!stored->symbol() || !stored->emitter() || !stored->object())
    return invalidArgument("a stored kernel is incomplete");
  KernelEntry entry;
  entry.symbol = stored->symbol()->str();
  entry.emitter = stored->emitter()->str();
  entry.object.assign(reinterpret_cast<const char *>(stored->object()->data()), stored->object()->size());
  entry.rangeEnd = stored->range_end();
  entry.granularity = stored->granularity();
  entry.scratchBytes = stored->scratch_bytes();
  entry.picosPerIteration = stored->picos_per_iteration();
  entry.rows = {stored->row_indices(), stored->row_indices_per_unit(), stored->row_units(), stored->rows_exact()};
  entry.takesRows = stored->takes_rows();
  constexpr int64_t limit = std::numeric_limits<int64_t>::max() / 4;
  bool possible = !entry.symbol.empty() && entry.object.starts_with("\177ELF") && entry.rangeEnd >= 0 && entry.rangeEnd < limit &&
                  entry.granularity >= 1 && entry.granularity < limit && entry.scratchBytes >= 0 && entry.scratchBytes < limit &&
                  entry.rows.indices >= 0 && entry.rows.indices < limit && (entry.rows.indices == 0 || entry.rows.indicesPerUnit >= 1) &&
                  entry.rows.indicesPerUnit < limit && entry.rows.units >= 1 && entry.rows.units < limit && std::isfinite(entry.picosPerIteration) && entry.picosPerIteration >= 0;
  if (!possible)
    return invalidArgument("a stored kernel has values that no kernel has");
  return entry;
}

} // namespace millrace::runtime
