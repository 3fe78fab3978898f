"""A key of an endpoint is in no setting that is kept, and in no process that scores."""

import re

import pytest

from proverl.evals import PolicyConfig
from proverl.evals.benchmark import benchmark
from proverl.evals.isolated import clean_environment


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"base_url": "127.0.0.1:8000"}, "policy.base_url is 127.0.0.1:8000; it must be like http://127.0.0.1:8000/v1"),
        ({"base_url": "http://:8000/v1"}, "policy.base_url is http://:8000/v1"),
        ({"base_url": "http://host:99999/v1"}, "policy.base_url is http://host:99999/v1"),
        ({"base_url": "https://me:hush@host/v1"}, "policy.base_url has a user or a password in it"),
        ({"options": {"api_key": "hush"}}, "policy.options has api_key, which looks like a secret"),
        ({"options": {"extra": [{"Authorization": "hush"}]}}, "policy.options has Authorization"),
        ({"options": {"stream": True}}, "policy.options has stream, which the evaluation sets itself"),
        ({"options": {"messages": []}}, "policy.options has messages"),
    ],
)
def test_requests_that_could_not_be_sent_or_would_tell_a_secret_are_refused(settings, told):
    with pytest.raises(ValueError, match=re.escape(told)) as error:
        PolicyConfig("endpoint", **settings)
    assert "hush" not in str(error.value)


def test_options_of_sampling_are_no_secrets():
    options = {"max_tokens": 5, "stop_token_ids": [1], "chat_template_kwargs": {"enable_thinking": False}}
    assert PolicyConfig("endpoint", base_url="http://[::1]:8000/v1", options=options).options == options


@pytest.mark.parametrize("user", [{"options": {"token": "hush"}}, {"base_url": "host"}, {"key_variable": "MINE"}])
def test_the_same_holds_for_the_model_that_plays_the_user(user):
    with pytest.raises(ValueError, match=f"evals.tau2.user.{next(iter(user))} ") as error:
        benchmark("tau2", {"user": user})
    assert "hush" not in str(error.value)


def test_no_process_that_scores_gets_what_looks_like_a_secret(monkeypatch):
    secrets = {"OPENAI_API_KEY": "x", "HF_TOKEN": "x", "DB_PASS": "x", "PROXY": "http://me:hush@proxy:1", "DB_PWD": "x"}
    for name, value in {**secrets, "LANGUAGE": "en", "ENDPOINT": "http://host:8000/v1"}.items():
        monkeypatch.setenv(name, value)
    handed_on = clean_environment()
    assert not handed_on.keys() & secrets.keys()
    assert {"PATH", "LANGUAGE", "ENDPOINT"} <= handed_on.keys()
