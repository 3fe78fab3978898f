"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.email.start_state import start_state
from proverl.envs.servers.email.tables import Base

server = Server(
    "email",
    "The mailbox of one person: search and read emails, write, send and schedule drafts, label and file what came in.",
    Base,
    start_state,
    nouns={
        "Email": "email",
        "EmailThread": "email thread",
        "EmailContact": "contact",
        "EmailDraft": "draft",
        "EmailLabel": "label",
        "Attachment": "attachment",
    },
)
