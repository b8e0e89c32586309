"""tools/mesh as a module: hosts in network namespaces."""
import importlib.machinery
import importlib.util
import pathlib


def load(file):
    loader = importlib.machinery.SourceFileLoader(file.name, str(file))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(file.name, loader))
    loader.exec_module(module)
    return module


mesh = load(pathlib.Path(__file__).resolve().parent.parent / "mesh")
