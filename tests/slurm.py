#!/usr/bin/python3
"""docs/slurm on a Slurm of one machine: a job array of summaries, and the merge and advice that depend on it. Slurm's and
munge's daemons are started for it, as the user who runs this, below a temporary folder, and ended.
    usage: slurm.py TFPROF      needs slurmctld, slurmd, sbatch and munged (Debian: slurmctld slurmd slurm-client munge)"""
import contextlib
import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from ranks_job import LATE, RANKS, record

SKIPPED = 77
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol")
SCRIPTS = pathlib.Path(__file__).parent.parent / "docs" / "slurm"
BROKEN = 5
CONFIGURATION = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=2048 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def which(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, seconds, logs=()):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.2)
    for log in logs:
        if log.exists():
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
    raise AssertionError(f"not within {seconds} s: {what.__doc__ or what}")


@contextlib.contextmanager
def running(*command, environment):
    """A daemon in the foreground, ended behind the block."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def slurm(folder, environment):
    logs = [folder / "slurmctld.log", folder / "slurmd.log", folder / "munge.log"]
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "slurm.conf").write_text(CONFIGURATION.format(
        folder=folder, host=socket.gethostname().split(".")[0], user=getpass.getuser(), controller_port=free_port(),
        node_port=free_port()), encoding="utf-8")
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o600)
    munge = [which("munged"), "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key",
             f"--log-file={folder}/munge.log", f"--pid-file={folder}/munge.pid", f"--seed-file={folder}/munge.seed"]

    def node_is_idle():
        """the node is up"""
        done = subprocess.run([which("sinfo"), "-h", "-o", "%t"], env=environment, capture_output=True, text=True, check=False)
        return done.stdout.strip() == "idle"

    with running(*munge, environment=environment):
        wait_for((folder / "munge.socket").exists, 20, logs)
        with running(which("slurmctld"), "-D", environment=environment), running(which("slurmd"), "-D", environment=environment):
            wait_for(node_is_idle, 60, logs)
            yield logs


def main(tfprof):
    missing = [name for name in NEEDED if not which(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} not found; on Debian: apt-get install slurmctld slurmd slurm-client munge")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"),
                       "PATH": f"{pathlib.Path(tfprof).resolve().parent}:{os.environ['PATH']}:/usr/sbin:/sbin"}
        traces = folder / "traces"
        record(tfprof, traces, broken=BROKEN)
        with slurm(folder, environment) as logs:
            handed_in = subprocess.run([SCRIPTS / "submit", traces, folder / "sums"], cwd=folder, env=environment, text=True,
                                       capture_output=True, check=False)
            assert handed_in.returncode == 0, handed_in.stderr
            last = handed_in.stdout.split()[-1]

            def queue_is_empty():
                """all jobs have ended"""
                queue = [which("squeue"), "-h", "-o", "%i"]
                return not subprocess.run(queue, env=environment, capture_output=True, text=True, check=True).stdout.strip()

            wait_for(queue_is_empty, 120, logs)
            state = subprocess.run([which("scontrol"), "show", "job", last], env=environment, capture_output=True, text=True,
                                   check=True).stdout
            assert "JobState=COMPLETED" in state, state
        summaries = sorted((folder / "sums").iterdir())
        assert len(summaries) == RANKS - 1, summaries
        by_hand = subprocess.run([tfprof, "merge", *reversed(summaries)], capture_output=True, check=True).stdout
        assert (folder / "sums.ranks").read_bytes() == by_hand
        advice = (folder / f"slurm-{last}.out").read_text(encoding="utf-8")
        again = subprocess.run([tfprof, "advise", "--format", "json", folder / "sums.ranks"], capture_output=True, check=True)
        found = {finding["rule"]: (finding.get("subject") or {}).get("rank") for finding in json.loads(again.stdout)["findings"]}
        assert found.get("straggler-rank") == LATE and "rank-set-incomplete" in found, found
        assert "straggler-rank" in advice and f"rank {LATE}" in advice.lower() and "rank-set-incomplete" in advice, advice
    return 0


raise SystemExit(main(sys.argv[1]))
