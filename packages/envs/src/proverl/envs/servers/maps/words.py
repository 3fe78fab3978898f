"""Words: streets, stops, names of places, and examples of what users say."""

STREETS = (
    "Mill Lane", "Harbour Road", "Church Street", "Station Street", "Castle Hill", "Orchard Close", "Old Bridge Road",
    "Linden Avenue", "Market Street", "Abbey Walk", "Tanner's Row", "Queen Street", "Brewery Lane", "Canal Side",
    "School Road", "Observatory Road", "Rope Walk", "Saint Anne's Square", "Weaver Street", "Northgate", "Southgate",
    "River Parade", "Rue des Tilleuls", "Schützenstraße",
)  # fmt: skip
STOPS = (
    "University", "Town Hall", "Botanical Garden", "Hospital", "Stadium", "Old Harbour", "Theatre", "Fairground",
    "West Cemetery", "Ice Rink", "Court House", "Water Tower", "North Bridge", "Mill Pond", "Exhibition Hall",
    "Lindenhof", "Science Park", "Saint Anne's", "Brewery", "City Gate", "Zoo", "Swimming Pool",
)  # fmt: skip
NAMES = {  # category: schedules it may keep, and names
    "cafe": (
        ("cafe", "cafe", "late_cafe"),
        (
            "Kaffa",
            "The Daily Grind",
            "Café Olmo",
            "Second Cup",
            "Blue Door Coffee",
            "Tante Rosa",
            "Café Ångström",
            "Milk & Honey",
            "The Copper Kettle",
            "Little Oslo",
            "Corner Roast",
            "Café Littéraire",
        ),
    ),
    "restaurant": (
        ("restaurant", "dinner", "restaurant"),
        (
            "Trattoria Nonna Pia",
            "Saffron House",
            "The Salted Fig",
            "Bistro Garance",
            "Golden Lotus",
            "El Patio",
            "Ramen Ichiban",
            "The Old Granary",
            "Zum Hirsch",
            "Taverna Kyma",
            "Dim Sum Garden",
            "Chez Lulu",
            "Spice Route",
            "Harbour Grill",
            "Veggie Corner",
            "Pho Saigon",
        ),
    ),
    "museum": (
        ("museum",),
        (
            "City Museum",
            "Museum of Modern Art",
            "Maritime Museum",
            "Design Museum",
            "Museum of Printing",
            "Natural History Museum",
            "Toy Museum",
            "House of Glass",
            "Science Centre",
        ),
    ),
    "pharmacy": (
        ("pharmacy", "pharmacy", "always"),
        (
            "Linden Pharmacy",
            "Station Pharmacy",
            "Swan Pharmacy",
            "Pharmacy Dr. Keller",
            "Green Cross Pharmacy",
            "Lion Pharmacy",
        ),
    ),
    "supermarket": (("supermarket",), ("Fresco", "Fresco", "Marktkauf", "Corner Basket", "BioLaden", "Fresco City")),
    "hotel": (
        ("always",),
        (
            "Hotel Astoria",
            "Park Inn Lodge",
            "The Merchant's House",
            "Hotel Zur Post",
            "Bridge Hotel",
            "Hotel Miramar",
            "Guesthouse Ida",
            "Grand Hotel",
        ),
    ),
    "park": (("park", "always"), ("City Park", "Riverside Gardens", "Castle Park", "Rose Garden", "Observatory Park")),
    "library": (("library",), ("City Library", "University Library", "Children's Library")),
    "gym": (("gym",), ("Iron Works Gym", "FitPoint", "Boulder Barn", "Studio Balance")),
    "cinema": (("cinema",), ("Lumière", "Odeon", "Filmpalast", "Cinema Paradiso")),
    "car_park": (
        ("always",),
        ("Parking Central", "Parking Theatre", "P+R North", "Parking Riverside"),
    ),
}
NUMBERS = {  # how many places of a category a city has
    "cafe": 5, "restaurant": 6, "museum": 3, "pharmacy": 2, "supermarket": 3, "hotel": 3, "park": 2, "library": 1,
    "gym": 2, "cinema": 1, "car_park": 2,
}  # fmt: skip
CLOSINGS = ("Private event", "Staff training", "Staff outing", "Electrical works", "Repairs")
WORKS = ("track works", "bridge repairs", "a burst water main", "signal renewal")
ADDRESSES = (
    "Mill Lane 12", "Station Street 8", "14 Church Street", "Harbour Road 3", "Castle Hill 21", "Queen Street 40",
    "Linden Avenue 5", "Rope Walk 17", "River Parade 2", "33 Northgate", "Market Street 19", "Canal Side 28",
    "Old Bridge Road 6", "School Road 9", "52 Weaver Street", "Observatory Road 11", "Southgate 4", "Brewery Lane 37",
    "7 Abbey Walk", "Schützenstraße 15", "Rue des Tilleuls 24",
)  # fmt: skip
SEARCHES = (
    "Central", "Fresco", "museum", "Hotel", "pharmacy", "park", "garden", "Café", "House", "library", "parking",
    "University", "Corner", "Theatre", "Harbour", "Old", "City", "Riverside", "Bridge",
)  # fmt: skip
_FOOD = ("cafe", "restaurant")
LISTS: dict[str, tuple[tuple[str, ...], str]] = {  # name: categories and city that fit, none where everything does
    "Favourites": ((), ""),
    "Want to go": ((), ""),
    "Coffee crawl": (("cafe",), ""),
    "Date night": (("restaurant", "cinema"), ""),
    "With the kids": (("park", "museum", "library", "cinema"), ""),
    "Rainy days": (("museum", "cinema", "library", "cafe"), ""),
    "Client lunches": (("restaurant",), ""),
    "Sunday brunch": (_FOOD, ""),
    "Photo spots": (("park", "museum", "hotel"), ""),
    "Highmere weekend": ((), "Highmere"),
    "Gluten-free": ((*_FOOD, "supermarket"), ""),
    "Quiet places to work": (("cafe", "library"), ""),
    "Dog friendly": (("park", *_FOOD), ""),
    "Birthday ideas": (("restaurant", "cinema", "gym"), ""),
    "Visitors from abroad": (("hotel", "museum", "restaurant"), ""),
    "Errands": (("pharmacy", "supermarket", "library"), ""),
    "Late night food": (("restaurant",), ""),
    "Books & coffee": (("cafe", "library"), ""),
    "Kirkhaven day trip": ((), "Kirkhaven"),
    "Café Ångström & co": (("cafe",), ""),
    "Gifts": (("museum", "supermarket"), ""),
}
NEW_LISTS = (
    "Team lunches", "Summer terraces", "Museums to see", "Best breakfast", "Moving to Veldria", "Conference trip",
    "Mum's visit", "Study spots", "Vegan dinners", "Picnic places", "Cheap eats", "Anniversary", "Saturday errands",
    "Late openings", "Hidden gems", "Next holiday", "Brunch with Priya", "Places with Wi-Fi",
)  # fmt: skip
PLAIN_NOTES = ("Recommended by Priya", "Step-free entrance", "Check the hours first", "Ten minutes from the station")
NOTES_ABOUT = {  # by category; a plain note suits all others
    "cafe": ("Great espresso", "Quiet upstairs", "Cash only", "Nice terrace", *PLAIN_NOTES[:2]),
    "restaurant": ("Ask for a table by the window", "Try the tasting menu", "Book two weeks ahead", "Good for groups"),
    "museum": ("Free entry on Thursdays", "Good for groups", "Leave bags at the cloakroom", *PLAIN_NOTES),
    "hotel": ("Ask for a room to the back", "Breakfast is extra", *PLAIN_NOTES[:2]),
    "park": ("Good for a picnic", "Playground by the pond", *PLAIN_NOTES[:2]),
}
NOTES = (  # suit any place
    *PLAIN_NOTES, "Go before noon", "Entrance in the side street", "Show this to Mum", "Next time with the kids",
    "Better by tram than by car", "Meet Jonas here on Friday", "Crowded on Saturdays", "Sam's tip",
    "Come back in spring", "Close to the office", "Ask Lena about it",
)  # fmt: skip
GUESTS = ("cafe", "restaurant", "hotel")
PRAISE = (
    "Well kept and easy to find.", "Exactly what the neighbourhood needed.", "Easy to reach by tram.",
    "Best in town, no question.", "Clean, bright and never too full.", "We will be back!",
)  # fmt: skip
GUESTS_PRAISE = (
    "Lovely, we stayed for hours.", "Good value, gets busy at noon.", "Charming place with a lot of light.",
    "The owner remembered us from last year.", "Worth the detour for the breakfast alone.", *PRAISE[:4],
)  # fmt: skip
MIXED = (
    "Fine, but nothing special.", "Nice place, but too small.", "A bit loud on Saturdays.", "Decent, no more.",
    "Good for a short stop.", "Average. It has seen better days.",
)  # fmt: skip
BLAME = (
    "Not clean at all.", "Half of it was closed off.", "Disappointing after all the praise.",
    "Crowded and badly signposted.", "Closed without notice on a Saturday.",
)  # fmt: skip
GUESTS_BLAME = (
    "Waited forty minutes and left.", "Rude at the counter.", "Much too expensive for what it is.",
    "Cold food, warm drinks.", *BLAME[:3],
)  # fmt: skip
OPINIONS = {"guests": (GUESTS_PRAISE, GUESTS_BLAME), "visitors": (PRAISE, BLAME)}
REVIEWS = (  # go with any rating of any place
    "We came on a Sunday morning.", "Step-free entrance round the corner.", "Busy at noon, quiet before ten.",
    "Under new management since spring.", "The sign is hard to see from the street.",
    "Ten minutes on foot from the station.", "No place to lock a bike outside.", "Went there with two small children.",
    "It looks just like in the photos.", "Not the same as it was five years ago.", "Smaller than we had expected.",
    "I pass it every day on my way to work.", "Second visit within a month.",
    "They were painting the front when we came.", "We had an hour before our train.",
    "Came here with friends after work.", "Two of the lamps at the entrance are out.",
    "Bigger than it looks from outside.",
)  # fmt: skip
