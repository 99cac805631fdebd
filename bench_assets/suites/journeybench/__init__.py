"""JourneyBench: five tasks on pictures that nobody could have photographed; with HaloQuest."""
