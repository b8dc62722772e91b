# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes files whose functions have one line too many, beside those with as many as there may be: long_functions.py FOLDER."""
import os
import sys

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def main(folder: str) -> None:
    """Writes runtime/client/Long.cpp and scripts/long.py below `folder`."""
    for name in ("runtime/client", "scripts"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, "runtime/client/Long.cpp"), "w", encoding="utf-8") as file:
        # The braces of a literal and of a comment are none of the function's; a lambda is.
        body = ['  const char *text = "}"; // }', "  auto add = [](int x) {", "    return x + 1;", "  };"]
        file.write("\n".join([f"// {LICENCE}", "namespace millrace {", "struct Long { void of(); };", "", "void Long::of() {", *body,
                              *["  ;"] * (150 - len(body)), "}", "void short() {", *["  ;"] * 148, "}", "} // namespace millrace", ""]))
    with open(os.path.join(folder, "scripts/long.py"), "w", encoding="utf-8") as file:
        file.write("\n".join([f"# {LICENCE}", "", "def long():", *["    pass"] * 150, "", "", "def short():", *["    pass"] * 149, ""]))


main(sys.argv[1])
