# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Maps the arguments of a call to the inputs of a compiled graph for _XLAC._run_cached_graph()."""
from collections.abc import Iterable, Sequence

import torch

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class GraphInputMatcher:
    """Returns the inputs of a compiled graph for the arguments of a call, as matcher(args); random numbers are drawn anew in every call.

    Args:
      tensor_id_to_arg_idx: Positions of the arguments by the ids of their tensors.
      graph_input_tensor_ids: The ids of the graph's inputs, from _XLAC._get_tensors_xla_device_data_node().
      graph_input_xla_values: The inputs, which are kept where no argument replaces them.
      xla_args_tensor_id: Ids of inputs that are not kept, because every call has its own.
    """

    def __init__(self, tensor_id_to_arg_idx: dict[int, int], graph_input_tensor_ids: Sequence[int], graph_input_xla_values: Sequence[torch.Tensor],
                 xla_args_tensor_id: Iterable[int] = ()) -> None:
        self.tensor_id_to_arg_idx, self.graph_input_tensor_ids = tensor_id_to_arg_idx, graph_input_tensor_ids
        given = set(xla_args_tensor_id) | set(tensor_id_to_arg_idx)
        self.graph_input_xla_values = [None if number in given else value
                                       for number, value in zip(graph_input_tensor_ids, graph_input_xla_values)]
        self.seed_info_id = _XLAC._get_seed_info_id()
        self.arg_idxs = [tensor_id_to_arg_idx.get(number) for number in graph_input_tensor_ids]

    def __call__(self, args):
        made = []
        for number, kept, index in zip(self.graph_input_tensor_ids, self.graph_input_xla_values, self.arg_idxs):
            if index is not None:
                made.append(args[index])
            elif number == self.seed_info_id:
                made.append(_XLAC._get_base_seed_as_tensor(""))
            else:
                made.append(kept)
        return made
