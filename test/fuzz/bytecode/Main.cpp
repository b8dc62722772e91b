// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Main.cpp - fuzz-bytecode: damaged artifacts must end in an error ---===//
// fuzz-bytecode FOLDER [--mutations=N | --seconds=S] [--seed=S] [--index=I] [--keep=FOLDER] [--simplify] [--trust]
// Each damaged file goes the way of a real one: validation, MLIR's reader, verifier, VHLO to StableHLO, verifier,
// printer. Workers are child processes; one that dies or hangs is a failure, its input is kept and the next worker goes on
// behind it. --index runs one file in this process, for a debugger. --simplify runs the compiler's first passes on what is accepted. --trust leaves the validation out: how often MLIR alone dies.
// Last line: N passed, N failed.
#include "dialects/bytecode/Validate.h"
#include "lowering/Pipeline.h"
#include "passes/vhlo/PortableArtifact.h"
#include "test/fuzz/bytecode/Mutate.h"
#include "tools/RegisterAll.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of processor time that one damaged file may take; on a busy machine the clock runs longer.
constexpr unsigned kTimeLimit = 20, kClockLimit = 600;
/// Attributes live as long as their context: a new one now and then keeps the worker small.
constexpr uint64_t kFilesPerContext = 256;
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
constexpr rlim_t kMemoryLimit = RLIM_INFINITY; // the sanitizer reserves terabytes
#else
constexpr rlim_t kMemoryLimit = rlim_t(6) << 30;
#endif

struct Options {
  std::string folder, keep = ".";
  uint64_t mutations = 0, seconds = 20, seed = 1;
  std::optional<uint64_t> index;
  bool trust = false, simplify = false;
};

/// What workers and parent share.
struct Shared {
  uint64_t next;     ///< the file that is being read
  uint64_t refused;  ///< by the validation
  uint64_t rejected; ///< by MLIR's reader, the verifier or the conversion
  uint64_t accepted;
};

class Worker {
public:
  explicit Worker(const Options &options) : options(options) { millrace::registerAllDialects(registry); }

  void read(const std::string &file, Shared &shared) {
    std::string error;
    if (!options.trust && mlir::failed(millrace::bytecode::validateBytecode(file, error))) {
      // An empty message would be a lost error.
      if (error.empty())
        abort();
      ++shared.refused;
      return;
    }
    if (!context || ++files % kFilesPerContext == 0)
      context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    size_t errors = 0;
    mlir::ScopedDiagnosticHandler handler(context.get(), [&](mlir::Diagnostic &diagnostic) {
      errors += !diagnostic.str().empty();
      return mlir::success();
    });
    auto module = options.trust ? mlir::parseSourceString<mlir::ModuleOp>(file, mlir::ParserConfig(context.get()), "fuzz")
                                : millrace::vhlo::readPortableArtifact(file, *context);
    if (module)
      module->print(llvm::nulls(), mlir::OpPrintingFlags().enableDebugInfo());
    if (module && options.simplify) {
      mlir::PassManager passes(context.get());
      millrace::lowering::addSimplifyPasses(passes, {});
      (void)passes.run(*module);
    }
    ++(module ? shared.accepted : shared.rejected);
  }

private:
  const Options &options;
  mlir::DialectRegistry registry;
  std::unique_ptr<mlir::MLIRContext> context;
  uint64_t files = 0;
};

bool loadCorpus(const std::string &folder, std::vector<std::string> &corpus, std::vector<std::string> &names) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    names.push_back(it->path());
  llvm::sort(names);
  for (const std::string &name : names) {
    auto buffer = llvm::MemoryBuffer::getFile(name);
    if (!buffer)
      return false;
    corpus.push_back((*buffer)->getBuffer().str());
  }
  return !corpus.empty();
}

bool parseOptions(int argc, char **argv, Options &options) {
  for (llvm::StringRef argument : llvm::ArrayRef(argv + 1, argc - 1)) {
    uint64_t value = 0;
    auto number = [&](llvm::StringRef flag) {
      llvm::StringRef rest = argument;
      return rest.consume_front(flag) && !rest.getAsInteger(10, value);
    };
    llvm::StringRef rest = argument;
    if (number("--mutations="))
      options.mutations = value;
    else if (number("--seconds="))
      options.seconds = value;
    else if (number("--seed="))
      options.seed = value;
    else if (number("--index="))
      options.index = value;
    else if (rest.consume_front("--keep="))
      options.keep = rest;
    else if (argument == "--simplify")
      options.simplify = true;
    else if (argument == "--trust")
      options.trust = true;
    else if (!argument.starts_with("--") && options.folder.empty())
      options.folder = argument;
    else
      return false;
  }
  return !options.folder.empty();
}

std::string signalName(int status) {
  if (WIFEXITED(status))
    return "exit status " + std::to_string(WEXITSTATUS(status));
  bool tooLong = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF;
  return tooLong ? "no end within " + std::to_string(kTimeLimit) + " s" : strsignal(WTERMSIG(status));
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::vector<std::string> corpus, names;
  if (!parseOptions(argc, argv, options) || !loadCorpus(options.folder, corpus, names)) {
    llvm::errs() << "usage: fuzz-bytecode FOLDER [--mutations=N | --seconds=S] [--seed=S] [--index=I] [--keep=FOLDER] [--simplify] [--trust]\n"
                    "FOLDER has at least one bytecode file\n";
    return 2;
  }
  size_t origin = 0;
  Worker worker(options);
  if (options.index) {
    Shared shared{};
    std::string file = millrace::fuzz::mutate(corpus, options.seed, *options.index, origin);
    std::string error;
    llvm::outs() << names[origin] << ": " << (mlir::failed(millrace::bytecode::validateBytecode(file,
                                                                                                error)) ? error : "valid") << "\n";
    llvm::outs().flush();
    worker.read(file, shared);
    llvm::outs() << (shared.accepted ? "accepted\n" : "rejected\n");
    return 0;
  }

  auto *shared = static_cast<Shared *>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                            -1, 0));
  *shared = Shared{};
  // The whole files first: a reader that refuses everything must not pass.
  uint64_t failed = 0;
  for (size_t i = 0; i < corpus.size() && !options.trust; ++i) {
    std::string error;
    if (mlir::failed(millrace::bytecode::validateBytecode(corpus[i], error))) {
      llvm::outs() << names[i] << ": a whole file is refused: " << error << "\n";
      ++failed;
    }
  }
  auto deadline = Clock::now() + std::chrono::seconds(options.seconds);
  auto goOn = [&](uint64_t index) { return options.mutations ? index < options.mutations : Clock::now() < deadline; };
  while (goOn(shared->next)) {
    llvm::outs().flush();
    pid_t child = fork();
    if (child == 0) {
      rlimit limit{kMemoryLimit, kMemoryLimit}, noCore{0, 0};
      setrlimit(RLIMIT_AS, &limit);
      setrlimit(RLIMIT_CORE, &noCore);
      for (; goOn(shared->next); ++shared->next) {
        alarm(kClockLimit);
        itimerval processorTime{{0, 0}, {kTimeLimit, 0}};
        setitimer(ITIMER_PROF, &processorTime, nullptr);
        worker.read(millrace::fuzz::mutate(corpus, options.seed, shared->next, origin), *shared);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0)
      break;
    std::string file = millrace::fuzz::mutate(corpus, options.seed, shared->next, origin);
    std::string path = options.keep + "/crash-" + std::to_string(options.seed) + "-" + std::to_string(shared->next) + ".bc";
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << file;
    llvm::outs() << path << ": " << signalName(status) << " (from " << llvm::sys::path::filename(names[origin]) << ")\n";
    ++failed;
    ++shared->next;
  }
  llvm::outs() << "fuzz-bytecode: seed " << options.seed << ", " << corpus.size() << " files, " << shared->next << " mutations: "
               << shared->refused << " refused by the validation, " << shared->rejected << " rejected after it, " << shared->accepted
               << " accepted\n";
  llvm::outs() << shared->next - std::min(failed, shared->next) << " passed, " << failed << " failed\n";
  return failed ? 1 : 0;
}
