// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileOptions.cpp - What the reader of a profile wants to see -------===//
#include "runtime/profile/ProfileOptions.h"
#include "runtime/base/Proto.h"

namespace millrace::runtime::profile {

bool readProfileOptions(std::string_view bytes, Wanted &wanted) {
  bool hasVersion = false;
  Wanted asked{0, 0, false};
  proto::Reader reader(bytes);
  while (reader.next()) {
    switch (reader.field) {
    case 2: asked.hostLevel = reader.number; break;
    case 3: asked.deviceLevel = reader.number; break;
    case 5: hasVersion = reader.number != 0; break;
    case 7: asked.hasPrograms = reader.number != 0; break;
    default: break;
    }
  }
  if (reader.isBroken)
    return false;
  wanted = hasVersion ? asked : Wanted();
  return true;
}

} // namespace millrace::runtime::profile
