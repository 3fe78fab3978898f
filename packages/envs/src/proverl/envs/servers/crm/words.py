"""Words: companies, what is sold, what is to do, and examples of what people write."""

from proverl.envs.names import FIRST_NAMES, LAST_NAMES

COMPANIES = (  # name, industry, city
    ("Nordlicht Energie", "energy", "Hamburg"), ("Voltara Grid", "energy", "Lyon"),
    ("Zonnepark Zeeland", "energy", "Middelburg"), ("Fjord Hydro", "energy", "Bergen"),
    ("Banco Ribeira", "finance", "Porto"), ("Alpen Privatbank", "finance", "Innsbruck"),
    ("Meridian Insurance", "finance", "Dublin"), ("Sparhaus Leipzig", "finance", "Leipzig"),
    ("Crédit Régional du Nord", "finance", "Lille"), ("Helix Pharma", "health", "Basel"),
    ("Clinique Sainte-Anne", "health", "Brussels"), ("Vita Laboratories", "health", "Milan"),
    ("Bergen Hospital Group", "health", "Bergen"), ("MediLogix", "health", "Utrecht"),
    ("Transvia Cargo", "logistics", "Rotterdam"), ("Ølund Shipping", "logistics", "Copenhagen"),
    ("Rapid Parcels", "logistics", "Antwerp"), ("Hanse Kontor", "logistics", "Hamburg"),
    ("Łódź Freight", "logistics", "Łódź"), ("Kaya Textiles", "manufacturing", "Ghent"),
    ("Brandt Maschinenbau", "manufacturing", "Stuttgart"), ("Acciaio Bianchi", "manufacturing", "Brescia"),
    ("Polyform Plastics", "manufacturing", "Warsaw"), ("Tampere Valves", "manufacturing", "Tampere"),
    ("Cerámica Azul", "manufacturing", "Seville"), ("Vanderhoeven Bikes", "manufacturing", "Amsterdam"),
    ("Stadt Münster", "public_sector", "Münster"), ("Gemeente Delft", "public_sector", "Delft"),
    ("Région Bretagne", "public_sector", "Rennes"), ("Port of Gdynia", "public_sector", "Gdynia"),
    ("Trinity Schools", "public_sector", "Dublin"), ("Maison Lefèvre", "retail", "Paris"),
    ("Grönsaker & Co", "retail", "Stockholm"), ("Bäckerei Sommer", "retail", "Vienna"),
    ("Urban Outdoors", "retail", "Berlin"), ("Casa Moderna", "retail", "Madrid"), ("Bookmark Stores", "retail", "Oslo"),
    ("O'Malley Grocers", "retail", "Cork"), ("Pet Palace", "retail", "Köln"), ("Lumière Cosmetics", "retail", "Paris"),
)  # fmt: skip
NEWCOMERS = (
    "Sunridge Farms", "Kobalt Robotics", "Villa Verde Hotels", "Aurora Dental", "Delta Kabel", "Quarry Stone Works",
    "Blue Harbour Ferries", "Studio Kranich", "Peak Fitness Clubs", "Silva Timber", "Nimbus Drones", "Café Central",
    "Westerdok Housing", "Orchid Hospitality", "Granite Security", "Polar Foods", "Tecnomar", "Weaver & Sons",
    "Baltic Glass", "Green Mile Couriers",
)  # fmt: skip
JOB_TITLES = (
    "Head of IT", "Managing Director", "Operations Manager", "Chief Financial Officer", "Buyer", "Data Analyst",
    "Head of Procurement", "Sales Director", "IT Architect", "Project Manager", "Office Manager", "Controller",
)  # fmt: skip
DEAL_NAMES = (
    "Analytics platform, 50 seats", "Forecasting module", "Three-year licence", "Support renewal",
    "Warehouse dashboard rollout", "Migration from spreadsheets", "Pilot for two sites", "Enterprise upgrade",
    "Data integration package", "Training for key users", "Reporting for finance", "Additional 200 users",
    "Mobile access add-on", "Security and audit package", "Group-wide rollout", "Planning tool, first phase",
)  # fmt: skip
AMOUNTS = (
    2_400.0, 3_900.0, 4_750.0, 6_200.0, 7_500.0, 8_800.0, 9_990.0, 12_000.0, 14_500.0, 16_800.0, 19_200.0, 24_000.0,
    31_500.0, 38_000.0, 46_000.0, 52_000.0, 68_500.0, 84_000.0,
)  # fmt: skip
SUBJECTS = {  # task type: what about
    "call": ("Introduce the product", "Ask about budget", "Follow up on the offer", "Talk about the timeline"),
    "email": ("Send the brochure", "Send references", "Confirm the next steps", "Share the security paper"),
    "meeting": ("Workshop on requirements", "Meet the IT team", "Meeting with procurement", "Site visit"),
    "demo": ("Demo for the finance team", "Demo of the planning tool", "Show the mobile app", "Technical demo"),
    "contract_review": ("Review the framework contract", "Check data protection terms", "Review payment terms"),
}  # fmt: skip
NEW_SUBJECTS = (
    "Talk through the offer", "Send the case study", "Agree on next steps", "Clarify open questions",
    "Discuss the rollout plan", "Check the terms", "Ask who decides", "Present the new version",
    "Get feedback on the trial", "Confirm the budget", "Meet the new manager", "Go over the numbers",
)  # fmt: skip
PEOPLE = (
    "Annika Lund", "Marc Delacroix", "Joana Pereira", "Stefan Vogel", "Ewa Zielińska", "Tom Hendriks", "Laura Conti",
    "Mikko Salonen", "Niamh Byrne", "Ahmed Bouzid", "Clara Weiss", "Radek Dvořák", "Beatriz Soler", "Henrik Dahl",
)  # fmt: skip
EMAILS = (  # of roles, so that they fit any name
    "info@kobaltrobotics.example",
    "office@tecnomar.example",
    "contact@silvatimber.example",
    "hello@deltakabel.example",
    "purchasing@balticglass.example",
    "it@westerdok.example",
    "management@villaverde.example",
    "orders@polarfoods.example",
    "office@orchid.example",
    "security@granite.example",
    "studio@kranich.example",
    "pilot@nimbusdrones.example",
    "desk@peakfitness.example",
    "harbour@blueharbour.example",
    "farm@sunridge.example",
    "praxis@auroradental.example",
    "works@quarrystone.example",
    "kitchen@cafecentral.example",
    "buying@weaverandsons.example",
    "dispatch@greenmile.example",
    "projects@kobaltrobotics.example",
    "finance@tecnomar.example",
    "sales@silvatimber.example",
    "service@deltakabel.example",
)
NAME_SEARCHES = FIRST_NAMES[::3] + LAST_NAMES[::4]
COMPANY_SEARCHES = tuple(name.split()[0] for name, *_ in COMPANIES)
