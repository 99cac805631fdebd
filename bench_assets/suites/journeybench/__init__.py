"""JourneyBench with HaloQuest: five tasks on generated images (Wang et al., 2024)."""
