"""The contract of the bus: every promise of actors/bus/port.py, proven alike for each bus that stands behind it.

A bus passes it by a test class that inherits BusContract and gives it a fixture `world`.
"""

from tests.bus.contract_deleted import DeletedStoreContract
from tests.bus.contract_outage import OutageContract
from tests.bus.contract_publish import PublishContract
from tests.bus.contract_queues import QueueContract
from tests.bus.contract_reads import ReadContract
from tests.bus.contract_registry import RegistryContract
from tests.bus.contract_subscribe import SubscribeContract
from tests.bus.contract_time import TimeContract


class BusContract(
    PublishContract,
    SubscribeContract,
    QueueContract,
    ReadContract,
    RegistryContract,
    TimeContract,
    OutageContract,
    DeletedStoreContract,
):
    """All of it."""
