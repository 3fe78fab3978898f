"""Tools that stand in for each other are tools that exist, and stay away from where one of them is missed."""

from proverl.envs import load_server, server_names
from proverl.synth import rivals as module
from proverl.synth.rivals import rivals


def test_every_rival_is_a_tool():
    tools = {tool.name for name in server_names() for tool in load_server(name).tools}
    named = set().union(*module._ALIKE, *module._INSTEAD.values(), module._INSTEAD)
    assert not named - tools


def test_a_tool_is_no_rival_of_its_own_and_most_have_none():
    assert "search_places" in rivals("search_restaurants")
    assert rivals("delete_path") == {"trash_path"}
    assert "create_event" not in rivals("create_event")
    assert rivals("freeze_card") == set()
