# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that the example programs of PyTorch/XLA import beside the library itself."""
