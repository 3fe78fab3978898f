"""The marketplace's tables. Amounts are integer cents of one currency (EUR); dates and times are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

MemberId = Ref("Member")
ListingId = Ref("Listing")
MarketplaceOfferId = Ref("MarketplaceOffer")

ME = "MEM-00001"  # the signed-in member; ids of others begin at 10000


class Base(DeclarativeBase):
    """Tables of the marketplace server."""


class Member(Base):
    """A person who buys and sells. `rating` is the percentage of good ratings among `ratings`."""

    __tablename__ = "member"
    __table_args__ = (CheckConstraint("rating BETWEEN 0 AND 100"), COMPACT)
    id_prefix = "MEM"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    city: Mapped[str]
    rating: Mapped[int]
    ratings: Mapped[int]
    away_until: Mapped[str | None]  # on holiday, sells nothing at a fixed price through this date
    blocks_me: Mapped[bool]  # has put the signed-in member on the list of blocked buyers


class Listing(Base):
    """One thing for sale.

    `price` is what a fixed-price listing asks, or where an auction stands; `opening` is an auction's starting price.
    An auction may have a hidden `reserve`, and a price for which it is sold at once until the first bid (`buy_now`).
    """

    __tablename__ = "listing"
    __table_args__ = (
        CheckConstraint("price >= opening AND opening > 0"),
        CheckConstraint("format = 'auction' OR (reserve IS NULL AND buy_now IS NULL AND leader_id IS NULL)"),
        CheckConstraint("format = 'fixed_price' OR NOT takes_offers"),
        CheckConstraint("least_offer IS NULL OR takes_offers"),
        CheckConstraint("end_reason IS NULL OR status = 'ended'"),
        COMPACT,
    )
    id_prefix = "LST"
    id: Mapped[str] = mapped_column(primary_key=True)
    seller_id: Mapped[str] = mapped_column(ForeignKey("member.id"))
    title: Mapped[str]
    folded: Mapped[str]  # the title as searches see it: lower case, no accents
    category: Mapped[str]
    condition: Mapped[str]
    format: Mapped[str]  # fixed_price, auction
    delivery: Mapped[str]  # parcel, pickup
    opening: Mapped[int]
    price: Mapped[int]
    reserve: Mapped[int | None]
    buy_now: Mapped[int | None]
    leader_id: Mapped[str | None] = mapped_column(ForeignKey("member.id"))
    takes_offers: Mapped[bool]
    least_offer: Mapped[int | None]  # the seller declines less without looking at it
    listed_on: Mapped[str]
    ends_at: Mapped[str]
    status: Mapped[str]  # active, sold, ended (without a sale)
    end_reason: Mapped[str | None]  # where its seller ended it early


class Bid(Base):
    """The most that a member bids in an auction; raising it changes the row."""

    __tablename__ = "bid"
    __table_args__ = (COMPACT,)
    listing_id: Mapped[str] = mapped_column(ForeignKey("listing.id"), primary_key=True)
    bidder_id: Mapped[str] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)
    maximum: Mapped[int]


class MarketplaceOffer(Base):
    """A buyer's offer below a fixed price. A seller may answer with a `counter` price, open to the buyer."""

    __tablename__ = "offer"
    __table_args__ = (
        CheckConstraint("status != 'countered' OR counter > amount"),
        CheckConstraint("amount > 0"),
        COMPACT,
    )
    id_prefix = "OFR"
    id: Mapped[str] = mapped_column(primary_key=True)
    listing_id: Mapped[str] = mapped_column(ForeignKey("listing.id"), index=True)
    buyer_id: Mapped[str] = mapped_column(ForeignKey("member.id"))
    amount: Mapped[int]
    counter: Mapped[int | None]
    message: Mapped[str | None]
    status: Mapped[str]  # pending (with the seller), countered (with the buyer), accepted, declined, expired
    made_on: Mapped[str]
    expires_on: Mapped[str]


class Sale(Base):
    """Who bought a listing, for how much. Auctions are paid afterwards, all else is paid at once."""

    __tablename__ = "sale"
    __table_args__ = (
        CheckConstraint("tracking_code IS NULL OR paid"),
        CheckConstraint("(tracking_code IS NULL) = (shipped_on IS NULL)"),
        COMPACT,
    )
    listing_id: Mapped[str] = mapped_column(ForeignKey("listing.id"), primary_key=True)
    buyer_id: Mapped[str] = mapped_column(ForeignKey("member.id"))
    price: Mapped[int]
    sold_on: Mapped[str]
    paid: Mapped[bool]
    tracking_code: Mapped[str | None] = mapped_column(unique=True)
    shipped_on: Mapped[str | None]
