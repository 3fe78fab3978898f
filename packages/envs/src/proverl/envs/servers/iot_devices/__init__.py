"""A smart-home platform as its owner's app sees it: homes, areas, devices, locks with codes, scenes and automations.

Read `tables` (what there is), `start_state` (how it begins), `rules` (what is refused), then the tools by theme:
`homes`, `devices`, `controls`, `locks`, `scenes`, `automations`. `laws` says what always holds.
"""

from proverl.envs.servers.iot_devices import automations, controls, devices, homes, laws, locks, scenes  # noqa: F401
from proverl.envs.servers.iot_devices.app import server

__all__ = ["server"]
