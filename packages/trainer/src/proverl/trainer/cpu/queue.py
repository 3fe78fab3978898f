"""TransferQueue inside the trainer's process, for one machine.

verl's V1 trainer hands its batches around through TransferQueue, whose controller and storage are each a Ray process
that imports torch (10 s, 0.8 GB). They answer over sockets from threads of their own, so they run here as well as
there; other processes find them through a named actor, all that is left of them. It imports this module: keep it light.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray

_NAME, _NAMESPACE = "TransferQueueController", "transfer_queue"  # where TransferQueue's clients look


class _Packed:
    """A pickled object that unpickles as the object, so that the actor holds it without importing its types."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return pickle.loads, (self.data,)


class Directory:
    """Tells clients where the controller and the storage listen."""

    def __init__(self, config: bytes) -> None:
        self._config = config

    def get_config(self) -> Any:
        """The whole config of TransferQueue."""
        return _Packed(self._config)


@contextmanager
def local_queue(config: Any) -> Iterator[None]:
    """Run TransferQueue in this process; `config` is verl's section `transfer_queue`."""
    import transfer_queue as tq
    from omegaconf import OmegaConf
    from transfer_queue.controller import TransferQueueController
    from transfer_queue.sampler import SequentialSampler
    from transfer_queue.storage.simple_storage import SimpleStorageUnit

    full = OmegaConf.create(OmegaConf.to_container(config, resolve=True), flags={"allow_objects": True})
    controller = TransferQueueController.__ray_actor_class__(sampler=SequentialSampler)
    storage = SimpleStorageUnit.__ray_actor_class__(dict(full.backend.SimpleStorage))
    full.controller = {"zmq_info": controller.get_zmq_server_info()}
    full.backend.SimpleStorage.zmq_info = {"local": storage.get_zmq_server_info()}
    actor = ray.remote(num_cpus=0)(Directory)
    directory = actor.options(name=_NAME, namespace=_NAMESPACE).remote(pickle.dumps(full))
    try:
        tq.init()  # attaches to the named actor, as every process does
        yield
    finally:
        tq.close()
        storage.shutdown()
        del directory
