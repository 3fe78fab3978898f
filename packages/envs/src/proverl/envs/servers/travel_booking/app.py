"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.travel_booking.start_state import start_state
from proverl.envs.servers.travel_booking.tables import Base

server = Server(
    "travel_booking",
    "A travel agency's desk: flights, fares and seats, hotels, itineraries, payment, changes and check-in, in EUR.",
    Base,
    start_state,
    nouns={
        "Passenger": "passenger",
        "PaymentCard": "card",
        "Flight": "flight",
        "Seat": "seat",
        "Hotel": "hotel",
        "HotelRoom": "room",
        "Itinerary": "itinerary",
        "FlightBooking": "flight booking",
        "HotelBooking": "hotel booking",
    },
)
