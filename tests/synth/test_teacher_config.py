"""The teacher's settings: each mistake is told with the key, the value and what is right."""

import pytest

from proverl.synth.teachers.config import TeacherConfig

GIVEN = {"name": "mine", "model": "some-model", "base_url": "http://127.0.0.1:8000/v1"}


def test_the_default_is_the_script_and_asks_no_model():
    assert TeacherConfig().scripted
    assert not TeacherConfig(**GIVEN).scripted


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"name": ""}, "teacher.name is empty"),
        ({"name": "scripted"}, "teacher.model is 'some-model', but teacher.name is scripted"),
        ({"model": ""}, "teacher.model is empty; .* google/gemma-4-31B-it"),
        ({"base_url": ""}, "teacher.base_url is ''; .*OPENAI_BASE_URL"),
        ({"base_url": "localhost:8000"}, "teacher.base_url is 'localhost:8000'; write http://"),
        ({"temperature": -1}, "teacher.temperature is -1; it is at least 0"),
        ({"top_p": 0}, "teacher.top_p is 0; it is more than 0 and at most 1"),
        ({"top_p": 1.5}, "teacher.top_p is 1.5; it is more than 0 and at most 1"),
        ({"seconds": 0}, "teacher.seconds is 0; it is more than 0"),
        ({"concurrency": 0}, "teacher.concurrency is 0; it is at least 1"),
        ({"reply_tokens": 0}, "teacher.reply_tokens is 0; it is at least 1"),
        ({"retries": -1}, "teacher.retries is -1; it is at least 0"),
        ({"dollars_per_million_prompt": -0.1}, "teacher.dollars_per_million_prompt is -0.1"),
        ({"options": {"seed": 1}}, "teacher.options has 'seed', which is set by itself"),
    ],
)
def test_a_bad_value_is_told(values, told):
    with pytest.raises(ValueError, match=told):
        TeacherConfig(**{**GIVEN, **values})
