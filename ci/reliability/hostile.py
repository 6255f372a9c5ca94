#!/usr/bin/env python3
"""Runs programs that attack their parent, the system and its resources under `fencepost run
--program`. None of them may crash or hang fencepost, leave a process behind, or leave a file in
TMPDIR or /dev/shm. Runs on Linux on x86-64, in separate namespaces if `unshare` allows that."""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import PROGRAM, arguments, is_time_left, tell

# Seconds of processor time. fencepost ends a process that spins after 20 s, and runs the two
# processes of a program up to four times. The time on the clock depends on the machine's load.
PATIENCE = 900
# Seconds on the clock without any use of the processor.
STANDSTILL = 600
# With namespaces, a signal that escapes cannot reach other processes, and all leftovers come from
# the test.
ISOLATED = ["unshare", "--fork", "--pid", "--mount", "--ipc", "--mount-proc"]

sizes = arguments(
    __doc__,
    programs=(300, "number of hostile programs"),
    first=(0, "number of the first program"),
    seed=(1, "seed for their order and sizes"),
)
if "FENCEPOST_ISOLATED" not in os.environ and subprocess.run([*ISOLATED, "true"], check=False).returncode == 0:
    os.environ["FENCEPOST_ISOLATED"] = "1"
    own = 'mount -t tmpfs tmpfs /dev/shm && "$@"; exit $?'
    os.execvp(ISOLATED[0], [*ISOLATED, "sh", "-c", own, "sh", sys.executable, *sys.argv])
began = time.monotonic()

# Bodies of Python programs. N is a random number from 1 to 299.
ATTACKS = {
    "forks and exits": "for _ in range(N):\n    if not os.fork(): os._exit(0)",
    "forks children that stay": "for _ in range(N % 40):\n    if not os.fork(): time.sleep(1e6)",
    "forks without end": "while True:\n    try: os.fork()\n    except OSError: time.sleep(0.01)",
    "becomes a daemon": "if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.chdir('/')\ntime.sleep(1e6)",
    "a child that outlives it": "if os.fork(): os._exit(N % 256)\ntime.sleep(1e6)",
    "a group of its own": "os.setpgid(0, 0)\nif not os.fork(): time.sleep(1e6)",
    "kills itself": "os.kill(os.getpid(), N % 31 + 1)\ntime.sleep(1)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "kills its parent": "os.kill(os.getppid(), [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][N % 3])",
    "kills every process": "try: os.kill(-1, signal.SIGKILL)\nexcept OSError: pass",
    "ignores every signal": "for s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\ntime.sleep(1e6)",
    "a storm of signals": "signal.signal(signal.SIGUSR1, lambda *_: None)\nfor _ in range(N * 50): os.kill(os.getpid(), signal.SIGUSR1)",
    "a storm of timers": "signal.signal(signal.SIGALRM, lambda *_: None)\nsignal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)\nwhile True: pass",
    "starts itself again": "os.execv(sys.executable, [sys.executable, *sys.argv])",
    "starts what is not there": "os.execv('/nowhere/at/all', ['x'])",
    "many threads": "for _ in range(N): threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()",
    "spins": "while True: pass",
    "spins in a thread": "def spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\ntime.sleep(1e6)",
    "yields without end": "while True: os.sched_yield()",
    "writes without end": "while True: os.write(1, b'ACQUIRED nonsense\\n' * N)",
    "one line without end": "while True: os.write(1, b'x' * 65536)",
    "complains without end": "while True: os.write(2, b'y' * 65536)",
    "bytes that are no text": "os.write(1, bytes(dice.randrange(256) for _ in range(N * 20)))\nos.write(2, b'\\x1b[2J\\xff' * N)",
    "lies about its lock": "print('RELEASED lock:orders')\nprint('LOST lock:orders')\nprint('ACQUIRED lock:orders ' + '9' * N)\nprint('ACQUIRED lock:orders VALID -1')",
    "closes everything": "os.closerange(0, 4096)\ntime.sleep(1)",
    "many descriptors": "kept = []\nwhile True:\n    try: kept.append(os.open('/dev/null', 0))\n    except OSError: break\ntime.sleep(1)",
    "many sockets": "kept = [socket.socket() for _ in range(N * 4)]\ntime.sleep(1)",
    "connects everywhere": "for port in range(1, N):\n    s = socket.socket()\n    try: s.connect(('10.0.0.' + str(port % 250 + 1), port))\n    except OSError: pass",
    "leaves files": "own = os.path.dirname(sys.argv[0])\nfor n in range(N): tempfile.mkstemp(dir=own)\nos.makedirs(os.path.join(own, 'a/b/c'), exist_ok=True)",
    "leaves shared memory": "for n in range(N % 20): open('/dev/shm/hostile-%d-%d' % (os.getpid(), n), 'w').write('x')",
    "leaves SysV memory": "import ctypes\nlibc = ctypes.CDLL(None)\nfor n in range(N % 20): libc.shmget(0, 4096, 0o1600)",
    "takes all memory": "kept = []\nresource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\nwhile True: kept.append(bytearray(1 << 22))",
    "maps and unmaps": "import mmap\nfor n in range(N * 10): mmap.mmap(-1, 1 << 20).close()",
    "crashes": "import ctypes\nctypes.string_at(N)",
    "writes over its clock": "import ctypes\nfor line in open('/proc/self/maps'):\n    if 'vdso' in line or 'vvar' in line:\n        ctypes.memset(int(line.split('-')[0], 16), 0, 64)",
    "traces itself": "import ctypes\nprint(ctypes.CDLL(None).ptrace(0, 0, 0, 0))\nprint(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))",
    "unknown system calls": "import ctypes\nlibc = ctypes.CDLL(None)\nfor n in range(N, N + 50):\n    if n not in (9, 11, 56, 57, 58, 59, 60, 231): libc.syscall(n, -1, -1, -1, -1, -1, -1)",
    "random system calls": "import ctypes\nlibc = ctypes.CDLL(None)\nfor _ in range(N): libc.syscall(dice.randrange(470), *(dice.choice([0, 1, -1, 4096, 1 << 40]) for _ in range(6)))",
    "sleeps forever": "time.sleep(1e9)",
    "reads nothing that comes": "sys.stdin.read()",
}
# These take minutes of processor time and hardly depend on N, so only the first round has them.
ONCE = {
    "a storm of timers", "starts itself again", "spins", "spins in a thread", "yields without end",
    "writes without end", "one line without end", "complains without end",
}
HEAD = """import os, random, resource, signal, socket, sys, tempfile, threading, time
dice, N = random.Random({seed}), {number}
"""


def left_behind(folder):
    """Returns the processes that still use the folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = os.readlink(process / "cwd")
        except (OSError, ValueError):
            continue
        if process.name.isdigit() and (str(folder) in words or place.startswith(str(folder))):
            found.append(f"process {process.name}: {words[:80]}")
    return found


def segments():
    """Returns the ids of this user's SysV shared memory."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {line.split()[1] for line in lines if int(line.split()[7]) == os.getuid()}


def used_by(process):
    """Returns the processor time of a process, its descendants, and their ended children, in
    seconds."""
    parents, used = {}, {}
    for entry in os.listdir("/proc"):
        try:
            fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if entry.isdigit():
            parents.setdefault(int(fields[1]), []).append(int(entry))
            used[int(entry)] = sum(int(field) for field in fields[11:15])
    todo, total = [process.pid], 0
    while todo:
        one = todo.pop()
        total += used.get(one, 0)
        todo += parents.get(one, [])
    return total / os.sysconf("SC_CLK_TCK")


def wait(process):
    """Waits for the end of a process. Returns the reason for giving up, or None."""
    used, since = 0, time.monotonic()
    while True:
        try:
            process.wait(timeout=0.5)
            return None
        except subprocess.TimeoutExpired:
            now = used_by(process)
        if now != used:
            used, since = now, time.monotonic()
        if used > PATIENCE:
            return f"no end after {PATIENCE} s of processor time"
        if time.monotonic() - since > STANDSTILL:
            return f"no progress for {STANDSTILL} s"


def program(turn):
    """Returns the name of the attack of a turn, and its N."""
    number, names = random.Random(f"{sizes.seed} {turn}").randrange(1, 300), list(ATTACKS)
    if turn >= len(names):
        names = [name for name in names if name not in ONCE]
        turn -= len(ATTACKS)
    return names[turn % len(names)], number


def processor_time():
    """Returns the seconds that all earlier programs used, as far as they were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wrong(turn, name, number):
    """Runs the program. Returns a description of the problems, if any, and the exit status."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "tmp").mkdir()
        program = folder / "hostile.py"
        program.write_text(HEAD.format(seed=number, number=number) + ATTACKS[name])
        before = set(os.listdir("/dev/shm")), segments()
        words = [PROGRAM, "run", "--program", f"{sys.executable} {program}", "--fault", "pause"]
        words += ["--processes", "2", "--cycles", "1", "--max-time", "60s", "--no-shrink"]
        if turn >= len(ATTACKS):
            # The first round has also run the scouts, which run the same program in the same way.
            words += ["--strategy", "uniform"]
        environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            done = subprocess.Popen(words, stdout=out, stderr=err, cwd=folder, env=environment)
            gave_up = wait(done)
        if gave_up:
            done.kill()
            done.wait()
            return gave_up, "none"
        stderr = (folder / "stderr").read_bytes()
        problems = left_behind(folder)
        problems += [f"left in TMPDIR: {left}" for left in os.listdir(folder / "tmp")]
        problems += [f"left in /dev/shm: {left}" for left in set(os.listdir("/dev/shm")) - before[0]]
        problems += [f"left SysV segment {left}" for left in segments() - before[1]]
        if done.returncode not in (0, 1, 2, 3):
            problems.append(f"status {done.returncode}")
        if b"panicked" in stderr or b"internal error" in stderr:
            problems.append(stderr.decode(errors="replace")[:300])
        if done.returncode == 2 and stderr.count(b"error: ") != 1:
            problems.append(f"not one line of error: {stderr[:300]!r}")
        return "; ".join(problems[:5]) or None, done.returncode


failures, answers, tried = [], {}, 0
for turn in range(sizes.first, sizes.first + sizes.programs):
    if not is_time_left(sizes, began):
        break
    tried += 1
    name, number = program(turn)
    started, used = time.monotonic(), processor_time()
    problem, status = wrong(turn, name, number)
    took = f"{time.monotonic() - started:.1f} s, {processor_time() - used:.1f} s of processor time"
    print(f"{turn} {name}, N = {number}: {problem or status}, {took}", file=sys.stderr, flush=True)
    answers[status] = answers.get(status, 0) + 1
    if problem:
        failures.append(f"{name}, N = {number}: {problem}")
told = ", ".join(f"{count} with {status}" for status, count in sorted(answers.items(), key=str))
numbers = f"{sizes.first}..{sizes.first + tried} of {sizes.programs}"
tell("hostile", began, failures, programs=numbers, seed=sizes.seed, answers=f"({told})")
