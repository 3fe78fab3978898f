"""Sentence embeddings, for the cosines that plans and thoughts are scored by."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np


class Embedder:
    """A sentence-transformers model on one CPU thread, so that a process forked from here can use it.

    `name` is a folder, or a model of the hub that is on this machine. Raises OSError when it is neither.
    """

    def __init__(self, name: str) -> None:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would not be there after a fork
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(1)
        self._model = SentenceTransformer(name, device="cpu", local_files_only=True)
        self._known: dict[str, np.ndarray] = {}

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, [texts, dimensions]; each text is embedded once in a process.

        Raises UnicodeEncodeError when a text has half a character (a lone surrogate), which has no tokens.
        """
        new = sorted({text for text in texts if text not in self._known})
        if new:
            "".join(new).encode()
            vectors = self._model.encode(new, show_progress_bar=False).astype(np.float64)
            lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
            self._known.update(zip(new, vectors / lengths, strict=True))
        return np.stack([self._known[text] for text in texts])

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
        """Cosines of every row with every column, [rows, columns], from 0 to 1: negative ones count as 0."""
        vectors = self([*rows, *columns])
        return np.clip(vectors[: len(rows)] @ vectors[len(rows) :].T, 0.0, 1.0)


def missing(name: str) -> bool:
    """Whether there is no such model on this machine."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    if Path(name).is_dir():
        return not (Path(name) / "config.json").exists()
    try:
        return not isinstance(try_to_load_from_cache(name, "config.json"), str)
    except HFValidationError:  # a folder that is not there
        return True
