# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random small programs, compiled against the evaluator: scripts/fuzz."""
