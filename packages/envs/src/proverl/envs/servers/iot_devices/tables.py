"""The platform's tables. Temperatures are integer tenths of a degree Celsius; dates are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

HomeId = Ref("Home")
AreaId = Ref("Area")
DeviceId = Ref("Device")
LightId = Ref("Light")  # the next seven name devices of one type; the ids are device ids
PlugId = Ref("Plug")
BlindId = Ref("Blind")
ThermostatId = Ref("Thermostat")
LockId = Ref("Lock")
SensorId = Ref("Sensor")
CameraId = Ref("Camera")
AccessCodeId = Ref("AccessCode")
SceneId = Ref("Scene")
AutomationId = Ref("Automation")


class Base(DeclarativeBase):
    """Tables of the smart-home server."""


class Home(Base):
    """A home with one alarm; `alarm_pin` disarms it."""

    __tablename__ = "home"
    __table_args__ = (CheckConstraint("alarm IN ('disarmed', 'armed_home', 'armed_away')"), COMPACT)
    id_prefix = "HOM"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    city: Mapped[str]
    alarm: Mapped[str]
    alarm_pin: Mapped[str]


class Area(Base):
    """A room of a home, or a place around it."""

    __tablename__ = "area"
    __table_args__ = (UniqueConstraint("home_id", "name"), COMPACT)
    id_prefix = "ARE"
    id: Mapped[str] = mapped_column(primary_key=True)
    home_id: Mapped[str] = mapped_column(ForeignKey("home.id"))
    name: Mapped[str]


class Product(Base):
    """A model that is on sale, with its newest firmware.

    `trait` tells models of a type apart: dimmable or switched lights; blinds or shutters; thermostats that heat or also
    cool; what a sensor senses.
    """

    __tablename__ = "product"
    __table_args__ = (COMPACT,)
    name: Mapped[str] = mapped_column(primary_key=True)
    maker: Mapped[str]
    type: Mapped[str]
    trait: Mapped[str]
    newest_firmware: Mapped[str]


class Device(Base):
    """A device in an area, with the state that it last reported.

    `level` is a light's brightness (percent), how far a blind is open (percent) or a thermostat's target; `measured`
    is a room's temperature, a humidity (percent) or a plug's load (watts). `battery` is null on mains power.
    """

    __tablename__ = "device"
    __table_args__ = (
        CheckConstraint("battery BETWEEN 0 AND 100"),
        CheckConstraint("type NOT IN ('light', 'plug') OR state IN ('on', 'off')"),
        CheckConstraint("type NOT IN ('light', 'blind') OR level BETWEEN 0 AND 100"),
        CheckConstraint("type != 'lock' OR state IN ('locked', 'unlocked', 'jammed')"),
        CheckConstraint("type != 'camera' OR state IN ('live', 'private')"),
        CheckConstraint("type != 'thermostat' OR (state IN ('heat', 'cool', 'auto', 'eco', 'off') AND level > 0)"),
        CheckConstraint("type = 'plug' OR NOT child_lock"),
        COMPACT,
    )
    id_prefix = "DEV"
    id: Mapped[str] = mapped_column(primary_key=True)
    area_id: Mapped[str] = mapped_column(ForeignKey("area.id"), index=True)
    type: Mapped[str]  # light, plug, blind, thermostat, lock, sensor, camera
    name: Mapped[str]
    product: Mapped[str] = mapped_column(ForeignKey("product.name"))
    status: Mapped[str]  # online, offline
    battery: Mapped[int | None]
    firmware: Mapped[str]
    state: Mapped[str]
    level: Mapped[int | None]
    measured: Mapped[int | None]
    child_lock: Mapped[bool]


class AccessCode(Base):
    """A keypad code of a lock; without `valid_until` it is permanent."""

    __tablename__ = "access_code"
    __table_args__ = (UniqueConstraint("lock_id", "code"), COMPACT)
    id_prefix = "COD"
    id: Mapped[str] = mapped_column(primary_key=True)
    lock_id: Mapped[str] = mapped_column(ForeignKey("device.id"))
    holder: Mapped[str]
    code: Mapped[str]
    valid_until: Mapped[str | None]
    last_used_on: Mapped[str | None]


class Scene(Base):
    """A set of states that devices of one home take together."""

    __tablename__ = "scene"
    __table_args__ = (COMPACT,)
    id_prefix = "SCN"
    id: Mapped[str] = mapped_column(primary_key=True)
    home_id: Mapped[str] = mapped_column(ForeignKey("home.id"), index=True)
    name: Mapped[str]
    last_run_on: Mapped[str | None]


class SceneAction(Base):
    """The state that one device takes in a scene."""

    __tablename__ = "scene_action"
    __table_args__ = (COMPACT,)
    scene_id: Mapped[str] = mapped_column(ForeignKey("scene.id"), primary_key=True)
    device_id: Mapped[str] = mapped_column(ForeignKey("device.id"), primary_key=True)
    state: Mapped[str]
    level: Mapped[int | None]


class Automation(Base):
    """Runs a scene whenever a sensor trips."""

    __tablename__ = "automation"
    __table_args__ = (UniqueConstraint("sensor_id", "scene_id"), COMPACT)
    id_prefix = "AUT"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    sensor_id: Mapped[str] = mapped_column(ForeignKey("device.id"))
    scene_id: Mapped[str] = mapped_column(ForeignKey("scene.id"))
    active: Mapped[str]  # always, daytime, night
    state: Mapped[str]  # enabled, disabled
