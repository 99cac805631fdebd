"""One model on many machines: replicas on a Ray cluster, each with all the weights."""

from resources.local.side_by_side import LocalEngine, SideBySide
from resources.ray.replicas import Replicas
from resources.settings.local_specs import LocalSpec


class RayEngine(SideBySide):
    """Asks actors on the nodes of a cluster.

    Of a node that dies what it had not answered is asked on another one, and its actor is replaced;
    what three died over comes back with ``error``. Every replica makes sure that the checkpoint on
    its node is that of this machine, to the byte.
    """

    def __init__(self, one: LocalEngine, spec: LocalSpec) -> None:
        """Prepare to ask what ``one`` would."""
        needs = {"gpu": spec.gpus, **spec.needs}
        super().__init__(one, lambda job: Replicas(job, spec.replicas, needs))
