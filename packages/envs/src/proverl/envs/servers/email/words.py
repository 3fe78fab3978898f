"""Words: projects, companies, labels, drafts of the start state, and examples of what the user writes and looks for."""

from proverl.envs.names import FIRST_NAMES, LAST_NAMES

PROJECTS = (
    "Atlas", "Lighthouse", "Harbour app", "Green fleet", "Site search", "Onboarding", "Intranet", "Data cleanup",
    "Museum guide", "Winter campaign", "Solar map", "Ticketing",
)  # fmt: skip
EMPLOYERS = (
    ("Brightwater Consulting", "brightwater-consulting.com"),
    ("Studio Tessera", "studio-tessera.eu"),
    ("Fjordblick Analytics", "fjordblick-analytics.com"),
    ("Ateljee Kivi", "ateljee-kivi.fi"),
)
CLIENTS = (
    ("Vermeulen Bouw", "vermeulen-bouw.be"), ("Museo del Agua", "museodelagua.es"),
    ("Nordhafen Logistik", "nordhafen-logistik.de"), ("Clínica Sant Pau", "clinica-santpau.org"),
    ("Éditions du Quai", "editions-du-quai.fr"), ("Krakowska Foods", "krakowska-foods.pl"),
)  # fmt: skip
PRIVATE_DOMAINS = ("postbox.cc", "inbox-mail.net", "fairpost.org")
MAILING_LISTS = (("Everyone", "everyone"), ("Project leads", "project-leads"), ("Book club", "book-club"))
PROGRESS_LABELS = ("To answer", "In progress", "Waiting for reply", "Done")
TOPIC_LABELS = (
    "Contracts", "Invoices", "Travel", "Recruiting", "Personal", "Meetings", "Support", "Legal", "Marketing",
    "Suppliers", "Receipts", "Reading list", "Conference 2025", "Office move",
)  # fmt: skip
RETIRED_LABELS = ("Conference 2025", "Office move")
DRAFTS = (  # whom it is for, subject, text
    ("friends", "Lunch next week", "Hi,\n\nare you around next week? There is a new place near the station.\n\n"),
    ("colleagues", "Minutes of today", "Hello,\n\ntoday we decided:\n- the launch stays in autumn\n- more testers\n"),
    ("clients", "Thank you for the visit", "Hello,\n\nthank you for taking the time. We learned a lot."),
    ("colleagues", "Holiday plan", "Hi,\n\nI plan to be away for two weeks in summer. Would that work for you?"),
    ("clients", "Feedback on the concept", "Hello,\n\nI like the concept. My only doubt: there is no time to test."),
    ("colleagues", "Keys for the office", "Hi,\n\ncould you leave the keys at the reception? I come in early."),
    ("clients", "Question about the invoice", "Hello,\n\nposition 3 of your invoice is unclear to us. What is it?"),
    ("colleagues", "Reminder: time sheets", "Hi all,\n\nplease fill in your time sheets by Friday noon."),
    ("nobody", "", "Hi,\n\njust a quick question: "),
    ("everyone", "Invitation to the summer party", "Dear all,\n\nthe party is behind the office. Bring your families!"),
    ("nobody", "Photos", ""),
    ("colleagues", "Welcome to the team", "Welcome!\n\nYour desk is on the second floor, lunch is at noon."),
    ("friends", "Reference", "Hi,\n\nhere is the letter that you asked for: we worked together for four years."),
    ("friends", "New address", "Hello,\n\nwe have moved. Please send letters to the new address from now on."),
    ("colleagues", "Workshop dates", "Hi,\n\nthe room is free on both days. Which one do you prefer?"),
    ("clients", "Order of the new chairs", "Hello,\n\nwe would like to order twelve chairs of the red model."),
)  # fmt: skip
TOPICS = (  # a word of the subject, the label that fits
    ("contract", "Contracts"), ("contract", "Legal"), ("invoice", "Invoices"), ("invoice", "Suppliers"),
    ("payslip", "Receipts"), ("parcel", "Receipts"), ("ticket", "Travel"), ("journey", "Travel"), ("travel", "Travel"),
    ("weekend", "Travel"), ("weekend", "Personal"), ("interview", "Recruiting"), ("dinner", "Personal"),
    ("bike", "Personal"), ("pictures", "Personal"), ("agenda", "Meetings"), ("visit", "Meetings"),
    ("handover", "Meetings"), ("minutes", "Meetings"), ("export", "Support"), ("server", "Support"),
    ("photos", "Marketing"), ("slides", "Marketing"), ("offer", "Suppliers"), ("workshop", "Conference 2025"),
    ("speaking", "Conference 2025"), ("things to know", "Reading list"), ("paper", "Reading list"),
)  # fmt: skip
REPLY_TEXTS = (
    "Thanks, I'll look into it and get back to you.", "Thank you! That works for me.",
    "Let me check, I'll answer by Friday.", "Could we talk about this on the phone?", "Sorry for the late answer. ",
)  # fmt: skip

# Examples for parameters

SEARCHES = (
    "agenda", "contract", "invoice", "figures", "slides", "parcel", "ticket", "dinner", "offer", "interview",
    "handover", "photos", "export", "payslip", "workshop", "policy", "visit",
)  # fmt: skip
CONTACT_SEARCHES = (
    *FIRST_NAMES[::3], *LAST_NAMES[::5], "Project leads", "leads", "Book club", "club", "Parcelpoint", "Railwise",
    "tickets", "Cloudnest", "billing", "Monday Brief", "HR Portal", "HR",
)  # fmt: skip
SUBJECTS = (
    "Agenda for Monday", "Question about the contract", "Offer for the spring campaign", "Photos from last week",
    "Train times", "Feedback on your slides", "Invoice for the workshop", "Lunch on Thursday?", "Handover list",
    "New phone number", "Minutes of the meeting", "Access to the shared folder", "Visit next month", "Thank you!",
)  # fmt: skip
BODIES = (
    "Hi, here is the list that we talked about. Tell me what is missing.",
    "Hello, could you send me the latest version by noon? Thanks!",
    "Dear all, the meeting moves to Wednesday, same time, same room.",
    "Hi, I have read it twice and have only two small remarks.",
    "Hello, thank you for your patience. The new date is the 14th.",
    "Hi, who takes over while you are away? I would like to meet them.",
    "Dear colleague, please find the details below and call me with any question.",
    "Hello, we agree to the price and would like to start next week.",
    "Hi, I am running ten minutes late, please start without me.",
    "Hello, the train leaves at 8:12. Shall we meet on the platform?",
    "Hi, could you add one more row for the travel costs?",
    "Dear team, great work last week. Let's keep up that pace.",
)
REPLIES = (
    "Thank you, that helps a lot.", "Yes, that works for me.", "I am afraid I can't make it on that day.",
    "Please go ahead, I have no objections.", "Could you send me the file once more?",
    "Let's discuss it tomorrow at ten.",
    "Agreed. I'll let the others know.", "I need two more days for this.", "Great news, congratulations!",
    "Sorry, I missed your email. Is it still relevant?", "Please ask for a second offer before we decide.",
    "I have added my remarks to the list.",
)  # fmt: skip
NOTES = (
    "For your information.", "Can you take care of this?", "What do you think?", "As discussed, see below.",
    "Please keep this on file.", "This one is for your team, I believe.", "Could you answer them by Friday?",
    "Just so you have seen it.", "See the last paragraph.", "Here is the message that I mentioned.",
    "Would you call them back?", "Please answer this while I am away.", "I promised to send you this one.",
    "Does this concern us?",
)  # fmt: skip
