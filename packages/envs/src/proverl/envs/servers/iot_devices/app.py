"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.iot_devices.start_state import start_state
from proverl.envs.servers.iot_devices.tables import Base

server = Server(
    "iot_devices",
    "Smart homes: areas, lights, plugs, blinds, thermostats, locks, sensors, cameras, alarms, scenes and automations.",
    Base,
    start_state,
    nouns={
        "Home": "home",
        "Area": "area",
        "Device": "device",
        "Light": "light",
        "Plug": "plug",
        "Blind": "blind",
        "Thermostat": "thermostat",
        "Lock": "lock",
        "Sensor": "sensor",
        "Camera": "camera",
        "AccessCode": "access code",
        "Scene": "scene",
        "Automation": "automation",
    },
)
