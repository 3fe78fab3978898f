"""The CRM of a software vendor: leads and how they become deals, companies, contacts, deals by stage, tasks, owners.

Read `tables` (what there is), `start_state` and `pipeline` (how it begins), `rules` (what is refused), then the tools
by theme: `owners`, `leads`, `conversion`, `companies`, `deals`, `stages`, `tasks`. `laws` says what always holds.
"""

from proverl.envs.servers.crm import companies, conversion, deals, laws, leads, owners, stages, tasks  # noqa: F401
from proverl.envs.servers.crm.app import server

__all__ = ["server"]
