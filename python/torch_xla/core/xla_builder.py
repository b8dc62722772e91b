# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the user's own, written with XLA's operations: xb.Op values are combined by methods and operators, and
create_computation() makes a function of StableHLO of them. torch_xla.core.xla_op_registry calls such functions on tensors;
call_jax() does so for functions of JAX. docs/guide/torch-custom-operations.md"""

from ._builder_jax import _JAX_TO_XLA_COMPUTATION_CACHE, _jax_to_xla_computation_cache_elements, call_jax  # noqa: F401
from ._builder_op import Op, create_builder, create_computation, mkleaf, mkop, mkparam  # noqa: F401
from ._builder_programs import (Program, computation_from_module_proto, create_placeholder_tensor, get_computation_hlo,  # noqa: F401
                                user_computation)
from ._builder_shapes import _PT_XLA_TYPE_MAP, _XLA_PT_TYPE_MAP, Shape, Type, mkshape, tensor_shape  # noqa: F401
