"""The agency's tables. Amounts are integer cents (EUR); dates and times are ISO text.

A booking's `price` is what it costs now and `paid` what has been received for it: both shrink to what is kept when it
is cancelled, so an itinerary's payments always add up to what its bookings have been paid.
"""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

PassengerId = Ref("Passenger")
CardId = Ref("PaymentCard")
FlightId = Ref("Flight")
SeatId = Ref("Seat")
HotelId = Ref("Hotel")
RoomId = Ref("HotelRoom")
ItineraryId = Ref("Itinerary")
FlightBookingId = Ref("FlightBooking")
HotelBookingId = Ref("HotelBooking")


class Base(DeclarativeBase):
    """Tables of the travel booking server."""


class Passenger(Base):
    """A traveller whom the agency knows, with the passport on file."""

    __tablename__ = "passenger"
    __table_args__ = (COMPACT,)
    id_prefix = "PAX"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    born_on: Mapped[str]
    nationality: Mapped[str]
    passport_number: Mapped[str] = mapped_column(unique=True)
    passport_expires: Mapped[str]


class PaymentCard(Base):
    """A credit card that a passenger left on file; its issuer declines a single payment above `payment_limit`."""

    __tablename__ = "payment_card"
    __table_args__ = (COMPACT,)
    id_prefix = "CRD"
    id: Mapped[str] = mapped_column(primary_key=True)
    passenger_id: Mapped[str] = mapped_column(ForeignKey("passenger.id"))
    brand: Mapped[str]  # Visa, Mastercard, American Express
    last4: Mapped[str]
    expires: Mapped[str]  # YYYY-MM, good through that month
    payment_limit: Mapped[int]
    security_code: Mapped[str]


class Flight(Base):
    """One departure. `leaves` is in the agency's own time (Brussels); `sold` has a bit for each seat others hold."""

    __tablename__ = "flight"
    __table_args__ = (CheckConstraint("origin != destination"), COMPACT)
    id_prefix = "FLT"
    id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[str]  # AQ 412; the first two letters are the airline
    origin: Mapped[str]
    destination: Mapped[str]
    leaves: Mapped[str]
    minutes: Mapped[int]
    aircraft: Mapped[str]
    base_price: Mapped[int]
    status: Mapped[str]  # scheduled, cancelled (by the airline)
    sold: Mapped[str]  # hexadecimal; bit n is seat n of the aircraft's plan


class Hotel(Base):
    """A hotel; during renovation it takes guests again from `closed_until` on."""

    __tablename__ = "hotel"
    __table_args__ = (COMPACT,)
    id_prefix = "HTL"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    city: Mapped[str]
    stars: Mapped[int]
    address: Mapped[str]
    min_nights: Mapped[int]
    closed_until: Mapped[str | None]


class HotelRoom(Base):
    """A room type of a hotel, `rooms` of it; without `free_cancellation_days` its price is never refunded."""

    __tablename__ = "hotel_room"
    __table_args__ = (CheckConstraint("rooms > 0"), COMPACT)
    id_prefix = "ROM"
    id: Mapped[str] = mapped_column(primary_key=True)
    hotel_id: Mapped[str] = mapped_column(ForeignKey("hotel.id"))
    name: Mapped[str]
    sleeps: Mapped[int]
    rooms: Mapped[int]
    price: Mapped[int]  # a night
    free_cancellation_days: Mapped[int | None]  # days before arrival until which cancelling is free


class RoomBlock(Base):
    """Rooms of a type that others hold from `first_night` until the morning of `until`."""

    __tablename__ = "room_block"
    __table_args__ = (COMPACT,)
    room_id: Mapped[str] = mapped_column(ForeignKey("hotel_room.id"), primary_key=True)
    first_night: Mapped[str] = mapped_column(primary_key=True)
    until: Mapped[str]
    rooms: Mapped[int]


class Itinerary(Base):
    """A trip of a lead passenger, who pays for it, and of others."""

    __tablename__ = "itinerary"
    __table_args__ = (COMPACT,)
    id_prefix = "ITN"
    id: Mapped[str] = mapped_column(primary_key=True)
    passenger_id: Mapped[str] = mapped_column(ForeignKey("passenger.id"))
    title: Mapped[str]
    created_on: Mapped[str]


class FlightBooking(Base):
    """A passenger's place on a flight."""

    __tablename__ = "flight_booking"
    __table_args__ = (
        UniqueConstraint("flight_id", "seat"),
        CheckConstraint("status != 'cancelled' OR seat IS NULL"),
        CheckConstraint("0 <= paid AND paid <= price AND (status = 'held') = (paid < price)"),
        COMPACT,
    )
    id_prefix = "FBK"
    id: Mapped[str] = mapped_column(primary_key=True)
    itinerary_id: Mapped[str] = mapped_column(ForeignKey("itinerary.id"))
    flight_id: Mapped[str] = mapped_column(ForeignKey("flight.id"))
    passenger_id: Mapped[str] = mapped_column(ForeignKey("passenger.id"))
    fare: Mapped[str]  # basic, standard, flex, business
    status: Mapped[str]  # held, ticketed, checked_in, cancelled
    price: Mapped[int]
    paid: Mapped[int]
    card_id: Mapped[str | None] = mapped_column(ForeignKey("payment_card.id"))  # the last one that paid
    seat: Mapped[str | None]
    held_until: Mapped[str]  # last day to pay


class HotelBooking(Base):
    """A stay in a room type."""

    __tablename__ = "hotel_booking"
    __table_args__ = (
        CheckConstraint("check_in < check_out"),
        CheckConstraint("0 <= paid AND paid <= price AND (status = 'held') = (paid < price)"),
        COMPACT,
    )
    id_prefix = "HBK"
    id: Mapped[str] = mapped_column(primary_key=True)
    itinerary_id: Mapped[str] = mapped_column(ForeignKey("itinerary.id"))
    room_id: Mapped[str] = mapped_column(ForeignKey("hotel_room.id"))
    passenger_id: Mapped[str] = mapped_column(ForeignKey("passenger.id"))
    check_in: Mapped[str]
    check_out: Mapped[str]
    status: Mapped[str]  # held, confirmed, cancelled
    price: Mapped[int]
    paid: Mapped[int]
    card_id: Mapped[str | None] = mapped_column(ForeignKey("payment_card.id"))
    held_until: Mapped[str]


class Payment(Base):
    """Money from a card for an itinerary; negative when it goes back."""

    __tablename__ = "payment"
    __table_args__ = (CheckConstraint("amount != 0"), COMPACT)
    id_prefix = "PMT"
    id: Mapped[str] = mapped_column(primary_key=True)
    itinerary_id: Mapped[str] = mapped_column(ForeignKey("itinerary.id"))
    card_id: Mapped[str] = mapped_column(ForeignKey("payment_card.id"))
    amount: Mapped[int]
    paid_on: Mapped[str]
