"""What start states are made of, and the example values of free-text parameters."""

TEAMS = (
    "engineering", "design", "product", "marketing", "sales", "finance", "people", "legal",
)  # fmt: skip

# name, building, capacity
ROOMS = (
    ("Orion", "Harbour House", 4), ("Vega", "Harbour House", 4), ("Lyra", "Harbour House", 6),
    ("Cassiopeia", "Harbour House", 8), ("Andromeda", "Harbour House", 12), ("Polaris", "Harbour House", 20),
    ("Phone Booth 1", "Harbour House", 1), ("Phone Booth 2", "Harbour House", 1), ("Fjord", "Mill Street", 2),
    ("Delta", "Mill Street", 4), ("Lagoon", "Mill Street", 6), ("Estuary", "Mill Street", 6),
    ("Reef", "Mill Street", 8), ("Glacier", "Mill Street", 10), ("Atlantic", "Mill Street", 16),
    ("Boardroom", "Mill Street", 14), ("Cedar", "Garden Annex", 3), ("Maple", "Garden Annex", 4),
    ("Juniper", "Garden Annex", 6), ("Willow", "Garden Annex", 8), ("Sequoia", "Garden Annex", 30),
    ("Greenhouse", "Garden Annex", 10), ("Workshop", "Garden Annex", 12), ("Library", "Harbour House", 5),
)  # fmt: skip

OWN_CALENDARS = (
    "Personal", "Travel", "Hiring", "Customer visits", "Focus time", "Side projects",
)  # fmt: skip
WRITER_CALENDARS = (
    "Engineering", "Release train", "On-call", "Design crits", "Launch plan", "Team events", "Training",
    "Demo days",
)  # fmt: skip
READER_CALENDARS = (
    "Company all-hands", "Office closures", "Marketing campaigns", "Sales pipeline", "Product roadmap",
    "Finance close", "Visitors", "Board dates",
)  # fmt: skip
HIDDEN_CALENDARS = (
    "Executive staff", "Legal matters", "People team", "Mergers",
)  # fmt: skip

TITLES = (
    "Design review", "Sprint planning", "Team standup", "Budget review", "Roadmap sync", "Product demo",
    "Retrospective", "Customer call", "Architecture discussion", "Hiring debrief", "Onboarding session",
    "Security audit", "Launch check", "Quarterly planning", "Vendor negotiation", "Marketing brainstorm",
    "Data review", "Incident review", "Status update", "Contract review", "Press briefing", "Brand workshop",
    "Sales forecast", "Interview: backend engineer", "Accessibility review", "Pricing discussion",
    "Support handover", "Research readout", "Café catch-up", "Beta feedback", "Performance review",
    "Strategy offsite prep",
)  # fmt: skip
SERIES_TITLES = (
    "Weekly sync", "Team standup", "One-on-one", "Office hours", "Planning meeting", "Coffee chat",
    "Backlog grooming", "Design critique", "Metrics review", "Guild meeting", "Customer feedback round",
    "Language class",
)  # fmt: skip
PRIVATE_TITLES = (
    "Dentist appointment", "Gym", "School play", "Focus block", "Flight to Lisbon", "Car service",
    "Piano lesson", "Lunch with Mamá", "Doctor's check-up", "Pick up the keys", "Yoga class",
    "Parent-teacher evening",
)  # fmt: skip
CLOSURES = (
    "Office closed: fire drill", "Office closed: public holiday", "Power maintenance",
    "Company volunteering day",
)  # fmt: skip

# What people call new events and write into them: example values for `create_event` and `update_event`.
EVENT_TITLES = [
    "Kickoff with the Lisbon office", "Design review", "Q3 budget walkthrough",
    "Interview with the new analyst", "Roadmap sync", "Lunch with the partners", "Dry run of the demo",
    "Contract review", "Mobile app retrospective", "Pricing workshop", "Customer onboarding call",
    "Security training", "Hackathon planning", "Farewell coffee", "Website relaunch check-in", "Supplier call",
    "Mentoring session", "Dentist appointment", "Data migration plan", "Press interview",
]  # fmt: skip
DESCRIPTIONS = [
    "Please read the draft beforehand.", "Bring your laptop.", "We decide on the shortlist.",
    "Agenda is in the wiki.", "Remote guests join by video.", "Coffee and pastries are provided.",
    "Follow-up to last week's discussion.", "Numbers for the quarter are ready.", "Short and to the point.",
    "First half demo, second half questions.", "Notes will be shared afterwards.",
    "Prepare two questions each.",
]  # fmt: skip
