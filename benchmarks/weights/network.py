"""A small transformer as a function of a dictionary of weights, in torch or in numpy.

It is only what a worker does after it has its weights: the same bytes give the same output.
"""

import hashlib

TOKENS = 16


def layers_of(weights):
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("model.layers."))


def head_size(hidden):
    return 128 if hidden % 512 == 0 else hidden // 4


def forward_torch(torch, weights, tokens):
    """Outputs for the last token. Attention is written out: every step has one order of sums."""
    functional = torch.nn.functional
    x = functional.embedding(tokens, weights["model.embed_tokens.weight"])
    size = head_size(x.shape[-1])
    heads, groups = x.shape[-1] // size, x.shape[-1] // 4 // size
    length = tokens.shape[0]
    mask = torch.full((length, length), float("-inf"), device=x.device, dtype=torch.float32).triu(1)

    def norm(value, weight):
        wide = value.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(value.dtype) * weight

    for layer in range(layers_of(weights)):
        at = lambda name: weights[f"model.layers.{layer}.{name}.weight"]
        y = norm(x, at("input_layernorm"))
        q = functional.linear(y, at("self_attn.q_proj")).view(length, heads, size).transpose(0, 1)
        k = functional.linear(y, at("self_attn.k_proj")).view(length, groups, size).transpose(0, 1)
        v = functional.linear(y, at("self_attn.v_proj")).view(length, groups, size).transpose(0, 1)
        k, v = (part.repeat_interleave(heads // groups, 0) for part in (k, v))
        scores = (q.float() @ k.float().transpose(1, 2)) / size**0.5 + mask
        mixed = (scores.softmax(-1).to(v.dtype) @ v).transpose(0, 1).reshape(length, -1)
        x = x + functional.linear(mixed, at("self_attn.o_proj"))
        y = norm(x, at("post_attention_layernorm"))
        gate = functional.silu(functional.linear(y, at("mlp.gate_proj")))
        x = x + functional.linear(gate * functional.linear(y, at("mlp.up_proj")), at("mlp.down_proj"))
    return functional.linear(norm(x, weights["model.norm.weight"])[-1], weights["lm_head.weight"])


def forward_numpy(numpy, weights, tokens):
    """The same sums in float32, with one head: for the software driver."""
    x = numpy.asarray(weights["model.embed_tokens.weight"])[tokens]
    norm = lambda value, weight: value / numpy.sqrt((value * value).mean(-1, keepdims=True) + 1e-6) * weight
    for layer in range(layers_of(weights)):
        at = lambda name: numpy.asarray(weights[f"model.layers.{layer}.{name}.weight"])
        y = norm(x, at("input_layernorm"))
        k, v = y @ at("self_attn.k_proj").T, y @ at("self_attn.v_proj").T
        q = (y @ at("self_attn.q_proj").T)[:, : k.shape[-1]]
        scores = q @ k.T
        scores = numpy.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        x = x + numpy.concatenate([mixed] * 4, -1) @ at("self_attn.o_proj").T
        y = norm(x, at("post_attention_layernorm"))
        x = x + (numpy.tanh(y @ at("mlp.gate_proj").T) * (y @ at("mlp.up_proj").T)) @ at("mlp.down_proj").T
    return norm(x, numpy.asarray(weights["model.norm.weight"]))[-1] @ numpy.asarray(weights["lm_head.weight"]).T


def digest(output):
    """A fingerprint of an output's bits."""
    if hasattr(output, "cpu"):
        import torch

        output = output.contiguous().cpu().view(torch.uint8).numpy()
    return hashlib.sha256(output.tobytes()).hexdigest()[:16]
