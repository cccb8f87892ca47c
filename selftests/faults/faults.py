# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of elog with faults have in common: see faults.c.

A scenario runs elog again and again, and in each run one call of a kind fails: the first one that
comes from a place in the code from which none has failed yet, until there is no such place; then
some of the later calls, until a run has fewer. Each run must end as one of these:

  right     its exit status and its output are those of a run without faults
  an error  the exit status says so, and a message names the cause; for calls that name a file,
            also that file

A call that is interrupted or moves only some bytes must not be seen at all. No run may crash or
hang. What is left in files must be readable, or missing: this is up to the scenario.
"""
import errno
import os
import shutil
import signal
import subprocess
import sys

LIBRARY = os.environ["FAULTS"]
# In front of what is there (selftests/engine).
PRELOAD = ":".join(filter(None, [LIBRARY, os.environ.get("LD_PRELOAD")]))
ELOG = os.environ["ELOG"]
# Each call, not only one from each place and some others.
ALL = os.environ.get("EVENTLOG_FAULTS") == "all"

SHORT = 0
# How each kind of call fails.
KINDS = {
    "memory": [errno.ENOMEM],
    "map": [errno.ENOMEM],
    "thread": [errno.EAGAIN],
    "open": [errno.EMFILE],
    "read": [errno.EINTR, SHORT, errno.EIO],
    "write": [errno.EINTR, SHORT, errno.ENOSPC, errno.EIO],
    "poll": [errno.EINTR],
    "sync": [errno.EIO],
    "truncate": [errno.EIO],
    "rename": [errno.EIO],
    "connect": [errno.ECONNREFUSED],
    "send": [SHORT, errno.ECONNRESET],
    "receive": [SHORT, errno.ECONNRESET],
    "ioctl": [errno.ENOMEM],
}
INVISIBLE = (errno.EINTR, SHORT)


class Wrong(Exception):
    pass


class Run:
    """One run of elog. number: which call fails; 0: one from a new place. where: the call that
    has failed, or None; status: None after seconds."""

    def __init__(self, command, directory, kind=None, number=0, error=0, seconds=60):
        self.directory = directory
        environment = dict(os.environ)
        log = directory + ".fault"
        if kind:
            environment.update(LD_PRELOAD=PRELOAD, FAULT_KIND=kind, FAULT_AT=str(number),
                               FAULT_ERRNO=str(error), FAULT_LOG=log)
            if not number:
                environment["FAULT_SEEN"] = directory + ".places"
        with subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                self.stdout, errors = process.communicate(timeout=seconds)
                self.status = process.returncode
            except subprocess.TimeoutExpired:
                process.kill()
                self.stdout, errors = process.communicate()
                self.status = None
        self.stderr = errors.decode(errors="replace")
        self.where = None
        if os.path.exists(log):
            with open(log) as file:
                self.where = file.read()
            os.unlink(log)


class Scenario:
    """One use of elog. kinds: which calls fail; the rest is for subclasses."""

    kinds = list(KINDS)
    few_kinds = None    # in make check; None: all
    later = True        # does also a later call from a place fail in make check?
    name = ""
    command = []
    files = ()          # names of which a message may have one
    words = ()          # what other libraries say instead of the cause

    def fill(self, directory):
        """Called before each run, with an empty directory in which elog runs."""

    def look(self, run):
        """What a run without faults leaves; raises Wrong if it is not readable."""
        return run.stdout

    def after_error(self, run):
        """Looks at what is left after an error."""

    def check(self, run, kind, error, want):
        if run.status is None:
            raise Wrong("still running")
        if run.status < 0:
            raise Wrong(f"ended by {signal.Signals(-run.status).name}")
        if run.status == want.status:
            if self.look(run) != want.seen:
                raise Wrong("the exit status is right, the output is not")
            return
        if error in INVISIBLE:
            raise Wrong("must not be seen")
        causes = ["memory" if error == errno.ENOMEM else os.strerror(error)]
        # This is what pthread_create() returns if there is no memory for a thread.
        if kind == "memory" and "ld-linux" in run.where:
            causes.append(os.strerror(errno.EAGAIN))
        if not any(words in run.stderr for words in (*causes, *self.words)):
            raise Wrong(f"no message says: {causes[0]}")
        if kind in ("open", "write", "read", "sync", "truncate", "rename") and self.files and \
                not any(name in run.stderr for name in self.files):
            raise Wrong("no message names the file")

    def finish(self, work):
        """Called at the end; raises Wrong if something is not as it should be."""

    def prepare(self, work):
        shutil.rmtree(work + "/run", ignore_errors=True)
        os.mkdir(work + "/run")
        self.fill(work + "/run")

    def runs(self, work, kind, error):
        """Yields each run with a fault, or that crashes without, and the number of the call."""
        number = 1 if ALL else 0
        while True:
            self.prepare(work)
            run = Run(self.command, work + "/run", kind, number, error)
            if run.where:
                yield number, run
                number += 1 if ALL else number // 2
            elif run.status is None or run.status < 0:
                yield number, run
                return
            elif number or not os.path.exists(work + "/run.places"):
                return
            else:
                os.unlink(work + "/run.places")
                if not self.later:
                    return
                number = 4

    def run_kind(self, work, kind, error, want):
        """Returns how many faults there were, and prints those that went wrong."""
        count, wrong = 0, {}
        for number, run in self.runs(work, kind, error):
            count += 1
            try:
                if run.status != want.status:
                    self.after_error(run)
                self.check(run, kind, error, want)
            except Wrong as why:
                # Calls from the same place fail in the same way.
                wrong.setdefault((str(why), run.where), (number, run))
        for (why, where), (number, run) in wrong.items():
            print(f"# {kind} {number}: {why}: {where}")
            print(f"#   status {run.status}: " + run.stderr.strip().replace("\n", "\n#   "))
        return count, not wrong

    def run_all(self, work):
        """Prints TAP; returns the number of tests that failed."""
        failed = 0
        self.prepare(work)
        want = Run(self.command, work + "/run")
        if want.status not in (0, 2):
            return report(False, f"{self.name}: without a fault: {want.stderr}")
        want.seen = self.look(want)
        calls = 0
        for kind in self.kinds if ALL else self.few_kinds or self.kinds:
            for error in KINDS[kind]:
                how = errno.errorcode[error] if error else "half of the bytes"
                count, good = self.run_kind(work, kind, error, want)
                calls += count
                if count or not good:
                    failed += report(good, f"{self.name}: {kind}, {how}, {count} calls")
        if not calls:
            failed += report(False, f"{self.name}: no call has failed: is {LIBRARY} loaded?")
        try:
            self.finish(work)
        except Wrong as why:
            failed += report(False, f"{self.name}: at the end: {why}")
        return failed


tests = 0


def report(good, text):
    """Returns 1 if it is not good."""
    global tests
    tests += 1
    print(f"{'ok' if good else 'not ok'} {tests} {text}", flush=True)
    return not good


def main(scenarios, work, names):
    failed = 0
    for scenario in scenarios:
        if not names or any(name in scenario.name for name in names):
            failed += scenario.run_all(work)
    print(f"1..{tests}")
    sys.exit(failed > 0)
