import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from proverl.agent import ChatTemplate, tool_format
from proverl.trainer.tiny.data import render
from proverl.trainer.tiny.tokenizer import END, MARKS, train_tokenizer


def encode(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


@given(text=st.text())
def test_any_text_comes_back(tokenizer, text):
    text = text.encode("utf-8", "ignore").decode()
    assert tokenizer.decode(encode(tokenizer, text), skip_special_tokens=False) == text


@pytest.mark.parametrize("text", [*MARKS, "\n", *"0123456789", " the", '{"', '":"', '","', '"}'])
def test_marks_digits_and_json_punctuation_are_one_token_each(tokenizer, text):
    assert len(encode(tokenizer, text)) == 1


def test_digits_are_never_joined(tokenizer):
    assert not [token for token in tokenizer.get_vocab() if len(token) > 1 and any(char.isdigit() for char in token)]


@pytest.mark.parametrize("value", ["ACC-10423", "Zorlu Bedmar", "/home/lena/notes.txt", "2026-03-14T09:30", "42.5"])
def test_a_value_has_the_same_tokens_wherever_it_stands(tokenizer, value):
    ids = encode(tokenizer, value)
    for before, after in (("Send ", " now."), ('pay{"to":"', '"}'), ('{"x":[{"id":"', '","n":1}]}'), ("", ", then")):
        whole = encode(tokenizer, before + value + after)
        start = len(encode(tokenizer, before))
        assert whole[start : start + len(ids)] == ids


def test_calls_survive_decoding_without_special_tokens(tokenizer):
    reply = '<|call|>pay{"to":"ACC-1"}<|/call|>'
    assert tokenizer.decode(encode(tokenizer, reply + END), skip_special_tokens=True) == reply


def test_the_chat_template_works_a_piece_at_a_time_and_replies_end_with_the_end_mark(tokenizer):
    template = ChatTemplate(tokenizer, tool_format("tiny"))
    assert template.end_of_turn == tokenizer.eos_token_id == tokenizer.convert_tokens_to_ids(END)


def test_the_same_texts_give_the_same_tokenizer(tokenizer, shown):
    again = train_tokenizer(map(render, shown))
    assert again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()


def test_a_saved_tokenizer_loads_as_it_was(tokenizer, shown, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    text = render(shown[0])
    assert encode(loaded, text) == encode(tokenizer, text)
    assert loaded.chat_template == tokenizer.chat_template
    assert (loaded.eos_token_id, loaded.pad_token_id) == (tokenizer.eos_token_id, tokenizer.pad_token_id)


def test_too_few_texts_are_refused():
    with pytest.raises(ValueError, match="more texts are needed"):
        train_tokenizer(["pay"])
