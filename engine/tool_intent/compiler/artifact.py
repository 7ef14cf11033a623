"""A compiled policy: programs by tool, made at a tool's first call or taken from the cache."""

from __future__ import annotations

import marshal
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from tool_intent.compiler.cache import Cache, digest
from tool_intent.compiler.query import Loaded
from tool_intent.runtime.colliding import Treatment, treatment
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.judge import Around, judge
from tool_intent.runtime.model import Call, Keeping, Point
from tool_intent.runtime.program import Image, Program

if TYPE_CHECKING:
    from tool_intent.compiler.lower import Lowering
    from tool_intent.policy.model import EffectivePolicy
    from tool_intent.runtime.history import AtomCode, SessionHistory
    from tool_intent.runtime.linking import AtomsImage
    from tool_intent.runtime.paths import Place
    from tool_intent.runtime.session import SessionView

#: Programs kept in memory; an agent can invent tool names without end.
_MOST_PROGRAMS = 20_000


class Artifact:
    """Judges calls by one policy. Thread-safe; `digest` is the policy's, `notes` are for people.

    `policy` gives the flat policy, which is parsed or unpickled only when something asks.
    """

    def __init__(
        self,
        digest: str,
        policy: Callable[[], EffectivePolicy],
        where: tuple[str, str],
        looks_back: bool,
        cache: Cache | None = None,
        folder: str = "",
        notes: tuple[str, ...] = (),
        place: Place | None = None,
        loaded: Loaded | None = None,
        max_retries: int | None = None,
        keeping: Keeping | None = None,
    ) -> None:
        """`where` is the folder that the policy's relative paths start at, and that of the
        session; `looks_back` says whether rules ask for earlier calls. `place` is taken instead of
        looking at the file system of `where`. `max_retries` and `keeping` spare parsing the policy
        for them."""
        self.digest = digest
        #: Whether each call of a session has to be remembered.
        self.reads_history = looks_back
        self._where = where
        self.notes = notes
        self._load_policy = policy
        self._max_retries = max_retries
        self._keeping = keeping
        self._cache = cache
        self._folder = folder
        self._policy: EffectivePolicy | None = None
        self._lowering: Lowering | None = None
        self._programs: dict[tuple[str, Treatment], Program] = {}
        self._atoms: list[AtomCode] | None = None
        self._hears = False
        self._place = place
        #: The surface that enforces what is decided here; "" where none does.
        self.point: Point | Literal[""] = ""
        #: What it came from, for those who look again.
        self.loaded = Loaded() if loaded is None else loaded
        self._lock = threading.RLock()

    @property
    def policy(self) -> EffectivePolicy:
        """The flat policy."""
        with self._lock:
            if self._policy is None:
                self._policy = self._load_policy()
            return self._policy

    @property
    def max_retries(self) -> int:
        """Refusals of one tool in a row after which the model is told to stop and ask."""
        if self._max_retries is None:
            self._max_retries = self.policy.max_retries
        return self._max_retries

    @property
    def keeping(self) -> Keeping:
        """What the policy asks of the record of calls."""
        if self._keeping is None:
            self._keeping = self.policy.keeping
        return self._keeping

    @property
    def kept(self) -> str:
        """What `compiler.loading.reopen` finds this artifact by; empty where it is not kept."""
        return self._folder

    @property
    def lowering(self) -> Lowering:
        """Lowers tools of this policy to IR."""
        from tool_intent.compiler.lower import Lowering

        with self._lock:
            if self._lowering is None:
                self._lowering = Lowering(self.policy)
                if self.reads_history:
                    # Whichever tool is asked about first: programs of several processes end up in
                    # one cache, and name what they look for in history by number.
                    self._lowering.atoms()
            return self._lowering

    def program(self, tool: str, schema: Any = None) -> Program:
        """What judges calls of `tool`, given its own argument schema where the host knows it."""
        plain = self._program(tool, ())
        if plain.settings:
            return self._program(tool, treatment(plain, schema))
        return plain

    def treatment(self, tool: str, schema: Any = None) -> Treatment:
        """What becomes of fields that the tool defines itself; what `program` goes by."""
        return treatment(self._program(tool, ()), schema)

    def _program(self, tool: str, treated: Treatment) -> Program:
        program = self._programs.get((tool, treated))
        if program is not None:
            return program
        with self._lock:
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            program = self._programs[tool, treated] = Program(self._image(tool, treated))
        return program

    def programs(self) -> list[Program]:
        """What judges calls of the tools that were asked about so far."""
        with self._lock:
            return list(self._programs.values())

    def decide(
        self, call: Call, view: SessionView | None = None, *, spends: bool = True
    ) -> Decision:
        """The decision on one call, given what its session did before (see `new_history`). Without
        `spends` it uses up no waiver: for a call that is not carried out on this decision."""
        program = self.program(call.tool, call.schema)
        around = None
        if program.rules is not None or program.waivers or self.reads_history:
            around = Around(self.place, call.context, call.now, view, self.point, spends)
        return judge(program, call.id, call.args, self.digest, call.schema, around)

    def new_history(self, *, keep: bool = False) -> SessionHistory:
        """The history of a new session, for `decide`; with `keep`, whole calls for explaining."""
        from tool_intent.runtime.history import SessionHistory
        from tool_intent.runtime.linking import atom_codes

        with self._lock:
            if self._atoms is None:
                image = self._atoms_image() if self.reads_history else None
                self._atoms = [] if image is None else atom_codes(image)
                self._hears = image is not None and image.hears
        return SessionHistory(self._atoms, keep=keep, hears=self._hears)

    @property
    def place(self) -> Place:
        """Where relative paths of the policy and of calls start."""
        from tool_intent.runtime.casing import probe_case
        from tool_intent.runtime.paths import Place

        if self._place is None:
            root, cwd = self._where
            self._place = Place(root, cwd, os.path.expanduser("~"), probe_case(root))
        return self._place

    def _image(self, tool: str, treated: Treatment) -> Image:
        named = digest(tool, repr(treated)) if treated else digest(tool)
        entry = os.path.join(self._folder, named)
        if self._cache is not None:
            body = self._cache.read(entry)
            if body is not None:
                return Image(*marshal.loads(body))  # noqa: S302 (checked by the cache)
        from tool_intent.compiler.emit import image

        made = image(self.lowering.tool(tool, treated))
        if self._cache is not None:
            self._cache.write(entry, marshal.dumps(tuple(made)))
        return made

    def _atoms_image(self) -> AtomsImage:
        from tool_intent.runtime.linking import AtomsImage

        entry = os.path.join(self._folder, "atoms")
        body = None if self._cache is None else self._cache.read(entry)
        if body is not None:
            return AtomsImage(*marshal.loads(body))  # noqa: S302 (checked by the cache)
        from tool_intent.compiler.emit_rules import atoms_image

        lowering = self.lowering
        atoms = lowering.atoms()
        made = atoms_image(atoms, dict(self.policy.groups), hears=lowering.hears)
        if self._cache is not None:
            self._cache.write(entry, marshal.dumps(tuple(made)))
        return made
