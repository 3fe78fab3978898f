"""A social network as the app of one signed-in user sees it: profiles, follows, blocks, posts, comments, the feed.

Read `tables` (what there is), `start_state` (how it begins), `rules` (who may see and do what), then the tools by
theme: `profiles`, `connections`, `reading`, `posting`, `comments`. `laws` says what always holds.
"""

from proverl.envs.servers.social_media import comments, connections, laws, posting, profiles, reading  # noqa: F401
from proverl.envs.servers.social_media.app import server

__all__ = ["server"]
