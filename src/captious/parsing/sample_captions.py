"""Captions of many kinds, written for this package: bounds are tuned on them and on captions drawn to resemble them."""

from __future__ import annotations

__all__ = ["SAMPLE_CAPTIONS"]

SAMPLE_CAPTIONS = tuple(
    tuple(line.split())
    for line in """
a man riding a wave on top of a surfboard
two dogs play in the snow near a wooden fence
a little girl in a pink dress is standing on a beach
the cat sleeps on a laptop that someone left on the desk
a group of people sitting around a table with plates of food
an old man with a gray beard looks at the camera while he smokes
a red double decker bus is driving down a city street
three children are jumping on a trampoline in the back yard
a woman is cutting vegetables on a wooden board in her kitchen
people waiting for a train at a station
a bathroom with a white toilet and a sink
a close up of a sandwich and french fries on a plate
a baseball player swings at a ball during a game
the boy throws a frisbee to his brother
a snowboarder jumps high into the air above a ramp
a person holding an umbrella walks across a wet street at night
there is a clock on the tower of the church
there are several boats docked in the harbor
a kitchen with stainless steel appliances and granite counter tops
a black and white dog catching a ball in its mouth
an elephant and its baby walk through tall grass
a man in a suit and tie talks on a cell phone
a couple of zebras grazing in an open field
two women wearing hats sit on a bench and talk
a bowl of fruit with bananas apples and oranges
a young boy eating a slice of pizza
a street sign hanging from a metal pole
several motorcycles are parked in a row outside a bar
a bride and groom pose for a picture in front of their wedding cake
a skier goes down a steep hill covered with fresh snow
a tennis player about to hit the ball with her racket
a giraffe bends down to drink water from a pond
a vase of flowers sits on the window sill
the dog is running through the water with a stick in its mouth
a child brushes his teeth in front of a mirror
a man who is wearing a helmet rides a bicycle along the road
a small airplane flying over a mountain range
a bedroom with a large bed , two lamps and a painting on the wall
the players shake hands after the match
a brown horse standing next to a fence in a pasture
a boy in a blue shirt kicks a soccer ball toward the goal
an empty park bench under a tree
a man leaning against a wall reading a newspaper
two men , one in red and one in white , wrestle on a mat
a girl wearing glasses blows out the candles on her birthday cake
a truck that has been painted yellow is parked by the curb
a person on skis in the snow
a flock of birds flying over the ocean at sunset
a laptop computer sitting on top of a wooden desk next to a cup of coffee
a woman holding a baby and feeding it with a bottle
the man is trying to fix the engine of his car
a crowd of people watch as a man performs a trick on his skateboard
a cat looking out of the window at a bird
a train traveling down the tracks near a forest
some cows laying in the grass on a sunny day
a man and a woman are dancing on a stage
a stop sign with graffiti on it
a young woman with long brown hair is talking to a man with a guitar
a dog with its tongue hanging out
a surfer falls off his board into the water
people are walking on the sidewalk past a shop window
a hot dog with mustard and ketchup in a bun
a police officer directs traffic at a busy intersection
two teddy bears are sitting side by side on a couch
a man standing on a ladder paints the side of a house
a large clock mounted on the side of a brick building
a kid sliding down a slide at the playground
a plate topped with broccoli and meat
a group of young men playing a game of basketball
a bear walking across a river in search of food
a white sink sitting under a mirror in a bathroom
a man carrying a surfboard under his arm walks along the beach
a toddler holds a toothbrush in her hand
four friends pose with their arms around each other
a remote control , a phone and a pair of glasses on a table
a sheep standing on a lush green hillside
a fire hydrant spraying water onto the street
a traffic light is green in the middle of the day
the little boy is crying because he dropped his ice cream
a view of a city skyline from across the river
a man takes a picture of himself in the mirror
a woman about to serve a tennis ball
children playing with kites in a field while their parents watch
a rusty old truck sitting in a field of weeds
an airplane is parked on the runway at an airport
a dirty stove top oven in a small kitchen
a man with no shirt on climbs up a rock
the woman in the black coat is waiting to cross the street
a pile of suitcases stacked on top of each other
three giraffes standing close together in a zoo enclosure
a boy and his dog are looking at the lake
a man on a motorcycle is being followed by a car
a person who is cooking something in a pan
one person is doing a handstand and the other is taking a photo
a table full of different kinds of food
two people are kissing in front of a fountain
an orange cat laying on top of a pair of shoes
a man is sitting at a computer with his hand on the mouse
a bunch of bananas hanging from a tree
an older couple walking hand in hand down a path
a red fire truck with its lights on is racing to a fire
a dog tries to catch a flying disc
a lady with a purse over her shoulder
people riding on the back of an elephant
a cup of coffee and a donut on a napkin
a tall building with many windows
a man wearing a hat and sunglasses sits in a lawn chair drinking a beer
a baby lying on its stomach on a blanket
a skateboarder grinds on a rail at a skate park
a herd of sheep being led down a dirt road by a man
the kids are getting ready to go to school
a batter , catcher and umpire at home plate
a bird perched on a branch of a tree with no leaves
a woman dressed in a costume for a parade
a large jet taking off from an airport
this is a picture of a very clean living room
it looks like the dog wants to play
a man does a back flip off of a diving board into a pool
a wooden table topped with a cake and some flowers
a sign that says no parking on the side of the road
a small child standing between two adults who are holding his hands
what appears to be a birthday party for a little girl
a big brown bear sitting in the grass
some people are on a boat in the water
there is a woman that is standing in the kitchen
a boy holding a baseball bat over his shoulder
a white plate with a piece of cake and a fork on it
a cow is standing in the middle of a road
five people stand in line to buy tickets
a picnic table with food and drinks on it
a man and his son fly a kite at the park
a black cat with green eyes is sitting inside of a suitcase
the sun is setting behind the mountains
a person sitting down with a laptop on their lap
a man jumping over a hurdle in a race
a girl with a ponytail swinging on a swing set
a row of parked cars sitting next to parking meters
a busy street filled with cars , buses and people
a group of football players in orange uniforms run onto the field
a chef prepares a meal for the guests at a restaurant
a young lady smiling for the camera
a dog is chasing another dog around a tree
a lake surrounded by trees with a mountain in the background
a white dog jumps over a red and white pole
a guy with tattoos on both arms plays the drums
two giraffes eating leaves off the top of a tree
a construction worker in an orange vest is digging a hole
a man stands beside his bicycle looking at a map
a man laying on the floor next to a suitcase
a cat that is laying down on some luggage
an open refrigerator filled with food and drinks
a biker in a race turns a corner at high speed
a slice of pizza with cheese , mushrooms and olives
a person in a yellow jacket is climbing an icy cliff
the man has a beard and is wearing a plaid shirt
he is holding the rope with both hands so that he does not fall
she looks down at the ground as she walks home
they are having fun at the amusement park
two little boys fight over a toy
young people gather outside a theater late at night
no one is sitting on the benches in the park
a man sells hats , scarves and gloves on a street corner
many people are crossing the street at the same time
an airplane with its landing gear down coming in for a landing
a child with face paint eats cotton candy
a woman wearing a white shirt and a man wearing a tie are having dinner
a home office with a chair , a desk and two computer screens
a bathroom that has been recently cleaned
a soccer goalie dives to block the ball
a very tall giraffe standing next to some rocks
a man is standing in the doorway of a small shop selling fruit
a lone sailboat drifts on calm water
a street at night with lights reflecting on the wet pavement
dog running on grass
man in blue shorts playing guitar
a boat
group of kids at a museum
the front end of a train
a horse drawn carriage carrying tourists
a cell phone sitting on a table beside a set of keys
an animal that looks like a fox standing on a rock
a woman riding a horse in a competition jumps over a bar
a man with his hands in his pockets
two elephants spraying themselves with dust
a half eaten sandwich next to a glass of orange juice
a girl does a cartwheel on the beach as the waves roll in
a green and yellow train pulling into a platform
someone is pouring wine into a glass
a large number of people in a park flying kites
a picture of a man on a bike in the rain
the bus has stopped to let passengers off
a toy car made out of wood
a wall with pictures hanging on it above a couch
a man dressed as a clown makes balloons for children
a woman is getting her hair cut by a man with scissors
several people watch a man who is juggling fire
a shirtless man with a towel around his neck
a dog standing on its hind legs to reach a treat
an outdoor market with fresh fruits and vegetables for sale
a bicycle leaning up against a fence
runners race around a track in a stadium
a boy sitting on the shoulders of his father
a small dog wearing a sweater sits in the passenger seat of a car
a teenage girl texting on her phone while sitting on the stairs
a cyclist rides past a field of sunflowers
a blurry photo of a car driving by
an umpire squats behind the catcher waiting for the pitch
a view from inside a bus looking out at the street
a bridge over a river with a boat passing under it
the remains of a meal on a table
a waiter carrying a tray full of drinks
a monkey hanging upside down from a rope
a giant stuffed bear in a store window
a man in a wheelchair crosses the finish line
the skier , wearing a blue jacket , is in mid air
""".strip().splitlines()
)
