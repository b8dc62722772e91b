// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hpack.h - Headers of HTTP/2 (RFC 7541) -------------------------------===//
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::runtime::profile::rpc {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// Appended to `block`, every one as it is: neither compressed nor remembered.
void encodeHeader(std::string &block, std::string_view name, std::string_view value);

/// Of one direction of a connection: what one block puts into the table, the next ones refer to.
class HpackDecoder {
public:
  /// False: the block is none, or its headers are larger than kMostListBytes: the connection cannot go on.
  bool decode(std::string_view block, Headers &headers);

  /// Larger lists of headers are refused: a byte of a block can stand for a header of 4 KiB. Unit: bytes, counted as in the table. Source: judgement,
  /// not measured alone: those of gRPC's clients have some hundred.
  static constexpr size_t kMostListBytes = 256 << 10;

private:
  /// Fact: RFC 7541: bytes of the table, as long as nobody is told otherwise.
  static constexpr size_t kMostBytes = 4096;
  bool at(uint64_t index, std::pair<std::string, std::string> &entry) const;
  void add(const std::pair<std::string, std::string> &entry);
  void shrinkTo(size_t most);

  std::deque<std::pair<std::string, std::string>> table; ///< the newest first
  size_t bytes = 0, limit = kMostBytes;
};

/// Text of Huffman's code; false if it is none.
bool decodeHuffman(std::string_view code, std::string &text);

} // namespace millrace::runtime::profile::rpc
