"""A payment provider as a merchant uses it: invoices, charges, refunds, payment links and webhooks.

Read `tables` (what there is), `start_state` (how it begins), `rules` (what the provider refuses), then the tools by
theme: `invoices`, `billing`, `charges`, `payment_links`, `webhooks`. `laws` says what always holds.
"""

from proverl.envs.servers.payments import billing, charges, invoices, laws, payment_links, webhooks  # noqa: F401
from proverl.envs.servers.payments.app import server

__all__ = ["server"]
