// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PortableTranslations.h - --serialize and --deserialize -------------===//
#pragma once

namespace millrace::tools {

/// Registers the translations between StableHLO and portable artifacts, and their flags. Must be called once, before mlirTranslateMain.
void registerPortableTranslations();

} // namespace millrace::tools
