"""Categories: where buyers find things. The marketplace files a new listing by the first telling word of its title."""

from typing import Literal

Category = Literal[
    "bikes", "books", "clothing", "collectibles", "electronics", "furniture", "home_and_garden", "music", "sports",
    "toys", "other",
]  # fmt: skip

_WORDS: dict[Category, str] = {
    "bikes": "bike bikes bicycle tandem scooter panniers saddle tyre tyres helmet",
    "books": "book books novel novels comic comics dictionary atlas cookbook magazines",
    "clothing": "coat jacket jeans dress shirt jumper sweater shoes sneakers boots skirt trousers hat scarf",
    "collectibles": "stamps coins vintage antique postcards watch album medal",
    "electronics": "phone tablet laptop camera headphones monitor console drone printer iphone galaxy television",
    "furniture": "table chair chairs sofa bookcase shelf desk bed wardrobe bench mirror",
    "home_and_garden": "garden lamp glasses cups plates maker mixer grill plant pots drill rug mower",
    "music": "guitar piano violin record records vinyl speakers drums saxophone",
    "sports": "rollerblades dumbbells racket ski skis tent yoga hiking football skates treadmill",
    "toys": "toy toys game games lego doll puzzle sandbox playmobil train",
}
_CATEGORY_OF = {word: category for category, words in _WORDS.items() for word in words.split()}


def category_of(folded_title: str) -> Category:
    """The category of the first word that tells one; `other` when none does."""
    words = folded_title.replace(",", " ").split()
    return next((_CATEGORY_OF[word] for word in words if word in _CATEGORY_OF), "other")
