#!/usr/bin/env python3
"""Run the Lua programs directly in the runner, without a server.

usage: run_runner.py [--runner FILE] [--version V] [FILE_OR_DIRECTORY ...]

Plays the worker: one runner for as long as it says that it is reusable, killed
at the timeout.  Between programs it makes sure that the state is a fresh one.
"""
import argparse
import json
import mmap
import os
import select
import socket
import struct
import sys
import time

import expectations

PROTOCOL_VERSION = '4'
MEMORY_KB = 64 * 1024
AREA_SIZE = 4 * 1024 * 1024
AHEAD_SIZE = 64 * 1024         # what came of executions that were sent ahead: not used here
ABSENT = 0xFFFFFFFF
RUN, CALL, RETURN = 2, 4, 5
# leaves nothing behind, and tells when something was left
CANARY = "local n = 0 for _ in pairs(_G) do n = n + 1 end return n, #string.rep('x', 3), math.pi > 3"


class Zygote:
    """The program, which forks a runner whenever it is asked."""

    def __init__(self, program, version):
        self.socket, theirs = socket.socketpair()
        arguments = ['sandbox_exec_runner', PROTOCOL_VERSION, version, str(os.getpid()), '0', str(MEMORY_KB), '1']
        self.pid = os.posix_spawn(program, arguments, {}, file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 3)])
        theirs.close()

    def fork(self, runner_socket, output):
        """The pid of a runner with these two."""
        try:
            socket.send_fds(self.socket, [b'\0'], [runner_socket, output])
            answer = self.socket.recv(4)
        except BrokenPipeError:
            answer = b''
        if len(answer) < 4:
            raise SystemExit('the runner program ended: wait status %r' % (os.waitpid(self.pid, 0)[1],))
        return struct.unpack('<i', answer)[0]


class Runner:
    def __init__(self, zygote):
        ours, theirs = socket.socketpair()
        output = os.memfd_create('output')
        os.ftruncate(output, AREA_SIZE + AHEAD_SIZE)
        self.area = mmap.mmap(output, AREA_SIZE)
        self.socket, self.buffer, self.type = ours, b'', 0
        self.pid = zygote.fork(theirs.fileno(), output)
        os.close(output)
        theirs.close()
        if self.frame(10) is None:
            raise SystemExit('the runner is not ready: wait status %r' % (self.end(),))

    def end(self):
        """Kill it and collect it."""
        try:
            os.kill(self.pid, 9)
        except ProcessLookupError:
            pass
        self.socket.close()
        return os.waitpid(self.pid, 0)[1]

    def frame(self, seconds):
        """The next frame's payload, b'' at the end of the socket, None when the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            if len(self.buffer) >= 5:
                size = 5 + struct.unpack('<I', self.buffer[:4])[0]
                if len(self.buffer) >= size:
                    self.type, payload, self.buffer = self.buffer[4], self.buffer[5:size], self.buffer[size:]
                    return payload
            if not select.select([self.socket], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            data = self.socket.recv(1 << 20)
            if not data:
                return b''
            self.buffer += data

    def last_frame(self, seconds):
        """The frame that ends an execution.  There is nothing here that could be called."""
        deadline = time.monotonic() + seconds
        while True:
            payload = self.frame(deadline - time.monotonic())
            if not payload or self.type != CALL:
                return payload
            kind, name = read_texts(payload, 4, 2)
            error = {'code': kind + '_not_found', 'message': f'{kind} "{name}" does not exist'}
            answer = struct.pack('<BIq', 1, 0, 0) + text_field(json.dumps(error))
            self.socket.sendall(struct.pack('<IB', len(answer), RETURN) + answer)

    def stdout(self):
        used, at, text = struct.unpack('<I', self.area[:4])[0], 8, b''
        while at < used:
            length, kind = struct.unpack('<II', self.area[at:at + 8])
            if kind & 0xFF == 1:
                text += self.area[at + 8:at + 8 + length]
            at += 8 + (length + 3) // 4 * 4
        return text.decode()

    def run(self, code, timeout_ms=10000, memory_mb=None, max_chars=50000):
        """The outcome as a dictionary; reusable False means that this runner is done."""
        memory = (memory_mb or MEMORY_KB // 1024) * 1024 * 1024
        payload = bytes(range(16)) + struct.pack('<qqI', 1700000000000, memory, max_chars)
        payload += text_field('{"id":"case"}') + text_field(None) + text_field(code)
        self.socket.sendall(struct.pack('<IB', len(payload), RUN) + payload)
        outcome = {'status': 'timed_out', 'reusable': False, 'error': None, 'error_code': None, 'result': None}
        payload = self.last_frame(timeout_ms / 1000)
        if payload == b'':
            outcome['status'] = 'failed'
            outcome['error'] = 'the runner died, wait status %d' % self.end()
        elif payload is None:
            self.end()
        else:
            succeeded, outcome['exit_code'], outcome['reusable'] = struct.unpack('<?i?', payload[:6])
            outcome['status'] = 'succeeded' if succeeded else 'failed'
            outcome['error_code'], outcome['error'], outcome['result'] = read_texts(payload, 6, 3)
            outcome['result'] = outcome['result'] and json.loads(outcome['result'])
        outcome['stdout'] = self.stdout()
        return outcome


def text_field(text):
    if text is None:
        return struct.pack('<I', ABSENT)
    data = text.encode()
    return struct.pack('<I', len(data)) + data


def read_texts(payload, at, count):
    """So many texts of the payload from there on; None for absent ones."""
    texts = []
    for _ in range(count):
        length = struct.unpack('<I', payload[at:at + 4])[0]
        at += 4
        texts.append(None if length == ABSENT else payload[at:at + length].decode())
        at += 0 if length == ABSENT else length
    return texts


def results(programs, runner_program, version):
    zygote, runner, canary, fresh = Zygote(runner_program, version), None, None, True
    for program in programs:
        if program.code is None:
            yield program.name, None
            continue
        if fresh:
            runner = Runner(zygote)
            clean = runner.run(CANARY)['result']
            if canary is None:
                canary = clean
        began = time.monotonic()
        outcome = runner.run(program.code, program.timeout_ms, program.memory_mb)
        wrong = expectations.complaint(program, outcome, (time.monotonic() - began) * 1000)
        fresh = not outcome['reusable']
        if not fresh and wrong is None and runner.run(CANARY)['result'] != canary:
            wrong = 'left something behind'
        yield program.name, wrong
    if not fresh:
        runner.end()


def main():
    top = os.path.dirname(os.path.dirname(expectations.HERE))
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--runner', default=os.path.join(top, 'build', 'sandbox_exec_runner'))
    parser.add_argument('--version', default='0.1.0')
    parser.add_argument('where', nargs='*')
    given = parser.parse_args()
    return expectations.report(results(expectations.programs(given.where), given.runner, given.version))


if __name__ == '__main__':
    sys.exit(main())
