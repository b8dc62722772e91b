# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in other layouts than row-major: on one device, over several, through programs, donated, to other libraries."""
import jax
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout, with_layout_constraint
from jax.sharding import AxisType, NamedSharding, PartitionSpec, SingleDeviceSharding

A = np.arange(8 * 16, dtype=np.float32).reshape(8, 16)


def one_device():
    return SingleDeviceSharding(jax.devices()[0])


def eight_devices(*spec):
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    return NamedSharding(mesh, PartitionSpec(*spec))


SHARDINGS = [one_device, lambda: eight_devices("x", "y"), lambda: eight_devices("y"), lambda: eight_devices()]


@pytest.mark.parametrize("sharding", SHARDINGS)
def test_programs_honour_layouts(sharding):
    column_major = Format(Layout((1, 0)), sharding())
    x = jax.device_put(A, column_major)
    assert x.format.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(x, A)
    y, z = jax.jit(lambda v: (v * 2, v.T), out_shardings=(column_major, None))(x)
    assert y.format.layout.major_to_minor == (1, 0)
    assert z.format.layout.major_to_minor == (0, 1)
    assert y.sharding.is_equivalent_to(x.sharding, 2)
    np.testing.assert_array_equal(y, A * 2)
    np.testing.assert_array_equal(z, A.T)
    np.testing.assert_array_equal(x + A, A * 2)


def test_equal_parts_of_different_shardings_are_different_programs():
    """Both programs add on 2 x 16 parts; only what they say of their results differs."""
    for spec in ((("x", "y"), None), (("y", "x"), None)):
        mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
        a = np.arange(256, dtype=np.float32).reshape(16, 16)
        form = Format(Layout((1, 0)), NamedSharding(mesh, PartitionSpec(*spec)))
        y = jax.jit(lambda v: v + 1, in_shardings=form, out_shardings=form)(jax.device_put(a, form))
        assert y.sharding.spec == PartitionSpec(*spec)
        np.testing.assert_array_equal(y, a + 1)


def test_donation_in_place():
    form = Format(Layout((1, 0)), one_device())
    step = jax.jit(lambda v: v + 1, donate_argnums=0, in_shardings=form, out_shardings=form)
    x = step(jax.device_put(A, form))
    where = x.unsafe_buffer_pointer()
    y = step(x)
    assert x.is_deleted() and y.unsafe_buffer_pointer() == where
    np.testing.assert_array_equal(y, A + 2)


def test_other_libraries_see_the_values():
    x = jax.device_put(A, Format(Layout((1, 0)), one_device()))
    np.testing.assert_array_equal(np.from_dlpack(x), A)
    np.testing.assert_array_equal(jax.device_put(x, jax.devices()[-1]), A)


def test_automatic_layouts():
    compiled = jax.jit(lambda v: v.T, in_shardings=Format(Layout.AUTO, one_device())).lower(A).compile()
    np.testing.assert_array_equal(compiled(jax.device_put(A, compiled.input_formats[0][0])), A.T)


def test_constraint_inside_of_a_program():
    np.testing.assert_array_equal(jax.jit(lambda v: with_layout_constraint(v * 2, Layout((1, 0))) + 1)(A), A * 2 + 1)


def test_tiles_are_an_error():
    with pytest.raises(Exception, match="permutation of its dimensions"):
        jax.device_put(A, Format(Layout((0, 1), ((8, 128),)), one_device()))


def test_the_optimized_program_says_its_layouts():
    """What users and tools read of a compiled program: as_text, and hlo_modules of the executable."""
    form = Format(Layout((1, 0)), one_device())
    compiled = jax.jit(lambda v: (v * 2, v.sum()), out_shardings=(form, None), in_shardings=form).lower(A).compile()
    assert "entry_computation_layout={(f32[8,16]{0,1})->(f32[8,16]{0,1}, f32[])}" in compiled.as_text()
    ordinary = jax.jit(lambda v: v * 2).lower(A).compile()
    assert "entry_computation_layout={(f32[8,16]{1,0})->f32[8,16]{1,0}}" in ordinary.as_text()
