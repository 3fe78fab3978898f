"""A session on the social network, and shorthands for what a caller can find out."""

from typing import Any

from proverl.core import Result
from proverl.envs import Session, load_server

NETWORK = load_server("social_media")
ME = "PRF-00001"


class Network:
    """A session, and shorthands for what a caller can find out."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([NETWORK], seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def everyone(self) -> list[str]:
        return [row["profile_id"] for row in self.read("search_profiles", limit=100)["profiles"]]

    def profiles(self, **wanted: Any) -> list[str]:
        """Other profiles whose details are as wanted."""
        rows = [self.read("get_profile", profile_id=row) for row in self.everyone() if row != ME]
        return [row["profile_id"] for row in rows if wanted.items() <= row.items()]

    def connections(self, kind: str, **of: str) -> list[str]:
        return [row["profile_id"] for row in self.read("list_connections", kind=kind, limit=50, **of)["profiles"]]

    def stranger(self) -> str:
        return self.profiles(relation="none", visibility="public")[0]

    def posts(self, **narrow: Any) -> list[dict[str, Any]]:
        return self.read("search_posts", limit=50, **narrow)["posts"]

    def feed(self, **how: Any) -> list[dict[str, Any]]:
        return self.read("get_feed", limit=50, **how)["posts"]

    def comments(self, post_id: str) -> list[dict[str, Any]]:
        return self.read("list_post_comments", post_id=post_id, limit=50)["comments"]

    def post(self, **how: Any) -> str:
        return self.read("create_post", **{"text": "Hello there", **how})["post_id"]

    def open_post(self) -> str:
        """Somebody else's post that everybody may comment on, found by trying."""
        return next(row for row in self.others() if Network().call("create_post_comment", **comment(row)).ok)

    def others(self) -> list[str]:
        return [row["post_id"] for row in self.posts() if row["profile_id"] != ME]


def comment(post_id: str, **more: str) -> dict[str, Any]:
    return {"post_id": post_id, "text": "Brilliant, well done.", **more}


def of(profile_id: str) -> dict[str, Any]:
    return {"profile_id": profile_id}
