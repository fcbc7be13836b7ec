"""What a Lua program of this directory is to come to, by its header, and whether it did.

    -- expect: status=S                 the terminal status
    -- expect_result: JSON              the result, compared as JSON
    -- expect_stdout: "JSON string"     the whole output (a NUL is recorded as U+FFFD)
    -- expect_stdout_contains: "..."    a part of it
    -- expect_error_contains: "..."     a part of the error, in any case
    -- also_ok: status=S | result=JSON | any    another outcome that is as good
    -- limits: timeout_ms=N memory_mb=N         else 10 s and the default memory
    -- max_wall_ms: N                   has ended by then
"""
import glob
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
GRACE_MS = 1500     # for starting processes on a busy machine, on top of max_wall_ms
TERMINAL = ('succeeded', 'failed', 'timed_out')


class Program:
    """One file: its code, None where no text value can hold it, and its headers."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        with open(path, 'rb') as source:
            raw = source.read()
        try:
            self.code = raw.decode()
        except UnicodeDecodeError:
            self.code = None
        if self.code is not None and '\0' in self.code:
            self.code = None
        self.headers = {}
        for line in raw.decode('utf-8', 'surrogateescape').splitlines():
            found = re.match(r'--\s*([a-z_]+):\s?(.*)$', line)
            if found:
                self.headers.setdefault(found.group(1), []).append(found.group(2).strip())
            elif line and not line.startswith('--'):
                break
        limits = dict(pair.split('=') for pair in ' '.join(self.all('limits')).split())
        self.timeout_ms = int(limits.get('timeout_ms', 10000))
        self.memory_mb = int(limits['memory_mb']) if 'memory_mb' in limits else None

    def all(self, header):
        return self.headers.get(header, [])

    def first(self, header):
        return self.headers.get(header, [None])[0]

    def status(self):
        return self.first('expect').split('status=')[1].split()[0]


def programs(where):
    """The programs in directories and files, in order."""
    paths = []
    for item in where or [HERE]:
        paths += sorted(glob.glob(os.path.join(item, '*.lua'))) if os.path.isdir(item) else [item]
    return [Program(path) for path in paths]


def same(a, b):
    """Equal as JSON; numbers have more than one spelling."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


def is_also_ok(program, status, result):
    for other in program.all('also_ok'):
        if other == 'any' or (other == 'status=' + status and status != program.status()):
            return True
        if other.startswith('result=') and status == 'succeeded' and same(json.loads(other[7:]), result):
            return True
    return False


def complaint(program, outcome, wall_ms):
    """None when the outcome (status, result, stdout, error) is as the header says, else what is wrong."""
    status, error, stdout = outcome['status'], outcome['error'] or '', outcome['stdout'] or ''
    most = program.first('max_wall_ms')
    if most and wall_ms > float(most) + GRACE_MS:
        return f'took {wall_ms:.0f} ms'
    if status not in TERMINAL:
        return f'status is {status}'
    if is_also_ok(program, status, outcome['result']):
        return None
    if status != program.status():
        return f'status is {status}, not {program.status()}: {error[:200]}'
    for text in program.all('expect_result'):
        if not same(json.loads(text), outcome['result']):
            return f'result is {json.dumps(outcome["result"])[:200]}, not {text[:200]}'
    for text in program.all('expect_stdout'):
        if stdout != json.loads(text).replace('\0', '\ufffd'):
            return f'stdout is {stdout[:200]!r}, not {text[:200]}'
    for text in program.all('expect_stdout_contains'):
        if json.loads(text) not in stdout:
            return f'stdout lacks {text}'
    for text in program.all('expect_error_contains'):
        if json.loads(text).lower() not in error.lower():
            return f'error is {error[:200]!r}, lacks {text}'
    return None


def report(results):
    """Print what is wrong and the sum; the exit status of the script."""
    passed = failed = 0
    for name, wrong in results:
        if wrong:
            failed += 1
            print(f'{name}: {wrong}')
        else:
            passed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0
