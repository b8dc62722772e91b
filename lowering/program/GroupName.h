// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupName.h - The attribute with the name of a collective's group --===//
#pragma once

namespace millrace::lowering {

/// A string at a collective: the group of devices for which it was recorded, where there may be several of the same ones. It becomes a part of the
/// step's name, which all members compare and messages print.
inline constexpr char kGroupNameAttr[] = "millrace.group";

} // namespace millrace::lowering
