"""Modules of plug-ins: files in the folder of a scenario, their imports, and digests of their content."""

from __future__ import annotations

import ast
import builtins
import contextlib
import hashlib
import importlib
import importlib.util
import re
import sys
import threading
from importlib.abc import MetaPathFinder
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec

__all__ = ["digest_of", "file_of", "has_no_source", "module_from", "source_of"]

_lock = threading.RLock()
_spaces: dict[str, _Space] = {}
"""The modules of each folder."""
_loaded: dict[str, tuple[str, ModuleType]] = {}
"""Modules of plug-ins by file, with the digest of their source."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def file_of(module: str, folder: Path) -> Path | None:
    """The file of a module in a folder, if it is there."""
    path = folder.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file.resolve()
    return None


def module_from(name: str, file: Path) -> ModuleType:
    """A module from a scenario's folder, loaded anew after a change of its source."""
    root = _root(name, file)
    with _lock:
        digest = digest_of(name, file)
        known = _loaded.get(str(file))
        if known is not None and known[0] == digest:
            return known[1]
        space = _spaces.setdefault(str(root), _Space(root))
        space.forget(_own_files(name, file))
        module = space.load(name)
        _loaded[str(file)] = (digest, module)
        return module


class _Space(MetaPathFinder):
    """The modules of a folder. Modules with the same names in other folders are not mixed up with them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._modules: dict[str, ModuleType] = {}
        self._asked: set[str] = set()
        """The first names of the modules with plug-ins. They may have names of the standard library."""
        self._owned: dict[str, bool] = {}
        self._depth = 0

    def load(self, name: str) -> ModuleType:
        """Imports a module with the folder first on the path."""
        self._asked.add(name.partition(".")[0])
        self._owned.clear()
        with self._installed():
            return importlib.import_module(name)

    def forget(self, files: Sequence[Path]) -> None:
        """Forgets the modules of some files, so that the next import reads them."""
        # A folder without __init__.py makes a module without a file, which keeps its parts.
        paths = {None, *map(str, files)}
        kept = {name: each for name, each in self._modules.items() if getattr(each, "__file__", None) not in paths}
        self._modules = kept

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """The specification of a module of the folder."""
        file = file_of(name, self._root) if self._owns(name) else None
        if file is None:
            return None
        return importlib.util.spec_from_file_location(name, file, loader=_Loader(name, str(file), self))

    def imported(self, name: str, space: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
        """`__import__` for the folder's modules, which also import when their methods run."""
        if level == 0 and not self._owns(name):
            return builtins.__import__(name, space, local, names, level)
        with _lock, self._installed():
            return builtins.__import__(name, space, local, names, level)

    def _owns(self, name: str) -> bool:
        first = name.partition(".")[0]
        if first not in self._owned:
            folder = self._root / first
            is_here = file_of(first, self._root) is not None or (folder.is_dir() and any(folder.glob("*.py")))
            is_taken = first == "netlull" or (first in sys.stdlib_module_names and first not in self._asked)
            self._owned[first] = is_here and not is_taken
        return self._owned[first]

    @contextlib.contextmanager
    def _installed(self) -> Iterator[None]:
        """Puts the folder's modules in place of others with the same names."""
        if self._depth:
            yield
            return
        self._depth += 1
        path = str(self._root)
        others = {name: sys.modules.pop(name) for name in list(sys.modules) if self._owns(name)}
        sys.modules.update(self._modules)
        sys.meta_path.insert(0, self)
        sys.path.insert(0, path)
        importlib.invalidate_caches()
        try:
            yield
        finally:
            self._depth -= 1
            sys.path.remove(path)
            sys.meta_path.remove(self)
            self._modules = {name: module for name, module in sys.modules.items() if self._owns(name)}
            for name in self._modules:
                if name in others or name.partition(".")[0] in sys.stdlib_module_names:
                    del sys.modules[name]
            sys.modules.update(others)


class _Loader(SourceFileLoader):
    """Loads a module whose later imports also come from its folder."""

    def __init__(self, name: str, file: str, space: _Space) -> None:
        super().__init__(name, file)
        self._space = space

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the source as it is now. Compiled files have times in whole seconds."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module."""
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self._space.imported}
        super().exec_module(module)


# Digests.


def has_no_source(module: str) -> bool:
    """True for a class with this module that `type(...)` made: it names the module of the metaclass, abc."""
    return module.partition(".")[0] in sys.stdlib_module_names


def source_of(cls: type, root: type) -> str:
    """The digest of a class: of its module's files or, in a notebook, of its code and its bases below `root`."""
    loaded = next((digest for digest, module in _loaded.values() if vars(module).get(cls.__name__) is cls), None)
    if loaded is not None:
        return loaded
    file = None if has_no_source(cls.__module__) else getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file is not None and Path(file).suffix == ".py" and Path(file).is_file():
        return digest_of(cls.__module__, Path(file).resolve())
    digest = hashlib.sha256()
    for base in cls.__mro__:
        if issubclass(base, root) and base.__module__ == cls.__module__:
            for name, value in sorted(vars(base).items()):
                if name not in {"_abc_impl", "_module", "__dict__", "__weakref__", "__doc__", "__firstlineno__"}:
                    digest.update(f"{name} {_content(value, cls.__module__, set())}\n".encode())
    return digest.hexdigest()


def _content(value: object, module: str, seen: set[int]) -> str:
    """The content of an attribute, without addresses and without its place in a file."""
    if isinstance(value, property):
        return " ".join(_content(each, module, seen) for each in (value.fget, value.fset, value.fdel))
    inner = next((each for each in ("__func__", "func", "__wrapped__") if hasattr(value, each)), None)
    if inner is not None and not isinstance(value, FunctionType):
        return f"{type(value).__name__} {_content(getattr(value, inner), module, seen)}"
    if not isinstance(value, FunctionType):
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    if id(value) in seen:
        return value.__qualname__
    seen.add(id(value))
    parts = [_code(value.__code__)]
    parts += [_content(each, module, seen) for each in value.__defaults__ or ()]
    parts += [f"{name} {_content(each, module, seen)}" for name, each in (value.__kwdefaults__ or {}).items()]
    for cell in value.__closure__ or ():
        with contextlib.suppress(ValueError):  # it is empty
            parts.append(_content(cell.cell_contents, module, seen))
    for name in sorted(_names(value.__code__)):
        used = value.__globals__.get(name)
        is_own = isinstance(used, FunctionType) and used.__module__ == module
        if name in value.__globals__ and (is_own or isinstance(used, _PLAIN)):
            parts.append(f"{name} {_content(used, module, seen)}")
    return " ".join(parts)


def _names(code: CodeType) -> set[str]:
    inner = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


def _code(code: CodeType) -> str:
    """The content of a function, without its place in a file."""
    constants = [_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def _root(name: str, file: Path) -> Path:
    """The folder of a module's first package, or of the module."""
    levels = 0 if name == "__main__" else name.count(".") + (file.name == "__init__.py")
    return file.parents[min(levels, len(file.parents) - 1)]


def _own_files(name: str, file: Path) -> list[Path]:
    """A module's file, and those of the modules that it imports from its folder, in alphabetical order."""
    root = _root(name, file)
    is_installed = root.name in {"site-packages", "dist-packages"}
    first = name.partition(".")[0]
    seen, ahead = {file}, [file]
    packages = name.split(".")[:-1]
    names = [".".join(packages[: number + 1]) for number in range(len(packages))]
    while ahead or names:
        if not names:
            names = list(_imports(ahead.pop(), root))
        for each in names:
            # Of an installed package, only its own modules count.
            path = None if is_installed and each.partition(".")[0] != first else file_of(each, root)
            if path is not None and path not in seen:
                seen.add(path)
                ahead.append(path)
        names = []
    return sorted(seen)


def _imports(file: Path, root: Path) -> Iterator[str]:
    """The modules that a file may import, with the packages that contain them."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_packages(alias.name)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                folder = file.parents[min(node.level, len(file.parents)) - 1]
                if not folder.is_relative_to(root):
                    continue
                module = ".".join([*folder.relative_to(root).parts, *filter(None, [module])])
            for alias in node.names:
                yield from _with_packages(f"{module}.{alias.name}" if module else alias.name)


def _with_packages(name: str) -> Iterator[str]:
    parts = name.split(".")
    yield from (".".join(parts[: number + 1]) for number in range(len(parts)))


def digest_of(name: str, file: Path) -> str:
    """The SHA-256 of a module's file and of the modules that it imports from its folder, with their names."""
    root = _root(name, file)
    digest = hashlib.sha256()
    for path in _own_files(name, file):
        content = path.read_bytes()
        place = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
        digest.update(f"{place.as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()
