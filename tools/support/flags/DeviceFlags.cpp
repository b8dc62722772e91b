// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceFlags.cpp - Flags of meshes and automatic sharding -----------===//
#include "tools/support/flags/DeviceFlags.h"

#include "lowering/PredictMemory.h"
#include "passes/autosharding/Simulation.h"
#include "passes/autosharding/Sizes.h"
#include "passes/calls/Passes.h"
#include "passes/sharding/mesh/MeshText.h"
#include "passes/spmd/Explain.h"
#include "passes/spmd/Partition.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/Progress.h"
#include "runtime/cache/CachedProgram.h"
#include "tools/support/reports/Explanation.h"
#include "tools/support/programs/Source.h"
#include "tools/support/programs/TextOutput.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

namespace millrace::tools {

/// The prefix of a number of devices that replaces the axes of a mesh.
static constexpr llvm::StringLiteral kAuto = "auto:";

bool DeviceFlags::isAuto() const { return !devices.empty() || llvm::StringRef(mesh).starts_with(kAuto); }

std::string DeviceFlags::numberOfDevices() const { return devices.empty() ? mesh.substr(kAuto.size()) : devices; }

void DeviceFlags::addTo(Flags &flags, bool reports) {
  flags.add("mesh", &mesh, "sizes of the mesh's axes, and with them the number of devices: data=4,model=2; auto:8 for the best with --auto-sharding");
  flags.add("devices", &devices, "with --auto-sharding: number of devices, of whose meshes the best is taken; the same as --mesh=auto:NUMBER");
  flags.add("auto-sharding", &planning.isOn, "choose how values are split over the mesh's devices, as far as annotations leave that open");
  flags.add("machine", &planning.machine, "description of devices and links to plan for: virtual (default), h100, tpu-v4, server, ethernet, or a file");
  flags.add("memory-per-device", &planning.memory, "with --auto-sharding: bytes that values may take on a device, for example 16G (default: any number)");
  flags.add("plan-memory", &planMemory, "with --auto-sharding: what takes memory: compiled (default: the buffers of the compiled program, from which fusion removes "
                                        "values; the program is lowered for every plan) or values (each one, from its operation to its last reader)");
  if (!reports)
    return;
  flags.add("simulate", &simulate, "print what a step of the partitioned program takes on --machine; as JSON with -o FILE.json");
  flags.add("sharding-page", &page, "write a page to this file: the modelled step as a timeline, memory, and with --auto-sharding every tensor's alternatives");
  flags.add("explain-sharding", &explain, "print how every value is sharded and why, and every collective; as a page with -o FILE.html");
}

llvm::Error DeviceFlags::applyMesh(mlir::ModuleOp module) const {
  if (!devices.empty() && !mesh.empty())
    return llvm::createStringError("--devices=" + devices + " and --mesh=" + mesh + ": expects one of them");
  if (isAuto() && !planning.isOn)
    return llvm::createStringError((devices.empty() ? "--mesh=" + mesh : "--devices=" + devices) + " requires --auto-sharding");
  return mesh.empty() || isAuto() ? llvm::Error::success() : sharding::applyMesh(module, mesh, "--mesh");
}

llvm::Expected<autosharding::AutoShardingOptions> DeviceFlags::options() const {
  if (!planning.isOn && !planning.memory.empty())
    return llvm::createStringError("--memory-per-device requires --auto-sharding");
  if (!planning.isOn && !simulate && page.empty() && !planning.machine.empty())
    return llvm::createStringError("--machine requires --auto-sharding, --simulate or --sharding-page");
  if (planMemory != "values" && planMemory != "compiled")
    return llvm::createStringError("--plan-memory expects values or compiled, but got '" + planMemory + "'");
  if (!planning.isOn && planMemory != "compiled")
    return llvm::createStringError("--plan-memory requires --auto-sharding");
  llvm::Expected<autosharding::AutoShardingOptions> options = planning.options("--machine", "--memory-per-device");
  if (options && planMemory == "compiled")
    options->memoryOf = memoryPredictor();
  return options;
}

/// Plans for every mesh of one or two axes; the last axis has the nearest devices.
llvm::Error DeviceFlags::applyBestMesh(mlir::ModuleOp module, const autosharding::AutoShardingOptions &asked) {
  int64_t count = 0;
  if (llvm::StringRef(numberOfDevices()).getAsInteger(10, count) || count < 1)
    return llvm::createStringError(devices.empty() ? "--mesh expects a number of devices after auto:, but got '" + mesh + "'"
                                                   : "--devices expects a number of devices, but got '" + devices + "'");
  for (int64_t rows = 1; rows <= count; ++rows) {
    if (count % rows || (rows == count && count > 1))
      continue; // the mesh is equivalent to one of a single axis
    std::string text = (rows > 1 ? "a=" + std::to_string(rows) + "," : "") + "b=" + std::to_string(count / rows);
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    if (llvm::Error error = sharding::applyMesh(*copy, text, "--mesh"))
      return error;
    autosharding::AutoShardingReport report;
    autosharding::AutoShardingOptions each = asked;
    each.progress = [&](const std::string &what) { asked.progress(text + ": " + what); };
    if (succeeded(autosharding::autoShard(*copy, each, &report)))
      ranked.push_back({text, report.seconds()});
  }
  if (ranked.empty())
    return llvm::createStringError("no mesh of " + std::to_string(count) + " devices has a plan");
  llvm::stable_sort(ranked, [](const auto &one, const auto &other) { return one.seconds < other.seconds; });
  return sharding::applyMesh(module, ranked.front().mesh, "--mesh");
}

llvm::Expected<std::optional<autosharding::AutoShardingReport>> DeviceFlags::applyPlan(mlir::ModuleOp module,
                                                                                         const CacheSettings &cache) {
  llvm::Expected<autosharding::AutoShardingOptions> asked = options();
  if (!asked)
    return asked.takeError();
  if (planning.isOn && !spmd::hasStaticShapes(module))
    return llvm::createStringError("UNIMPLEMENTED: automatic sharding of a program with dynamic shapes");
  asked->threads = runtime::availableCpus();
  runtime::Progress progress("automatic sharding");
  asked->progress = [&](const std::string &what) { progress.show(what); };
  if (planning.isOn) {
    llvm::Expected<runtime::Cache *> opened = openCache(cache);
    if (!opened)
      return opened.takeError();
    if (*opened) {
      runtime::ByteStore store = runtime::planStore(**opened);
      asked->plans = {store.find, store.store};
    }
  }
  if (isAuto())
    if (llvm::Error error = applyBestMesh(module, *asked))
      return std::move(error);
  asked->explains = explain || !page.empty();
  std::optional<autosharding::AutoShardingReport> planned;
  mlir::OwningOpRef<mlir::ModuleOp> annotated = explain && planning.isOn ? module.clone() : mlir::ModuleOp();
  if (planning.isOn && failed(autosharding::autoShard(module, *asked, &planned.emplace())))
    return llvm::createStringError("the program cannot be sharded automatically");
  if (annotated && planned->isAsAnnotated()) {
    calls::prepareCollectives(*annotated);
    llvm::raw_string_ostream stream(reasons);
    if (failed(spmd::explainSharding(*annotated, stream)))
      return llvm::createStringError("the program as annotated cannot be partitioned");
  }
  return planned;
}

std::optional<int> DeviceFlags::report(mlir::ModuleOp module, const std::optional<autosharding::AutoShardingReport> &planned, const std::string &input,
                                       const std::string &output) const {
  if (explain && !simulate && page.empty())
    return writeExplanation(module, input, output, planned ? &*planned : nullptr, ranked, reasons);
  if (!simulate && page.empty())
    return std::nullopt;
  llvm::Expected<autosharding::AutoShardingOptions> asked = options();
  if (!asked)
    return fail("xla-compile", llvm::toString(asked.takeError()));
  if (!spmd::hasStaticShapes(module))
    return fail("xla-compile", "UNIMPLEMENTED: a simulated step of a program with dynamic shapes");
  if (failed(autosharding::checkSizes(module, "a simulated step")))
    return 1;
  mlir::OwningOpRef<mlir::ModuleOp> parts = module.clone();
  calls::prepareCollectives(*parts);
  if (failed(spmd::partition(*parts)))
    return 1;
  autosharding::Simulation simulation = autosharding::simulate(*parts, asked->machine, simulate ? memoryPredictor() : autosharding::MemoryOf());
  if (!page.empty()) {
    std::string html = autosharding::planPage(simulation, planned ? &*planned : nullptr, ranked, asked->machine, llvm::sys::path::filename(input));
    if (int status = writeText("xla-compile", page, html); status != 0 || (!simulate && !explain))
      return status;
  }
  if (explain && !simulate)
    return writeExplanation(module, input, output, planned ? &*planned : nullptr, ranked, reasons);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (output.ends_with(".json"))
    autosharding::printJson(simulation, planned ? &*planned : nullptr, asked->machine, stream);
  else
    autosharding::print(simulation, planned ? &*planned : nullptr, asked->machine, stream);
  if (!output.ends_with(".json"))
    for (const autosharding::RankedMesh &each : ranked)
      stream << llvm::formatv("{0,14:f3} ms expected with --mesh={1}\n", each.seconds * 1e3, each.mesh);
  return writeText("xla-compile", output, text);
}

} // namespace millrace::tools
