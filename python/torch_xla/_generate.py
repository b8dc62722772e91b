# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transformers' generate() of a model on device xla: one program for each size class of prompts, and one for all later tokens.

generate() as it is written makes tensors that grow with every token: the ids, the mask, positions and the keys and values of each layer. Each
length is another program. Here the loop runs on the CPU, where growing tensors are cheap, and the device computes forward() alone:
  - for generate() the model says that it is on the CPU; forward() takes its arguments to the device and its logits back;
  - keys and values are in buffers of a size class (SizedLayer), of which masks hide what is not written yet;
  - several tokens at once (a prompt, candidates of assisted decoding) are filled up to a size class on the right. Causal masks keep what is
    added from the others, and the next tokens overwrite its keys.
Tokens are chosen on the CPU, with the CPU's random numbers: torch.manual_seed() gives what PyTorch's CPU gives for the same logits. With
sample_on_device() (_sampling.py) they are chosen on the device."""
import contextlib
import dataclasses
import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from . import _generate_batch, _import_hooks, _sampling
from ._size_classes import size_class

_MODULE = "transformers.generation.utils"


@dataclasses.dataclass
class _Call:
    """One generate() of a model on the device."""
    capacity: int = 0  # the number of tokens in the caches that generate() makes
    is_inside: bool = False  # whether forward() runs, during which the model's tensors are on the device
    caches: list[Any] = dataclasses.field(default_factory=list)  # caches with layers of fixed size; the caller of generate() gets ordinary ones
    helper: Any = None  # the _Call of an assistant_model
    sampler: _sampling.Sampler | None = None  # the sampler, if tokens are chosen on the device


class _Calls(threading.local):
    def __init__(self) -> None:
        self.of: dict[int, _Call] = {}  # id of a model -> the innermost generate() that it is in
        self.forwards = 0  # how many forward() of such models run
        self.has_warned = False


_calls = _Calls()


def _call_of(model: Any) -> _Call | None:
    """Returns the generate() that `model` is in, unless forward() runs."""
    call = _calls.of.get(id(model))
    return None if call is None or call.is_inside else call


def _moved(value: Any, device: torch.device) -> Any:
    """`value` with every tensor in it on `device`; a cache stays what it is."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(part, device) for part in value)
    if isinstance(value, dict):  # a ModelOutput is a dict, too
        items = {key: _moved(part, device) for key, part in value.items()}
        return items if type(value) is dict else type(value)(**items)
    return value


@functools.cache
def _layer_class() -> Any:
    from transformers.cache_utils import DynamicLayer

    class SizedLayer(DynamicLayer):
        """Keys and values [batch, heads, capacity, size of a head] of one layer, of which the first `length` are written. `length` is the
        host's: taking tokens back costs nothing. `window`: what a layer with a sliding window looks back; its mask applies that."""
        is_compileable = True  # generate() makes masks for all columns of the buffer
        is_croppable = True

        def __init__(self, capacity: int, window: int | None = None):
            super().__init__()
            self.capacity, self.window, self.is_sliding = capacity, window, window is not None
            self.length, self.rows = 0, None  # rows: the number of tokens among the rows of the next update, if padding follows them

        def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
            self.dtype, self.device = key_states.dtype, key_states.device
            self.keys, self.values = (states.new_zeros(*states.shape[:2], self.capacity, states.shape[3]) for states in (key_states, value_states))
            self.is_initialized = True

        def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
            if not self.is_initialized:
                self.lazy_initialization(key_states, value_states)
            rows = key_states.shape[-2]
            if self.length + rows > self.capacity:
                self.grow(self.length + rows)
            places = torch.arange(rows, device=self.device) + torch.tensor(self.length)
            self.keys.index_copy_(2, places, key_states)
            self.values.index_copy_(2, places, value_states)
            self.length += rows if self.rows is None else self.rows
            return self.keys, self.values

        def grow(self, length: int) -> None:
            more = size_class(length) - self.capacity
            if more > 0:
                self.capacity += more
                if self.is_initialized:
                    self.keys, self.values = (F.pad(states, (0, 0, 0, more)) for states in (self.keys, self.values))

        def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
            if self.length + query_length > self.capacity:
                self.grow(self.length + query_length)
            return self.capacity, 0

        def get_seq_length(self) -> int | torch.Tensor:
            """Returns a tensor for forward(): the numbers 0 and 1 would be constants of a program, a tensor never is."""
            return torch.tensor(self.length) if _calls.forwards else self.length

        def get_max_length(self) -> int:
            return self.capacity

        def reset(self) -> None:
            super().reset()
            self.length = 0

        def crop(self, tokens_to_remove: int) -> None:
            if tokens_to_remove > 0:
                raise ValueError(f"crop() takes the number of tokens to remove as a negative number, got {tokens_to_remove}")
            self.length = max(0, self.length + tokens_to_remove)

    return SizedLayer


def _self_attention(cache: Any) -> Any:
    return getattr(cache, "self_attention_cache", cache)


def _sized_layers(cache: Any) -> list[Any]:
    """Returns the layers of a cache that is all of sized ones, otherwise none."""
    layers = getattr(_self_attention(cache), "layers", None) or []
    sized = [layer for layer in layers if isinstance(layer, _layer_class())]
    others = [layer for layer in layers if not isinstance(layer, _layer_class())]
    return [] if any(type(layer).__name__ != "DummyLayer" for layer in others) else sized


def _as_sized(layer: Any, capacity: int) -> Any:
    """Returns a sized layer with what `layer` holds; `layer` itself where it is one already or holds nothing; None for layers of other kinds."""
    from transformers import cache_utils
    if isinstance(layer, _layer_class()):
        layer.grow(capacity)
        return layer
    if type(layer) is cache_utils.DummyLayer:
        return layer
    if type(layer) not in (cache_utils.DynamicLayer, cache_utils.DynamicSlidingWindowLayer):
        return None
    made = _layer_class()(capacity, getattr(layer, "sliding_window", None))
    length = layer.get_seq_length()
    if layer.is_initialized and length:
        made.grow(length)
        before = length - layer.keys.shape[-2]  # a sliding window has dropped them
        made.lazy_initialization(layer.keys, layer.values)
        made.keys, made.values = (F.pad(states, (0, 0, before, made.capacity - length)) for states in (layer.keys, layer.values))
        made.length = length
    return made


def _as_dynamic(layer: Any) -> Any:
    """Returns the layer of a DynamicCache with what a sized one holds."""
    from transformers import cache_utils
    if not isinstance(layer, _layer_class()):
        return layer
    made = cache_utils.DynamicLayer() if layer.window is None else cache_utils.DynamicSlidingWindowLayer(layer.window)
    if layer.is_initialized:
        made.lazy_initialization(layer.keys, layer.values)
        first = 0 if layer.window is None else max(0, layer.length - layer.window + 1)
        made.keys, made.values = (states[:, :, first:layer.length] for states in (layer.keys, layer.values))
        if layer.window is not None:
            made.cumulative_length = layer.length
    return made


def _use_sized(cache: Any, capacity: int) -> bool:
    """Makes the layers of a DynamicCache sized ones, all or none."""
    from transformers.cache_utils import DynamicCache
    own = _self_attention(cache)
    if type(own) is not DynamicCache or own.offloading or not own.layers:
        return False
    layers = [_as_sized(layer, capacity) for layer in own.layers]
    if any(layer is None for layer in layers):
        return False
    own.layers = layers
    return True


def _filled(tensor: torch.Tensor, axis: int, size: int) -> torch.Tensor:
    """`tensor` with its last slice along `axis` repeated up to `size`."""
    more = size - tensor.shape[axis]
    return torch.cat([tensor, tensor.narrow(axis, tensor.shape[axis] - 1, 1).expand(*(more if i == axis % tensor.dim() else n for i, n in
                                                                                      enumerate(tensor.shape)))], axis) if more else tensor


_PER_TOKEN = ("position_ids", "token_type_ids", "mm_token_type_ids", "moe_mm_token_type_ids", "cache_position")
_OF_ENCODER = ("encoder_outputs", "encoder_hidden_states", "encoder_attention_mask")


def _fill_up(kwargs: dict[str, Any], is_encoder_decoder: bool) -> int | None:
    """Fills the arguments of forward() up to a size class, if they are several tokens; how many they were, None where nothing was done:
    where an argument is not known here, hidden states or attentions are wanted, or the cache is not one of sized layers."""
    prefix = "decoder_" if is_encoder_decoder else ""
    ids, mask, cache = kwargs.get(prefix + "input_ids"), kwargs.get(prefix + "attention_mask"), kwargs.get("past_key_values")
    if ids is None or ids.dim() != 2 or ids.shape[1] < 2 or kwargs.get("output_attentions") or kwargs.get("output_hidden_states"):
        return None
    known = {prefix + name for name in ("input_ids", "attention_mask", *_PER_TOKEN)} | set(_OF_ENCODER) | {"attention_mask", "past_key_values"}
    if any(isinstance(value, torch.Tensor) and name not in known for name, value in kwargs.items()):
        return None
    rows, size, layers = ids.shape[1], size_class(ids.shape[1]), _sized_layers(cache)
    masks = list(mask.values()) if isinstance(mask, dict) else [mask]
    if layers:
        whole = [part is not None and part.dim() == 2 and part.shape[1] == layers[0].capacity for part in masks]  # Bloom's: of the buffer
        if any(part is not None and part.dim() != 4 and not each for part, each in zip(masks, whole)):
            return None
        if layers[0].length + size > layers[0].capacity:
            return None

        def fill(part: torch.Tensor) -> torch.Tensor:
            return part if part.dim() == 2 else _filled(part, -2, size)
    elif cache is None and kwargs.get("use_cache") is False and not isinstance(mask, dict) and (mask is None or mask.shape == ids.shape):
        def fill(part: torch.Tensor) -> torch.Tensor:
            return F.pad(part, (0, size - rows))
    else:
        return None
    kwargs[prefix + "input_ids"] = _filled(ids, 1, size)
    for name in (prefix + name for name in _PER_TOKEN):
        if isinstance(kwargs.get(name), torch.Tensor):
            kwargs[name] = _filled(kwargs[name], -1, size)
    if isinstance(mask, dict):
        kwargs[prefix + "attention_mask"] = {key: None if part is None else fill(part) for key, part in mask.items()}
    elif mask is not None:
        kwargs[prefix + "attention_mask"] = fill(mask)
    for layer in layers:
        layer.rows = rows
    return rows


def _keep_logits(kwargs: dict[str, Any], rows: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Says to forward() which logits are wanted of `rows` tokens with others behind them, by places and not by their number, which would be
    in the program; returns what makes of its logits those that were asked for."""
    keep = kwargs.get("logits_to_keep", 0)
    if not isinstance(keep, int) or not keep:
        return lambda logits: logits[:, :rows] if logits.shape[1] > rows else logits
    last = kwargs["decoder_input_ids" if "decoder_input_ids" in kwargs else "input_ids"].shape[1] - 1
    places = torch.arange(1 if keep == 1 else min(size_class(keep), last + 1)) + (rows - min(keep, rows))
    kwargs["logits_to_keep"] = places.clamp(max=last)
    return lambda logits: logits[:, :keep]


def _sampled(sampler: _sampling.Sampler, out: Any, keep: Callable[[torch.Tensor], torch.Tensor] | None) -> torch.Tensor:
    """Logits of the CPU that only the token is possible of which the device has chosen from the last ones of `out`."""
    from .torch_xla import sync
    logits = out.logits
    # The index of the last row is an argument of the program: all prompts of one size class use one program.
    last = logits.index_select(1, torch.tensor([keep(logits).shape[1] - 1]).to(logits.device))[:, 0] if keep else logits[:, -1]
    tokens, vocabulary = sampler.choose(last), logits.shape[-1]
    out.logits = logits = last = None  # of the step only the tokens, keys and values are results
    sync()
    return sampler.as_scores(tokens.cpu(), vocabulary)


def _wrapped_forward(model: Any, forward: Callable[..., Any], device: torch.device) -> Callable[..., Any]:
    @functools.wraps(forward)
    def run(*args: Any, **kwargs: Any) -> Any:
        from .torch_xla import sync
        call = _call_of(model)
        if call is None:
            return forward(*args, **kwargs)
        rows = None if args else _fill_up(kwargs, getattr(model.config, "is_encoder_decoder", False))
        keep = _keep_logits(kwargs, rows) if rows else None
        call.is_inside = True
        _calls.forwards += 1
        try:
            out = forward(*_moved(args, device), **_moved(kwargs, device))
        finally:
            call.is_inside = False
            _calls.forwards -= 1
            if rows:
                for layer in _sized_layers(kwargs.get("past_key_values")):
                    layer.rows = None
        if isinstance(getattr(out, "logits", None), torch.Tensor):
            if call.sampler is not None:
                out.logits = _sampled(call.sampler, out, keep)
                return out
            out.logits = out.logits.clone()  # a clone, because reading a view of a result would need a program of its own
            sync()  # the logits, keys and values in one program
            logits = out.logits.cpu()
            out.logits = keep(logits) if keep else logits
        return out
    return run


def _wrapped_encoder(model: Any, forward: Callable[..., Any], device: torch.device) -> Callable[..., Any]:
    @functools.wraps(forward)
    def run(*args: Any, **kwargs: Any) -> Any:
        _calls.forwards += 1
        try:
            return forward(*_moved(args, device), **_moved(kwargs, device))
        finally:
            _calls.forwards -= 1
    return run


@contextlib.contextmanager
def _on_the_host(model: Any, device: torch.device, capacity: int) -> Iterator[_Call]:
    """Inside, `model` says that it is on the CPU, and its forward() takes and gives tensors of the CPU."""
    outer = _calls.of.get(id(model))
    call = _calls.of[id(model)] = _Call(capacity)
    undo = []
    try:
        if outer is None:
            wrapped = [(model, _wrapped_forward)]
            encoder = model.get_encoder() if model.config.is_encoder_decoder else None
            if encoder is not None and encoder is not model:
                wrapped.append((encoder, _wrapped_encoder))
            for module, wrap in wrapped:
                before = module.__dict__.get("forward")
                module.forward = wrap(module, module.forward, device)
                undo.append((module, before))
        yield call
    finally:
        for module, before in undo:
            if before is None:
                del module.forward
            else:
                module.forward = before
        if outer is None:
            del _calls.of[id(model)]
        else:
            _calls.of[id(model)] = outer


def _device(model: Any) -> torch.device:
    """Where the first parameter is, whatever the model says."""
    parameter = next(model.parameters(), None)
    return torch.device("cpu") if parameter is None else parameter.device


def _is_ours(model: Any, kwargs: dict[str, Any]) -> bool:
    """Returns whether a generate() with these arguments can run so: the model can run with caches of a fixed size, and the loop is transformers'
    own."""
    return (getattr(model, "_can_compile_fullgraph", False) and kwargs.get("custom_generate") is None and not kwargs.get("synced_gpus")
            and not hasattr(model, "hf_device_map"))


def _fill_up_prompt_of_encoder(model: Any, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """An encoder's ids are filled up to a size class, and masked there."""
    ids = inputs if inputs is not None else kwargs.get("input_ids")
    if not isinstance(ids, torch.Tensor) or ids.dim() != 2 or ids.is_floating_point() or kwargs.get("encoder_outputs") is not None:
        return inputs
    config = kwargs.get("generation_config") or model.generation_config
    pad = kwargs.get("pad_token_id", config.pad_token_id)
    if isinstance(pad, torch.Tensor) or any(kwargs.get(name, getattr(config, name, None)) not in (None, 0, 1.0) for name in
                                            ("encoder_repetition_penalty", "encoder_no_repeat_ngram_size")):
        return inputs
    more = size_class(ids.shape[1]) - ids.shape[1]
    mask = kwargs.get("attention_mask")
    if mask is None:
        mask = model._prepare_attention_mask_for_generation(ids, _Tokens(pad, kwargs.get("eos_token_id", config.eos_token_id)), {})
    if mask.shape != ids.shape:
        return inputs
    kwargs["attention_mask"] = F.pad(mask, (0, more))
    ids = F.pad(ids, (0, more), value=pad or 0)
    if inputs is not None:
        return ids
    kwargs["input_ids"] = ids
    return None


class _Tokens:
    """What generate() asks a generation_config when it makes a mask of ids."""

    def __init__(self, pad: int | None, eos: int | list[int] | None):
        self._pad_token_tensor = None if pad is None else torch.tensor(pad)
        self._eos_token_tensor = None if eos is None else torch.tensor(eos if isinstance(eos, list) else [eos])


_GROWN = 4  # so many single tokens at the end of one layer on the device: a loop that is compiled anew for each


def _user_line() -> tuple[str, int]:
    """Returns the innermost line of the user's code, outside of libraries."""
    frame = sys._getframe(1)
    files = (__file__, torch.__file__, sys.modules["transformers"].__file__)
    folders = tuple(os.path.dirname(os.path.abspath(str(path))) + os.sep for path in files)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(folders):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _use_caches(module: Any) -> None:
    """`module`: transformers.cache_utils. A DynamicCache that a loop of the user fills on the device, token by token, is warned of, once."""
    for layer in (module.DynamicLayer, module.DynamicSlidingWindowLayer):
        _watch(layer)


def _watch(layer: Any) -> None:
    original = layer.update

    @functools.wraps(original)
    def update(self: Any, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if key_states.device.type == "xla" and key_states.shape[-2] == 1:
            self._grown_by_one = getattr(self, "_grown_by_one", 0) + 1
            if self._grown_by_one == _GROWN and not _calls.has_warned and not torch.compiler.is_compiling():
                _calls.has_warned = True
                name, line = _user_line()
                warnings.warn_explicit(
                    "a DynamicCache on device xla grows by one token in each step, and every length of it is compiled as a program of its own. "
                    "Use model.generate(), or give the model transformers.StaticCache(config=model.config, max_cache_len=…) and keep the ids on "
                    "the CPU (docs/guide/language-models.md).", UserWarning, name, line)
        return original(self, key_states, value_states, *args, **kwargs)
    layer.update = update


def _use_model(module: Any) -> None:
    """`module`: transformers.modeling_utils."""
    _read_no_values(module)
    for owner in module.PreTrainedModel.__mro__:
        if isinstance(vars(owner).get("device"), property):
            break
    else:
        return
    getter = vars(owner)["device"].fget

    def device(self: Any) -> torch.device:
        return getter(self) if _call_of(self) is None else torch.device("cpu")
    owner.device = property(device, doc=getter.__doc__)


def _read_no_values(module: Any) -> None:
    """`module` looks at masks and ids, whether anything is masked, unless they are traced: those of a forward() here are."""
    original = getattr(module, "is_tracing", None)
    if original is None:
        return

    @functools.wraps(original)
    def is_tracing(tensor: Any = None) -> bool:
        return original(tensor) or bool(_calls.forwards) and isinstance(tensor, torch.Tensor) and tensor.device.type == "xla"
    module.is_tracing = is_tracing


def _use(module: Any) -> None:
    """`module`: transformers.generation.utils."""
    _read_no_values(sys.modules["transformers.masking_utils"])
    mixin = module.GenerationMixin
    original_generate, original_prepare = mixin.generate, mixin._prepare_cache_for_generation

    @functools.wraps(original_generate)
    def generate(self: Any, inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
        outer = _calls.of.get(id(self))
        device = _device(self)
        if device.type != "xla" or not _is_ours(self, kwargs):
            return original_generate(self, inputs, *args, **kwargs)
        given = inputs if isinstance(inputs, torch.Tensor) else next((kwargs[name] for name in ("input_ids", "inputs_embeds", "input_features")
                                                                    if isinstance(kwargs.get(name), torch.Tensor)), None)
        host = torch.device("cpu")
        inputs, args = _moved(inputs, host), _moved(args, host)
        kwargs = {name: value if name == "encoder_outputs" else _moved(value, host) for name, value in kwargs.items()}
        if self.config.is_encoder_decoder:
            inputs = _fill_up_prompt_of_encoder(self, inputs, kwargs)
        helper = kwargs.get("assistant_model")
        with contextlib.ExitStack() as stack:
            call = stack.enter_context(_on_the_host(self, device, outer.capacity if outer else 0))
            if helper is not None and helper is not self and _is_ours(helper, {}) and _device(helper).type == "xla":
                call.helper = stack.enter_context(_on_the_host(helper, _device(helper), 0))
            out = original_generate(self, inputs, *args, **kwargs)
        if outer is None:
            for cache in call.caches:
                cache.layers = [_as_dynamic(layer) for layer in cache.layers]
        if given is None or given.device.type != "xla" or outer is not None:
            return out
        return _moved(out, device)
    mixin.generate = generate

    @functools.wraps(original_prepare)
    def prepare(self: Any, generation_config: Any, model_kwargs: dict[str, Any], generation_mode: Any, batch_size: int,
                max_cache_length: int) -> Any:
        call = _call_of(self)
        if call is None:
            return original_prepare(self, generation_config, model_kwargs, generation_mode, batch_size, max_cache_length)
        call.capacity = max(call.capacity, size_class(max_cache_length))
        wanted = generation_config.cache_implementation
        if model_kwargs.get("past_key_values") is None and wanted in ("static", "hybrid", "sliding_window"):
            generation_config.cache_implementation = None  # Millrace's cache replaces that implementation
        try:
            result = original_prepare(self, generation_config, model_kwargs, generation_mode, batch_size, max_cache_length)
        finally:
            generation_config.cache_implementation = wanted
        cache = model_kwargs.get("past_key_values")
        prompt = model_kwargs.get("attention_mask")
        longest = 0 if prompt is None or self.config.is_encoder_decoder else size_class(prompt.shape[1])
        call.capacity = max(call.capacity, longest)
        if call.helper is not None:
            call.helper.capacity = call.capacity
        if cache is not None and _use_sized(cache, call.capacity):
            call.caches.append(_self_attention(cache))
        return result
    mixin._prepare_cache_for_generation = prepare
    _sampling.install(mixin, _call_of)
    _generate_batch.use(mixin)


def install() -> None:
    """Also where transformers is imported already."""
    for name, use, attribute in ((_MODULE, _use, "GenerationMixin"), ("transformers.modeling_utils", _use_model, "PreTrainedModel"),
                                 ("transformers.cache_utils", _use_caches, "DynamicLayer")):
        if hasattr(sys.modules.get(name), attribute):
            use(sys.modules[name])
        else:
            _import_hooks.add(name, after=use)
