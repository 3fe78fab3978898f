"""The tiny model's tokenizer: byte-level BPE of about 1,000 tokens, trained on demonstrations.

A value must have the same tokens in a user's sentence, in a result and in a call's arguments, or it cannot be copied.
So digits, words, spaces and punctuation stay apart; only runs that never belong to a value are one piece: function
words with the space before them, a comma with the space after it, and the punctuation between JSON keys and values.
A word keeps the underscore before it, so that `create_recurring_event` is three pieces.
"""

import json
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from proverl.agent import tiny_chat_template

VOCABULARY = 1024
PAD, END, CALL, CALL_END = "<|pad|>", "<|end|>", "<|call|>", "<|/call|>"
ASSISTANT = "<|assistant|>"
MARKS = (PAD, END, "<|system|>", "<|user|>", ASSISTANT, "<|tool|>", CALL, CALL_END)

_FUNCTION_WORDS = (
    "a about after all also an and any are as at be before but by can could do for from get give have how i if in into "
    "is it its just let like make me my need new not of on one or our out please show so some that the their them then "
    "there these this to up us use want was we what when which will with would you your"
)
_JSON_RUNS = (
    *('{"', '":"', '":', '","', ',"', '"}', '"}}', "}}", '":{"', '":[', '":["', '":[{"', '"]', '"]}', '"],"'),
    *('},"', '"},"', '"},{"', '},{"', "}]", "}]}", '"}]', '"}]}', '"}]},"', "]}", '],"', "[]", "{}", "]:", "?:", "?,"),
)


def _pattern() -> str:
    """The regular expression whose matches are the pieces that merges never cross; first match wins."""
    glued = "|".join(sorted(_FUNCTION_WORDS.split(), key=len, reverse=True))
    runs = "|".join("".join("\\" + char for char in run) for run in sorted(_JSON_RUNS, key=len, reverse=True))
    return rf"\d| (?:{glued})(?![A-Za-z0-9_'-])|_?[A-Z]?[a-z]+|_?[A-Z]+(?![a-z])|{runs}|[,.?!:;] |\s|."


def train_tokenizer(texts: Iterable[str], vocabulary: int = VOCABULARY) -> PreTrainedTokenizerFast:
    """Train on rendered demonstrations; the same texts give the same tokenizer.

    The result carries the chat template of format `tiny` and ends replies with `<|end|>`. Raises ValueError when the
    texts are too few to fill the vocabulary.
    """
    tokenizer = Tokenizer(models.BPE())
    pieces = pre_tokenizers.Split(Regex(_pattern()), "isolated")
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pieces, spelled])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(MARKS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator((_without_marks(text) for text in texts), trainer)
    if tokenizer.get_vocab_size() < vocabulary:
        raise ValueError(f"the texts gave {tokenizer.get_vocab_size()} tokens, not {vocabulary}; more texts are needed")
    return PreTrainedTokenizerFast(
        tokenizer_object=_with_calls_as_content(tokenizer),
        eos_token=END,
        pad_token=PAD,
        chat_template=tiny_chat_template(),
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def _with_calls_as_content(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, whose call marks still show when special tokens are left out of a decoded text."""
    saved = json.loads(tokenizer.to_str())
    for token in saved["added_tokens"]:
        token["special"] = token["content"] not in (CALL, CALL_END)
    return Tokenizer.from_str(json.dumps(saved))


def _without_marks(text: str) -> str:
    for mark in MARKS:
        text = text.replace(mark, "\n")
    return text
