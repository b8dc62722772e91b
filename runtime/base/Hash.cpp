// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hash.cpp - Checksum and content hash --------------------------------===//
#include "runtime/base/Hash.h"

#include <bit>
#include <cstring>

namespace millrace::runtime {
namespace {

constexpr uint64_t multiplier = 0x9e3779b97f4a7c15; // odd: multiplication is a bijection

uint64_t step(uint64_t lane, uint64_t word) { return std::rotl((lane ^ word) * multiplier, 29); }

uint64_t finalMix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  h ^= h >> 29;
  h *= multiplier;
  return h ^ (h >> 32);
}

uint64_t loadWord(const uint8_t *p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

constexpr std::array<uint32_t, 64> sha256Constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

} // namespace

uint64_t hash64(const void *data, size_t size, uint64_t seed) {
  const uint8_t *p = static_cast<const uint8_t *>(data);
  uint64_t lanes[4] = {seed ^ 0x243f6a8885a308d3, seed + 0x13198a2e03707344, ~seed, seed ^ size};
  size_t rest = size;
  for (; rest >= 32; rest -= 32, p += 32)
    for (int i = 0; i < 4; ++i)
      lanes[i] = step(lanes[i], loadWord(p + 8 * i));
  uint8_t tail[32] = {};
  if (rest) {
    std::memcpy(tail, p, rest);
    for (int i = 0; i < 4; ++i)
      lanes[i] = step(lanes[i], loadWord(tail + 8 * i));
  }
  uint64_t h = size;
  for (uint64_t lane : lanes)
    h = finalMix(h ^ lane);
  return h;
}

void Sha256::block(const uint8_t *data) {
  std::array<uint32_t, 64> w;
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(data[4 * i]) << 24 | uint32_t(data[4 * i + 1]) << 16 | uint32_t(data[4 * i + 2]) << 8 |
           uint32_t(data[4 * i + 3]);
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + sha256Constants[i] + w[i];
    uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t values[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += values[i];
}

void Sha256::update(const void *data, size_t size) {
  const uint8_t *p = static_cast<const uint8_t *>(data);
  total += size;
  if (pendingSize) {
    size_t take = std::min(size, 64 - pendingSize);
    std::memcpy(pending.data() + pendingSize, p, take);
    pendingSize += take, p += take, size -= take;
    if (pendingSize < 64)
      return;
    block(pending.data());
    pendingSize = 0;
  }
  for (; size >= 64; size -= 64, p += 64)
    block(p);
  if (size)
    std::memcpy(pending.data(), p, size);
  pendingSize = size;
}

std::array<uint8_t, 32> Sha256::finish() {
  uint64_t bits = total * 8;
  const uint8_t one = 0x80, zero = 0;
  update(&one, 1);
  while (pendingSize != 56)
    update(&zero, 1);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = uint8_t(bits >> (56 - 8 * i));
  update(length, 8);
  std::array<uint8_t, 32> digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = uint8_t(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string hmacSha256(std::string_view key, std::string_view text) {
  auto hashOf = [](std::string_view first, std::string_view second) {
    Sha256 hash;
    hash.update(first);
    hash.update(second);
    const std::array<uint8_t, 32> digest = hash.finish();
    return std::string(digest.begin(), digest.end());
  };
  constexpr size_t blockBytes = 64;
  std::string inner = key.size() > blockBytes ? hashOf(key, "") : std::string(key);
  inner.resize(blockBytes, '\0');
  std::string outer = inner;
  for (size_t i = 0; i < blockBytes; ++i)
    inner[i] ^= 0x36, outer[i] ^= 0x5c;
  return hashOf(outer, hashOf(inner, text));
}

std::string Sha256::hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  auto digest = hash.finish();
  return toHex(digest.data(), digest.size());
}

std::optional<std::string> fromHex(std::string_view hex) {
  auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0)
      return std::nullopt;
    bytes += char(high << 4 | low);
  }
  return hex.size() % 2 ? std::nullopt : std::optional(std::move(bytes));
}

std::string toHex(const uint8_t *data, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += digits[data[i] >> 4];
    text += digits[data[i] & 15];
  }
  return text;
}

} // namespace millrace::runtime
