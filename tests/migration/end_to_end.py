#!/usr/bin/python3
"""Runs cases of the migration as the stores see them: the real proxy, real PostgreSQL, Chroma, emulators.

  end_to_end.py --list          names of all cases, a line each
  end_to_end.py [WORDS…]        those whose names hold one of these, or all
PGWEIR_BIN is the program. See harness.py for the other variables.
"""
import ast
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ("changes_test", "schema_test", "copy_test", "commands_test", "source_test", "history_test")


def names():
    """From the text alone, so that a build can list cases where what they need is not installed."""
    for module in MODULES:
        for node in ast.walk(ast.parse((HERE / f"{module}.py").read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield ast.get_docstring(node)


def cases(suite):
    for each in suite:
        yield from cases(each) if isinstance(each, unittest.TestSuite) else [each]


def main():
    words = sys.argv[1:]
    if words == ["--list"]:
        print("\n".join(names()))
        return 0
    sys.path.insert(0, str(HERE))
    import harness
    harness.clean_up_on_signals()
    loaded = unittest.TestLoader().loadTestsFromNames(MODULES)
    exact = set(words) & set(names())
    chosen = [case for case in cases(loaded) if not words or case.shortDescription() in exact
              or any(word in case.shortDescription() for word in words if word not in exact)]
    if not chosen:
        print(f"no case is called so: {words}", file=sys.stderr)
        return 2
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(chosen))
    skipped = result.wasSuccessful() and result.testsRun > 0 and len(result.skipped) == result.testsRun
    return 77 if skipped else 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
