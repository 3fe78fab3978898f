"""The inventory of a grocery chain: stock levels, transfers between stores, replenishment, shelf counts, corrections.

Read `tables` (what there is), `start_state` (how it begins), `rules` (what the chain refuses), then the tools by theme:
`levels`, `transfers`, `replenishment`, `corrections`. `laws` says what always holds.
"""

from proverl.envs.servers.retail_chain import corrections, laws, levels, replenishment, transfers  # noqa: F401
from proverl.envs.servers.retail_chain.app import server

__all__ = ["server"]
