# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program with a product in so many nested loops."""
import sys

count = int(sys.argv[1])
matrix, integer = "tensor<64x64xf32>", "tensor<i32>"
print(f"func.func @main(%v0: {matrix}) -> {matrix} {{\n  %one = stablehlo.constant dense<1> : {integer}")
for k in range(1, count + 1):
    print(f"""%r{k}:2 = stablehlo.while(%i{k} = %one, %v{k} = %v{k - 1}) : {integer}, {matrix}
cond {{
  %c{k} = stablehlo.compare LT, %i{k}, %one : ({integer}, {integer}) -> tensor<i1>
  stablehlo.return %c{k} : tensor<i1>
}} do {{""")
print(f"%d = stablehlo.dot_general %v{count}, %v{count}, contracting_dims = [1] x [0] : ({matrix}, {matrix}) -> {matrix}")
for k in range(count, 0, -1):
    made = "%d" if k == count else f"%r{k + 1}#1"
    print(f"stablehlo.return %one, {made} : {integer}, {matrix}\n}}")
print(f"return %r1#1 : {matrix}\n}}")
