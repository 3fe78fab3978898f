"""One person's mailbox at work: emails in threads and folders, drafts, scheduled sending, labels, contacts.

Read `tables` (what there is), `start_state` (how it begins, with the correspondence of `stories`), `rules` (what the
mailbox refuses), then the tools by theme: `reading`, `drafting`, `sending`, `filing`. `laws` says what always holds.
"""

from proverl.envs.servers.email import drafting, filing, laws, reading, sending  # noqa: F401
from proverl.envs.servers.email.app import server

__all__ = ["server"]
