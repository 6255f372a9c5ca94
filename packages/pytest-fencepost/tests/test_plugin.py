"""Tests of the plugin. pytest runs it in a separate folder. FENCEPOST names the program."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import time
from fnmatch import fnmatch

import pytest

pytest_plugins = ["pytester"]

LOCK = """
    import pytest

    class SafeUnlessPaused:
        def __init__(self, world):
            self.redis, self.key, self.owner = world.redis, world.key, str(world.process)
            self.ttl_ms = int(world.ttl * 1000)

        def acquire(self):
            return self.redis.set(self.key, self.owner, nx=True, px=self.ttl_ms)

        def release(self):
            return self.redis.delete(self.key) == 1
"""


@pytest.fixture
def run_tests(pytester):
    """Runs the source of a test module with the program under test."""

    def run(source, *options):
        pytester.makepyfile(textwrap.dedent(LOCK) + textwrap.dedent(source))
        program = os.environ.get("FENCEPOST", "fencepost")
        return pytester.runpytest("--rootdir", pytester.path, "--fencepost", program, *options)

    return run


def test_a_lock_passes_without_faults(run_tests):
    result = run_tests(
        """
        @pytest.mark.fencepost(faults="none", seeds=1, cycles=2)
        def test_lock(world):
            with world.section(SafeUnlessPaused(world)):
                pass
        """
    )
    result.assert_outcomes(passed=1)


def test_a_failure_shows_the_violation_and_its_page(run_tests, pytester):
    result = run_tests(
        """
        class NoLock:
            def acquire(self):
                return True

            def release(self):
                return True

        @pytest.mark.fencepost(faults="none", seeds=1, cycles=2)
        def test_lock(world):
            world.redis.get(world.key)
            with world.section(NoLock()):
                pass
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the lock is not safe: none: 1 violated*", "*BOTH*", "page *.html"])
    page = next(pytester.path.glob(".pytest_cache/d/fencepost/*/*.html"))
    assert "<!DOCTYPE html>" in page.read_text()


def test_a_known_flaw_is_expected(run_tests):
    source = """
        @pytest.mark.fencepost(faults="pause", seeds="0..4", expect="violated")
        def test_lock(world):
            with world.section(SafeUnlessPaused(world)):
                pass
        """
    run_tests(source).assert_outcomes(passed=1)


def test_allowed_violations_do_not_fail_but_others_do(run_tests):
    source = """
        @pytest.mark.fencepost(faults="pause", seeds="0..4", allow={allow})
        def test_lock(world):
            with world.section(SafeUnlessPaused(world)):
                pass
        """
    timing = ["overlap", "stale-write", "lost-update"]
    result = run_tests(source.format(allow=timing))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the lock is not safe (foreign-release): pause: *"])
    run_tests(source.format(allow=[*timing, "foreign-release"])).assert_outcomes(passed=1)


def test_a_run_that_exercises_nothing_gives_the_reason(run_tests):
    result = run_tests(
        """
        @pytest.mark.fencepost(faults="none", seeds=1, cycles=1, processes=1)
        def test_lock(world):
            with world.section(SafeUnlessPaused(world)):
                pass
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no run exercised the lock*", "*at least two processes must compete*"])


def test_a_wrong_admin_command_is_reported_without_the_frames_of_the_client(run_tests):
    result = run_tests("def test_expiry(redis_clock): redis_clock.advance(10)")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'10': expected a duration*"])
    result.stdout.no_fnmatch_line("*parse_response*")


def test_parameters_and_methods_reach_the_processes(run_tests):
    result = run_tests(
        """
        class TestLock:
            @pytest.mark.parametrize("key", ["a", "b"])
            @pytest.mark.fencepost(faults="none", seeds=1, cycles=1, options=["--lock-key", "lock:x"])
            def test_lock(self, world, key):
                assert key in "ab"
                world.key = "lock:x"
                with world.section(SafeUnlessPaused(world)):
                    pass
        """
    )
    result.assert_outcomes(passed=2)


def test_a_body_that_fails_names_its_error(run_tests):
    result = run_tests(
        """
        @pytest.mark.fencepost(faults="none", seeds=1)
        def test_lock(world):
            raise RuntimeError("no such table")
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no run exercised the lock*", "*RuntimeError: no such table*"])


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("seeds='many'", "seeds 'many': expected a number such as 20, or a range 0..20"),
        ("seeds=0", "seeds '0': expected at least one seed"),
        ("expect='fine'", "expect 'fine': expected one of safe, violated"),
        ("fault='pause'", "argument 'fault': expected one of faults, seeds, *"),
        (
            "options=['--expect', 'e.toml']",
            "options '--expect': expected the argument 'expect' of the mark instead",
        ),
        ("options=['--ttl=5s']", "options '--ttl': expected the argument 'ttl' of the mark*"),
        ("options=['--out', 'x']", "options '--out': the mark sets it: expected another option*"),
        ("options='--hold 1s'", "options '--hold 1s': expected a list, such as *"),
        ("faults='pauze'", "*did you mean 'pause'*"),
    ],
)
def test_a_wrong_mark_is_an_error_in_one_line(run_tests, mark, message):
    result = run_tests(
        f"""
        @pytest.mark.fencepost({mark})
        def test_lock(world):
            pass
        """
    )
    assert result.ret != 0
    lines = result.outlines + result.errlines
    assert any(fnmatch(line, f"*{message}*") for line in lines)


def test_other_fixtures_are_refused(run_tests):
    result = run_tests(
        """
        @pytest.mark.fencepost()
        def test_lock(world, tmp_path):
            pass
        """
    )
    result.stderr.fnmatch_lines(["*fixture 'tmp_path'*takes only 'world'*"])


def test_the_world_needs_the_mark(run_tests):
    result = run_tests("def test_lock(world): pass")
    result.stderr.fnmatch_lines(["*'world' needs the mark pytest.mark.fencepost*"])


def test_a_missing_program_is_named(run_tests):
    source = """
        @pytest.mark.fencepost()
        def test_lock(world):
            pass
        """
    result = run_tests(source, "--fencepost", "/nowhere/fencepost")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*fencepost '/nowhere/fencepost': program not found*"])


def test_the_test_owns_the_clock(run_tests):
    result = run_tests(
        """
        def test_expiry(redis_clock):
            for owner in range(10):
                assert redis_clock.redis.set("lock", owner, nx=True, px=10_000)
                assert not redis_clock.redis.set("lock", "another", nx=True, px=10_000)
                redis_clock.advance("10001ms")
            redis_clock("ENTER", "lock", "a")
            redis_clock("ENTER", "lock", "b")
            assert "b entered" in redis_clock("JUDGE")[0]
        """
    )
    result.assert_outcomes(passed=1)


def test_a_clock_without_a_program_fails_in_one_line(run_tests):
    result = run_tests("def test_expiry(redis_clock): pass", "--fencepost", "/nowhere/fencepost")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fencepost '/nowhere/fencepost': program not found: *"])


def test_a_lost_reply_is_an_error_and_the_command_is_not_sent_again(run_tests):
    result = run_tests(
        """
        import redis

        def test_lost_reply(redis_clock):
            assert redis_clock("DROP-REPLY", "OF", "INCRBY") == "OK"
            with pytest.raises(redis.ConnectionError):
                redis_clock.redis.incr("count")
            assert redis_clock.redis.get("count") == "1"
        """
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_is_killed_leaves_no_server(number):
    program = os.environ.get("FENCEPOST", "fencepost")
    source = """
        import sys, time
        from pytest_fencepost.clock import served

        with served(sys.argv[1]) as clock:
            print(clock.address, flush=True)
            time.sleep(600)
        """
    command = [sys.executable, "-c", textwrap.dedent(source), program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        host, port = process.stdout.readline().strip().rsplit(":", 1)
        process.send_signal(number)
    assert ends(lambda: not listens(host, int(port)))


def test_a_process_that_is_killed_leaves_no_sweep(tmp_path):
    mark = tmp_path / "alive"
    child = f"import time; open({str(mark)!r}, 'w').close(); time.sleep(600)"
    source = """
        import sys
        from pytest_fencepost.sweep import call

        call([sys.executable, "-c", sys.argv[1], "the child of a killed process"])
        """
    command = [sys.executable, "-c", textwrap.dedent(source), child]
    with subprocess.Popen(command) as process:
        assert ends(mark.exists)
        (number,) = children(process.pid)
        process.kill()
    assert ends(lambda: not is_alive(number))


def children(pid):
    stated = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(number) for number in stated.read_text().split()]


def is_alive(pid):
    try:
        return ") Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def listens(host, port):
    try:
        socket.create_connection((host, port)).close()
    except ConnectionRefusedError:
        return False
    return True


def ends(is_over):
    for _ in range(200):
        if is_over():
            return True
        time.sleep(0.05)
    return False
