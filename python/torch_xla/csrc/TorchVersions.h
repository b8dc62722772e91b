// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TorchVersions.h - What differs among the supported versions of PyTorch ===//
// _versions.py names the versions. Every difference of their C++ interfaces has one name here, which the other files ask.
#pragma once
#include <torch/version.h>

#define MILLRACE_TORCH_SINCE(minor) (TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= (minor))

/// The operators cholesky and qr, long deprecated, ended with 2.14 (linalg_cholesky and linalg_qr stay).
#define MILLRACE_TORCH_HAS_OLD_FACTORS !MILLRACE_TORCH_SINCE(14)
