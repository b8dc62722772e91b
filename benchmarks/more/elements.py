# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element by element: other functions, types and broadcasts."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, integers, positive


def horner(x):
    y = x
    for c in (0.1, -0.2, 0.3, -0.4, 0.5, -0.6):
        y = y * x + np.float32(c)
    return y


def complex_numbers(*shape):
    return lambda draw: (draw.normal(*shape) + 1j * draw.normal(*shape)).astype(np.complex64)


def programs():
    def unary(name, function, size=(1000, 1000), spec=None, torch=True, **more):
        return case(f"{name}_{'x'.join(map(str, size))}_f32", function, spec(*size) if spec else size, source="vector math",
                    torch_function=in_torch(lambda t, F, x: getattr(t, name)(x)) if torch else None, **(more or dict(rtol=1e-3, atol=1e-4)))

    special = jax.scipy.special
    found = [unary("log", jnp.log, spec=positive), unary("sqrt", jnp.sqrt, spec=positive), unary("rsqrt", lax.rsqrt, spec=positive),
             unary("sigmoid", jax.nn.sigmoid), unary("erf", special.erf), unary("sin", jnp.sin), unary("tan", jnp.tan), unary("atan", jnp.arctan),
             unary("expm1", jnp.expm1), unary("sinh", jnp.sinh), unary("asinh", jnp.arcsinh), unary("lgamma", special.gammaln, spec=positive),
             unary("digamma", special.digamma, spec=positive), unary("floor", jnp.floor), unary("round", jnp.round), unary("sign", jnp.sign),
             unary("abs", jnp.abs, (77,)), unary("exp", jnp.exp, (10,)), unary("tanh", jnp.tanh, (331,)), unary("exp2", jnp.exp2),
             unary("erfinv", special.erfinv, spec=lambda *s: lambda d: (d.positive(*s) - np.float32(0.99))), unary("cbrt", jnp.cbrt, torch=False)]
    both = lambda name, function, *specs, torch=None, **more: case(  # noqa: E731
        name, function, *specs, source="vector math", torch_function=in_torch(torch) if torch else None, **(more or dict(rtol=1e-3, atol=1e-4)))
    found += [
        both("atan2_1000x1000_f32", jnp.arctan2, (1000, 1000), (1000, 1000), torch=lambda t, F, a, b: t.atan2(a, b)),
        both("remainder_1000x1000_f32", jnp.remainder, (1000, 1000), positive(1000, 1000), torch=lambda t, F, a, b: t.remainder(a, b)),
        both("divide_1000x1000_s32", lambda a, b: a // b, integers(10000, 1000, 1000), lambda d: 1 + integers(100, 1000, 1000)(d),
             torch=lambda t, F, a, b: a // b),
        both("add_1000000_f64", lambda a, b: a + b, lambda d: d.normal(1000000).astype(np.float64), lambda d: d.normal(1000000).astype(np.float64),
             torch=lambda t, F, a, b: a + b),
        both("exp_300x1000_f64", jnp.exp, lambda d: d.normal(300, 1000).astype(np.float64), torch=lambda t, F, a: a.exp()),
        *(both(f"{name}_300x500_f64", getattr(jnp, name), lambda d: d.normal(300, 500).astype(np.float64),
               torch=lambda t, F, a, name=name: getattr(t, name)(a)) for name in ("cos", "expm1", "arctan")),
        both("log1p_300x500_f64", jnp.log1p, lambda d: d.positive(300, 500).astype(np.float64), torch=lambda t, F, a: a.log1p()),
        both("image_4x224x224x3_u8", lambda x, mean, deviation: ((x.astype(jnp.float32) / 255 - mean) / deviation).transpose(0, 3, 1, 2),
             lambda d: d.random.integers(0, 256, (4, 224, 224, 3)).astype(np.uint8), (3,), positive(3),
             torch=lambda t, F, x, mean, deviation: ((x.float() / 255 - mean) / deviation).permute(0, 3, 1, 2).contiguous()),
        both("tanh_512x512_bf16", jnp.tanh, bf16(512, 512), torch=lambda t, F, a: a.tanh(), rtol=2e-2, atol=2e-2),
        both("silu_512x512_f16", jax.nn.silu, lambda d: d.normal(512, 512).astype(np.float16), torch=lambda t, F, a: F.silu(a), rtol=2e-2, atol=2e-2),
        both("add_1000000_bf16", lambda a, b: a + b, bf16(1000000), bf16(1000000), torch=lambda t, F, a, b: a + b, rtol=2e-2, atol=2e-2),
        both("multiply_300x300_c64", lambda a, b: a * b, complex_numbers(300, 300), complex_numbers(300, 300), torch=lambda t, F, a, b: a * b),
        both("complex_exp_300x300_c64", jnp.exp, complex_numbers(300, 300), torch=lambda t, F, a: a.exp()),
        both("bits_1000000_s8", lambda a: (a & 15) ^ (a >> 4), integers(127, 1000000, dtype=np.int8), torch=lambda t, F, a: (a & 15) ^ (a >> 4)),
        both("popcount_1000000_u32", lax.population_count, integers(2**31, 1000000, dtype=np.uint32)),
        both("where_clip_1000x1000_f32", lambda a, b: jnp.where(a > b, jnp.clip(a, -1, 1), b), (1000, 1000), (1000, 1000),
             torch=lambda t, F, a, b: t.where(a > b, a.clamp(-1, 1), b)),
        both("column_scale_1000x1000_f32", lambda a, b: a * b[:, None], (1000, 1000), (1000,), torch=lambda t, F, a, b: a * b[:, None]),
        both("broadcast_3d_64x1x100_1x50x100_f32", lambda a, b: a + b, (64, 1, 100), (1, 50, 100), torch=lambda t, F, a, b: a + b),
        both("horner_1000000_f32", horner, (1000000,)),
        both("polygamma_step_97_f32", lambda x: jnp.exp(x) * jnp.cos(x) + lax.rsqrt(x * x + 1), (97,)),
        both("gelu_gradient_512x1024_f32", lambda x, g: jax.vjp(jax.nn.gelu, x)[1](g)[0], (512, 1024), (512, 1024)),
        both("convert_f32_bf16_1000000", lambda x: x.astype(jnp.bfloat16), (1000000,), torch=lambda t, F, x: x.bfloat16(), rtol=2e-2, atol=2e-2),
        both("convert_s32_f32_1000000", lambda x: x.astype(jnp.float32), integers(1000, 1000000), torch=lambda t, F, x: x.float()),
        both("compare_1000000_f32", lambda a, b: a < b, (1000000,), (1000000,), torch=lambda t, F, a, b: a < b),
    ]
    return found
