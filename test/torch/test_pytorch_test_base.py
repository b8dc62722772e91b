# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's device-generic tests find the device through TORCH_TEST_DEVICES."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))

CODE = """
import torch
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase, run_tests

class TestGeneric(TestCase):
    @dtypes(torch.uint8, torch.float32)
    def test_put(self, device, dtype):
        self.assertEqual(torch.device(device).type, "xla")
        x = torch.arange(6, device=device).to(dtype).reshape(2, 3)
        x.put_(torch.tensor([1, -1], device=device), torch.tensor([7, 9], device=device, dtype=dtype))
        self.assertEqual(x.cpu(), torch.tensor([[0, 7, 2], [3, 4, 9]], dtype=dtype))

    def test_wrong(self, device):
        self.assertEqual(torch.ones(2, device=device), torch.zeros(2, device=device))

    @ops([op for op in op_db if op.name == "add"], allowed_dtypes=[torch.float32])
    def test_op(self, device, dtype, op):
        for sample in op.sample_inputs(device, dtype):
            self.assertEqual(op(sample.input, *sample.args, **sample.kwargs).device.type, "xla")

instantiate_device_type_tests(TestGeneric, globals(), only_for=("xla",))
run_tests()
"""


def test_generic_tests(tmp_path):
    (tmp_path / "generic.py").write_text(CODE)
    environment = dict(os.environ, TORCH_TEST_DEVICES=os.path.join(HERE, "pytorch_test_base.py"), PYTORCH_TEST_WITH_SLOW="1",
                       PYTORCH_TESTING_DEVICE_ONLY_FOR="xla", PJRT_DEVICE="CPU")
    environment.pop("CI", None)  # where it is set, PyTorch's run_tests writes XML with a package of its own
    ran = subprocess.run([sys.executable, "generic.py", "-v"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    results = dict(re.findall(r"^(test_\w+) \(.*\) \.\.\. (\w+)", ran.stderr, re.M))
    assert results == {"test_put_xla_uint8": "ok", "test_put_xla_float32": "ok", "test_op_add_xla_float32": "ok",
                       "test_wrong_xla": "FAIL"}, ran.stdout + ran.stderr
