"""Words: products on sale, what stands in which area, and examples of what people name and say."""

# model: maker, type, trait, on battery, firmware releases from oldest to newest
PRODUCTS = {
    "Hue White A60": ("Philips", "light", "dimmable", False, ("1.93.7", "1.104.2", "1.116.3")),
    "Hue Lightstrip Plus": ("Philips", "light", "dimmable", False, ("1.101.2", "1.116.3")),
    "TRÅDFRI E27 806 lm": ("IKEA", "light", "dimmable", False, ("2.3.87", "3.0.10")),
    "Plus 1": ("Shelly", "light", "switched", False, ("1.2.3", "1.4.4", "1.6.2")),
    "FRITZ!DECT 200": ("AVM", "plug", "metering", False, ("4.25", "4.27")),
    "Tapo P110": ("TP-Link", "plug", "metering", False, ("1.2.3", "1.3.1")),
    "Energy": ("Eve", "plug", "metering", False, ("3.2.1", "3.5.0")),
    "FYRTUR": ("IKEA", "blind", "blind", True, ("2.2.9", "24.4.13")),
    "Blind Tilt": ("SwitchBot", "blind", "blind", True, ("1.7", "2.1")),
    "RS100 io": ("Somfy", "blind", "shutter", False, ("5.1.3", "5.1.6")),
    "Smart Radiator Thermostat X": ("tado°", "thermostat", "heats", True, ("243.1", "251.2")),
    "Ally Radiator Thermostat": ("Danfoss", "thermostat", "heats", True, ("1.08", "1.20")),
    "Smart Thermostat Premium": ("ecobee", "thermostat", "heats and cools", False, ("4.8.7", "4.9.2")),
    "Smart Lock Pro": ("Nuki", "lock", "keypad", True, ("3.9.5", "4.3.9")),
    "Linus L2": ("Yale", "lock", "keypad", True, ("1.6.0", "2.0.14")),
    "V3": ("Danalock", "lock", "keypad", True, ("0.21.3", "1.0.2")),
    "Door and Window Sensor P2": ("Aqara", "sensor", "contact", True, ("1.0.1", "1.0.3")),
    "Hue Motion Sensor": ("Philips", "sensor", "motion", True, ("2.53.6", "2.57.8")),
    "Water Leak Sensor T1": ("Aqara", "sensor", "leak", True, ("0.0.23", "0.0.31")),
    "Smoke Alarm": ("Bosch", "sensor", "smoke", True, ("2.1.0", "2.2.4")),
    "Weather Station Module": ("Netatmo", "sensor", "temperature", True, ("51", "53")),
    "H&T Gen3": ("Shelly", "sensor", "humidity", True, ("1.4.4", "1.6.2")),
    "Pro 5S": ("Arlo", "camera", "outdoor", True, ("1.080.21", "1.080.25")),
    "Video Doorbell Wired": ("Ring", "camera", "doorbell", False, ("3.49.4", "3.53.1")),
    "E1 Pro": ("Reolink", "camera", "indoor", False, ("3.0.0", "3.1.0")),
}

# area: (type or what a sensor senses, name of the device, how often it is there in percent)
LIVING = {
    "Hallway": (
        ("lock", "Front door", 100), ("light", "Ceiling light", 100), ("motion", "Hallway motion", 90),
        ("contact", "Front door contact", 70), ("doorbell", "Doorbell camera", 60),
    ),
    "Living room": (
        ("light", "Ceiling light", 100), ("light", "Reading lamp", 80), ("strip", "Shelf strip", 40),
        ("shutter", "Terrace shutter", 80), ("contact", "Terrace door", 90), ("thermostat", "Thermostat", 100),
        ("plug", "TV corner", 70), ("indoor", "Living room camera", 40),
    ),
    "Kitchen": (
        ("light", "Worktop lights", 100), ("light", "Dining table lamp", 60), ("plug", "Coffee machine", 80),
        ("plug", "Fridge", 60), ("smoke", "Kitchen smoke alarm", 90), ("leak", "Leak sensor under the sink", 90),
        ("contact", "Kitchen window", 80), ("lock", "Back door", 40),
    ),
    "Bedroom": (
        ("light", "Ceiling light", 90), ("light", "Bedside lamp", 90), ("blind", "Bedroom blind", 90),
        ("thermostat", "Thermostat", 90), ("temperature", "Bedroom climate", 60), ("contact", "Bedroom window", 60),
    ),
}  # fmt: skip
MORE = {
    "Bathroom": (
        ("light", "Mirror light", 100), ("plug", "Towel heater", 60), ("leak", "Leak sensor by the shower", 80),
        ("humidity", "Bathroom humidity", 90), ("thermostat", "Thermostat", 50),
    ),
    "Children's room": (
        ("light", "Night light", 100), ("light", "Ceiling light", 90), ("blind", "Roller blind", 80),
        ("thermostat", "Thermostat", 90), ("plug", "Humidifier", 60), ("temperature", "Room climate", 60),
    ),
    "Study": (
        ("light", "Desk lamp", 100), ("plug", "Printer", 70), ("blind", "Study blind", 80),
        ("thermostat", "Thermostat", 80), ("contact", "Study window", 60),
    ),
    "Garage": (
        ("lock", "Garage side door", 100), ("light", "Workbench light", 90), ("plug", "Freezer", 70),
        ("motion", "Garage motion", 70), ("outdoor", "Driveway camera", 80),
    ),
    "Garden": (
        ("light", "Path lights", 100), ("plug", "Fountain pump", 60), ("outdoor", "Garden camera", 90),
        ("motion", "Garden motion", 70),
    ),
    "Cellar": (
        ("lock", "Cellar door", 60), ("light", "Cellar light", 90), ("leak", "Leak sensor by the boiler", 100),
        ("plug", "Dehumidifier", 60), ("humidity", "Cellar humidity", 80),
    ),
    "Attic": (),
}  # fmt: skip
KINDS = {  # products for what stands in an area, where type or trait don't decide
    "light": ("Hue White A60", "TRÅDFRI E27 806 lm", "Plus 1"), "strip": ("Hue Lightstrip Plus",),
    "blind": ("FYRTUR", "Blind Tilt"),
}  # fmt: skip
SWITCHED_LIGHTS = ("Path lights", "Cellar light", "Workbench light")
ALWAYS_ON = ("Fridge", "Freezer")  # plugs with the child lock on: what hangs on them must never be switched off
REGIONS = (  # one account's homes are not a day's journey apart
    ("Antwerp", "Ghent", "Bruges", "Brussels", "Leuven", "Ostend", "Mechelen"),
    ("Amsterdam", "Rotterdam", "Utrecht", "Haarlem", "Leiden", "Delft", "Zwolle"),
    ("Hamburg", "Lübeck", "Bremen", "Kiel", "Lüneburg", "Schwerin"),
    ("Milan", "Bergamo", "Como", "Pavia", "Lecco", "Varese"),
    ("Lisbon", "Sintra", "Setúbal", "Cascais", "Évora", "Óbidos"),
    ("Copenhagen", "Roskilde", "Malmö", "Helsingør", "Lund", "Køge"),
)
HOMES = (
    "Home", "Parents' house", "Weekend house", "Guest flat", "Town house", "Granny's flat", "Old mill", "Loft",
    "Garden studio", "Holiday flat",
)  # fmt: skip
HOLDERS = (
    "Cleaner", "Dog walker", "Neighbour", "Babysitter", "Caretaker", "House guest", "Plumber", "Grandma", "Cat sitter",
    "Parcel service", "Gardener", "Electrician", "Piano teacher", "Au pair",
)  # fmt: skip
NEW_CODES = (
    "482715", "915308", "361842", "724069", "208651", "593174", "846290", "170935", "637528", "052417", "419083",
    "785326", "390761", "864153",
)  # fmt: skip
SCENES = (  # name, what it does to lights, brightness, to blinds (percent open), target in tenths of a degree
    ("Good morning", "on", 70, 100, 205), ("Movie night", "on", 15, 0, 210), ("Good night", "off", 0, 0, 175),
    ("Leaving home", "off", 0, None, 165), ("Dinner", "on", 45, None, 205), ("Cleaning", "on", 100, 100, None),
    ("Reading", "on", 60, 30, None), ("Welcome back", "on", 80, None, 210), ("Bright light", "on", 100, None, None),
    ("Siesta", "off", 0, 10, None),
)  # fmt: skip
EVERY_HOME = ("Good morning", "Welcome back", "Bright light")  # scenes that automations run
TRIPS = {  # what a sensor senses: the scene that it may run and when
    "smoke": ("Bright light", ("always",)), "leak": ("Bright light", ("always",)),
    "motion": ("Bright light", ("always", "night", "night")), "door": ("Welcome back", ("always", "night")),
    "window": ("Good morning", ("daytime",)),
}  # fmt: skip
SCENE_NAMES = (
    "Game night", "Yoga", "Homework time", "Sunday breakfast", "Focus", "Romantic dinner", "Bath time",
    "Guests arriving", "Afternoon nap", "Fika", "Party", "Working late", "Storytime", "Christmas lights",
)  # fmt: skip
AUTOMATION_NAMES = (
    "Lights when someone comes in", "Wake up the kitchen", "Water alarm", "Someone at the door", "Night walk",
    "Welcome light", "Terrace in use", "Smoke means light", "Quiet evening", "Hands full", "Airing the room",
    "Door opened at night", "After school", "Garden party",
)  # fmt: skip
