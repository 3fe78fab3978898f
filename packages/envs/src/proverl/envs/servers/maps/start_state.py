"""A world on the morning of a session: four cities, other people's reviews, and what the user saved and wrote.

Awkward on purpose: the same street names and shops in several cities, businesses that closed or moved, suspended
lines, an empty list, a full one, lists that may only be viewed, places that nobody reviewed.
"""

from datetime import datetime
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import full_names
from proverl.envs.servers.maps import words
from proverl.envs.servers.maps.rules import MOST_SAVED
from proverl.envs.servers.maps.start_world import draw_world
from proverl.envs.servers.maps.tables import YOU, Place, PlaceList, PlaceReview, SavedPlace
from proverl.envs.state import Row


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    draw_world(draft)
    people = full_names(rng, 30)
    _lists(draft, people)
    _reviews(draft, people[:-1])
    return draft.rows


def _lists(draft: Draft, people: list[str]) -> None:
    rng = draft.rng
    places = [row for row in draft.rows[Place] if row["category"] not in ("address", "transit_stop")]
    sizes = (MOST_SAVED, MOST_SAVED - 1, 0)
    names = rng.sample(list(words.LISTS), 20)
    names.sort(key=lambda name: bool(words.LISTS[name][0]))  # the full lists are ones where any place fits
    for index, name in enumerate(names):
        access = "viewer" if index in (5, 11, 16) else "editor" if index in (7, 13) else "owner"
        row = draft.add(PlaceList, name=name, owner=YOU if access == "owner" else rng.choice(people), access=access)
        size = sizes[index] if index < len(sizes) else rng.randint(1, 9)
        categories, city = words.LISTS[name]
        fitting = [
            row for row in places if (not categories or row["category"] in categories) and city in ("", row["city"])
        ]
        for place in rng.sample(fitting if len(fitting) >= size else places, size):
            note = (
                rng.choice(words.NOTES_ABOUT.get(place["category"], words.PLAIN_NOTES)) if rng.random() < 0.25 else None
            )
            draft.add(SavedPlace, list_id=row["id"], place_id=place["id"], note=note)


def _reviews(draft: Draft, people: list[str]) -> None:
    rng = draft.rng
    for place in draft.rows[Place]:
        if place["category"] in ("address", "transit_stop", "car_park"):
            continue
        praise, blame = words.OPINIONS["guests" if place["category"] in words.GUESTS else "visitors"]
        quality = rng.choice((2, 3, 3, 4, 4))
        authors = rng.sample(people, rng.choice((0, 1, 1, 2, 2, 3)))
        if rng.random() < 0.12 and place["status"] == "operational":
            authors.append(YOU)
        for author in authors:
            rating = min(5, max(1, quality + rng.choice((-1, 0, 0, 1, 1))))
            texts = praise if rating > 3 else words.MIXED if rating == 3 else blame
            draft.add(
                PlaceReview,
                place_id=place["id"],
                author=author,
                rating=rating,
                text=None if rating > 3 and rng.random() < 0.3 else rng.choice(texts),
                written_on=draft.day(-rng.randint(1, 900)),
            )
