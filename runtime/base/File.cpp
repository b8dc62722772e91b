// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- File.cpp - Whole files, read aligned and written atomically ---------===//
#include "runtime/base/File.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace millrace::runtime {
namespace {

Status systemError(std::string_view what, const std::string &path, int error) {
  Code code = error == ENOENT                                       ? Code::NotFound
              : error == EACCES || error == EPERM || error == EROFS ? Code::PermissionDenied
              : error == ENOSPC || error == EDQUOT                  ? Code::ResourceExhausted
                                                                    : Code::Internal;
  return Status(code, std::string(what) + " '" + path + "': " + std::strerror(error));
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

} // namespace

StatusOr<FileContent> readWholeFile(const std::string &path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    return systemError("cannot open", path, errno);
  struct stat info;
  if (::fstat(file.fd, &info) != 0)
    return systemError("cannot read", path, errno);
  if (!S_ISREG(info.st_mode))
    return invalidArgument("cannot read '" + path + "': not a regular file");
  size_t size = size_t(info.st_size);
  void *memory = std::aligned_alloc(64, (size + 127) / 64 * 64);
  if (!memory)
    return resourceExhausted("cannot read '" + path + "': no memory for " + std::to_string(size) + " bytes");
  std::shared_ptr<const void> owner(memory, [](const void *p) { std::free(const_cast<void *>(p)); });
  size_t done = 0;
  while (done < size) {
    ssize_t n = ::read(file.fd, static_cast<char *>(memory) + done, size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return systemError("cannot read", path, errno);
    if (n == 0)
      break; // truncated meanwhile: the caller's checksum notices
    done += size_t(n);
  }
  return FileContent{std::move(owner), std::string_view(static_cast<const char *>(memory), done)};
}

/// 0, or the system's error.
static int writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    bytes.remove_prefix(size_t(n));
  }
  return 0;
}

Status writeFileAtomically(const std::string &path, std::string_view bytes) {
  // A device or a pipe is written to: replacing /dev/null by a file would break it for all users, if this user may do that.
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    Descriptor there{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    int error = there.fd < 0 ? errno : writeAll(there.fd, bytes);
    return error ? systemError("cannot write", path, error) : okStatus();
  }
  static std::atomic<unsigned> counter{0};
  std::string temporary = path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++);
  Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (file.fd < 0)
    return systemError("cannot create", path, errno);
  if (int error = writeAll(file.fd, bytes)) {
    ::unlink(temporary.c_str());
    return systemError("cannot write", path, error);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    int error = errno;
    ::unlink(temporary.c_str());
    return systemError("cannot write", path, error);
  }
  return okStatus();
}

Status createFolders(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return systemError("cannot create folder", path, error.value());
  return okStatus();
}

} // namespace millrace::runtime
