// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hash.h - Checksum and content hash ----------------------------------===//
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::runtime {

/// Checksum that detects damage at memory speed, but not manipulation. Any change confined to one aligned 8-byte word changes the result. The value
/// is stored in files, so that a change of the algorithm requires a new ABI version.
uint64_t hash64(const void *data, size_t size, uint64_t seed = 0);

/// SHA-256 (FIPS 180-4), for cache keys, whose collision would be a wrong result.
class Sha256 {
public:
  void update(const void *data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// May be called once.
  std::array<uint8_t, 32> finish();
  static std::string hex(std::string_view text);

private:
  void block(const uint8_t *data);
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending = {};
  size_t pendingSize = 0;
  uint64_t total = 0;
};

/// Returns the 32 bytes of HMAC with SHA-256 (RFC 2104), which only holders of `key` can compute.
std::string hmacSha256(std::string_view key, std::string_view text);

/// Returns two lower-case digits per byte.
std::string toHex(const uint8_t *data, size_t size);
inline std::string toHex(std::string_view bytes) { return toHex(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()); }
/// Inverse of toHex(); returns nothing for any other text.
std::optional<std::string> fromHex(std::string_view hex);

} // namespace millrace::runtime
