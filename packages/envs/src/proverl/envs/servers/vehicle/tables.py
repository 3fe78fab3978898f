"""The fleet's tables. Energy is in Wh or ml, positions in hundreds of metres, tire pressures in hundredths of a bar."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

VehicleId = Ref("Vehicle")
DriverId = Ref("Driver")
DestinationId = Ref("Destination")
DriveId = Ref("Drive")


class Base(DeclarativeBase):
    """Tables of the vehicle server."""


class Driver(Base):
    """A person who may drive the fleet; the profile holds how they like to sit and how warm."""

    __tablename__ = "driver"
    __table_args__ = (CheckConstraint("length(pin) = 4"), COMPACT)
    id_prefix = "DRV"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    pin: Mapped[str]
    licence_until: Mapped[str]
    seat_memory: Mapped[int]  # 1 (near the wheel) to 10
    temperature: Mapped[int]  # tenths of a degree Celsius


class Destination(Base):
    """A place that the fleet knows; `bays` chargers stand there, `busy` of them taken by strangers."""

    __tablename__ = "destination"
    __table_args__ = (CheckConstraint("busy BETWEEN 0 AND bays"), COMPACT)
    id_prefix = "DST"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]  # depot, office, customer, home, hotel, airport, charging_station, fuel_station, service_center
    x: Mapped[int]
    y: Mapped[int]
    bays: Mapped[int]
    busy: Mapped[int]
    price: Mapped[int | None]  # tenths of a cent for a kWh, or for a litre at fuel stations


class Vehicle(Base):
    """A car or van with what its control units report."""

    __tablename__ = "vehicle"
    __table_args__ = (
        CheckConstraint("level BETWEEN 0 AND capacity"),
        CheckConstraint("gear = 'park' OR (ignition = 'on' AND charge_limit IS NULL)"),
        CheckConstraint("gear = 'park' OR (driver_id IS NOT NULL AND route_to IS NOT NULL)"),
        CheckConstraint("NOT valet OR driver_id IS NULL"),
        CheckConstraint("charge_limit IS NULL OR energy = 'electric'"),
        COMPACT,
    )
    id_prefix = "VEH"
    id: Mapped[str] = mapped_column(primary_key=True)
    make: Mapped[str]  # and model
    colour: Mapped[str]
    plate: Mapped[str] = mapped_column(unique=True)
    energy: Mapped[str]  # electric, petrol, diesel
    capacity: Mapped[int]
    level: Mapped[int]
    consumption: Mapped[int]  # for a km
    ignition: Mapped[str]  # off, accessory, on
    gear: Mapped[str]  # park, drive
    locked: Mapped[bool]
    valet: Mapped[bool]
    valet_pin: Mapped[str]
    driver_id: Mapped[str | None] = mapped_column(ForeignKey("driver.id"), unique=True)
    place_id: Mapped[str] = mapped_column(ForeignKey("destination.id"))  # where it stands, or set off from
    route_to: Mapped[str | None] = mapped_column(ForeignKey("destination.id"))
    charge_limit: Mapped[int | None]  # percent, while it charges
    climate: Mapped[str]  # off, auto, heat, cool, defrost
    temperature: Mapped[int]
    tire_pressure: Mapped[int]  # recommended
    logbook_km: Mapped[int]  # odometer when the logbook begins
    odometer_km: Mapped[int]


class Opening(Base):
    """A door or window of a vehicle, 0 (closed) to 100 (open); doors are one or the other."""

    __tablename__ = "opening"
    __table_args__ = (
        CheckConstraint("position BETWEEN 0 AND 100"),
        CheckConstraint("kind = 'window' OR position IN (0, 100)"),
        COMPACT,
    )
    vehicle_id: Mapped[str] = mapped_column(ForeignKey("vehicle.id"), primary_key=True)
    part: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]  # door, window
    position: Mapped[int]


class Seat(Base):
    """A seat of a vehicle and how it is heated."""

    __tablename__ = "seat"
    __table_args__ = (COMPACT,)
    vehicle_id: Mapped[str] = mapped_column(ForeignKey("vehicle.id"), primary_key=True)
    part: Mapped[str] = mapped_column(primary_key=True)
    heating: Mapped[str]  # off, low, medium, high


class Tire(Base):
    """A tire of a vehicle."""

    __tablename__ = "tire"
    __table_args__ = (CheckConstraint("pressure > 0"), COMPACT)
    vehicle_id: Mapped[str] = mapped_column(ForeignKey("vehicle.id"), primary_key=True)
    part: Mapped[str] = mapped_column(primary_key=True)
    pressure: Mapped[int]


class Drive(Base):
    """An entry of the logbook; under way until it is ended."""

    __tablename__ = "drive"
    __table_args__ = (CheckConstraint("distance_km > 0"), CheckConstraint("from_id != to_id"), COMPACT)
    id_prefix = "TRP"
    id: Mapped[str] = mapped_column(primary_key=True)
    vehicle_id: Mapped[str] = mapped_column(ForeignKey("vehicle.id"), index=True)
    driver_id: Mapped[str] = mapped_column(ForeignKey("driver.id"))
    from_id: Mapped[str] = mapped_column(ForeignKey("destination.id"))
    to_id: Mapped[str] = mapped_column(ForeignKey("destination.id"))
    distance_km: Mapped[int]
    purpose: Mapped[str]  # business, commute, private
    status: Mapped[str]  # under_way, finished
    started_on: Mapped[str]
    started_at: Mapped[str] = mapped_column(info={"audit": True})  # time of day, orders the drives of a day
