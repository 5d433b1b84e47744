"""Record this machine with asv's defaults, so that asv's first run asks no question."""

from asv.machine import Machine, MachineCollection
from asv.util import UserError


def setup():
    """Register the plugin: asv calls this when it loads it."""
    name = Machine.get_unique_machine_name()
    try:
        MachineCollection.load(name)
    except UserError:
        MachineCollection.save(name, Machine.get_defaults())
