# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures of transformers in small, with random weights, as subjects of torch_models.py: words, pictures and sounds."""
from torch_model_zoo import Subject, leaves, without_chance

WORDS = 96
# What configurations call their sizes; each takes those that it knows.
SIZES = {
    "vocab_size": WORDS, "hidden_size": 32, "n_embd": 32, "d_model": 32, "num_hidden_layers": 2, "n_layer": 2, "num_layers": 2, "n_layers": 2,
    "encoder_layers": 2, "decoder_layers": 2, "num_decoder_layers": 2, "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64, "n_inner": 64,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "ffn_dim": 64, "d_ff": 64, "d_kv": 8, "head_dim": 8, "dim": 32, "hidden_dim": 64, "n_positions": 64,
    "max_position_embeddings": 64, "embedding_size": 16, "word_embed_proj_dim": 32, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": None,
    "decoder_start_token_id": 1, "forced_eos_token_id": None,
}
WITHOUT_HEADS = ("attention_dropout", "dropout", "hidden_dropout", "hidden_dropout_prob", "attention_probs_dropout_prob", "resid_pdrop", "embd_pdrop",
                 "attn_pdrop", "activation_dropout", "dropout_rate", "classifier_dropout", "layerdrop", "encoder_layerdrop", "decoder_layerdrop",
                 "drop_path_rate", "residual_dropout", "embedding_dropout", "hidden_dropout_rate", "feat_proj_dropout", "final_dropout", "mask_time_prob", "mask_feature_prob",
                 "head_dropout", "seq_classif_dropout", "qa_dropout", "resid_dropout", "emb_dropout", "embed_dropout", "attn_dropout")


def words(batch=2, length=12, seed=1):
    import torch
    return torch.randint(2, WORDS, (batch, length), generator=torch.Generator().manual_seed(seed))


def numbers(*shape):
    import torch
    return torch.randn(shape, generator=torch.Generator().manual_seed(2))


class Architecture(Subject):
    """`kind`: a model type of transformers; `head`: the class; `given`: what the forward gets."""

    def __init__(self, kind, head, given, decodes=False, **sizes):
        super().__init__(kind)
        self.kind, self.head, self.given, self.decodes, self.sizes = kind, head, given, decodes, sizes
        self.isSingle = "num_local_experts" in sizes or "num_experts" in sizes  # PyTorch's product of groups has no double precision

    def make(self):
        import transformers
        config = transformers.AutoConfig.for_model(self.kind)
        known = set(config.to_dict())
        for name in ("text_config", "vision_config"):
            if isinstance(getattr(config, name, None), transformers.PretrainedConfig):
                raise ValueError("give configurations of the parts")
        wanted = {name: value for name, value in SIZES.items() if name in known}
        wanted |= {name: 0.0 for name in WITHOUT_HEADS if isinstance(getattr(config, name, None), float)}
        config = transformers.AutoConfig.for_model(self.kind, **{**wanted, **self.sizes})
        return without_chance(getattr(transformers, self.head)(config)).train()

    def inputs(self):
        return self.given()

    def outputs(self, model, inputs):
        made = model(**inputs)
        return [made.loss if getattr(made, "loss", None) is not None else made[0], made.logits if hasattr(made, "logits") else made[0]]

    def loss(self, model, inputs):
        made = model(**inputs)
        if getattr(made, "loss", None) is not None:
            return made.loss
        return sum(t.square().mean() for t in leaves(made[:1]))

    def generate(self, model, inputs):
        inputs = {name: value for name, value in inputs.items() if name not in ("labels", "decoder_input_ids")}
        return model.generate(**inputs, max_new_tokens=4, do_sample=False)


def text(labelled=True, padded=True):
    def given():
        import torch
        ids = words()
        mask = torch.ones_like(ids)
        if padded:
            mask[1, :4] = 0  # on the left, as generating wants it
        return {"input_ids": ids, "attention_mask": mask, **({"labels": ids} if labelled else {})}
    return given


def pictures(size=32, labels=True):
    def given():
        import torch
        return {"pixel_values": numbers(2, 3, size, size), **({"labels": torch.tensor([0, 1])} if labels else {})}
    return given


def both():
    import torch
    ids = words()
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": words(length=8, seed=2)}


def listened():
    return {"input_features": numbers(2, 16, 64), "labels": words(length=8)}


def waves():
    return {"input_values": numbers(2, 1200)}


SMALL_PICTURE = {"image_size": 32, "patch_size": 8}
LLAMA_LIKE = ["llama", "mistral", "mixtral", "gemma", "gemma2", "gemma3_text", "qwen2", "qwen3", "qwen2_moe", "phi3", "olmo", "olmo2", "granite", "stablelm", "starcoder2", "cohere",
              "smollm3", "glm", "nemotron", "phi"]
HEADS = {"llama": "Llama", "mistral": "Mistral", "mixtral": "Mixtral", "gemma": "Gemma", "gemma2": "Gemma2", "gemma3_text": "Gemma3", "qwen2": "Qwen2", "qwen3": "Qwen3",
         "qwen2_moe": "Qwen2Moe", "phi3": "Phi3", "olmo": "Olmo", "olmo2": "Olmo2", "granite": "Granite", "stablelm": "StableLm", "starcoder2": "Starcoder2", "cohere": "Cohere",
         "smollm3": "SmolLM3", "glm": "Glm", "nemotron": "Nemotron", "phi": "Phi"}
EXTRA = {"mixtral": {"num_local_experts": 4}, "qwen2_moe": {"num_experts": 4, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32},
         "stablelm": {"num_key_value_heads": 4}}


def _clip(kind, head):
    import transformers

    class Pair(Architecture):
        def make(self):
            parts = {"text_config": {name: SIZES[name] for name in ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
                                                                    "max_position_embeddings")} | {"eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0},
                     "vision_config": {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, **SMALL_PICTURE}}
            config = transformers.AutoConfig.for_model(kind, **parts)
            return without_chance(getattr(transformers, head)(config)).train()

        def outputs(self, model, inputs):
            made = model(**inputs)
            return [made.loss, made.logits_per_image]

    return Pair(kind, head, lambda: {"input_ids": words(), "pixel_values": numbers(2, 3, 32, 32), "return_loss": True})


def subjects():
    made = [Architecture(kind, HEADS[kind] + "ForCausalLM", text(), decodes=True, **EXTRA.get(kind, {})) for kind in LLAMA_LIKE]
    made += [Architecture(kind, head, text(), decodes=True, **extra) for kind, head, extra in (
        ("gpt2", "GPT2LMHeadModel", {}), ("gpt_neo", "GPTNeoForCausalLM", {"attention_types": [[["global", "local"], 1]], "window_size": 8}),
        ("gpt_neox", "GPTNeoXForCausalLM", {}), ("gptj", "GPTJForCausalLM", {"rotary_dim": 4}), ("opt", "OPTForCausalLM", {}), ("bloom", "BloomForCausalLM", {}),
        ("falcon", "FalconForCausalLM", {}), ("mpt", "MptForCausalLM", {"max_seq_len": 64}), ("codegen", "CodeGenForCausalLM", {"rotary_dim": 4}),
        ("mamba", "MambaForCausalLM", {"state_size": 4}), ("mamba2", "Mamba2ForCausalLM", {"state_size": 4, "num_heads": 8, "head_dim": 8, "n_groups": 2, "chunk_size": 8}))]
    masked = (("bert", "BertForMaskedLM", {}), ("roberta", "RobertaForMaskedLM", {"max_position_embeddings": 80}), ("distilbert", "DistilBertForMaskedLM", {}),
              ("albert", "AlbertForMaskedLM", {}), ("electra", "ElectraForMaskedLM", {}), ("deberta-v2", "DebertaV2ForMaskedLM", {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
              ("mpnet", "MPNetForMaskedLM", {}), ("modernbert", "ModernBertForMaskedLM", {"cls_token_id": 1, "sep_token_id": 2}), ("xlm-roberta", "XLMRobertaForMaskedLM", {"max_position_embeddings": 80}),
              ("longformer", "LongformerForMaskedLM", {"attention_window": 8, "max_position_embeddings": 80}), ("big_bird", "BigBirdForMaskedLM", {"attention_type": "original_full"}),
              ("fnet", "FNetForMaskedLM", {"tpu_short_seq_length": 12}), ("roformer", "RoFormerForMaskedLM", {}))
    made += [Architecture(kind, head, text() if kind != "fnet" else lambda: {"input_ids": words(), "labels": words()}, **extra) for kind, head, extra in masked]
    made += [Architecture(kind, head, both, decodes=True, **extra) for kind, head, extra in (
        ("t5", "T5ForConditionalGeneration", {"decoder_start_token_id": 1}), ("mt5", "MT5ForConditionalGeneration", {}), ("bart", "BartForConditionalGeneration", {}), ("mbart", "MBartForConditionalGeneration", {}),
        ("pegasus", "PegasusForConditionalGeneration", {}), ("marian", "MarianMTModel", {"decoder_vocab_size": WORDS}),
        ("blenderbot", "BlenderbotForConditionalGeneration", {}), ("longt5", "LongT5ForConditionalGeneration", {"local_radius": 4, "decoder_start_token_id": 1}))]
    images = (("vit", "ViTForImageClassification", SMALL_PICTURE), ("deit", "DeiTForImageClassification", SMALL_PICTURE), ("beit", "BeitForImageClassification", SMALL_PICTURE),
              ("convnext", "ConvNextForImageClassification", {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1]}),
              ("convnextv2", "ConvNextV2ForImageClassification", {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1]}),
              ("swin", "SwinForImageClassification", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4}),
              ("resnet", "ResNetForImageClassification", {"embedding_size": 8, "hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1]}),
              ("segformer", "SegformerForImageClassification", {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4], "decoder_hidden_size": 16}),
              ("dinov2", "Dinov2ForImageClassification", SMALL_PICTURE), ("mobilevit", "MobileViTForImageClassification", {"hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 16, 16, 24, 32, 64], "image_size": 32}),
              ("poolformer", "PoolFormerForImageClassification", {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1]}))
    made += [Architecture(kind, head, pictures(), **extra) for kind, head, extra in images]
    made += [_clip("clip", "CLIPModel"), _clip("siglip", "SiglipModel")]
    made += [Architecture("whisper", "WhisperForConditionalGeneration", listened, decodes=True, num_mel_bins=16, max_source_positions=32, max_target_positions=32),
             Architecture("wav2vec2", "Wav2Vec2Model", waves, conv_dim=[16, 16], conv_stride=[5, 2], conv_kernel=[10, 3], num_conv_pos_embeddings=16,
                          num_conv_pos_embedding_groups=2, num_feat_extract_layers=2),
             Architecture("hubert", "HubertModel", waves, conv_dim=[16, 16], conv_stride=[5, 2], conv_kernel=[10, 3], num_conv_pos_embeddings=16,
                          num_conv_pos_embedding_groups=2, num_feat_extract_layers=2)]
    return made
