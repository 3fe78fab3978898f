"""Words: what people on the network write about, what they search for, what they say of themselves."""

POSTS = {  # interest -> posts
    "running": (
        "10k before breakfast, 51:20. Legs are jelly, mood is great. #running",
        "Signed up for my first half marathon. What have I done? #running #halfmarathon",
        "New shoes day! Any tips against blisters?", "Ran in the rain and loved every minute of it 🌧️ #running",
        "Sunday long run along the canal, who joins? We start at 9 from the old lock.",
        "Injury update: physio says two more weeks. Patience is not my strength.",
        "Parkrun number 50 today, and the volunteers sang for me ❤️ #parkrun",
        "Negative split at last. Slow is smooth, smooth is fast. #running",
        "Lost a glove on the river loop this morning, left hand, orange. Anyone seen it?",
    ),
    "cooking": (
        "Sourdough attempt no. 7: finally an open crumb! #baking",
        "Made my grandmother's moussaka. Not as good as hers, but close. #cooking",
        "Crème brûlée without a torch: the broiler works, but watch it like a hawk.",
        "What do you do with two kilos of courgettes? Asking for a desperate gardener.",
        "The secret of good hummus is ice water. That's the post. #cooking",
        "Ramen from scratch, 14 hours. Worth it? Ask me tomorrow. 🍜",
        "Tonight: risotto with sage butter, and nobody leaves early. #cooking",
        "Found real Calabrian nduja at the Saturday market. Happy day.",
        "Kimchi batch three is fermenting on the balcony; sorry, neighbours. #fermentation",
    ),
    "gardening": (
        "My grandmother's roses have moved in with me. #gardening",
        "Slugs 3, lettuce 0. I give up on netting. #gardening",
        "Swapping dahlia tubers this weekend, message me if you want some.",
        "The bees have found the lavender. I could watch them for hours. 🐝",
        "Compost is ready: smells like a forest floor. Small joys. #gardening",
        "Talking to the ficus again. It listens well.",
        "Does anybody know what eats holes in kale but leaves chard alone?",
        "Our community garden has two free plots, write to us by Friday. #communitygarden",
        "Repotted thirty plants on a kitchen floor of two square metres. #gardening",
    ),
    "photography": (
        "Fog over the harbour at 6:40 this morning. Worth the early alarm. #photography",
        "Shooting one roll of film a month this year. Month three: trams. #filmphotography",
        "Blue hour by the cathedral, handheld at 1/15 s. #photography",
        "Sold my zoom, kept the 35 mm. No regrets so far.",
        "Portrait day at the care home: the stories were better than the pictures.",
        "Which lab still develops slide film in Belgium? #filmphotography",
        "The heron of the city park posed for eleven minutes. #birds #photography",
        "Exhibition opens Thursday, 19:00. There will be olives.",
    ),
    "books": (
        "Finished Middlemarch. I miss Dorothea already. #books",
        "Book club votes: Ferrante or Ishiguro? #bookclub",
        "Found a first edition in the free library box on our street!",
        "Reading aloud to my kids: the moment they ask for one more chapter. #books",
        "Unpopular opinion: it is fine to stop on page 50. #books",
        "Poetry evening at Café Zondag tomorrow, open mic from 20:00.",
        "My shelf of shame has reached 43 unread books. Help. #tsundoku",
        "Translators deserve their name on the cover. #books #translation",
        "Anyone up for reading Proust together, ten pages a day?",
    ),
    "music": (
        "Choir rehearsal moved to Tuesday, tell the tenors!",
        "That bass line has been in my head since Friday. #music",
        "We play at Le Vieux Port on Saturday, doors at 20:30. Come early, it's tiny. #livemusic",
        "Learning the cello at 41. My neighbours are saints.", "Vinyl find of the week: Nina Simone, 3 euros. #vinyl",
        "Four chords and the truth. And a capo. #guitar",
        "Looking for a drummer, Thursdays, somewhere between jazz and noise.",
        "Standing ovation for a triangle solo. I was there. #music",
    ),
    "cycling": (
        "New cycle path along the ring is open, three minutes faster to work! #cycling",
        "Flat tyre no. 2 this week. Glass on Mill Lane, beware. #cycling",
        "Commute by bike, 200 working days without a miss 🚲",
        "They painted a bike lane and parked a van on it. Same day. #bikelane",
        "Muur van Geraardsbergen, twice. Never again. See you next year. #cycling",
        "Free bike check on the market square on Saturday, 10 to 14.",
        "Left the car for a month and learned one thing: buy mudguards.",
        "Found: one child's helmet, blue, near the station. Message me.",
    ),
    "travel": (
        "Night train to Vienna, slept like a stone between two strangers. #nighttrain",
        "Lisbon on a Tuesday morning: all the trams to ourselves. #travel",
        "The best view of Porto costs one tram ticket.",
        "Missed the ferry, found the best grilled octopus of my life. #travel",
        "Packing for two weeks in one small backpack, wish me luck.",
        "Interrail with three teenagers: a thread. Day 1: somebody forgot the passes.",
        "Tromsø at two in the morning, and nobody wants to go to bed. #travel",
        "Are there still paper tickets in Sicily? Asking before my phone dies.",
    ),
    "technology": (
        "Deleted 4,000 lines today. Best commit of the year. #coding",
        "My smart light bulb wants a firmware update. We have gone too far.",
        "Repair café this Saturday: bring your toaster, save the planet. #repair",
        "Dark mode for everything, please. #design", "Who else still writes with a fountain pen and codes in Vim?",
        "Taught my dad to use a password manager. I deserve a medal. #security",
        "It was DNS. It is always DNS. #sysadmin",
        "Switched the club's newsletter to plain text: twice as many replies.",
    ),
    "pets": (
        "Kitten update: she has discovered the curtains. 🐈 #cats",
        "Missing: grey cat, white paws, answers to Miso. Please share!",
        "Three walks a day, and still one of us is not tired. #dogs",
        "Dog school, week 3: I have been trained well. #dogs",
        "Adopted a 12-year-old greyhound. He sleeps 20 hours a day and I love him. #adoptdontshop",
        "Our parrot has learned the microwave beep. Perfectly.", "Vet bill: 240. Cat: unimpressed. #cats",
        "Looking for a sitter for two guinea pigs in the first week of the holidays.",
    ),
    "local": (
        "The bakery on Church Street reopens on Monday, finally!",
        "Market square is closed for works until Friday, the bus leaves from the station.",
        "Who lost a bunch of keys with a tiny Eiffel Tower? They are at the pharmacy.",
        "Neighbourhood party: tables at 17:00, bring a chair and a salad. #ourstreet",
        "Power cut in the whole neighbourhood or just at our place?",
        "Volunteers wanted for Saturday's canal clean-up 🛶 #cleanup",
        "The swimming pool has new opening hours: 7 to 21 on weekdays.",
        "Petition for a zebra crossing at the school: 312 signatures so far, thank you!",
    ),
    "film": (
        "Rewatched Spirited Away with subtitles and with my niece. Both perfect. #film",
        "Our local cinema turns 90 tomorrow: tickets for 90 cents. #cinema",
        "Three-hour films need an interval. I will die on this hill.",
        "Short film festival: the one with the snail won. #film",
        "What is the best last line of a film? I'll start: “Nobody's perfect.”",
        "Saw Jeanne Dielman on the big screen. Nobody left. #film",
        "Hot take: the book was worse. #film #books",
        "Midnight screening tonight: bring a blanket and somebody brave.",
    ),
}  # fmt: skip
BIOS = {
    "running": "Runs before breakfast", "cooking": "Cooks for too many", "gardening": "Dirt under the nails",
    "photography": "35 mm and patience", "books": "One more chapter", "music": "Second violin, first at the bar",
    "cycling": "Two wheels, all weather", "travel": "Always on the slow train",
    "technology": "Makes computers behave",
    "pets": "Staff of two cats", "local": "Knows the neighbours", "film": "Front row, left seat",
}  # fmt: skip
CLUBS = (  # name, handle, interest, bio, posts
    ("Harbour Runners", "harbour_runners", "running", "Running club for all paces, Tuesdays and Sundays", (
        "Tuesday intervals: meet at the crane at 18:30, head torches on! #running",
        "Welcome to our eleven new members. The slowest group is the funniest.",
        "Club vests are back in all sizes, ask Ingrid on Sunday.",
    )),
    ("Café Zondag", "cafezondag", "cooking", "Coffee, soup and open mic. Closed on Sundays, of course", (
        "Soup of the day: leek and potato. It goes fast.",
        "We're looking for a barista, two mornings a week. Come and talk to us!",
        "New on the menu: lemon polenta cake. No gluten, no regrets.",
    )),
    ("Tuin & Taal", "tuinentaal", "gardening", "Gardening while learning Dutch, every Wednesday", (
        "Word of the week: *gieter*, watering can. See you on Wednesday! #gardening",
        "Two plots are free in the garden behind the library. First come, first served.",
        "Thank you for the wheelbarrows! We can stop asking now.",
    )),
    ("Cinema Lumière", "cinemalumiere", "film", "Four small screens, one big bar", (
        "This week: a restored Tokyo Story, with an introduction on Thursday. #film",
        "Members see every documentary for 5 euros this month.",
        "Screen 2 is closed on Monday for new seats. At last!",
    )),
    ("Stadsbibliotheek", "stadsbib", "books", "The city's library: seven branches, one card", (
        "Bring your books back late, bring them back: there are no fines any more. #books",
        "Reading hour for children from 4 to 7 on Saturday at 10:30, no need to register.",
        "The branch at the station opens at 7 from Monday on, for those who read on trains.",
    )),
    ("Repair Café Noord", "repaircafe_noord", "technology", "We mend what you bring. First Saturday of the month", (
        "62 things came in, 47 went home mended. The toaster says hello. #repair",
        "We need somebody who knows sewing machines. Is it you?",
        "Bring the charger too, please. Always bring the charger.",
    )),
    ("Velo Solidaire", "velosolidaire", "cycling", "Used bikes for those who need one", (
        "Your old bike can be somebody's way to work. We collect on Fridays. #cycling",
        "Wanted: children's bikes, 20 and 24 inch, in any state.",
        "Workshop night: fix your own gears, we hold the spanner.",
    )),
    ("Dierenasiel Sint-Rochus", "asiel_rochus", "pets", "Shelter for cats and dogs. Visit us from 14 to 17", (
        "Bruno, 8, loves sofas and slow walks. Who loves Bruno? #adoptdontshop",
        "Four kittens were left at our door last night. All are well and hungry.",
        "We are out of old towels. Can you spare some?",
    )),
)  # fmt: skip
TALK = {  # interest -> comments, with what the author may answer
    "running": (
        ("Strong! 💪", "Thanks, coach!"), ("Which route was that?", "Along the canal and back over the old bridge."),
        ("I'm out of breath just reading this.", "Ha, come along next time."), ("Take it easy this week.",
        "I promise."),
    ),
    "cooking": (
        ("Need the recipe, please!", "I'll send you a message."), ("I can smell it from here.", "Come over!"),
        ("More garlic. Always more garlic.", "You are so right."), ("How long does it keep?",
        "Never longer than a day."),
    ),
    "gardening": (
        ("Coffee grounds help, at least in my garden.", "I'll try that!"), ("Green with envy 🌱",
        "You can have some."),
        ("Same here, the whole bed is gone.", "Oh no, sorry to hear that."), ("Lovely news.", "Isn't it?"),
    ),
    "photography": (
        ("That light!", "It lasted two minutes."), ("Which camera do you use?", "An old Nikon with a 35 mm."),
        ("Would love to see it as a print.", "I'm thinking about it."), ("Stunning.", "Thank you so much!"),
    ),
    "books": (
        ("On my list for ages.", "You won't regret it."), ("I gave up halfway.", "The second half is worth it!"),
        ("Can I borrow it?", "Of course, next week."), ("Reading is the best sport.", "Amen."),
    ),
    "music": (
        ("Is there a recording?", "Not yet, but soon."), ("Goosebumps.", "Me too!"),
        ("I can bring my trumpet.", "Yes please."), ("The tenors will never make it.", "Miracles happen."),
    ),
    "cycling": (
        ("Ring the bell for me.", "🔔"), ("The city should hear about this.", "I've sent them a picture."),
        ("Electric or muscles?", "Muscles, and a lot of cursing."), ("Same on my way to work.",
        "It must be the works."),
    ),
    "travel": (
        ("Take me with you next time!", "There is room in the bag."), ("Been there, loved it.", "Any tips?"),
        ("How was the food?", "I need new trousers."), ("Safe travels!", "Thank you!"),
    ),
    "technology": (
        ("Have you tried turning it off and on again?", "Twice."), ("I felt that.",
        "We should start a support group."),
        ("You should write this up.", "Maybe at the weekend."), ("Simple things last longest.", "Exactly."),
    ),
    "pets": (
        ("So cute!!", "And so naughty."), ("Shared with everybody I know.", "Thank you 🧡"),
        ("Give them a cuddle from me.", "Done, with biscuits."), ("More pictures, please.",
        "I have about four thousand."),
    ),
    "local": (
        ("Finally some good news.", "Right?"), ("Thanks for letting us know.", "You're welcome, neighbour."),
        ("Shared in our street's group.", "Great, thank you!"), ("Who decided that?", "The council, last week."),
    ),
    "film": (
        ("The ending though!", "No spoilers!"), ("I laughed, I cried.", "In that order?"),
        ("Are there subtitles?", "Yes, in two languages."), ("I'd watch it again tonight.", "Let's!"),
    ),
}  # fmt: skip
COMMENTS = (  # on anything
    ("Love this!", "Thank you!"), ("So true 😂", "Isn't it?"), ("This made my day.", "And yours made mine."),
    ("I disagree, but nicely put.", "Fair enough."), ("Ha, same at our place.", "We are not alone."), ("👏👏", "🙏"),
    ("Nice one.", "Thanks!"), ("You always find the words.", "You're too kind."),
)  # fmt: skip
NEW_POSTS = (
    "Finally the weekend! Who is up for a walk by the river?", "Does anyone have a ladder to lend on Saturday?",
    "Proud of our team: second place at the quiz night! #quiz", "Coffee tastes better on a balcony in the sun ☀️",
    "Looking for a good dentist in the city centre, any tips?", "New haircut, new me. #monday",
    "We saw a kingfisher at the pond this morning! #birds", "Giving away a box of picture books, age 3 to 6.",
    "Our street has the best bakery and I have proof. #ourstreet", "First day at the new job, wish me luck!",
    "Can somebody recommend a podcast for long train rides?",
    "The sunset over the harbour tonight was unreal. #nofilter",
    "Three months without sugar. I dream of cake.", "Free tomatoes on my doorstep, help yourselves 🍅",
)  # fmt: skip
NEW_COMMENTS = (
    "What a great idea!", "I would love to join.", "Thanks for the tip!", "That looks delicious.", "Happy for you!",
    "Could you tell me more about it?", "I was there too, it was lovely.", "Get well soon!", "Brilliant, well done.",
    "Let me know if you need a hand.", "My kids would love this.", "Is this open to everybody?", "Haha, classic.",
)  # fmt: skip
NEW_BIOS = (
    "Teacher, runner, terrible singer", "Mother of three, lover of silence", "Photos of trams, mostly",
    "Here for the dogs", "Baking my way through Europe", "Architect by day, cellist by night",
    "Currently learning Portuguese", "Slow mornings, long books", "Looking for the perfect espresso",
    "Volunteer at the repair café", "New in town, say hello!", "Half engineer, half gardener",
)  # fmt: skip
NEW_NAMES = (
    "Lou", "Sam from the harbour", "Dr. Green", "Kim & the cats", "Robin", "Alex B.", "Mo the baker", "Captain Tulip",
    "Charlie", "Nightowl", "Jo on a bike", "Uncle Ben's niece",
)  # fmt: skip
POST_QUERIES = (
    "#running", "#cooking", "#gardening", "#books", "#cycling", "#film", "saturday", "thank you", "looking for",
    "cat",
    "market", "best", "#music", "tomorrow", "train", "#photography",
)  # fmt: skip
