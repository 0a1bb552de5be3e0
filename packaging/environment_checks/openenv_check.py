"""Start the server, let `openenv validate` probe it, and run the runtime level of the validator against it.

The runtime level wants a container; here a provider of its protocol starts the same server as a process.
"""

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from openenv.validation import Level, load_policy, run_validation
from openenv.validation.providers import ExecResult
from openenv.validation.types import ProviderCapability

ROOT = Path(__file__).resolve().parents[2]


class LocalServer:
    """A server as a process."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "herbrand", "tasks", "serve", "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "http://" in line:
                self.base_url = line.split()[1].rstrip("/")
                break
        else:
            raise SystemExit("the server did not start")
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"{self.base_url}/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.2)

    def inspect(self) -> dict[str, str]:
        return {"kind": "process"}

    def logs(self, max_bytes: int = 65536) -> str:
        return ""[:max_bytes]

    def exec(self, argv: list[str], timeout_s: float) -> ExecResult:
        raise NotImplementedError

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


class LocalProvider:
    """Starts the server without a container."""

    name = "process"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"no-network", "public"})

    def build(self, root: Path, execution: object) -> str:
        del root, execution
        return "sha256:" + "0" * 64

    def start(self, spec: object) -> LocalServer:
        del spec
        return LocalServer()


server = LocalServer()
try:
    probe = [str(Path(sys.executable).with_name("openenv")), "validate", "--url", server.base_url]
    done = subprocess.run(probe, capture_output=True, text=True, timeout=120, check=False)
    print(done.stdout[-2500:])
    if done.returncode:
        raise SystemExit(done.stderr)
finally:
    server.stop()

report = run_validation(
    ROOT / "environments" / "openenv",
    max_level=Level.RUNTIME,
    policy=load_policy("v2"),
    provider=LocalProvider(),
)
for result in report.results:
    print(result.status.value, result.check_id, *result.evidence[:2])
wanted = {"static.manifest", "runtime.startup", "runtime.reward_well_formed", "runtime.observation_schema"}
passed = {result.check_id for result in report.results if result.status.value == "pass"}
failed = {result.check_id for result in report.results if result.status.value in ("fail", "error")}
if failed or not wanted | {"runtime.state_contract"} <= passed:
    raise SystemExit(f"failed: {sorted(failed)}; passed: {sorted(passed)}")
