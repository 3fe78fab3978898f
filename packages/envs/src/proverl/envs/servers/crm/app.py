"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.crm.start_state import start_state
from proverl.envs.servers.crm.tables import Base

server = Server(
    "crm",
    "A sales CRM: leads, their qualification and conversion, companies, contacts, deals and tasks. Amounts are in EUR.",
    Base,
    start_state,
    nouns={
        "Owner": "sales rep",
        "Lead": "lead",
        "Company": "company",
        "Contact": "contact",
        "Deal": "deal",
        "Task": "task",
    },
)
