// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CacheKey.cpp - What a compiled program depends on ------------------===//
#include "lowering/CacheKey.h"

#include "runtime/base/Hash.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <elf.h>
#include <link.h>

using namespace mlir;

namespace millrace {
namespace {

/// Feeds everything written to it to a hash.
class HashStream : public llvm::raw_ostream {
public:
  HashStream() { SetUnbuffered(); }
  std::string digest() {
    const std::array<uint8_t, 32> bytes = hash.finish();
    return runtime::toHex(bytes.data(), bytes.size());
  }

private:
  void write_impl(const char *data, size_t size) override {
    hash.update(data, size);
    written += size;
  }
  uint64_t current_pos() const override { return written; }
  runtime::Sha256 hash;
  uint64_t written = 0;
};

struct BuildIds {
  std::vector<std::pair<std::string, std::string>> parts;
};

/// The GNU build id note of a loaded library, or empty.
std::string buildIdOf(const dl_phdr_info &info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr), *end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof(*note), *value = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !std::memcmp(name, "GNU", 4))
        return llvm::toHex(llvm::StringRef(value, note->n_descsz), /*LowerCase=*/true);
      at = value + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

const BuildIds &loadedBuildIds() {
  static const BuildIds ids = [] {
    BuildIds found;
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *data) {
          llvm::StringRef path = info->dlpi_name ? info->dlpi_name : "";
          llvm::StringRef file = path.substr(path.rfind('/') + 1);
          for (llvm::StringRef library : {"libmillrace.so", "libmillrace_runtime.so", "libMLIR.so", "libLLVM.so"})
            if (file.starts_with(library)) {
              std::string id = buildIdOf(*info);
              static_cast<BuildIds *>(data)->parts.push_back(
                  {("build id of " + library).str(), id.empty() ? path.str() : id});
            }
          return 0;
        },
        &found);
    return found;
  }();
  return ids;
}

} // namespace

std::vector<std::pair<std::string, std::string>> cacheKeyParts(ModuleOp module, const CompileOptions &options) {
  std::vector<std::pair<std::string, std::string>> parts;
  HashStream stream;
  (void)writeBytecodeToFile(module, stream);
  parts.push_back({"program", stream.digest()});
  std::string text;
  llvm::raw_string_ostream(text) << "entry=" << options.entry << " fold=" << options.fold
                                 << " generic=" << options.genericOnly << " fuse=" << options.fuse
                                 << " xla=" << options.xlaSemantics << " relaxed=" << options.relaxed << " quick=" << options.quick;
  parts.push_back({"options", text});
  auto count = [&](llvm::StringRef name) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return std::to_string(attr ? attr.getInt() : 1);
  };
  parts.push_back({"devices", count("mhlo.num_replicas") + "x" + count("mhlo.num_partitions")});
  llvm::append_range(parts, options.target.keyParts());
  llvm::append_range(parts, compilerVersions());
  return parts;
}

const std::vector<std::pair<std::string, std::string>> &compilerVersions() { return loadedBuildIds().parts; }

} // namespace millrace
