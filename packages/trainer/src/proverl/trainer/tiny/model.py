"""The tiny model: Qwen3's architecture at a size that two CPU cores train in minutes.

The shape is not arbitrary: four wide heads (64) without grouped queries, because narrower heads with QK norm attend too
weakly to copy values from a prompt; a small rope theta, because episodes are a few hundred tokens.
"""

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

CONTEXT = 2048  # tokens


def tiny_config(vocabulary: int, pad: int, end: int) -> Qwen3Config:
    """The configuration for a vocabulary of that size; `pad` and `end` are token ids (`end` closes a reply)."""
    return Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=64,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        pad_token_id=pad,
        bos_token_id=None,
        eos_token_id=end,
        dtype="float32",
    )


def build_model(config: Qwen3Config, seed: int) -> Qwen3ForCausalLM:
    """A freshly initialised model in float32, the same for the same seed; torch's global RNG stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config).float()
