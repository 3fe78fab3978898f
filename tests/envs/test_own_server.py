"""The server that docs/own_server.md shows works as it stands there."""

import re
from pathlib import Path

import pytest

from proverl.core import ErrorCode
from proverl.envs import Session

PAGE = Path(__file__).parents[2] / "docs" / "own_server.md"


@pytest.fixture(scope="module")
def library():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    world = {"__name__": "library_server"}
    exec(compile(code, str(PAGE), "exec"), world)
    return world["server"]


def test_a_book_is_borrowed_once(library):
    with Session([library], 3) as session:
        session.check_invariants()
        books = session.call("find_books", {"title": "o", "limit": 40}).content["books"]
        free = next(book["book_id"] for book in books if book["due"] is None)
        assert session.call("borrow_book", {"book_id": free}).ok
        assert session.call("borrow_book", {"book_id": free}).code == ErrorCode.REJECTED
        session.check_invariants()
