# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the torch_xla that is tested comes from; processes that tests start must find the same one."""
import os

import torch_xla

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SITE = os.path.dirname(os.path.dirname(os.path.realpath(torch_xla.__file__)))
PYTHONPATH = os.pathsep.join([SITE, ROOT])
