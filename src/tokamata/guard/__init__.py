"""Theorems about tokenizers and chat templates; see docs/guard.md."""

from tokamata.guard.boundaries import Boundary, boundary
from tokamata.guard.chat_templates import ChatTemplate, RoleVerdicts, template
from tokamata.guard.encoding import encode
from tokamata.guard.guarded_spans import GuardedMatcher, GuardedSpans
from tokamata.guard.manifest import Manifest, differences, manifest
from tokamata.guard.manifests.facts import Fact
from tokamata.guard.normalization import Normalization, normalization
from tokamata.guard.rewritings import rewriting_of, rewriting_of_form
from tokamata.guard.seams import Seams, Stretch, seams
from tokamata.guard.self_test import Plan, plan, self_test
from tokamata.guard.verdicts import Outcome, Verdict, Witness
from tokamata.tokenization.running import ProgramFailed, RunningTokenizer
from tokamata.tokenization.self_test import SelfTest
from tokamata.tokenization.unicode_set import Adversary, adversaries, around

__all__ = [
    "Adversary",
    "Boundary",
    "ChatTemplate",
    "Fact",
    "GuardedMatcher",
    "GuardedSpans",
    "Manifest",
    "Normalization",
    "Outcome",
    "Plan",
    "ProgramFailed",
    "RoleVerdicts",
    "RunningTokenizer",
    "Seams",
    "SelfTest",
    "Stretch",
    "Verdict",
    "Witness",
    "adversaries",
    "around",
    "boundary",
    "differences",
    "encode",
    "manifest",
    "normalization",
    "plan",
    "rewriting_of",
    "rewriting_of_form",
    "seams",
    "self_test",
    "template",
]
