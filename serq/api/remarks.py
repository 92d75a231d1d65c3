"""What a reader must know about a chain before its numbers."""

from serq.ir.chain import Chain


def remarks(chain: Chain) -> list[str]:
    """One line for each way in which states were put together, cut off or replaced, and for time that is in slots."""
    explored = [f"explored: {chain.explored}"] if chain.explored else []
    if chain.embedded is not None:
        explored.append(f"time: {chain.timing}")
    return [*explored, *(f"lumped: {text}" for text in chain.lumped), *differences(chain)]


def differences(chain: Chain) -> list[str]:
    """One line for each way in which the chain is not that of the program as it is written."""
    kinds = (("truncated", chain.truncated), ("approximated", [a.text for a in chain.approximated]))
    return [f"{kind}: {text}" for kind, texts in kinds for text in texts]
