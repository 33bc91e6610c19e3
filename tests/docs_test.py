#!/usr/bin/env python3
"""Checks what the documentation says about the tree: paths that it names are there, links lead somewhere,
README's configuration is accepted by the program, the changelog has a place for the next change.
Usage: docs_test.py [ROOT]. The program is PGWEIR_BIN, or build/release/proxy/pgweir; without one the
configuration is not tried, and that is said."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDERS = ("cmake", "config", "docs", "examples", "metrics", "protocol", "proxy", "routing", "tests")
# In these every path between backquotes must be there.
NAMING = ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/operations.md", "docs/performance.md")
PATH = re.compile(r"`((?:" + "|".join(FOLDERS) + r")/[\w./-]*)[^`]*`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def lines_with(pattern, text):
    for number, line in enumerate(text.splitlines(), 1):
        for match in pattern.finditer(line):
            yield number, match[1]


def missing_paths(root):
    for name in NAMING:
        for number, path in lines_with(PATH, (root / name).read_text()):
            if not (root / path).exists():
                yield f"{name}:{number}: names {path}, which is not there"


def dead_links(root):
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        for number, target in lines_with(LINK, page.read_text()):
            if not (page.parent / target).exists():
                yield f"{page.relative_to(root)}:{number}: links to {target}, which is not there"


def program(root):
    for candidate in (os.environ.get("PGWEIR_BIN"), root / "build/release/proxy/pgweir"):
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    return None


def bad_configuration(root):
    blocks = re.findall(r"^```yaml\n(.*?)^```", (root / "README.md").read_text(), re.S | re.M)
    if len(blocks) != 1:
        yield f"README.md: has {len(blocks)} blocks of YAML, expected one configuration"
        return
    binary = program(root)
    if not binary:
        print("docs_test: no pgweir built, README's configuration is not tried")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "readme.yaml")
        path.write_text(blocks[0])
        secrets = {name: "secret" for name in re.findall(r"\$\{(\w+)\}", blocks[0])}
        done = subprocess.run([binary, "check", str(path)], env={**os.environ, **secrets},
                              capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        yield f"README.md: pgweir check refuses its configuration: {done.stdout}{done.stderr}".rstrip()


def untidy_changelog(root):
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), re.M)
    if headings[:1] != ["Unreleased"]:
        yield "CHANGELOG.md: its first section must be '## Unreleased'"


def faults(root):
    for check in (missing_paths, dead_links, bad_configuration, untidy_changelog):
        yield from check(root)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    found = list(faults(root))
    print("\n".join(found) or "docs_test: ok")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
