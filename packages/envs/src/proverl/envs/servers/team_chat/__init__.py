"""A company's chat as one member sees it: channels, messages, threads of replies, reactions, members.

Read `tables` (what there is), `start_state` (how it begins, with what people say in `talk`), `rules` (what the
workspace refuses), then the tools by theme: `channels`, `members`, `messages`. `laws` says what always holds.
"""

from proverl.envs.servers.team_chat import channels, laws, members, messages  # noqa: F401
from proverl.envs.servers.team_chat.app import server

__all__ = ["server"]
