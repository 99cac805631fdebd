"""Operations of bench annotate: units, progress, quality, links, export, import."""
