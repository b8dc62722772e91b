# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO from Python without JAX or PyTorch, on an installed wheel; scripts/try-wheels runs it in clean systems."""
import millrace.core
import ml_dtypes
import numpy as np

client = millrace.core.Client()
program = client.compile("""
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xbf16>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.convert %y : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  %2 = stablehlo.tanh %1 : tensor<4x4xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}""")
x = np.arange(16, dtype=np.float32).reshape(4, 4)
product, tanh = program(x, x.astype(ml_dtypes.bfloat16))
np.testing.assert_allclose(product, x @ x)
np.testing.assert_allclose(tanh, np.tanh(x), rtol=1e-6)
print("millrace", millrace.__version__)
