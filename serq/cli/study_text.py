"""A study as text: one table for each measure that is shown, what the policies differ by, and the verdict."""

from serq.cli.tables import table
from serq.studies import words
from serq.studies.results import StudyResult
from serq.studies.shown import shown


def study_text(study: StudyResult) -> str:
    """Everything a person wants to see first."""
    measures = shown(study.plan)
    parts = [words.head(study) + "\n", *(_table(t) for t in words.tables(study, measures))]
    for lines in (
        words.bend_lines(study, measures),
        [*words.silent_lines(study), *words.missing_lines(study, measures), *words.remark_lines(study)],
        words.failed_lines(study),
        words.verdict_lines(study),
    ):
        parts += ["".join(f"{line}\n" for line in lines)] if lines else []
    return "\n".join(parts)


def contrast_text(study: StudyResult, title: str) -> str:
    """Only what the policies differ by, what to know, and the verdict."""
    tables = words.contrast_tables(study, shown(study.plan))
    parts = [title + "\n", *(_table(t) for t in tables)]
    for lines in (words.silent_lines(study), words.failed_lines(study), words.verdict_lines(study)):
        parts += ["".join(f"{line}\n" for line in lines)] if lines else []
    return "\n".join(parts)


def _table(t: words.Table) -> str:
    return f"{t.title}\n\n{table(t.rows, t.header, t.right)}"
