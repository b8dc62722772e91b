# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch/XLA that are not meant for users, but that libraries such as Lightning import."""
