# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights in words of several codes, unpacked as the reference implementations of GPTQ, AWQ and NF4 do it, in plain JAX: values
against NumPy for the instructions of every level of x86-64, and no matrix of floats between kernels."""
import re
import subprocess

import numpy as np
import pytest

from benchmarks import tools

N, K = 256, 512
AWQ_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
                0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                0.7229568362236023, 1.0], np.float32)


def gptq(x, qweight, qzeros, scales, g_idx):
    """Eight neighbouring inputs in a word, a group for each input."""
    import jax.numpy as jnp
    shifts = jnp.arange(0, 32, 4, dtype=jnp.int32)
    weights = ((qweight[:, None, :] >> shifts[None, :, None]) & 15).reshape(-1, qweight.shape[1])
    zeros = ((qzeros[:, :, None] >> shifts[None, None, :]) & 15).reshape(scales.shape) + 1
    return x @ (scales[g_idx] * (weights - zeros[g_idx]).astype(scales.dtype))


def gptq_in_groups(x, qweight, qzeros, scales):
    """The same without g_idx: groups are neighbours."""
    import jax.numpy as jnp
    shifts = jnp.arange(0, 32, 4, dtype=jnp.int32)
    weights = ((qweight[:, None, :] >> shifts[None, :, None]) & 15).reshape(scales.shape[0], -1, qweight.shape[1])
    zeros = ((qzeros[:, :, None] >> shifts[None, None, :]) & 15).reshape(scales.shape[0], 1, -1) + 1
    return x @ (scales[:, None] * (weights - zeros).astype(scales.dtype)).reshape(-1, qweight.shape[1])


def awq(x, qweight, qzeros, scales):
    """Eight outputs in a word, in AWQ's order."""
    import jax.numpy as jnp
    shifts = jnp.arange(0, 32, 4, dtype=jnp.int32)
    weights = (qweight[:, :, None] >> shifts).astype(jnp.int8).reshape(qweight.shape[0], -1)
    zeros = (qzeros[:, :, None] >> shifts).astype(jnp.int8).reshape(qzeros.shape[0], -1)
    order = jnp.arange(weights.shape[1]).reshape(-1, 8)[:, jnp.array(AWQ_ORDER)].reshape(-1)
    weights, zeros = weights[:, order] & 15, zeros[:, order] & 15
    group = weights.shape[0] // scales.shape[0]
    return x @ ((weights - jnp.repeat(zeros, group, 0)) * jnp.repeat(scales, group, 0))


def nf4(x, packed, absmax, table):
    """bitsandbytes' blocks of 64: two codes in a byte, the first one in its high half."""
    import jax.numpy as jnp
    codes = jnp.stack([packed >> 4, packed & 15], -1).reshape(-1).astype(jnp.int32)
    return x @ (table[codes].reshape(-1, 64) * absmax[:, None]).reshape(-1, x.shape[1]).T


def words_of(codes):
    """Eight codes of the last dimension in an int32."""
    return (codes.astype(np.uint32) << np.arange(0, 32, 4, dtype=np.uint32)).sum(-1, dtype=np.uint32).view(np.int32)


def arguments(form, rows):
    """Arguments, and the product in f64."""
    generator = np.random.default_rng(7)
    x = generator.normal(size=(rows, K)).astype(np.float32)
    group = 64 if form == "nf4" else 128
    codes, zeros = generator.integers(0, 16, (K, N)), generator.integers(0, 16, (K // group, N))
    if form == "nf4":
        absmax = generator.uniform(0.5, 1.5, N * K // group).astype(np.float32)
        weights = (NF4[codes.T.reshape(-1)].reshape(-1, group) * absmax.astype(np.float64)[:, None]).reshape(N, K).T
        pairs = codes.T.reshape(-1, 2)
        return (x, (pairs[:, 0] << 4 | pairs[:, 1]).astype(np.uint8), absmax, NF4), x.astype(np.float64) @ weights
    scales = generator.uniform(0.5, 1.5, (K // group, N)).astype(np.float32)
    g_idx = generator.integers(0, K // group, K).astype(np.int32) if form == "gptq" else np.arange(K) // group
    plus = 0 if form == "awq" else 1
    weights = scales.astype(np.float64)[g_idx] * (codes - (zeros + plus)[g_idx])
    places = np.argsort(AWQ_ORDER) if form == "awq" else np.arange(8)
    packed_zeros = words_of(zeros.reshape(zeros.shape[0], -1, 8)[:, :, places])
    packed = words_of(codes.reshape(K, -1, 8)[:, :, places]) if form == "awq" else words_of(codes.reshape(-1, 8, N).swapaxes(1, 2))
    given = (x, packed, packed_zeros, scales) + ((g_idx,) if form == "gptq" else ())
    return given, x.astype(np.float64) @ weights


FORMS = {"gptq": gptq, "gptq_in_groups": gptq_in_groups, "awq": awq, "nf4": nf4}


def program(form, rows, folder):
    import jax
    given, want = arguments(form, rows)
    path = folder / f"{form}_{rows}.mlir"
    path.write_text(jax.jit(FORMS[form]).lower(*given).as_text())
    return str(path), given, want


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 3, 16, 130])
def test_values(form, rows, tmp_path):
    path, given, want = program(form, rows, tmp_path)
    for target in ("host", *tools.levels()):
        got = tools.run_file(path, given, f"--target={target}")[0][0]
        np.testing.assert_allclose(got, want, rtol=0, atol=np.abs(want).max() * 3e-6, err_msg=target)


# Products of many rows have words unpacked by a kernel of their own.
@pytest.mark.parametrize("form, rows", [(form, 1) for form in FORMS])
def test_no_matrix_in_memory(form, rows, tmp_path):
    """Between the kernels of the program, no value has an element for each weight."""
    path = program(form, rows, tmp_path)[0]
    text = subprocess.run([tools.tool("xla-compile"), path, "--emit=fused", "--cache-dir=off"], capture_output=True, text=True, check=True).stdout
    main = text[text.index("func.func"):]
    main = main[:main.index("\n  }")]
    sizes = [int(np.prod([int(size) for size in shape.split("x")[:-1]])) for shape in re.findall(r"tensor<([0-9x]+x[a-z0-9]+)>", main)]
    assert "call @" in main and max(sizes) < N * K, main


def of_bytes(form):
    """Weights in words, times rows that the program has rounded to 8 bits."""
    def product(x, row_scales, *given):
        import jax.numpy as jnp
        return FORMS[form](x.astype(jnp.float32) * row_scales[:, None], *given)
    return product


def gptq_in_bytes(x, qweight, qzeros, scales):
    """gptq_in_groups with codes and zeros that become bytes."""
    import jax.numpy as jnp
    shifts = jnp.arange(0, 32, 4, dtype=jnp.int32)
    weights = ((qweight[:, None, :] >> shifts[None, :, None]) & 15).astype(jnp.int8).reshape(scales.shape[0], -1, qweight.shape[1])
    zeros = ((qzeros[:, :, None] >> shifts[None, None, :]) & 15).astype(jnp.int8).reshape(scales.shape[0], 1, -1) + 1
    return x @ (scales[:, None] * (weights - zeros).astype(scales.dtype)).reshape(-1, qweight.shape[1])


FORMS["gptq_in_bytes"] = gptq_in_bytes
# Rows of words with g_idx are brought together by groups once, by the preparation: the arguments that it reads are constant.
CONSTANTS = {"gptq": ["--constant=2-5"]}


def arguments_of_bytes(form, rows):
    """Arguments, and the product in f64."""
    (_, *given), _ = arguments(form, rows)
    generator = np.random.default_rng(8)
    x, row_scales = generator.integers(-128, 128, (rows, K)).astype(np.int8), generator.uniform(0.5, 1.5, rows).astype(np.float32)
    qweight, qzeros, scales = given[:3]
    g_idx = np.arange(K) // (K // len(scales))
    if form == "gptq":
        given[3] = g_idx = np.where(given[3] == 2, 1, given[3])  # groups of all sizes, one of which is empty
    shifts, columns = np.arange(0, 32, 4), np.array(AWQ_ORDER if form == "awq" else range(8))
    zeros = (qzeros[:, :, None] >> shifts & 15)[:, :, columns].reshape(len(scales), N) + (form != "awq")
    codes = (qweight[:, :, None] >> shifts & 15)[:, :, columns].reshape(K, N) if form == "awq" else (qweight[:, None, :] >> shifts[:, None] & 15).reshape(K, N)
    weights = (codes - zeros[g_idx]) * scales.astype(np.float64)[g_idx]
    return (x, row_scales, *given), x.astype(np.float64) * row_scales.astype(np.float64)[:, None] @ weights


def bytes_of(shape):
    *sizes, element = shape.split("x")
    return int(np.prod([int(size) for size in sizes])) * max(1, int(re.sub(r"\D", "", element)) // 8)


@pytest.mark.parametrize("form", ["gptq", "gptq_in_groups", "gptq_in_bytes", "awq"])
@pytest.mark.parametrize("rows", [1, 3, 17, 40])
def test_rows_of_bytes(form, rows, tmp_path):
    """Sums of integers of the words themselves, with the same bits for each row alone; the kernel reads codes and no other form of the weights."""
    import jax
    given, want = arguments_of_bytes(form, rows)
    flags, path, one = CONSTANTS.get(form, []), tmp_path / "words.mlir", tmp_path / "one.mlir"
    path.write_text(jax.jit(of_bytes(form)).lower(*given).as_text())
    one.write_text(jax.jit(of_bytes(form)).lower(*(part[:1] for part in given[:2]), *given[2:]).as_text())
    text = subprocess.run([tools.tool("xla-compile"), str(path), "--emit=fused", "--cache-dir=off", *flags], capture_output=True, text=True, check=True).stdout
    call = re.search(r"call @coded_product[^:]*: \(([^)]*)\)", text)
    assert call, text
    codes, x, scales, *_ = (bytes_of(shape) for shape in re.findall(r"tensor<([^>]*)>", call[1]))
    # Each of four groups begins with a word of its own.
    assert codes == (K // 8 + (4 if form == "gptq" else 0)) * N * 4 and x <= rows * (K + 32) and scales == 4 * N * 4
    main = text[text.index("func.func"):]
    main = main[:main.index("\n  }")]
    assert max(bytes_of(shape) for shape in re.findall(r"tensor<([0-9x]+x[a-z0-9]+)>", main)) <= codes, main
    for target in ("host", *tools.levels()):
        got = tools.run_file(str(path), given, f"--target={target}", *flags)[0][0]
        np.testing.assert_allclose(got, want, rtol=0, atol=np.abs(want).max() * 3e-6, err_msg=target)
        alone = tools.run_file(str(one), (*(part[:1] for part in given[:2]), *given[2:]), f"--target={target}", *flags)[0][0]
        np.testing.assert_array_equal(alone[0], got[0], err_msg=target)


def test_groups_of_each_row_for_changing_words(tmp_path):
    """Words that may be others in each call are brought together by groups where that is less than the products: for 5 of these rows."""
    import jax
    for rows, is_used in ((40, True), (5, True), (4, False)):
        given, want = arguments_of_bytes("gptq", rows)
        path = tmp_path / f"{rows}.mlir"
        path.write_text(jax.jit(of_bytes("gptq")).lower(*given).as_text())
        text = subprocess.run([tools.tool("xla-compile"), str(path), "--emit=fused", "--cache-dir=off"], capture_output=True, text=True, check=True).stdout
        assert ("call @coded_product" in text) == is_used, text
        np.testing.assert_allclose(tools.run_file(str(path), given)[0][0], want, rtol=0, atol=np.abs(want).max() * 3e-6)
