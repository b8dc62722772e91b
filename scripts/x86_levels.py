# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which levels of x86-64 can be tested here."""
import re

# As /proc/cpuinfo names features; without those that no processor of a level lacks.
_NEEDS = {"x86-64": {"sse2"}, "x86-64-v2": {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"},
          "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
          "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}


def x86_levels():
    """The levels that this machine has, as --target of the tools takes them; what it has beyond the last one is the target "host"."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^flags\s*:(.*)$", file.read(), re.M)
    except OSError:
        found = None
    flags, levels = set(found.group(1).split()) if found else set(), []
    for level, features in _NEEDS.items():
        if not features <= flags:
            break
        levels.append(level)
    return levels
