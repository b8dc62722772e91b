# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of torch_xla._XLAC that few programs use: functions of XLA's operations, optimizer steps, collectives of lists, sizes from
tensors. Added when somebody asks for a name that is not there: an import pays nothing for them."""


def install(xlac):
    """Adds the names to the module."""
    from .amp.syncfree import _functional
    from .core import _builder, _builder_ops, xla_builder
    from .core import _collectives as collectives

    def name(function):
        setattr(xlac, function.__name__, function)
        return function

    #===-- Functions of XLA's operations ---------------------------------------===

    xlac.XlaBuilder, xlac.XlaOp, xlac.XlaComputation = _builder.Builder, _builder.Node, _builder.Computation
    xlac._xla_op_create_builder = xla_builder.create_builder
    xlac._xla_op_computation_from_module_proto = xla_builder.computation_from_module_proto

    @name
    def _xla_op_tensor_shape(tensor, device=""):
        return xla_builder.tensor_shape(tensor, device).shape

    @name
    def _xla_op_param(builder, param_no, shape):
        return builder.parameter(param_no, shape)

    @name
    def _xla_op_create(builder, opname, operands, args):
        if opname not in _builder_ops.OPS:
            raise RuntimeError(f"there is no operation {opname!r}")
        return _builder_ops.OPS[opname](builder, list(operands), dict(args))

    @name
    def _xla_op_build(name, root):
        return root.builder.build(name, root)

    @name
    def _xla_op_shape(op):
        return op.shape

    @name
    def _xla_op_builder(op):
        return op.builder

    #===-- Optimizers ----------------------------------------------------------===

    @name
    def _xla_sgd_optimizer_step_(found_inf, step, param, buf, d_p, weight_decay, momentum, lr, dampening, nesterov, maximize):
        _functional.sgd_step(found_inf, [step], [param], [d_p], [buf], weight_decay=weight_decay, momentum=momentum, lr=lr,
                             dampening=dampening, nesterov=nesterov, maximize=maximize)

    @name
    def _xla_adam_optimizer_step_(found_inf, step, param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, beta1, beta2, lr, weight_decay,
                                  eps, amsgrad, maximize, use_adamw):
        _functional.adam_step(found_inf, [step], [param], [grad], [exp_avg], [exp_avg_sq], [max_exp_avg_sq], amsgrad=amsgrad,
                              beta1=beta1, beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps, maximize=maximize,
                              use_adamw=use_adamw)

    #===-- Collectives: results, then the token --------------------------------===

    @name
    def _xla_all_gather_out(output, input, token, dim, shard_count, groups, pin_layout=True):
        collectives.all_gather(input, dim, groups or None, output, pin_layout)
        return token

    @name
    def _xla_all_gather_coalesced(tensors, token, dim, shard_count, groups, pin_layout=True):
        return [*collectives.all_gather(list(tensors), dim, groups or None, None, pin_layout), token]

    @name
    def _xla_all_gather_coalesced_out(outputs, inputs, token, dim, shard_count, groups, pin_layout=True):
        collectives.all_gather(list(inputs), dim, groups or None, list(outputs), pin_layout)
        return token

    @name
    def _xla_reduce_scatter_out(reduce_type, output, input, token, scale, scatter_dim, shard_count, groups, pin_layout=True):
        collectives.reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups or None, output, pin_layout)
        return token

    @name
    def _xla_reduce_scatter_coalesced(reduce_type, inputs, token, scale, scatter_dim, shard_count, groups, pin_layout=True):
        return [*collectives.reduce_scatter(reduce_type, list(inputs), scale, scatter_dim, shard_count, groups or None, None, pin_layout),
                token]

    @name
    def _xla_reduce_scatter_coalesced_out(reduce_type, outputs, inputs, token, scale, scatter_dim, shard_count, groups,
                                          pin_layout=True):
        collectives.reduce_scatter(reduce_type, list(inputs), scale, scatter_dim, shard_count, groups or None, list(outputs), pin_layout)
        return token

    #===-- Tensors -------------------------------------------------------------===

    def with_size_of(size, source, source_dim, target_dim, factor=1):
        made = list(size)
        made[target_dim] = int(source.size(source_dim) * factor)
        return made

    @name
    def _xla_dynamic_expand(input, size, src_tensor, src_dim, target_dim):
        return input.expand(with_size_of(size, src_tensor, src_dim, target_dim))

    @name
    def _xla_dynamic_view(input, size, src_tensor, src_dim, target_dim, mul_scaler=1):
        return input.view(with_size_of(size, src_tensor, src_dim, target_dim, mul_scaler))

    @name
    def _check_device_tensor_need_materialization(device=""):
        return xlac._check_tensor_need_materialization(xlac._live_tensors())

    @name
    def _xla_tensors_report(nodes_threshold=100, device=""):
        """The graphs of the tensors that are still to be computed and need more than so many operations."""
        made = []
        for tensor in xlac._live_tensors():
            text = xlac._get_xla_tensors_text([tensor])
            count = text.count(" = ")
            if count > nodes_threshold:
                made.append(f"{tuple(tensor.shape)} {tensor.dtype}: {count} nodes\n{text}")
        return "\n".join(made)
