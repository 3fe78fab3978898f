"""A small company's connected cars and vans, as its fleet assistant sees them.

Read `tables` (what there is), `start_state` and `logbook` (how it begins), `rules` (what a vehicle refuses), then the
tools by theme: `fleet`, `driving`, `navigation`, `cabin`, `energy`. `laws` says what always holds.

Drives and charging sessions take no time of the session: the tool that ends one finds the vehicle arrived, or charged.
"""

from proverl.envs.servers.vehicle import cabin, driving, energy, fleet, laws, navigation  # noqa: F401
from proverl.envs.servers.vehicle.app import server

__all__ = ["server"]
