"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.vehicle.start_state import start_state
from proverl.envs.servers.vehicle.tables import Base

server = Server(
    "vehicle",
    "A fleet of connected cars and vans: ignition, locks, doors, windows, climate, seats, navigation, drives, charging "
    "and refuelling, tires, driver profiles, valet mode. Distances in km, temperatures in °C, costs in EUR.",
    Base,
    start_state,
    nouns={"Vehicle": "vehicle", "Driver": "driver", "Destination": "destination", "Drive": "drive"},
)
