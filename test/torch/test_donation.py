# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of arguments that becomes a result's: of tensors that nobody holds any more, and of those that the user gives up."""
import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch_xla import _XLAC
from torch_xla.utils.buffer_donor_context import alias_with_buffer_donor_config

VALUE = torch.arange(1., 33.).reshape(2, 16)


def on_device(*values):
    made = [value.clone().to("xla") for value in values]
    torch_xla.sync()
    met.clear_all()
    return made


def aliases():
    return met.metric_data("InputOutputAliasCount")[1]


def test_given_up_beside_overwritten():
    """At a step barrier the memory of both becomes a result's, and both count."""
    a, b = on_device(VALUE, VALUE * 2)
    assert _XLAC._set_buffer_donation(a, True) and _XLAC._get_buffer_donation(a) and not _XLAC._get_buffer_donation(b)
    before = _XLAC._unsafe_buffer_pointer(a)
    c = a.sinh() + b
    b += 2
    torch_xla.sync(wait=True)
    assert aliases() == 2 and met.counter_value("DonatedBuffers") == 2
    assert _XLAC._is_placecholder(a) and "Data Handle: Deleted" in _XLAC._get_xla_tensor_debug_info(a) and _XLAC._get_buffer_donation(a)
    assert before in (_XLAC._unsafe_buffer_pointer(c), _XLAC._unsafe_buffer_pointer(b))
    torch.testing.assert_close(c.cpu(), VALUE.sinh() + VALUE * 2, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(b.cpu(), VALUE * 2 + 2)
    with pytest.raises(RuntimeError, match="the memory of the tensor was given up: it is deleted"):
        a.cpu()
    with pytest.raises(RuntimeError, match="depends on a tensor whose memory was given up: it is deleted"):
        (a + 1).cpu()
    with pytest.raises(RuntimeError, match="is deleted"):
        _XLAC._get_tensors_handle([a])


def test_a_result_takes_the_memory_of_what_it_updates():
    """Whichever of the tensors the graph reads first: a result in another one's memory would wait until that is read, or be copied."""
    a, b = on_device(VALUE, VALUE * 2)
    before = [_XLAC._unsafe_buffer_pointer(each) for each in (a, b)]
    torch.add(b * 3, a, out=a)
    b.mul_(0.5).add_(1)
    torch_xla.sync(wait=True)
    assert aliases() == 2 and met.counter_value("DonatedBuffers") == 2
    assert [_XLAC._unsafe_buffer_pointer(each) for each in (a, b)] == before
    torch.testing.assert_close(a.cpu(), VALUE * 7)
    torch.testing.assert_close(b.cpu(), VALUE + 1)


@pytest.mark.parametrize("is_on", [True, False])
def test_without_a_step_barrier_only_what_is_given_up(is_on):
    a, b = on_device(VALUE, VALUE * 3)
    with alias_with_buffer_donor_config(is_on):
        _XLAC._set_buffer_donation(a, True)
        c = a.cosh() + b
        b += 3
        _XLAC._xla_sync_multi([a, b, c], ["xla:0"], True, False)
    assert aliases() == is_on and bool(_XLAC._is_placecholder(a)) is is_on
    torch.testing.assert_close(c.cpu(), VALUE.cosh() + VALUE * 3, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(b.cpu(), VALUE * 3 + 3)


def test_one_that_is_overwritten_anyway():
    a, = on_device(VALUE)
    _XLAC._set_buffer_donation(a, True)
    a *= 5
    torch_xla.sync()
    assert aliases() == 1 and not _XLAC._get_buffer_donation(a)
    torch.testing.assert_close(a.cpu(), VALUE * 5)


def test_marks_stay_where_nothing_runs_and_can_be_taken_back():
    a, = on_device(VALUE)
    for should in (True, False):
        _XLAC._set_buffer_donation(a, should)
        for _ in range(2):
            torch_xla.sync()
            assert _XLAC._get_buffer_donation(a) is should
    b = a + 1
    torch_xla.sync()
    torch.testing.assert_close(a.cpu() + 1, b.cpu())
    assert met.counter_value("XlaSetBufferDonation") == 2
    assert not _XLAC._set_buffer_donation(VALUE, True) and not _XLAC._get_buffer_donation(VALUE)


def test_memory_that_a_clone_shares_stays_the_clones():
    a, = on_device(VALUE)
    b = a.clone()
    torch_xla.sync()
    _XLAC._set_buffer_donation(a, True)
    c = a.tan()
    torch_xla.sync()
    torch.testing.assert_close(b.cpu(), VALUE)
    torch.testing.assert_close(c.cpu(), VALUE.tan(), rtol=1e-4, atol=1e-4)
    assert _XLAC._is_placecholder(a)


def test_other_programs_for_other_donors():
    """A graph that runs once with and once without a donated input computes the same."""
    for marked in (True, False, True):
        a, = on_device(VALUE)
        _XLAC._set_buffer_donation(a, marked)
        b = a.asinh() * 7
        torch_xla.sync()
        assert bool(_XLAC._is_placecholder(a)) is marked
        torch.testing.assert_close(b.cpu(), VALUE.asinh() * 7, rtol=1e-5, atol=1e-5)


def test_a_failing_program_takes_nothing():
    a, = on_device(VALUE)
    _XLAC._set_buffer_donation(a, True)
    b = a.log2()
    _XLAC._set_allow_execution(False)
    try:
        with pytest.raises(RuntimeError, match="Unexpected execution"):
            xm.mark_step()
    finally:
        _XLAC._set_allow_execution(True)
    torch.testing.assert_close(a.cpu(), VALUE)
    torch.testing.assert_close(b.cpu(), VALUE.log2(), rtol=1e-5, atol=1e-5)
