"""Policies, chat formats and the one episode loop. Importing it loads neither torch nor transformers."""

from proverl.agent.chat import Chat, Message, Policy, Reply, Tokenizer, clip
from proverl.agent.chat_template import ChatTemplate
from proverl.agent.episode import Environment, run_episode
from proverl.agent.formats import ToolFormat, render_tools, tiny_chat_template, tool_format
from proverl.agent.limits import Limits
from proverl.agent.message_chat import EndpointPolicy, MessageChat
from proverl.agent.scripted import Closings, OracleChat, OraclePolicy, ScriptedChat, ScriptedPolicy, plan
from proverl.agent.token_chat import Generate, Generated, TokenChat

__all__ = [
    "Chat",
    "ChatTemplate",
    "Closings",
    "EndpointPolicy",
    "Environment",
    "Generate",
    "Generated",
    "Limits",
    "Message",
    "MessageChat",
    "OracleChat",
    "OraclePolicy",
    "Policy",
    "Reply",
    "ScriptedChat",
    "ScriptedPolicy",
    "TokenChat",
    "Tokenizer",
    "ToolFormat",
    "clip",
    "plan",
    "render_tools",
    "run_episode",
    "tiny_chat_template",
    "tool_format",
]
