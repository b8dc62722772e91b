// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Environment.h - MILLRACE_PROFILE=FOLDER ------------------------------===//
#pragma once
#include "runtime/profile/XSpace.h"

#include <cstddef>
#include <cstdint>
#include <string>

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

/// Writes into `text`, which has room for `size` bytes, where this thread is in the user's program, "train.py:12"; returns how many bytes that takes, 0
/// where there is no line. A front end in Python takes the interpreter's lock for that: nobody asks with a lock of ours held.
using ReaderPlace = size_t (*)(char *text, size_t size);
/// The ReaderPlace of the front end, for reads that the runtime alone sees; null: it has none. millrace_set_reader_place() is the same for Python.
void setReaderPlace(ReaderPlace place);
/// Empty without one, and while nobody records.
std::string placeOfReader();

/// Writes `<path>.xplane.pb` and `<path>.trace.json`, each of less than 100 MB. `space` becomes what the first one has, with a warning if that is less.
Status writeFiles(XSpace &space, const std::string &path);

} // namespace millrace::runtime::profile
