"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.food_delivery.start_state import start_state
from proverl.envs.servers.food_delivery.tables import Base

server = Server(
    "food_delivery",
    "A food delivery platform: restaurants and their menus, customers' baskets and vouchers, food orders from the "
    "kitchen to the door, couriers, ratings and refunds. Amounts are in EUR.",
    Base,
    start_state,
    nouns={
        "Restaurant": "restaurant",
        "Dish": "dish",
        "Customer": "customer",
        "DeliveryAddress": "delivery address",
        "Voucher": "voucher",
        "Basket": "basket",
        "FoodOrder": "food order",
        "Courier": "courier",
        "Refund": "refund",
    },
)
