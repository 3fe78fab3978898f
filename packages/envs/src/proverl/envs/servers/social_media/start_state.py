"""The network on the morning of a session: about 65 profiles with two months of posts, comments and reactions.

Awkward on purpose: two people of one name, private and suspended profiles, blocks in both directions, requests without
an answer, posts that nobody commented on, closed comments, a block that was lifted yesterday.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import CITIES, folded, full_names
from proverl.envs.servers.social_media import words
from proverl.envs.servers.social_media.tables import ME, Block, Follow, Post, PostComment, Profile, Reaction
from proverl.envs.state import Row

_PEOPLE = 56
_DAYS = 60
_KINDS = ("like", "like", "like", "like", "love", "love", "funny", "wow", "sad")


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    return Network(rng, now).rows()


class Network:
    """The draft of a network: who there is, who knows whom, what they said."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.draft = Draft(rng, now)
        self.rng = rng
        self.now = now
        self.interests: dict[str, list[str]] = {}  # profile -> what it writes about
        self.followers: dict[str, list[str]] = {}  # profile -> those whom it accepted
        self.enemies: set[frozenset[str]] = set()  # also those who were: a block ends follows for good
        self.news: dict[str, list[str]] = {}  # club -> what it still has to tell
        self.texts = {topic: self._stock(posts) for topic, posts in words.POSTS.items()}

    def rows(self) -> dict[type[Any], list[Row]]:
        """Draw everything."""
        self._people()
        self._clubs()
        self._blocks()
        self._follows()
        for profile in self.draft.rows[Profile]:
            count = len(self.news.get(profile["id"], ())) or self.rng.choice((0, 1, 1, 2, 2, 3))
            for _ in range(7 if profile["id"] == ME else count):
                self._post(profile)
        self._shares()
        return self.draft.rows

    def _stock(self, texts: tuple[str, ...]) -> Iterator[str]:
        while True:  # a second round repeats what is rarely said twice
            yield from self.rng.sample(texts, len(texts))

    def _people(self) -> None:
        rng = self.rng
        taken: set[str] = set()
        for index, name in enumerate(full_names(rng, _PEOPLE)):
            topics = rng.sample(list(words.POSTS), rng.choice((1, 2, 2)))
            handle = _handle(rng, name, taken)
            bio = f"{words.BIOS[topics[0]]} · {rng.choice(CITIES)}" if rng.random() < 0.85 else ""
            row = self.draft.add(
                Profile,
                **({"id": ME} if index == 7 else {}),
                handle=handle,
                name=name,
                folded=folded(f"{name} {handle}"),
                bio=bio,
                visibility="private" if index % 5 == 3 else "public",
                suspended=index in (12, 31),
                renamed_on=self.draft.day(-rng.randint(30, 400)) if rng.random() < 0.3 else None,
            )
            self.interests[row["id"]] = topics

    def _clubs(self) -> None:
        for name, handle, topic, bio, posts in words.CLUBS:
            row = self.draft.add(
                Profile,
                handle=handle,
                name=name,
                folded=folded(f"{name} {handle}"),
                bio=bio,
                visibility="public",
                suspended=False,
                renamed_on=None,
            )
            self.interests[row["id"]] = [topic]
            self.news[row["id"]] = self.rng.sample(posts, len(posts))

    def _blocks(self) -> None:
        others = [row["id"] for row in self.draft.rows[Profile][:_PEOPLE] if row["id"] != ME and not row["suspended"]]
        chosen = self.rng.sample(others, 7)
        for index, other in enumerate(chosen):
            blocker, blocked = (other, ME) if index in (3, 4) else (ME, other)
            lifted = {5: self.draft.day(-1), 6: self.draft.day(-50)}.get(index)
            self.draft.add(
                Block,
                blocker_id=blocker,
                blocked_id=blocked,
                since=self.draft.day(-self.rng.randint(60, 300)),
                lifted_on=lifted,
            )
            self.enemies.add(frozenset((blocker, blocked)))

    def _follows(self) -> None:
        rng, profiles = self.rng, self.draft.rows[Profile]
        for row in profiles:
            self.followers[row["id"]] = []
        for follower in profiles:
            like_minded = [
                row for row in profiles if set(self.interests[row["id"]]) & set(self.interests[follower["id"]])
            ]
            count = 24 if follower["id"] == ME else rng.randint(0, 3)
            wanted = rng.sample(profiles, count) + rng.sample(like_minded, min(len(like_minded), 2))
            if follower["id"] == ME:
                wanted += [row for row in profiles if row["suspended"]]
            elif rng.random() < 0.35:
                wanted.append(next(row for row in profiles if row["id"] == ME))
            for row in {row["id"]: row for row in wanted}.values():
                self._follow(follower["id"], row)

    def _follow(self, follower: str, row: Row) -> None:
        pair = frozenset((follower, row["id"]))
        if len(pair) == 1 or pair in self.enemies:
            return
        accepted = row["visibility"] == "public" or row["id"] == ME or self.rng.random() < 0.6
        self.draft.add(
            Follow,
            follower_id=follower,
            followed_id=row["id"],
            accepted=accepted,
            since=self.draft.day(-self.rng.randint(_DAYS + 1, 700)),
        )
        if accepted:
            self.followers[row["id"]].append(follower)

    def _post(self, author: Row) -> None:
        rng = self.rng
        at = self._moment(self.now - timedelta(days=rng.choice((rng.randint(0, 6), rng.randint(0, _DAYS)))))
        public = author["visibility"] == "public" and rng.random() < 0.85
        topic, news = rng.choice(self.interests[author["id"]]), self.news.get(author["id"])
        row = self.draft.add(
            Post,
            author_id=author["id"],
            text=news.pop() if news else next(self.texts[topic]),
            audience="public" if public else "followers",
            comments_by=rng.choice(("everyone",) * 6 + ("followers", "followers", "nobody")),
            quoted_id=None,
            **_times(at),
        )
        self._discuss(row, words.COMMENTS if news is not None else words.COMMENTS[:4] + words.TALK[topic], at)

    def _moment(self, day: datetime) -> datetime:
        """A time of that day when people are awake, before now."""
        at = day.replace(hour=self.rng.randint(7, 22), minute=self.rng.randrange(60))
        return at if at < self.now else at - timedelta(days=1)

    def _readers(self, author: str, public: bool) -> list[str]:
        readers = list(self.followers[author])
        if public:
            strangers = [row["id"] for row in self.rng.sample(self.draft.rows[Profile], 4)]
            readers += [one for one in strangers if one not in readers and one != author]
        return [one for one in readers if frozenset((one, author)) not in self.enemies]

    def _discuss(self, post: Row, remarks: tuple[tuple[str, str], ...], at: datetime) -> None:
        rng, author = self.rng, post["author_id"]
        readers = self._readers(author, post["audience"] == "public")
        for reader in readers:
            if rng.random() < 0.35:
                self.draft.add(Reaction, post_id=post["id"], profile_id=reader, kind=rng.choice(_KINDS))
        allowed = {"everyone": readers, "followers": self.followers[author], "nobody": []}[post["comments_by"]]
        talking = rng.sample(allowed, min(len(allowed), rng.choice((0, 0, 0, 1, 1, 2, 3))))
        for commenter, (text, answer) in zip(talking, rng.sample(remarks, 3), strict=False):
            at = self._soon(at)
            comment = self._comment(post, commenter, text, None, at)
            if rng.random() < 0.4:
                self._comment(post, author, answer, comment["id"], self._soon(at))

    def _soon(self, at: datetime) -> datetime:
        """A while later, before now."""
        room = int((self.now - at).total_seconds()) // 60 - 1
        return at + timedelta(minutes=min(self.rng.randint(1, 400), max(room, 0)))

    def _comment(self, post: Row, author: str, text: str, reply_to: str | None, at: datetime) -> Row:
        return self.draft.add(
            PostComment, post_id=post["id"], author_id=author, text=text, reply_to_id=reply_to, **_times(at)
        )

    def _shares(self) -> None:
        """Some posts share an earlier public one."""
        posts = sorted(self.draft.rows[Post], key=lambda row: (row["posted_at"], row["id"]))
        public = {row["id"] for row in self.draft.rows[Profile] if row["visibility"] == "public"}
        for index in self.rng.sample(range(20, len(posts)), 9):
            earlier = [row for row in posts[:index] if row["audience"] == "public" and row["author_id"] in public]
            quoted = self.rng.choice(earlier)
            if frozenset((quoted["author_id"], posts[index]["author_id"])) not in self.enemies:
                posts[index]["quoted_id"] = quoted["id"]
        self.draft.rows[Post] = posts  # what is shared has to be there first


def _handle(rng: Random, name: str, taken: set[str]) -> str:
    first, last = folded(name).replace("'", "").replace("ø", "o").replace("ł", "l").replace("ı", "i").split(" ", 1)
    forms = (
        f"{first}.{last}",
        f"{first}_{last}",
        f"{first}{last[0]}",
        f"{last}{first[0]}",
        f"{first}{rng.randint(70, 99)}",
    )
    free = [form for form in rng.sample(forms, len(forms)) if form not in taken]
    handle = free[0] if free else f"{first}.{last}{len(taken)}"
    taken.add(handle)
    return handle


def _times(at: datetime) -> Row:
    return {"posted_on": at.date().isoformat(), "posted_at": at.isoformat(timespec="minutes")}
