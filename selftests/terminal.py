#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs a command on a terminal of its own, types keys, and checks the screen.

usage: terminal.py ROWSxCOLUMNS STEP... -- COMMAND [ARGUMENT...]

Steps; REGEX is matched with the lines of the screen, joined by newlines:
  wait:REGEX     wait until the screen matches
  gone:REGEX     wait until the screen does not match
  hasnt:REGEX    fail if the screen matches
  keep:REGEX     fail if the screen does not match; keep the matching text
  same:REGEX     fail if the matching text differs from the kept text
  key:KEYS       type keys; backslash sequences as in Python
  size:ROWSxCOLUMNS  change the size of the terminal
  signal:NAME    send a signal to the command
  wakes:COUNT    wait until the command has slept and gone on so many times
  run:COMMAND    run COMMAND with sh
  stopped:       wait until the command is stopped; it must have restored the
                 terminal
  stopped-as-it-is:  the same without restoring the terminal
  continue:      continue the stopped command
  exit:STATUS    wait until the command exits with STATUS (-N: signal N); it must
                 have restored the terminal

TERM must be xterm: only its sequences are known, others are an error. If a step
fails, prints the screen and exits with 1.
"""
import codecs
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

LIMIT = 60  # seconds, on a quiet machine
STOPPED = -1000


def slowness():
    """Returns how many times as slow as an emulated guest on a quiet machine this one is."""
    directory = os.path.dirname(os.path.realpath(__file__))
    return int(subprocess.check_output(
        ["bash", "-c", '. "$0" && slowness', f"{directory}/slowness.bash"]))


class Screen:
    """The screen of an xterm."""

    def __init__(self, rows, columns):
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.pending = ""
        self.modes = set()
        self.row = self.column = 0
        self.resize(rows, columns)

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.top, self.bottom = 0, rows - 1
        self.row = min(self.row, rows - 1)
        self.column = min(self.column, columns - 1)
        self.last = " "

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def scroll(self, top, count):
        for _ in range(abs(count)):
            if count > 0:
                del self.cells[top]
                self.cells.insert(self.bottom, [" "] * self.columns)
            else:
                del self.cells[self.bottom]
                self.cells.insert(top, [" "] * self.columns)

    def put(self, character):
        # After the last column the cursor wraps only with the next character.
        if self.column >= self.columns:
            self.column = 0
            self.line_feed()
        self.cells[self.row][self.column] = character
        self.column += 1
        self.last = character

    def line_feed(self):
        if self.row == self.bottom:
            self.scroll(self.top, 1)
        elif self.row < self.rows - 1:
            self.row += 1

    def feed(self, data):
        text = self.pending + self.decoder.decode(data)
        self.pending = ""
        at = 0
        while at < len(text):
            character = text[at]
            if character == "\x1b":
                used = self.escape(text[at:])
                if not used:
                    self.pending = text[at:]
                    return
                at += used
                continue
            at += 1
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self.line_feed()
            elif character == "\b":
                self.column = max(self.column - 1, 0)
            elif character == "\t":
                self.column = min(self.column // 8 * 8 + 8, self.columns - 1)
            elif character >= " ":
                self.put(character)

    def escape(self, text):
        """Returns the length of the sequence at the start; 0: it is incomplete."""
        found = re.match(r"\x1b\[([?>]?)([0-9;]*)([@-~])", text)
        if found:
            self.control(found[1], found[2], found[3])
            return found.end()
        found = re.match(r"\x1b([()][0AB]|[=>78DMc]|\][^\a]*\a)", text)
        if found:
            if found[1] == "M":
                if self.row == self.top:
                    self.scroll(self.top, -1)
                else:
                    self.row = max(self.row - 1, 0)
            elif found[1] == "D":
                self.line_feed()
            return found.end()
        if re.match(r"\x1b(\[[?>]?[0-9;]*|[()]|\][^\a]*)?$", text):
            return 0
        raise ValueError(f"sequence not understood: {text[:16]!r}")

    def control(self, private, parameters, final):
        numbers = [int(word or 0) for word in parameters.split(";")]
        count = max(numbers[0], 1)
        line = self.cells[self.row]
        column = min(self.column, self.columns - 1)
        if private == "?" and final in "hl":
            (self.modes.add if final == "h" else self.modes.discard)(numbers[0])
            if numbers[0] == 1049:
                # Steps must not match the contents of the other screen.
                self.resize(self.rows, self.columns)
        elif private or final in "mlht":
            pass
        elif final in "Hf":
            self.row = min(count - 1, self.rows - 1)
            self.column = min((numbers + [1])[1] or 1, self.columns) - 1
        elif final == "J":
            blank = self.cells[self.row + 1:] if not numbers[0] else self.cells
            if not numbers[0]:
                line[column:] = [" "] * (self.columns - column)
            for other in blank:
                other[:] = [" "] * self.columns
        elif final == "K":
            if numbers[0] == 0:
                line[column:] = [" "] * (self.columns - column)
            else:
                line[:column + 1] = [" "] * (column + 1)
        elif final == "X":
            for i in range(column, min(column + count, self.columns)):
                line[i] = " "
        elif final == "P":
            del line[column:column + count]
            line.extend([" "] * (self.columns - len(line)))
        elif final == "@":
            line[column:column] = [" "] * count
            del line[self.columns:]
        elif final == "A":
            self.row = max(self.row - count, 0)
        elif final == "B":
            self.row = min(self.row + count, self.rows - 1)
        elif final == "C":
            self.column = min(column + count, self.columns - 1)
        elif final == "D":
            self.column = max(column - count, 0)
        elif final == "G":
            self.column = min(count, self.columns) - 1
        elif final == "d":
            self.row = min(count, self.rows) - 1
        elif final == "b":
            for _ in range(count):
                self.put(self.last)
        elif final == "r":
            self.top = count - 1
            self.bottom = min((numbers + [0])[1] or self.rows, self.rows) - 1
            self.row = self.column = 0
        elif final == "L":
            self.scroll(self.row, -count)
        elif final == "M":
            self.scroll(self.row, count)
        elif final == "S":
            self.scroll(self.top, count)
        elif final == "T":
            self.scroll(self.top, -count)
        else:
            raise ValueError(f"sequence not understood: {final!r}")


class Terminal:
    """The command, and the master side of its terminal."""

    def __init__(self, rows, columns, command):
        self.screen = Screen(rows, columns)
        self.screen.modes.add(25)
        self.master, self.slave = os.openpty()
        self.set_size(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.report, report = os.pipe()
        self.leader = os.fork()
        if not self.leader:
            try:
                os.close(self.master)
                self.lead(command, report)
            finally:
                os._exit(127)
        os.close(report)
        self.child = self.next_report()

    def lead(self, command, report):
        """The leader of a session: runs the command, reports stops and the exit."""
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(self.slave, os.getpgrp())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.dup2(self.slave, 0)
            os.dup2(self.slave, 1)
            os.execvp(command[0], command)
        os.write(report, struct.pack("i", child))
        while True:
            _, status = os.waitpid(child, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                os.write(report, struct.pack("i", STOPPED))
                continue
            os.write(report, struct.pack("i", os.waitstatus_to_exitcode(status)))
            os._exit(0)

    def next_report(self):
        return struct.unpack("i", os.read(self.report, 4))[0]

    def set_size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """Returns whether there was output."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.screen.feed(os.read(self.master, 65536))
        return bool(ready)

    def until(self, condition, what):
        start = time.monotonic()
        end = start + LIMIT
        while not condition():
            self.read(0.05)
            if time.monotonic() > end:
                end = start + LIMIT * slowness()
                if time.monotonic() > end:
                    raise AssertionError(f"timed out waiting for {what}")

    def reported(self):
        ready, _, _ = select.select([self.report], [], [], 0)
        return bool(ready)

    def matches(self, pattern):
        return re.search(pattern, self.screen.text(), re.M) is not None

    def sleeps(self):
        """Returns how often the command's first thread has slept."""
        with open(f"/proc/{self.child}/status", encoding="ascii") as status:
            return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read(), re.M)[1])

    def step(self, name, argument):
        if name == "wait":
            self.until(lambda: self.matches(argument), argument)
        elif name == "gone":
            self.until(lambda: not self.matches(argument), f"without {argument}")
        elif name == "hasnt":
            if self.matches(argument):
                raise AssertionError(f"there is {argument}")
        elif name == "keep":
            self.kept = re.search(argument, self.screen.text(), re.M).group()
        elif name == "same":
            found = re.search(argument, self.screen.text(), re.M).group()
            if found != self.kept:
                raise AssertionError(f"found {found!r}, expected {self.kept!r}")
        elif name == "key":
            os.write(self.master, argument.encode().decode("unicode_escape").encode())
        elif name == "size":
            rows, columns = map(int, argument.split("x"))
            # Drop output that was drawn for the old size.
            while self.read(0.2):
                pass
            self.screen.resize(rows, columns)
            self.set_size(rows, columns)
        elif name == "signal":
            os.kill(self.child, getattr(signal, "SIG" + argument))
        elif name == "wakes":
            enough = self.sleeps() + int(argument)
            self.until(lambda: self.sleeps() >= enough, f"{argument} sleeps")
        elif name == "run":
            subprocess.run(["sh", "-c", argument], check=True)
        elif name in ("stopped", "stopped-as-it-is"):
            self.until(self.reported, "a stop")
            if self.next_report() != STOPPED:
                raise AssertionError("the command has ended")
            if name == "stopped":
                self.restored()
        elif name == "continue":
            os.kill(self.child, signal.SIGCONT)
        elif name == "exit":
            self.until(self.reported, "the exit")
            status = self.next_report()
            while self.read(0):
                pass
            if status != int(argument):
                raise AssertionError(f"status {status}, expected {argument}")
            self.restored()
        else:
            raise AssertionError(f"no such step: {name}")

    def restored(self):
        """Fails unless the terminal is restored."""
        while self.read(0.1):
            pass
        if termios.tcgetattr(self.slave) != self.before:
            raise AssertionError("the terminal's modes have changed")
        # The cursor is visible; alternate screen and application keys are off.
        if self.screen.modes & {1, 25, 1049} != {25}:
            raise AssertionError(f"modes: {sorted(self.screen.modes)}")


def main():
    rows, columns = map(int, sys.argv[1].split("x"))
    separator = sys.argv.index("--")
    terminal = Terminal(rows, columns, sys.argv[separator + 1:])
    step = ""
    try:
        for step in sys.argv[2:separator]:
            terminal.step(*step.split(":", 1))
    except (AssertionError, ValueError, OSError) as error:
        print(f"terminal.py: {step}: {error}")
        print(terminal.screen.text().rstrip())
        return 1
    finally:
        # Only its parent can wait for it: it still exists, or is a zombie.
        os.kill(terminal.leader, signal.SIGSTOP)
        try:
            os.kill(terminal.child, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.kill(terminal.leader, signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
