"""Words: colleagues and other companies, what meetings are about, addresses to invite."""

COLLEAGUES = (
    "Aisha Diallo", "Bram Peeters", "Chiara Rossi", "Daniel Okafor", "Elif Kaya", "Femke Jansen", "Hana Suzuki",
    "Ivan Horvat", "Jonas Weber", "José Fernández", "Katarzyna Kowalska", "Léa Moreau", "Liam Murphy", "Mei Chen",
    "Nora Lindqvist", "Omar Haddad", "Pavel Novak", "Priya Raman", "Søren Nielsen", "Sofia Almeida", "Tomás Ortiz",
    "Wei Zhang", "Yusuf Karim", "Zoë Claes",
)  # fmt: skip
CLIENT_DOMAINS = ("nordwind.example", "helixpharma.example", "bluebird.example", "stadgent.example", "kestrel.example")
TOPICS = (
    "Weekly team sync", "Product demo", "Quarterly review", "Design critique", "Sprint planning", "Retrospective",
    "Customer onboarding", "Budget check-in", "Roadmap discussion", "Security training", "Kick-off Nordwind",
    "Interview debrief prep", "Partner call", "Release go/no-go", "Q&A with support", "Data migration walkthrough",
    "Town hall rehearsal", "Pricing workshop", "Vendor comparison", "User research readout", "Café virtuel",
)  # fmt: skip
CONFIDENTIAL_TOPICS = ("Salary round", "Hiring decisions", "Legal matters", "Performance reviews")
SEARCHES = (
    "sync", "demo", "review", "planning", "training", "kick-off", "call", "workshop", "budget", "roadmap", "café",
    "retro", "salary",
)  # fmt: skip
INVITED = (
    "mei.chen@lumenworks.example", "liam.murphy@lumenworks.example", "priya.raman@lumenworks.example",
    "elif.kaya@lumenworks.example", "omar.haddad@lumenworks.example", "lea.moreau@lumenworks.example",
    "wei.zhang@lumenworks.example", "hana.suzuki@lumenworks.example", "yusuf.karim@lumenworks.example",
    "soren.nielsen@lumenworks.example", "ivan.horvat@lumenworks.example", "nora.lindqvist@lumenworks.example",
    "grace.walker@atlasfreight.example", "m.bianchi@studioverde.example", "ines.souza@portoferry.example",
    "tanaka@hoshino-labs.example",
)  # fmt: skip
MESSAGES = (
    "Sorry, something urgent came up", "We will find a new date", "The client asked to postpone",
    "Not needed any more, it was solved by email", "Half the team is ill", "Clashes with the town hall",
    "Let's merge this into the weekly sync", "The demo environment is down", "I am travelling that day",
    "Waiting for the numbers first", "Public holiday in Belgium", "The room is double-booked",
    "We decided this in the chat already", "Nothing new to discuss this week",
)  # fmt: skip
