"""A POSIX-flavoured file system over tables: it never touches a real disk.

Nodes are known by their absolute paths, and calls may use relative ones against a working directory. Read `tables` for
what is stored, `paths` for how a path becomes a node, `rules` for what is refused, `tree` for what happens to whole
subtrees, and `laws` for what always holds. The tools are in `navigation`, `finding`, `reading`, `editing`,
`arranging`, `trash`, `archives` and `access`.
"""

from proverl.envs.servers.filesystem import (  # noqa: F401 - importing these registers laws and tools
    access,
    archives,
    arranging,
    editing,
    finding,
    laws,
    navigation,
    reading,
    trash,
)
from proverl.envs.servers.filesystem.app import server

__all__ = ["server"]
