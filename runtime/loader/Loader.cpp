// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loader.cpp - Object code -> callable kernels ------------------------===//
// One ORC session serves the process (creating it costs more than linking a small program); each program is a JITDylib.
#include "runtime/loader/Loader.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/Environment.h"
#include "runtime/base/File.h"
#include "runtime/kernels/Symbols.h"
#include "runtime/program/KernelUpgrades.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unistd.h>

namespace millrace::runtime {
namespace {

using namespace llvm;
using namespace llvm::orc;

/// Counts the bytes of each program and writes the perf map. Puts constants into the memory of the code, because a process may have only some 65000
/// mappings, and adjacent ones with the same protection count as one.
class Observer : public ObjectLinkingLayer::Plugin {
public:
  void modifyPassConfig(MaterializationResponsibility &mr, jitlink::LinkGraph &, jitlink::PassConfiguration &config) override {
    const JITDylib *library = &mr.getTargetJITDylib();
    config.PrePrunePasses.push_back([](jitlink::LinkGraph &graph) {
      for (jitlink::Section &section : graph.sections())
        if (section.getMemProt() == MemProt::Read && section.getMemLifetime() == MemLifetime::Standard)
          section.setMemProt(MemProt::Read | MemProt::Exec);
      return Error::success();
    });
    config.PostFixupPasses.push_back([this, library](jitlink::LinkGraph &graph) {
      observe(library, graph);
      return Error::success();
    });
  }
  Error notifyFailed(MaterializationResponsibility &) override { return Error::success(); }
  Error notifyRemovingResources(JITDylib &, ResourceKey) override { return Error::success(); }
  void notifyTransferringResources(JITDylib &, ResourceKey, ResourceKey) override {}

  void enablePerfMap() {
    std::lock_guard lock(mutex);
    if (!perfMap)
      perfMap = std::fopen(("/tmp/perf-" + std::to_string(::getpid()) + ".map").c_str(), "a");
  }
  uint64_t takeBytes(const JITDylib *library) {
    std::lock_guard lock(mutex);
    auto it = bytes.find(library);
    if (it == bytes.end())
      return 0;
    uint64_t result = it->second;
    bytes.erase(it);
    return result;
  }

private:
  void observe(const JITDylib *library, jitlink::LinkGraph &graph) {
    std::lock_guard lock(mutex);
    for (jitlink::Section &section : graph.sections())
      if (section.getMemLifetime() == MemLifetime::Standard)
        for (jitlink::Block *block : section.blocks())
          bytes[library] += block->getSize();
    if (!perfMap)
      return;
    for (jitlink::Symbol *symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->isCallable())
        std::fprintf(perfMap, "%llx %llx %s\n", (unsigned long long)symbol->getAddress().getValue(),
                     (unsigned long long)symbol->getSize(), (*symbol->getName()).str().c_str());
    std::fflush(perfMap);
  }
  std::mutex mutex;
  std::map<const JITDylib *, uint64_t> bytes;
  std::FILE *perfMap = nullptr;
};

/// The session's error reporter stores the errors of this thread's lookup here.
thread_local std::string *linkErrors = nullptr;

/// The session of the process; never destroyed.
struct Session {
  std::unique_ptr<ExecutionSession> session;
  std::unique_ptr<ObjectLinkingLayer> layer;
  JITDylib *runtimeLibrary = nullptr;
  std::shared_ptr<Observer> observer = std::make_shared<Observer>();
  std::mutex mutex;
  bool gdb = false;       ///< guarded by mutex
  unsigned programs = 0;  ///< guarded by mutex; makes names unique
  Status failure;         ///< why there is no session

  static Session &get() {
    static Session *session = new Session;
    return *session;
  }

private:
  Session() {
    auto control = SelfExecutorProcessControl::Create(nullptr, std::make_unique<InPlaceTaskDispatcher>());
    if (!control) {
      failure = internalError("cannot start the loader: " + toString(control.takeError()));
      return;
    }
    session = std::make_unique<ExecutionSession>(std::move(*control));
    // The error of a lookup says only that symbols failed; the reporter receives the reason, on the same thread.
    session->setErrorReporter([](Error error) {
      std::string text = toString(std::move(error));
      if (linkErrors)
        *linkErrors += (linkErrors->empty() ? "" : "; ") + text;
    });
    layer = std::make_unique<ObjectLinkingLayer>(*session);
    layer->addPlugin(observer);
    runtimeLibrary = &session->createBareJITDylib("millrace_runtime");
    SymbolMap symbols;
    for (const RuntimeSymbol &symbol : runtimeSymbols())
      symbols[session->intern(symbol.name)] = {ExecutorAddr::fromPtr(symbol.address),
                                               JITSymbolFlags::Exported | JITSymbolFlags::Callable};
    if (Error error = runtimeLibrary->define(absoluteSymbols(std::move(symbols))))
      failure = internalError("cannot start the loader: " + toString(std::move(error)));
  }
};

Status dump(const Program &program, unsigned number, const std::string &folder) {
  MILLRACE_TRY(createFolders(folder));
  std::string stem;
  for (char c : program.name.empty() ? std::string("program") : program.name)
    stem += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '_';
  for (size_t i = 0; i < program.objects.size(); ++i) {
    const Constant &object = program.objects[i];
    MILLRACE_TRY(writeFileAtomically(folder + "/" + stem + "-" + std::to_string(number) + "-" + std::to_string(i) + ".o",
                                     {reinterpret_cast<const char *>(object.data), object.size}));
  }
  return Status();
}

} // namespace

LoaderOptions loaderOptionsFromEnvironment() {
  LoaderOptions options;
  options.dumpFolder = environment::text("MILLRACE_JIT_DUMP");
  options.perfMap = environment::isOn("MILLRACE_PERF_MAP");
  options.gdb = environment::isOn("MILLRACE_GDB");
  return options;
}

const std::vector<std::string> &hostFeatures() {
  static const std::vector<std::string> features = [] {
    std::vector<std::string> list;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      if (feature.second && (!feature.first().starts_with("amx-") || requestMatrixRegisters()))
        list.push_back(feature.first().str());
#if defined(__aarch64__) && defined(__linux__)
    // LLVM reads /proc/cpuinfo, which describes another machine under qemu; the kernel's auxiliary vector describes the emulated processor.
    if ((::getauxval(AT_HWCAP) & HWCAP_ASIMDDP) && std::find(list.begin(), list.end(), "dotprod") == list.end())
      list.push_back("dotprod");
#endif
    std::sort(list.begin(), list.end());
    return list;
  }();
  return features;
}

std::string hostCpu() { return llvm::sys::getHostCPUName().str(); }
std::string hostTriple() { return llvm::sys::getDefaultTargetTriple(); }

Status checkFeatures(const Target &target, const std::vector<std::string> &available) {
  std::string missing;
  for (const std::string &feature : target.features)
    if (std::find(available.begin(), available.end(), feature) == available.end())
      missing += (missing.empty() ? "" : ", ") + feature;
  if (missing.empty())
    return Status();
  return failedPrecondition("the program was compiled for a '" + target.cpu +
                            "' processor; this one lacks: " + missing);
}

StatusOr<std::shared_ptr<LoadedCode>> LoadedCode::load(const Program &program, const LoaderOptions &options) {
  if (!program.target.triple.empty() &&
      Triple(program.target.triple).getArch() != Triple(hostTriple()).getArch())
    return failedPrecondition("the program was compiled for '" + program.target.triple + "', this is '" +
                              hostTriple() + "'");
  MILLRACE_TRY(checkFeatures(program.target, hostFeatures()));
  Session &session = Session::get();
  MILLRACE_TRY(session.failure);
  unsigned number;
  {
    std::lock_guard lock(session.mutex);
    number = session.programs++;
    if (options.gdb && !session.gdb) {
      Error error = Error::success();
      auto plugin = std::make_shared<ELFDebugObjectPlugin>(*session.session, false, true, error);
      if (error)
        return internalError("cannot register with GDB: " + toString(std::move(error)));
      session.layer->addPlugin(std::move(plugin));
      session.gdb = true;
    }
    if (options.perfMap)
      session.observer->enablePerfMap();
  }
  if (!options.dumpFolder.empty())
    MILLRACE_TRY(dump(program, number, options.dumpFolder).withContext("MILLRACE_JIT_DUMP"));

  std::shared_ptr<LoadedCode> code(new LoadedCode);
  JITDylib &library = session.session->createBareJITDylib("program" + std::to_string(number));
  code->library = &library;
  library.addToLinkOrder(*session.runtimeLibrary);
  for (size_t i = 0; i < program.objects.size(); ++i) {
    const Constant &object = program.objects[i];
    StringRef bytes(reinterpret_cast<const char *>(object.data), object.size);
    auto buffer = MemoryBuffer::getMemBufferCopy(bytes, "program" + std::to_string(number) + "-" + std::to_string(i));
    if (Error error = session.layer->add(library, std::move(buffer)))
      return invalidArgument("object " + std::to_string(i) + " of the program: " + toString(std::move(error)));
  }
  code->kernels = std::make_unique<KernelSlot[]>(program.kernels.size());
  SymbolLookupSet wanted;
  for (const Kernel &kernel : program.kernels)
    wanted.add(session.session->intern(kernel.symbol));
  wanted.sortByAddress();
  wanted.removeDuplicates();
  if (!wanted.empty()) {
    std::string reasons;
    linkErrors = &reasons;
    auto found = session.session->lookup({{&library, JITDylibLookupFlags::MatchAllSymbols}}, std::move(wanted));
    linkErrors = nullptr;
    if (!found) {
      std::string summary = toString(found.takeError());
      return notFound("cannot link the program: " + (reasons.empty() ? summary : reasons));
    }
    for (size_t i = 0; i < program.kernels.size(); ++i) {
      auto it = found->find(session.session->intern(program.kernels[i].symbol));
      if (it == found->end())
        return notFound("kernel symbol '" + program.kernels[i].symbol + "' is not defined by the program");
      code->kernels[i] = it->second.getAddress().toPtr<KernelFunction>();
    }
  }
  code->bytes = session.observer->takeBytes(&library);
  if (program.upgrades) {
    for (const Kernel &kernel : program.kernels)
      code->symbols.push_back(kernel.symbol);
    code->target = program.target;
    program.upgrades->listen([loaded = std::weak_ptr(code), options](const KernelEntry &kernel) {
      if (std::shared_ptr<LoadedCode> code = loaded.lock())
        code->upgrade(kernel, options);
    });
  }
  return code;
}

void LoadedCode::upgrade(const KernelEntry &kernel, const LoaderOptions &options) {
  // The kernel becomes a program in a library of its own, because this library already defines the symbol.
  Program one;
  one.name = "upgrade";
  one.target = target;
  one.kernels.emplace_back().symbol = kernel.symbol;
  one.objects.push_back(Constant::copy(kernel.object.data(), kernel.object.size()));
  StatusOr<std::shared_ptr<LoadedCode>> loaded = load(one, options);
  if (!loaded)
    return;
  bytes += (*loaded)->codeBytes();
  {
    std::lock_guard lock(mutex);
    better.push_back(*loaded);
  }
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i] == kernel.symbol)
      kernels[i].store((*loaded)->kernel(0), std::memory_order_release);
}

LoadedCode::~LoadedCode() {
  if (!library)
    return;
  Session &session = Session::get();
  session.observer->takeBytes(static_cast<JITDylib *>(library));
  consumeError(session.session->removeJITDylib(*static_cast<JITDylib *>(library)));
}

} // namespace millrace::runtime
