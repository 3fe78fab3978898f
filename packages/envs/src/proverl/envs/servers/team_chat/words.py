"""Words: the workspace's channels, job titles, and examples of what the user posts and creates."""

from proverl.envs.servers.team_chat import talk

CHANNELS = (  # name, topic, what is said there, share of the members in it
    ("engineering", "How we build things", talk.ENGINEERING, 0.5),
    ("incidents", "Production trouble, one thread each", talk.INCIDENTS, 0.4),
    ("help-it", "Laptops, accounts, printers", talk.HELP, 0.6),
    ("sales", "Leads, offers, renewals", talk.SALES, 0.35),
    ("design", "Looks and words", talk.DESIGN, 0.3),
    ("lunch", "Who eats what, where and with whom", talk.LUNCH, 0.5),
    ("running", "Kilometres and sore legs", talk.RUNNING, 0.2),
    ("book-club", "One book a month", talk.BOOKS, 0.25),
    ("pets", "Cats and other colleagues", talk.PETS, 0.3),
    ("office-ghent", "The house at the canal", talk.OFFICE, 0.3),
    ("office-porto", "The house on the hill", talk.OFFICE, 0.3),
    ("office-oslo", "Second floor, mind the step", talk.OFFICE, 0.25),
    ("proj-atlas", "Maps for the port authority", talk.PROJECT, 0.25),
    ("proj-lighthouse", "New alarm system", talk.PROJECT, 0.25),
    ("proj-museum-guide", "Audio guide in nine languages", talk.PROJECT, 0.2),
    ("proj-green-fleet", "Electric vans", talk.PROJECT, 0.25),
    ("proj-solar-map", "Roofs and their sun", talk.PROJECT, 0.2),
    ("frontend", "Browsers and what they do to us", talk.ENGINEERING, 0.3),
    ("data", "Pipelines, dashboards, doubts", talk.ENGINEERING, 0.25),
)
PRIVATE = (
    ("hiring", "Candidates, confidential", talk.HIRING, 0.15),
    ("leads", "Team leads", talk.LEADS, 0.2),
    ("budget-plans", "Numbers, not final", talk.FINANCE, 0.15),
    ("surprise-party", "Psst", talk.PARTY, 0.3),
)
ARCHIVED = (
    ("proj-winter-campaign", "Done, thanks to all", talk.PROJECT, 0.25),
    ("office-lyon", "We moved out", talk.OFFICE, 0.2),
    ("ski-trip", "Who has my gloves?", talk.SKIING, 0.3),
)
EMPTY = ("cafe-francais", "Café et conversation, on parle français ici", (), 0.15)
PROJECTS = ("Atlas", "Lighthouse", "Museum guide", "Green fleet", "Solar map", "Ticketing", "Onboarding")
TITLES = (
    "Backend developer", "Frontend developer", "Product manager", "Designer", "Account manager", "Data analyst",
    "Office manager", "Support engineer", "Team lead", "Recruiter", "Accountant", "QA engineer",
    "Site reliability engineer",
)  # fmt: skip
GUEST_TITLES = ("Port authority", "Museum of the Sea", "Photographer", "Auditor")
QUESTIONS = (
    "please", "Friday", "Thursday", "Wednesday", "Tuesday", "Monday", "new", "room", "folder", "meeting", "next",
    "today", "month", "client", "offer", "test",
)  # fmt: skip
CHANNEL_SEARCHES = (
    "proj", "office", "help", "sales", "book", "design", "data", "running", "lunch", "pets", "incident", "engineering",
    "museum", "front",
)  # fmt: skip
POSTS = (
    "Stand-up moves to half past nine tomorrow.", "Has anyone seen the adapter from the small meeting room?",
    "I am out this afternoon, back tomorrow morning.", "The draft of the offer is ready for review.",
    "Release notes are written, please check your part.", "Who wants to join for lunch at noon?",
    "The client confirmed the date, we can start.", "Heads-up: the test server restarts at six.",
    "Great work on the demo, everybody!", "Could somebody take the minutes today?",
    "I found a bug in the search, ticket to follow.", "New photos are in the shared folder.",
    "Reminder: time sheets are due on Friday.", "Quick question: which version are we showing on Monday?",
)  # fmt: skip
REPLIES = (
    "I can do it.", "Thanks, that helps!", "Give me ten minutes.", "Done, have a look.", "Same here.",
    "Could you share the link?",
    "Let's discuss this in the stand-up.", "Good point, I'll change it.", "Looks good to me.",
    "I am not sure about that.", "Count me in!", "It works for me now.", "Who is the right person to ask?",
)  # fmt: skip
CHANNEL_NAMES = (
    "proj-ticketing", "proj-onboarding", "release-42", "summer-party", "office-vienna", "retro-notes", "api-design",
    "coffee-lovers", "customer-stories", "hackathon", "cycling", "board-games", "launch-week", "security-questions",
)  # fmt: skip
TOPICS = (
    "Planning and open questions", "Everything for the launch", "Who brings what", "Decisions and why we took them",
    "Notes from meetings", "Ideas, the wilder the better", "Feedback from customers", "Help for newcomers",
    "Weekly check-in", "Preparing the demo", "After-work plans", "Questions to the team",
)  # fmt: skip
