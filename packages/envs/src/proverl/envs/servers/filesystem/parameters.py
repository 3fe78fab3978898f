"""Types of parameters and results: references to paths and users, fixed choices, and free text with examples."""

from typing import Annotated, Any, Literal

from pydantic import Field

from proverl.envs import Ref

FilePath = Ref("File")
DirectoryPath = Ref("Directory")
ArchivePath = Ref("Archive")
# `x-accepts`: a reference to any of these kinds is also a reference to a path
AnyPath: Any = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        json_schema_extra={
            "x-entity": "Path",
            "x-accepts": ["filesystem.File", "filesystem.Directory", "filesystem.Archive"],
        },
    ),
]
TrashedName = Ref("TrashedItem")
UserName = Ref("User")

Kind = Literal["file", "directory", "link", "archive"]
Group = Literal["staff", "finance", "design", "ops"]
Mode = Literal["400", "440", "444", "500", "555", "600", "640", "644", "664", "700", "750", "755", "775"]


def _free(limit: int, *examples: str) -> Any:
    return Annotated[str, Field(min_length=1, max_length=limit, examples=list(examples))]


FileName = _free(255,
    "meeting-agenda.md", "packing-list.txt", "release-notes.md", "interview-questions.txt", "budget-draft.csv",
    "weekly-plan.md", "birthday-ideas.txt", "bug-report.md", "phone-numbers.txt", "retrospective.md", "speech.txt",
    "inventory.csv", "travel-plan.md", "questions.txt",
)  # fmt: skip
DirectoryName = _free(255,
    "drafts", "reports", "old-files", "receipts", "to-review", "backup", "scans", "handover", "experiments",
    "printouts", "spring-cleaning", "for-the-auditor",
)  # fmt: skip
ArchiveName = _free(255,
    "backup.tar", "handover.tar", "snapshot.tar", "for-client.tar", "old-work.tar", "weekly.tar", "bundle.tar",
    "export.tar", "before-cleanup.tar", "safe-copy.tar",
)  # fmt: skip
NewName = _free(255,
    "final", "old-copy", "v2", "approved", "do-not-touch", "reviewed-copy", "spare", "renamed-for-audit", "previous",
    "draft-2", "kept", "as-sent",
)  # fmt: skip
Content = _free(4000,
    "Call the supplier before noon.", "Agenda: status, risks, next steps.", "Buy oat milk, rye bread and coffee.",
    "The deadline moved to Friday.", "Reviewed and approved.", "Remember to renew the passport.",
    "Version 2 goes out after the demo.", "Ask the team about the new logo.",
    "Room 4.12, second floor, bring the badge.", "Three open questions remain for the client.",
    "Water the plants on Tuesday.", "Total hours this week: 37.5", "Checked the backups, all fine.",
    "Please send comments by Thursday.",
)  # fmt: skip
SearchText = _free(200,
    "TODO", "error", "invoice", "budget", "deadline", "review", "Total", "team", "draft", "version", "backup",
    "client",
)  # fmt: skip
Replacement = _free(500,
    "DONE", "final", "next week", "postponed", "see appendix", "the whole group", "warning", "proposal", "customer",
    "checked", "release", "estimate",
)  # fmt: skip
NamePattern = _free(80,
    "*.md", "*.txt", "*.csv", "*.log", "*.jpg", "*.tar", "*.py", "inv-*", "README*", "*report*", "*notes*", "*plan*",
)  # fmt: skip
TagLabel = _free(30,
    "urgent", "client", "draft", "family", "taxes", "reference", "to-print", "important", "shared", "review",
    "travel", "work",
)  # fmt: skip
