// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Environment.h - MILLRACE_PROFILE=FOLDER ------------------------------===//
#pragma once
#include "runtime/profile/XSpace.h"

#include <cstdint>

namespace millrace::runtime::profile {

/// Where MILLRACE_PROFILE names a folder: records from the first call in this process on (a fork is another process), and when the process ends
/// writes `rank<rank>.<pid>.xplane.pb` and `.trace.json` there. Errors: the folder cannot be made.
Status startFromEnvironment(uint32_t rank);

/// Ends that recording and writes its files now, for a process that will not call what std::atexit has; without a recording it does nothing.
void endFromEnvironment();

/// Whether frameworks that have profilers of their own may ask for planes (PJRT's extension). millrace_hide_profiler() says that they may not:
/// that theirs cannot take them.
bool isOfferedToFrameworks();
void hideFromFrameworks();

/// Writes `<path>.xplane.pb` and `<path>.trace.json`, each of less than 100 MB. `space` becomes what the first one has, with a warning if that is less.
Status writeFiles(XSpace &space, const std::string &path);

} // namespace millrace::runtime::profile
