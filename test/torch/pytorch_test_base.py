# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PyTorch's device-generic tests on the xla device: TORCH_TEST_DEVICES=test/torch/pytorch_test_base.py python test_torch.py -k _xla

PyTorch executes this file with the names of torch.testing._internal.common_device_type and takes TEST_CLASS. A test whose operator
ran on the CPU fails if MILLRACE_TEST_NO_FALLBACK=1."""
import os
import unittest

import torch
import torch_xla  # noqa: F401
import torch_xla.debug.metrics as met
from torch.testing._internal.common_device_type import DeviceTypeTestBase

# Tests of PyTorch that ask for what no lazy device has; MILLRACE_TEST_SKIP adds names, separated by commas.
_SKIPPED = ["test_storage_meta_errors"]
_SKIPPED += [name for name in os.environ.get("MILLRACE_TEST_SKIP", "").split(",") if name]


class XLATestBase(DeviceTypeTestBase):
    """Every test gets the device, and no more precision than 32-bit floats of fused programs have."""

    device_type = "xla"
    unsupported_dtypes = {torch.quint8, torch.qint8, torch.qint32, torch.quint4x2}
    precision = 1e-5

    @classmethod
    def get_primary_device(cls):
        """The device that tests get."""
        return "xla:0"

    @classmethod
    def _should_stop_test_suite(cls):
        return False

    @classmethod
    def instantiate_test(cls, name, test, *, generic_cls=None):
        """Makes the methods name_xla, name_xla_float32 and so on."""
        if name in _SKIPPED:
            def skipped(self, *args, **kwargs):
                raise unittest.SkipTest("not for a lazy device")
            setattr(cls, f"{name}_xla", skipped)
            return
        super().instantiate_test(name, test, generic_cls=generic_cls)

    def setUp(self):
        """Counts fallbacks anew."""
        super().setUp()
        met.clear_counters()

    def tearDown(self):
        """Nothing may be left pending for the next test, and the CPU may not have helped if the environment says so."""
        torch_xla.sync(wait=True)
        if os.environ.get("MILLRACE_TEST_NO_FALLBACK") == "1":
            self.assertEqual(met.executed_fallback_ops(), [])
        super().tearDown()


TEST_CLASS = XLATestBase
